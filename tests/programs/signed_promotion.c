/* bytes: 2; constructs: signed char, short, mixed signedness, integer promotions, conversions; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    signed char c;
    unsigned char d;
    short s;
    long l;
    unsigned int u = 5;
    SYM_I8(c);
    SYM_U8(d);
    s = (short)(c * 256 + d);
    l = s;
    if (c < 0)
        l -= 10;
    if ((unsigned int)c > u)
        l += 1;
    if (c + u > 100u)
        l += 2;
    if ((char)(d + c) == (signed char)(d - 1))
        l += 4;
    if (s < -20000 || (unsigned short)s > 65000)
        l = -l;
    if ((long)d * c < -1000L)
        l += 8;
    printf("%ld %d\n", l, (int)s);
    return 0;
}
