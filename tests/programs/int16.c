/* bytes: 1; constructs: what differs where int has 16 bits: products and shifts that wrap, promotion of unsigned short to unsigned int, literals that are long, comparisons of mixed width; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

enum large { SMALL = 3, LARGE = 40000 };

static uint32_t widened(uint16_t a, int16_t s)
{
    uint32_t u = a + 0xFFFFu;  /* wraps in 16 bits, or does not */
    if (a * a == 0x4000) u++;
    if (s * s < 0) u += 2;     /* where 200 * 200 is negative */
    if ((uint16_t)(a << 1) >> 1 != a) u += 4;
    return u;
}

static int mixed(unsigned short a, short s, long l)
{
    int n = 0;
    if (a > -1) n++;           /* unsigned short becomes unsigned int, or int */
    if (s < 40000) n += 2;     /* 40000 is long there: always true */
    if (s < 0x9C40) n += 4;    /* 0x9C40 is unsigned int there: not for negative s */
    if (l == (s | 0x8000)) n += 8;
    if (-s > 0x7FFFL) n += 16; /* -(-32768) */
    return n;
}

static int shifts(uint8_t b, int16_t s)
{
    int n = 0;
    if ((b << 8) < 0) n++;
    if (((unsigned)b << 8 ^ 0x8000u) > 0xF000u) n += 2;
    if (s >> 15 == -1) n += 4;
    if ((1 << (b & 15)) < 0) n += 8;
    if (~b == (int)0xFF00) n += 16;
    if ((uint32_t)b << 15 > 0x10000) n += 32;
    return n;
}

static int choose(uint8_t b, unsigned a)
{
    enum large e = b & 1 ? LARGE : SMALL;
    long l = b & 2 ? -1 : (long)a;
    if (e == LARGE && (b & 2 ? -1 : a) > 0xFFFFL) return 1; /* the -1 is unsigned int's largest value */
    if (l < 0) return 2;
    return e < SMALL + 1 ? 3 : 4;
}

int main(void)
{
    uint8_t b;
    uint16_t a;
    int16_t s;
    SYM_U8(b);
    a = (uint16_t)(b << 8 | (b ^ 0x80));
    s = (int16_t)a;
    printf("%lu %d", (unsigned long)widened(a, (int16_t)(b - 20)), mixed(a, s, (long)s));
    printf(" %d %d %d\n", shifts(b, s), choose(b, a), (int)(sizeof(int) * 65537L % 100));
    switch (a) {
    case 0x8000: return 1;
    case 0x7FFF: return 2;
    case 40000 + 105: return 3;
    }
    return s == INT16_MIN || a == (uint16_t)-0x0180 ? 4 : 0;
}
