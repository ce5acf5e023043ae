/* bytes: 1; constructs: comparisons of one and two operands of every width and sign with constants on both sides, at the limits of 16 bits, null pointers, booleans, enumerators; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

enum colour { RED = -3, GREEN, BLUE = 70000 };
enum small { FEW = 1, MANY = 200 };

static signed char c_low;
static unsigned short s_high;
static long long wide;
static unsigned long long uwide;
static int *pointers[2];
static int object;
static long count;

static void note(int *sum, int bit)
{
    *sum = *sum * 2 + bit;
}

static int against_constants(unsigned char a)
{
    int sum = 1, i = (signed char)a * 300;
    unsigned u = a * 300u;
    short s = (short)i;
    unsigned short us = (unsigned short)u;
    if (i < -32768) note(&sum, 1);
    if (-32769 < i) note(&sum, 1);
    if (i <= 32767) note(&sum, 1);
    if (i == 32768) note(&sum, 1);
    if (i >= -300) note(&sum, 1);
    if (-300 > s) note(&sum, 1);
    if (u < 65535) note(&sum, 1);
    if (u > 65536u) note(&sum, 1);
    if (300u * 2 == u) note(&sum, 1);
    if (u != -1u) note(&sum, 1);
    if (us >= 0xFFD4) note(&sum, 1);
    if ((signed char)us == -44) note(&sum, 1);
    if (!s) note(&sum, 1);
    return sum;
}

static int in_memory(unsigned char a)
{
    int sum = 1;
    long l;
    c_low = (signed char)a;
    s_high = (unsigned short)(a << 8);
    wide = (long long)c_low << 30;
    uwide = (unsigned long long)wide;
    count = c_low;
    l = count;
    if (c_low < 0) note(&sum, 1);
    if (-128 == c_low) note(&sum, 1);
    if (c_low == 255) note(&sum, 1);
    if (s_high > 0x7FFF) note(&sum, 1);
    if (0xFF00 <= s_high) note(&sum, 1);
    if ((short)s_high < -256) note(&sum, 1);
    if (wide < 0) note(&sum, 1);
    if (wide == (1LL << 30)) note(&sum, 1);
    if (uwide > 5) note(&sum, 1);
    if (l <= -1) note(&sum, 1);
    if (count == 7) note(&sum, 1);
    return sum;
}

static int of_two(unsigned char a, signed char b)
{
    int sum = 1, i = b;
    unsigned u = (unsigned)b;
    long l = b;
    unsigned long ul = a;
    long long w = b, v = a;
    enum colour hue = a & 1 ? RED : a & 2 ? GREEN : BLUE;
    enum small amount = a & 4 ? MANY : FEW;
    _Bool flag = a;
    if (a == b) note(&sum, 1);
    if (i < a) note(&sum, 1);
    if (u < a) note(&sum, 1);
    if (u <= (unsigned)i) note(&sum, 1);
    if (l < i) note(&sum, 1);
    if (ul > (unsigned long)l) note(&sum, 1);
    if (w < v) note(&sum, 1);
    if (w != l) note(&sum, 1);
    if ((unsigned char)i == a) note(&sum, 1);
    if ((short)u < (short)a) note(&sum, 1);
    if (hue < GREEN) note(&sum, 1);
    if (hue == BLUE) note(&sum, 1);
    if (amount > FEW) note(&sum, 1);
    if (flag) note(&sum, 1);
    if (flag == a) note(&sum, 1);
    return sum;
}

static int of_pointers(unsigned char a)
{
    int sum = 1, *p = a & 1 ? &object : 0, *q;
    pointers[a >> 7 ? 1 : 0] = p;
    q = pointers[1];
    if (p == NULL) note(&sum, 1);
    if (p) note(&sum, 1);
    if (NULL != q) note(&sum, 1);
    if (pointers[0] == (void *)0) note(&sum, 1);
    if (p == q) note(&sum, 1);
    if ((char *)p == (char *)&object) note(&sum, 1);
    if ((__UINTPTR_TYPE__)a * 16 > 0x800) note(&sum, 1);
    return sum;
}

int main(void)
{
    unsigned char a;
    int r;
    SYM_U8(a);
    r = against_constants(a);
    printf("%d ", r);
    r = in_memory(a);
    printf("%d ", r);
    r = of_two(a, (signed char)(a ^ 5));
    printf("%d ", r);
    r = of_pointers(a);
    printf("%d\n", r);
    return 0;
}
