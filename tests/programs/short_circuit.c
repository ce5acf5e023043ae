/* bytes: 2; constructs: && and || with side effects, nested, as values, ! of them; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static int calls;

static int touch(int v)
{
    calls++;
    return v;
}

int main(void)
{
    unsigned char a, b;
    int r, s;
    SYM_U8(a);
    SYM_U8(b);
    r = a > 10 && touch(b > 20);
    s = touch(a == 5) || b < 3;
    if (!(r || s) && (a & 1))
        r = 4;
    if ((a > 100 && b > 100) || (a == b && !touch(s)))
        s += 2;
    while (a > 250 && b++ < 3)
        calls += 10;
    printf("%d %d %d\n", r, s, calls);
    return 0;
}
