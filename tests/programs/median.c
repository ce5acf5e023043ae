/* bytes: 3; constructs: three symbolic bytes, sorting network, min and max; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static void order(unsigned char *a, unsigned char *b)
{
    if (*a > *b) {
        unsigned char t = *a;
        *a = *b;
        *b = t;
    }
}

int main(void)
{
    unsigned char v[3];
    SYM_BYTES(v, 3);
    order(&v[0], &v[1]);
    order(&v[1], &v[2]);
    order(&v[0], &v[1]);
    if (v[1] == 128)
        v[0] = 0;
    printf("%d %d %d\n", v[0], v[1], v[2]);
    return 0;
}
