/* bytes: 1; constructs: switch with break, default in the middle, fall-through, switch on char and long; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    signed char c;
    int r = 0;
    SYM_I8(c);
    switch (c) {
    case -5:
        r = 1;
        /* fall through */
    case 10:
        r += 2;
        break;
    default:
        r = 4;
        break;
    case 'x':
        r = 8;
        /* fall through */
    case 127:
        r += 16;
    }
    switch ((long)c * 2) {
    case -256:
        r += 100;
        break;
    case 20:
        r += 200;
        break;
    }
    switch (c & 3)
    case 2:
        r = -r;
    printf("%d\n", r);
    return 0;
}
