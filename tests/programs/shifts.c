/* bytes: 2; constructs: shifts by symbolic counts, rotations, arithmetic and logical right shift, masks; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static unsigned char rotate(unsigned char v, unsigned n)
{
    n &= 7;
    if (n == 0)
        return v;
    return (unsigned char)(v << n | v >> (8 - n));
}

int main(void)
{
    unsigned char a, b;
    int s;
    SYM_U8(a);
    SYM_U8(b);
    s = (signed char)a;
    if (rotate(a, b) == 0x81)
        s ^= 0x100;
    if (s >> (b & 3) < -20)
        s++;
    if ((unsigned)s >> (b >> 4) == 0x3fffu)
        s = 1;
    if ((1 << (b & 15)) > a)
        s -= 2;
    printf("%d\n", s);
    return 0;
}
