/* Bubble sort of six ints: 720 paths and the order of ties, all decided by comparisons of unknowns. */
#include <stdio.h>

#include "score.h"

enum { COUNT = 6 };

int main(void)
{
    int values[COUNT];
    unsigned swaps = 0;

    SYM_BYTES(values, sizeof values);
    for (int end = COUNT - 1; end > 0; end--)
        for (int i = 0; i < end; i++)
            if (values[i] > values[i + 1]) {
                int larger = values[i];

                values[i] = values[i + 1];
                values[i + 1] = larger;
                swaps++;
            }
    printf("%u swaps\n", swaps);
    return 0;
}
