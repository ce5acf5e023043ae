/* bytes: 1; constructs: comma operator, side effects in conditions, assignment as value, chained assignment; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned char a;
    int x, y, z;
    short s;
    SYM_U8(a);
    x = (y = a, y += 3, y * 2);
    s = z = x - 100;
    if (z++, z > 200)
        y = (x++, 5);
    if ((s = (short)(a << 8)) < 0)
        z = s;
    if ((x = y) == 5 || (x = a & 0x70) == 0x30)
        z += x;
    x = y = z = (signed char)a;
    if (x == -1)
        y = 9;
    printf("%d %d %d %d\n", x, y, z, s);
    return 0;
}
