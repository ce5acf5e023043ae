/* bench: 24; small: 2; a gate: the last byte is the CRC-8 of those before, its table built at run time */
#include <stdint.h>

#include "score.h"

static uint8_t table[256];

static void make_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint8_t crc = (uint8_t)i;

        for (unsigned bit = 0; bit < 8; bit++)
            crc = (uint8_t)(crc & 0x80 ? crc << 1 ^ 0x07 : crc << 1);
        table[i] = crc;
    }
}

static uint8_t crc8(const uint8_t *data, unsigned count)
{
    uint8_t crc = 0xff;

    while (count--)
        crc = table[crc ^ *data++];
    return crc;
}

int main(void)
{
    uint8_t frame[SIZE];
    unsigned high = 0;

    SYM_BYTES(frame, SIZE);
    make_table();
    if (crc8(frame, SIZE - 1) != frame[SIZE - 1])
        return 1;
    for (unsigned i = 0; i + 1 < SIZE; i++) {
        if (frame[i] > 0xc0)
            high++;
    }
    if (table[frame[0]] == frame[SIZE - 1])
        return 2;
    return high > 2 ? 3 : 0;
}
