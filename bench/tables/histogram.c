/* bench: 12; small: 2; a histogram: counts at symbolic indices, then the fullest bin and a table of limits */
#include <stdint.h>

#include "score.h"

enum { BINS = 8 };

static const uint8_t limits[BINS] = {3, 1, 2, 1, 4, 1, 2, 2};
static const uint8_t bin_of[16] = {0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 0};
static uint8_t bins[BINS];

int main(void)
{
    uint8_t samples[SIZE];
    unsigned fullest = 0;

    SYM_BYTES(samples, SIZE);
    for (unsigned i = 0; i < SIZE; i++)
        bins[bin_of[samples[i] >> 4]]++;
    for (unsigned i = 1; i < BINS; i++) {
        if (bins[i] > bins[fullest])
            fullest = i;
    }
    if (bins[bin_of[samples[0] & 15]] > limits[fullest])
        return 1;
    return fullest == 3 ? 2 : 0;
}
