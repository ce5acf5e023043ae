/* bytes: 1; constructs: ++ and -- before and after, on chars, ints, pointers, members, elements; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

struct pair {
    unsigned char low;
    int high;
};

int main(void)
{
    unsigned char a;
    unsigned char bytes[4];
    unsigned char *p = bytes;
    struct pair pair, *q = &pair;
    int i;
    SYM_U8(a);
    for (i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(a + i);
    pair.low = a;
    pair.high = a;
    ++pair.low;
    q->low++;
    --q->high;
    pair.high--;
    if (++*p == 4)
        i += 10;
    if ((*p++)-- > 200)
        i += 20;
    if (++p[1] < --p[0])
        i += 40;
    if (q->low-- == 1)
        i += 80;
    if (a++ == 255)
        i += 160;
    i += --a;
    p--;
    printf("%d %u %d %d\n", i, (unsigned)pair.low, pair.high, (int)(p - bytes) + bytes[1]);
    return 0;
}
