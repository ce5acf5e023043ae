/* bytes: 2; constructs: ?: nested, with calls, mixed types, as argument, with omitted middle; grouped-labels: no; folded-conditional: yes */
#include <stdio.h>
#include "score.h"

static int twice(int v) { return v > 50 ? v * 2 : v; }

int main(void)
{
    unsigned char a, b;
    int m, n;
    long l;
    SYM_U8(a);
    SYM_U8(b);
    m = a < b ? a : b;
    n = a > 100 ? b > 100 ? 3 : 2 : 1;
    l = b ? (signed char)-1 : 3L;
    m += twice(m == n ? a : b);
    n = (a & 8) ?: b;
    m > 90 ? (n += 5) : (n -= twice(a));
    printf("%d %d %ld\n", m, n, l);
    return 0;
}
