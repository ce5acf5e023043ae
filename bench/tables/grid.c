/* bench: 12; small: 2; structs copied at a symbolic index, from a table of rows and into one */
#include <stdint.h>

#include "score.h"

struct cell {
    uint8_t kind, cost;
    int16_t height;
};

static const struct cell grid[2][4] = {
    {{1, 3, 100}, {2, 1, -20}, {1, 7, 30}, {3, 2, 0}},
    {{2, 5, 50}, {1, 1, 10}, {3, 9, -100}, {2, 4, 70}},
};
static struct cell taken[4];

int main(void)
{
    uint8_t moves[SIZE];
    unsigned cost = 0, hills = 0;

    SYM_BYTES(moves, SIZE);
    for (unsigned i = 0; i < SIZE; i++) {
        struct cell cell = grid[moves[i] >> 2 & 1][moves[i] & 3];

        cell.cost = (uint8_t)(cell.cost + (moves[i] >> 6));
        taken[moves[i] >> 4 & 3] = cell;
        cost += cell.cost;
        if (cell.kind == 3)
            continue;
        if (cell.height > 20)
            hills++;
    }
    for (unsigned i = 0; i < 4; i++) {
        struct cell last = taken[i];

        if (last.height < 0 && last.cost > 2)
            return 1;
    }
    if (hills > 1)
        return 2;
    return cost > 9 ? 3 : 0;
}
