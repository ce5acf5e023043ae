/* bytes: 2; constructs: structs, nested structs, members through pointers, arrays in structs, struct copy; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

struct point {
    short x, y;
};

struct box {
    char tag;
    struct point corner[2];
    struct { unsigned char r, g; } colour;
    long weight;
};

int main(void)
{
    struct box one, two, *p = &two;
    unsigned char a, b;
    SYM_U8(a);
    SYM_U8(b);
    one.tag = 't';
    one.corner[0].x = a;
    one.corner[0].y = 7;
    one.corner[1].x = 100;
    one.corner[1].y = (short)(b * 2);
    one.colour.r = b;
    one.colour.g = 1;
    one.weight = a + b;
    two = one;
    p->corner[0] = one.corner[1];
    one.weight = 0;
    if (p->corner[0].y > 300)
        p->weight += 1000;
    if (two.corner[0].x == two.corner[1].x && p->colour.r == 0x42)
        p->tag = 'u';
    if (p->weight > 1200)
        p->corner[1] = (struct point){ 1, .y = a };
    if (p->corner[1].y == 33)
        p->weight = one.weight;
    printf("%c %ld %d %d\n", p->tag, p->weight, p->corner[1].x, p->corner[1].y);
    return 0;
}
