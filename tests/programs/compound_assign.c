/* bytes: 2; constructs: every compound assignment, on char, short, int, long; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned char a, b;
    signed char c;
    short s;
    int i;
    long l;
    SYM_U8(a);
    SYM_U8(b);
    c = (signed char)a;
    s = a;
    i = b;
    l = a;
    c += b;
    c -= 3;
    s *= 100;
    s /= 7;
    i %= 13;
    i <<= 4;
    l |= b;
    l &= 0x7f;
    l ^= 0x15;
    b >>= 2;
    i >>= 1;
    if (c > 100)
        i += c;
    if (s > 300 || s < -300)
        l -= s;
    if ((l += i) > 150)
        b *= 3;
    if (b == 17)
        l = b;
    printf("%d %d %d %ld %u\n", c, s, i, l, (unsigned)b);
    return 0;
}
