/* bytes: 2; constructs: function pointers: table, parameter, member, comparison, call through a conditional; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

typedef int (*operation)(int, int);

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a > b ? a - b : b - a; }
static int mul(int a, int b) { return a * b; }

static const operation table[] = { add, sub, mul };

struct engine {
    operation run;
    int (*check)(int);
};

static int small(int v) { return v < 10; }
static int even(int v)
{
    if (v & 1)
        return 0;
    return 1;
}

static int apply(operation f, int a, int b) { return (*f)(a, b); }

int main(void)
{
    struct engine e;
    unsigned char a, b;
    int r, i;
    SYM_U8(a);
    SYM_U8(b);
    e.run = add;
    e.check = small;
    if (a == b)
        e.run = mul;
    else if (a > 240)
        e.run = &sub;
    if (b > 99)
        e.check = even;
    r = e.run(a, b);
    if (e.check(r))
        r += 1000;
    for (i = 0; i < 3; i++)
        if (apply(table[i], a, 2) == 24)
            r += i;
    if (e.run != mul && (r == 7 ? add : sub)(r, 1) == 300)
        r = 0;
    printf("%d\n", r);
    return 0;
}
