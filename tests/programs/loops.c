/* bytes: 1; constructs: while, do, for, break, continue, nested loops bounded by input, comma in for; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned char a;
    int i, j, steps = 0;
    unsigned v;
    SYM_U8(a);
    v = a;
    while (v > 1 && steps < 20) {
        if (v % 2 == 0) {
            v /= 2;
            steps++;
            continue;
        }
        v = 3 * v + 1;
        if (++steps > 15)
            break;
    }
    do
        steps += 2;
    while (steps < (a >> 5));
    for (i = 0, j = 7; i < j; i++, j--) {
        if ((a >> i & 1) != (a >> j & 1))
            break;
    }
    for (;;) {
        if (i++ == 6)
            break;
    }
    printf("%d %d %u\n", steps, j, v);
    return 0;
}
