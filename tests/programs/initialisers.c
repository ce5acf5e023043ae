/* bytes: 1; constructs: automatic objects with initialisers that are not constant: designators, ranges, elided and nested braces, anonymous members, unnamed bit-fields, unions, const members, strings in braces, compound literals, what overrides what, order of evaluation; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include <wchar.h>
#include "score.h"

struct point {
    int x, y;
};

struct segment {
    struct point from, to;
    int weight;
};

struct frame {
    union {
        struct {
            unsigned char low, high;
        };
        unsigned short word;
    };
    char name[4];
};

struct flags {
    int a : 3;
    int : 5;
    unsigned b : 4;
    int : 0;
    int c : 6;
};

struct fixed {
    const int key;
    const char *const name;
    const int limits[2];
    const struct point at;
};

union reg {
    unsigned int word;
    struct {
        unsigned int enable : 1, : 3, mode : 4;
    } bits;
    unsigned char bytes[4];
};

static int calls;

static int next(void)
{
    return ++calls;
}

static struct point diagonal(int v)
{
    struct point p = { v, .y = v };
    return p;
}

static int elided(unsigned char x)
{
    struct segment s = { x, 1, 2, 3, x };
    struct segment t[] = { { { x, 1 }, 2 }, 3, x, 5, 6, 7, { diagonal(x), 8, 9, 10 } };
    int grid[][2] = { 1, x, 3 };
    if (s.weight == 7)
        return s.to.y;
    if (t[1].from.y == 9)
        return t[0].to.x + t[2].from.y + t[2].to.y;
    if (grid[1][0] + grid[0][1] == 14)
        return sizeof grid / sizeof grid[0];
    return sizeof t / sizeof t[0];
}

static int designated(unsigned char x)
{
    int a[] = { [2] = x, 5, [1 ... 2] = 4, [7] = x };
    struct segment s = { .to.x = x, 2, 3, .from = { .y = 1 } };
    struct segment t[4] = { [1 ... 2].to = { x, 6 }, 9, [0 ... 0].from.x = 3 };
    struct point over = { .x = next(), .y = x, .x = 7 };
    struct segment reset = { .from.y = 9, .from = { x } };
    if (a[7] == 10)
        return a[1] * 100 + a[3] * 10 + a[0];
    if (s.to.x == 11)
        return s.to.y * 10 + s.weight;
    if (t[2].to.x == 12)
        return t[1].weight * 100 + t[2].weight * 10 + t[3].to.y;
    if (over.y == 13)
        return over.x * 10 + calls;
    if (reset.from.x == 14)
        return reset.from.y;
    return sizeof a / sizeof a[0];
}

static int members(unsigned char x)
{
    struct frame f = { { { x, 4 } }, { "abc" } };
    struct frame g = { .high = x, .low = 2, .name = { 'p', x } };
    struct flags h = { next(), 5, next() }, i = { .c = next(), .b = 3 };
    union reg r = { .bits = { 1, calls + 1 } }, q = { .bytes = { [1] = x } };
    const struct fixed c = { x, "c", { x, 3 }, { .y = x } };
    struct fixed d[2] = { [1] = c, [0].at = diagonal(x), [0].key = x + 1 };
    if (f.low == 20)
        return f.high * 10 + f.name[2];
    if (g.high == 21)
        return g.low * 100 + g.name[1] + g.name[3];
    if (q.bytes[1] == 69)
        return r.bits.enable * 10 + r.bits.mode;
    if (c.key == 22)
        return c.limits[1] + c.at.y;
    if (d[0].at.y == 23)
        return d[0].key + d[1].limits[0] + d[1].name[0];
    return h.a * 1000 + h.b * 100 + h.c * 10 + i.a + i.b + i.c + f.name[3];
}

static int literals(unsigned char x)
{
    int *p = (int[]){ x, 2, 3 };
    struct segment *s = &(struct segment){ .to = (struct point){ x, 1 }, 4 };
    char text[] = { "hey" }, words[][4] = { "a", { "bc" }, { x, 'd' } };
    wchar_t wide[] = L"xy", two[][3] = { L"p", { x } };
    const char *prefixed = u8"z";
    if (p[0] == 30)
        return sizeof((int[]){ 1, 2, 3 }) / sizeof(int) + p[2];
    if (s->to.x == 31)
        return s->weight + s->to.y;
    if (words[2][0] == 32)
        return text[2] + words[1][1] + words[2][1] + (int)sizeof text;
    if (two[1][0] == 33)
        return wide[1] + two[0][0] + (int)(sizeof wide / sizeof wide[0]) + L"mn"[1] + prefixed[0];
    return *&(int){ x };
}

static int ordered(unsigned char x)
{
    struct point p = { .y = next(), .x = next() };
    int a[4] = { [3] = next(), [0 ... 1] = next() };
    struct point t[3] = { [0 ... 1] = { next(), x }, [2].y = next() };
    struct point copies[3] = { [0 ... 1] = diagonal(next()), [1] = { x } };
    if (p.x + t[1].y == 40)
        return p.y * 10 + a[3];
    if (copies[1].x == 41)
        return a[1] * 100 + t[0].x * 10 + t[1].x + t[2].y + copies[0].y;
    return copies[1].y;
}

int main(void)
{
    unsigned char x;
    int a, b, c, d, e;
    SYM_U8(x);
    a = elided(x);
    b = designated(x);
    c = members(x);
    d = literals(x);
    e = ordered(x);
    printf("%d %d %d %d %d %d\n", a, b, c, d, e, calls);
    return 0;
}
