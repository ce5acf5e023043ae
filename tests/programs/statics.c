/* bytes: 2; constructs: static locals, static and extern globals, initialisers, state across calls; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static unsigned char history[4] = { 1, 2, 3, 4 };
int shared = 10;
extern int shared;

static int feed(int v)
{
    static int last = -1, changes;
    static unsigned char *slot = history;
    if (v != last)
        changes++;
    last = v;
    *slot++ = (unsigned char)v;
    if (slot == history + 4)
        slot = history;
    return changes;
}

int main(void)
{
    unsigned char a, b;
    int n;
    SYM_U8(a);
    SYM_U8(b);
    feed(a);
    feed(b);
    feed(a);
    n = feed(17);
    if (history[1] == history[3])
        shared += 5;
    if (history[0] > 200 && n == 2)
        shared = 0;
    printf("%d %d\n", n, shared);
    return 0;
}
