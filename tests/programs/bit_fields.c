/* bytes: 1; constructs: bit-fields of every type, sign and width, packed, unnamed, of width 0, in unions, in anonymous members, volatile ones, of structs of a function; ++, op=, values of assignments, initialisers, copies, arrays, results and arguments; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

enum mode { OFF, SLOW, FAST = 5 };

struct control {
    unsigned enable : 1, : 2, speed : 3;
    int trim : 5;
    enum mode mode : 3;
    _Bool error : 1;
    unsigned char : 0;
    uint8_t channel : 7;
    signed char offset : 4;
    unsigned short period : 11;
    unsigned : 0;
    long last : 9;
    int32_t whole : 32;
    unsigned long long : 0;
    unsigned long long serial : 64;
};

struct __attribute__((packed)) wire {
    unsigned char tag;
    unsigned length : 12, kind : 4;
    uint32_t stamp : 24;
    long long skew : 22;
    unsigned end : 7;
};

struct tail {
    char name[3];
    union {
        struct {
            uint8_t low : 4, high : 4;
        };
        uint8_t both;
    };
    int sign : 1;
};

union reg {
    uint32_t word;
    struct {
        uint32_t ready : 1, : 3, level : 4, count : 10, top : 14;
    } bits;
};

struct __attribute__((packed)) three {
    uint32_t all : 24; /* no 1, 2, 4 or 8 bytes of three hold it */
};

static struct control control, saved[2];
static struct wire wire;
static union reg reg;
static volatile struct {
    unsigned go : 1, step : 6;
} device;

static int narrow(unsigned char x)
{
    struct control *c = &control;
    c->enable = x;
    c->speed = x >> 1;
    c->trim = x;
    c->error = x & 64;
    if (c->speed == 6)
        return c->trim;
    if (c->trim < -13)
        return c->enable;
    if (c->error && !c->enable)
        return -c->trim;
    return c->speed << 4;
}

static int stepped(unsigned char x)
{
    struct control c = { .speed = x, .offset = x, .period = x * 9 };
    int a = c.speed++, b = --c.offset, d = (c.period += x);
    if (a == 7)
        return c.speed * 10 + b;
    if (b == 7)
        return c.offset - d;
    if (d > 2030)
        return d;
    if ((c.channel = x * 3) > 120)
        return c.channel;
    if ((c.trim = x ^ 21) == -1)
        return c.trim - 100;
    c.whole = ~x;
    c.serial = (unsigned long long)x << 40 | x;
    c.serial <<= 1;
    return c.serial >> 40 == 300 ? 1 : (int)c.whole + (c.error = x);
}

static int packed(unsigned char x)
{
    struct wire *w = &wire;
    w->tag = x;
    w->length = x * 17;
    w->kind = x;
    w->stamp = 0x10000 * x + x;
    w->skew = -(x * 256L);
    w->end = w->kind * w->kind;
    if (w->length == 17 * 17)
        return w->kind;
    if ((uint32_t)w->stamp == 0x190019)
        return (int)(w->stamp);
    if ((long)w->skew == -6400 - 256)
        return (int)w->skew;
    if (w->end == 121)
        return w->end;
    return w->tag;
}

static int inside(unsigned char x)
{
    struct tail t = { "ab", { { .low = x, .high = x >> 3 } }, x }, u = t;
    union reg *r = &reg;
    u.both ^= 0x50;
    r->word = x * 0x01010101u;
    r->bits.level += 1;
    if (t.both == 0xb3)
        return t.low;
    if (u.high == 9)
        return u.low;
    if (t.sign != 0 && t.low == 13)
        return t.sign;
    if (r->bits.count == 0x285)
        return r->bits.top;
    if (r->bits.level == 0)
        return r->word & 0xffff;
    return r->bits.ready;
}

static struct control made(unsigned char x, enum mode mode)
{
    struct control c = { 0 };
    c.mode = mode;
    c.channel = x;
    c.last = -x;
    return c;
}

static int sum(struct control c)
{
    return c.mode + c.channel + c.last;
}

static int copied(unsigned char x)
{
    const struct control fixed = { 1, 3, .trim = -4 };
    struct control *c = saved;
    c[0] = made(x, FAST);
    c[1] = *c;
    c[0].last += 3;
    c[1].mode = x;
    if (saved[0].last == -100)
        return sum(saved[1]);
    if (saved[1].mode == FAST)
        return sum(saved[0]);
    if (saved[0].channel == 9)
        return sum(fixed) + fixed.trim;
    return c[1].channel;
}

static int local(unsigned char x)
{
    struct here {
        char first;
        unsigned low : 5;
        int high : 6;
    } h = { 1, x, x >> 2 };
    struct {
        struct {
            unsigned a : 2, b : 7;
        } in;
        unsigned c : 3;
    } s[2] = { { { x, 5 }, x } }, *p = s + 1;
    p->in.b = x;
    p->in.a = s->c;
    switch (h.low) {
    case 3:
        return h.high;
    case 17:
        return h.first;
    }
    if (h.high == -3)
        return s->in.a;
    if (-1 < (x > 240 ? h.low : h.high)) /* as int, not as unsigned */
        return 55;
    if (p->in.b == 99)
        return p->in.a;
    return s->c;
}

static int alone(unsigned char x)
{
    int got = (device.step = 9) + device.step;
    device.go = 1;
    device.step -= 2;
    return x == 77 ? got + device.go : device.step;
}

int main(void)
{
    unsigned char x;
    struct three three = { 5 };
    int a, b, c, d, e, f, g;
    SYM_U8(x);
    a = narrow(x);
    b = stepped(x);
    c = packed(x);
    d = inside(x);
    e = copied(x);
    f = local(x);
    g = alone(x);
    three.all += 3;
    printf("%d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g, (int)three.all);
    return 0;
}
