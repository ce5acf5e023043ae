/* bytes: 2; constructs: definitions used later in a basic block: redefined operands, aliasing stores, volatile reads, calls and copies in between, uses on both sides of a branch, loops, switch, 64-bit slots; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

struct pair { unsigned char low; unsigned short high; };

static unsigned char memory[4], other;
static unsigned counter;
static volatile unsigned char port;

static int redefined(int x)
{
    int y = x, z = y + 1, kept;
    y = 3; /* z's operand is gone before z is used */
    if (z > 100)
        return y;
    x = x + 1;
    z = x;
    x = x + z;
    kept = x;
    x = 7;
    if (kept == 21)
        return x + z;
    return kept; /* used on the other side only */
}

static int aliasing(unsigned char *p, unsigned char *q)
{
    int before = *p, after, sum;
    *q = 9; /* may be *p */
    after = *p;
    sum = before + after;
    if (before > 7)
        sum += 100;
    if (after == 9)
        sum += 1000;
    counter = counter + 1; /* can be nobody's */
    if (sum == 1021)
        return 1;
    return sum & 3;
}

static int named(int x)
{
    int was = counter, is;
    counter = (unsigned)x; /* the variable itself */
    is = (int)counter;
    if (was < is)
        return was;
    return is - was;
}

static int moved(unsigned char from, int to)
{
    unsigned char local = from;
    int second = to, third = second;
    second = local;
    if (second > third)
        return third;
    return local;
}

static int volatiles(unsigned char x)
{
    int one, two;
    port = x;
    one = port;
    two = port;
    port = 1;
    if (one == two && one > 4)
        return one & 1;
    return port;
}

static int called(unsigned char *p)
{
    int old = *p, result = aliasing(p, &other), copied = result;
    if (old == copied)
        return 5;
    old = moved(*p, old);
    result = moved((unsigned char)old, 3);
    copied = result;
    result = 4;
    return copied == 2 ? result : copied;
}

static int looped(unsigned char n)
{
    int i = 0, last = 0, sum = 0;
    while (i < 4) {
        int step = n + last;
        last = i;
        i++;
        if (step > 250)
            sum++;
        n += 3;
    }
    do {
        last = n & 1;
        n >>= 1;
    } while (last);
    return sum + n;
}

static int switched(unsigned char x)
{
    int half = x >> 1, kind = half & 3;
    half = kind; /* kept for after the switch */
    switch (kind) {
    case 0:
        kind = x;
        break;
    case 2:
        half++;
    case 3:
        kind = half;
    }
    return kind == 3 ? half : kind & 1;
}

static long long wide(unsigned char a, unsigned char b)
{
    unsigned long long big = (unsigned long long)a << 32 | b, same = big, sum = big + same;
    unsigned part;
    big = 1;
    if (sum > 0x3000000000ull)
        return (long long)(same >> 33);
    part = (unsigned)(same >> 32) + (unsigned)same;
    if (part == 77)
        return -1;
    return (long long)big;
}

static int partly(unsigned char a)
{
    struct pair one, two;
    union { unsigned whole; unsigned char byte[4]; } u;
    unsigned value, shifted;
    u.whole = 0x01020304;
    u.byte[1] = a; /* one byte of four */
    value = u.whole;
    shifted = value >> 8;
    value = 0;
    if (shifted == 0x00010230)
        return 1;
    one.low = a;
    one.high = (unsigned short)(u.whole >> 4);
    value = one.high;
    two = one;
    one.high = 2;
    return (value > two.low * 3u) + (one.high == 2);
}

static int comma(int x, int y)
{
    int a, b, c;
    a = (b = x, b + y);
    c = b++ + (a > 9);
    a = b;
    b = c;
    c = a;
    return a == c && b != 12 ? b > 30 : a;
}

static int never_symbolic(int n, int x)
{
    int v = n * 3; /* a value, not a formula: the next statement changes it */
    v += x;
    if (v == 9)
        return 100;
    return v;
}

int main(void)
{
    unsigned char a, b;
    int r;
    SYM_U8(a);
    SYM_U8(b);
    switch (b & 7) {
    case 0: r = redefined(a); break;
    case 1: memory[0] = a; r = aliasing(memory, b & 128 ? memory + 1 : memory); break;
    case 2: r = moved(a, b) + named(a & 1); break;
    case 3: r = volatiles(a) + switched(b); break;
    case 4: memory[1] = a; r = called(memory + 1) + never_symbolic(2, a); break;
    case 5: r = looped(a); break;
    case 6: r = (int)wide(a, b) + partly(b); break;
    default: r = comma(a, b) + partly(a); break;
    }
    printf("%d\n", r);
    return 0;
}
