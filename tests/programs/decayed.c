/* bytes: 2; constructs: elements of arrays by address arithmetic, read and stored where no pointer was ever kept; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static unsigned char table[4] = {3, 1, 4, 1};

int main(void)
{
    unsigned char in[2], local[2][3] = {{1, 2, 3}, {4, 5, 6}};
    unsigned n, m;
    SYM_BYTES(in, 2);
    n = in[0];
    m = in[1] & 1;
    if (n > 2)
        return 1;
    if (*(table + n) == 4)
        printf("four\n");
    *(n + table) = 9;
    if (table[1] == 9)
        printf("stored\n");
    if (*(*(local + m) + n) == 6)
        printf("six\n");
    (local[m] + 1)[0] = 7;
    if (local[1][1] == 7)
        printf("row\n");
    return 0;
}
