/* bytes: 2; constructs: builtins that swap bytes and count bits, of all widths, and the order of bytes of networks; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static int counted(unsigned long long wide, unsigned x)
{
    int n = __builtin_popcount(x) + 2 * __builtin_popcountll(wide) + 4 * __builtin_parity(x) + 8 * __builtin_ffs((int)x);
    if (x)
        n += 256 * __builtin_clz(x) + 16 * __builtin_ctz(x);
    return n + __builtin_clzll(wide | 1) + __builtin_ctzl((unsigned long)wide | 0x8000) + __builtin_ffsll((long long)wide);
}

int main(void)
{
    unsigned char b[2];
    unsigned short s;
    unsigned long w;
    SYM_BYTES(b, 2);
    s = __builtin_bswap16((unsigned short)(b[0] << 8 | b[1]));
    w = __builtin_bswap32((unsigned long)s << 8 | 3);
    if (s == 0x0241)
        printf("swapped\n");
    if (w == 0x03410200)
        printf("again\n");
    if (__builtin_bswap64(b[0]) >> 56 == 7)
        printf("wide\n");
    if (__builtin_popcount(b[0]) == 7)
        printf("ones\n");
    if (b[1] && __builtin_ctz(b[1]) == 5)
        printf("trailing\n");
    printf("%d %04x %08lx\n", counted((unsigned long long)s << 40 | b[0], s), s, w);
    return 0;
}
