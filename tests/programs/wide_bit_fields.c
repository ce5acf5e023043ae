/* bytes: 1; constructs: bit-fields wider than int: arithmetic of exactly their width, comparisons, casts, assignments, initialisers, arguments, results, conditions, ++ and op=; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

struct wide {
    long long a : 40;
    unsigned long long b : 50;
    unsigned long long c : 33;
    long long d : 57;
};

struct __attribute__((packed)) tight {
    unsigned char tag : 3;
    long long a : 40;
    unsigned long long b : 45;
};

static struct wide global;

static long long get(const struct wide *p)
{
    return p->a;
}

static unsigned half(unsigned v)
{
    return v / 2;
}

static int changed(unsigned char x)
{
    struct wide *p = &global;
    long long v;
    unsigned long long w = 0;
    p->a = -(long long)x << 32;
    p->b = ~0ull;
    p->c = x;
    p->a += x;
    p->a <<= 1;
    p->b -= x;
    p->b >>= 3;
    ++p->c;
    p->c ^= -1;
    p->a *= -3;
    p->d = get(p);
    v = p->d;
    w = p->b;
    if (v == 100 * 6 * 0xffffffffll)
        return 1;
    if (w == (0x3ffffffffff00ull >> 3))
        return 2;
    if ((long)p->c == -12)
        return 3;
    return half(p->c) + (int)get(p);
}

/* In gcc such a field is a type of its own, of so many bits. */
static int computed(unsigned char x)
{
    struct wide s = { x, x, ~0ull, -1 };
    int r = 0;
    if (s.b - 100 > 1000)
        r |= 1;
    if ((s.a << 32) < 0)
        r |= 2;
    if (s.c + 1 == 0)
        r |= 4;
    if (-s.b == 0x3ffffffffff38)
        r |= 8;
    if (((x & 1 ? s.a : 7) << 36) < 0)
        r |= 1024;
    if ((x & 1 ? s.a : 7) == 9)
        r |= 16;
    if ((s.c = x * 3) == 30)
        r |= 32;
    if (s.a++ == 13)
        r |= 64;
    if (s.c > -1 || s.d > s.c)
        r |= 128;
    if (~s.c == 0x1ffffffc3 || !s.b)
        r |= 256;
    s.a = s.a * s.a * 0x1000193;
    s.a /= 3;
    s.b %= 7;
    if ((s.a & 0xff) + s.b == 0x80)
        r |= 512;
    return r;
}

static int tightly(unsigned char x)
{
    struct tight t = { x, (long long)x << 32, x }, u = t;
    long long v = u.a;
    u.b |= 1ull << 44;
    u.tag--;
    if (t.a && t.tag == 5)
        return (int)(v >> 30);
    if (!t.a)
        return -1;
    if ((int)u.b == 200)
        return (int)((unsigned long long)u.b >> 40);
    return u.tag;
}

int main(void)
{
    unsigned char x;
    int a, b;
    SYM_U8(x);
    a = changed(x);
    b = tightly(x);
    printf("%d\n", computed(x));
    printf("%d %d %x %x %x\n", a, b, (unsigned)global.a, (unsigned)((long long)global.a >> 20), (unsigned)global.b);
    return 0;
}
