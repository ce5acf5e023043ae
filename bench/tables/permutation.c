/* bench: 12; small: 2; a permutation applied to itself, p[p[i]], and a key that swaps its entries */
#include <stdint.h>

#include "score.h"

enum { COUNT = 16 };

static uint8_t p[COUNT];

static void make(void)
{
    uint8_t at = 0;

    for (unsigned i = 0; i < COUNT; i++)
        p[i] = (uint8_t)i;
    for (unsigned i = 0; i < COUNT; i++) {
        uint8_t old = p[i];

        at = (uint8_t)((at + 5 * old + 3) % COUNT);
        p[i] = p[at];
        p[at] = old;
    }
}

int main(void)
{
    uint8_t key[SIZE], at = 0;
    unsigned fixed = 0;

    SYM_BYTES(key, SIZE);
    make();
    for (unsigned i = 0; i < SIZE; i++) {
        uint8_t *other = &p[key[i] & 15], old = *other;

        *other = p[i % COUNT];
        p[i % COUNT] = old;
        at = p[p[(key[i] >> 4) ^ at]];
        if (at == i)
            fixed++;
    }
    if (p[p[at]] == at)
        return 1;
    return fixed;
}
