/* bytes: 2; constructs: structs as by-value parameters and results, small and large, chained calls; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

struct small {
    unsigned char a, b;
};

struct large {
    int v[6];
    struct small s;
};

static struct small flip(struct small s)
{
    struct small r;
    r.a = s.b;
    r.b = s.a;
    if (r.a > r.b)
        r.b++;
    return r;
}

static struct large widen(struct small s, int scale)
{
    struct large l = { { 0 }, { 0, 0 } };
    l.v[1] = s.a * scale;
    l.v[5] = s.b;
    l.s = s;
    return l;
}

static int weigh(int before, struct large l, struct small s)
{
    if (l.v[1] > 400)
        return before + s.a;
    l.v[5] += 100;
    return l.v[5];
}

int main(void)
{
    struct small s;
    struct large l;
    SYM_U8(s.a);
    SYM_U8(s.b);
    s = flip(flip(s));
    l = widen(s, 3);
    if (weigh(1, l, flip(s)) == 120)
        l.v[0] = 1;
    if (widen(l.s, 2).v[1] == 84)
        l.v[0] += 2;
    printf("%d %d %d\n", l.v[0], l.v[5], s.a);
    return 0;
}
