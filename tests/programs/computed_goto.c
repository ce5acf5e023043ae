/* bytes: 1; constructs: computed goto over tables of labels and of distances, label addresses kept; grouped-labels: yes; folded-conditional: no */
#include <stdio.h>
#include "score.h"

/* A small machine with threaded code. */
static int run(const unsigned char *code, int n)
{
    static void *const table[] = { &&stop, &&add, &&shift, &&jump };
    int sum = 1, at = 0;
    void *after;
    goto *table[code[at] & 3];
add:
    sum += 5;
    at++;
    after = &&shift;
    if (sum > 8)
        goto *after;
    goto *table[code[at] & 3];
shift:
    sum <<= 1;
    if (++at < n)
        goto *table[code[at] & 3];
stop:
    return sum;
jump:
    at = n - 1;
    sum += 100;
    goto *table[code[at] & 2];
}

static int distances(unsigned char x)
{
#ifdef __AVR__ /* its labels count words, their distances bytes */
    static void *const place[] = { &&one, &&two, &&three };
    if (x > 2)
        return 0;
    goto *place[x];
#else
    static const int offset[] = { &&one - &&one, &&two - &&one, &&three - &&one };
    if (x > 2)
        return 0;
    goto *(&&one + offset[x]);
#endif
one:
    return 10;
two:
    return 20;
three:
    return 30;
}

int main(void)
{
    unsigned char x, code[4];
    SYM_U8(x);
    code[0] = x & 3;
    code[1] = x >> 2 & 3;
    code[2] = x >> 4 & 3;
    code[3] = 0;
    printf("%d %d\n", run(code, 3), distances(x >> 6));
    return 0;
}
