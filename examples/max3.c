/* The largest of three integers: the example of the SCORE paper, with the else half written out too. */
#include <stdio.h>

#include "score.h"

int main(void)
{
    int x, y, z, max;

    SYM_INT(x);
    SYM_INT(y);
    SYM_INT(z);
    if (x >= y) {
        if (y >= z)
            max = x;
        else if (x >= z)
            max = x;
        else
            max = z;
    } else {
        if (x >= z)
            max = y;
        else if (y >= z)
            max = y;
        else
            max = z;
    }
    printf("largest: %d\n", max);
    return 0;
}
