/* bytes: 2; constructs: long long, unsigned long long, 64-bit arithmetic, shifts, suffixes; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned short w;
    unsigned long long q;
    long long t;
    SYM_U16(w);
    q = (unsigned long long)w << 40 | w;
    t = (long long)q - 0x00400000000000LL;
    if (t < 0)
        q += 1;
    if ((q >> 44) > 0xf00ULL)
        q ^= 0xffffffff00000000ULL;
    if ((int)(t >> 32) == 77)
        q = 3;
    if ((unsigned)q % 1000u == 999u)
        t = -1;
    /* In halves: not every C library of boards prints %lld. */
    printf("%x %x %d %u\n", (unsigned)(q >> 32), (unsigned)q, (int)(t >> 32), (unsigned)t);
    return 0;
}
