/* Binary search of a symbolic key over sixteen ints. */
#include <stdio.h>

#include "score.h"

static const int table[16] = {-90000, -4711, -300, -42, -7, -1, 0, 3, 8, 21, 100, 255, 1024, 65536, 99999, 2000000};

int main(void)
{
    int key, low = 0, high = 15, found = -1;

    SYM_INT(key);
    while (low <= high && found < 0) {
        int middle = (low + high) / 2;

        if (table[middle] == key)
            found = middle;
        else if (table[middle] < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    printf("%d\n", found);
    return 0;
}
