/* bytes: 2; constructs: arrays of char, short and int, two dimensions, initialisers, loops, SYM_BYTES; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static const short weights[2][3] = { { 1, 2, 3 }, { 4, [2] = 6 } };

int main(void)
{
    unsigned char in[2];
    int grid[2][3];
    int row, column, sum = 0;
    char text[] = "score";
    SYM_BYTES(in, sizeof in);
    for (row = 0; row < 2; row++)
        for (column = 0; column < 3; column++)
            grid[row][column] = weights[row][column] * in[row];
    for (row = 1; row >= 0; row--) {
        column = 0;
        while (column < 3) {
            if (grid[row][column] > 500)
                sum += column + 1;
            column += 2;
        }
    }
    if (in[0] == text[0])
        sum += sizeof text;
    if (in[1] == in[0])
        sum = -sum;
    printf("%d\n", sum);
    return 0;
}
