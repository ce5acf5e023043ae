/* bytes: 2; constructs: unsigned char, unsigned short, unsigned, wrap-around, comparisons; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned char a, b;
    unsigned short s;
    unsigned int u;
    SYM_U8(a);
    SYM_U8(b);
    s = (unsigned short)(a * 300u + b);
    u = (unsigned int)a - b;
    if (u > 0x80000000u)
        s += 7;
    if (s < 1000)
        u = u / 3;
    else if (s >= 60000)
        u = u % 1000u;
    a += 200;
    b -= 100;
    if (a <= b)
        u++;
    if (a != b && (unsigned char)(a - b) < 4)
        u *= 2u;
    printf("%u %u %u %u\n", u, (unsigned)s, (unsigned)a, (unsigned)b);
    return 0;
}
