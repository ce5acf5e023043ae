/* bench: 24; small: 2; a gate: the CRC-16 of a block must be that of a known block, its table built at run time */
#include <stdint.h>

#include "score.h"

static uint16_t table[256];

static void make_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint16_t crc = (uint16_t)(i << 8);

        for (unsigned bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
        table[i] = crc;
    }
}

static uint16_t crc16(const uint8_t *data, unsigned count)
{
    uint16_t crc = 0xffff;

    while (count--)
        crc = (uint16_t)(crc << 8 ^ table[(uint8_t)(crc >> 8 ^ *data++)]);
    return crc;
}

int main(void)
{
    uint8_t block[SIZE], known[SIZE];
    unsigned odd = 0;

    SYM_BYTES(block, SIZE);
    make_table();
    for (unsigned i = 0; i < SIZE; i++)
        known[i] = (uint8_t)(7 * i + 0x41);
    if (crc16(block, SIZE) != crc16(known, SIZE)) {
        if (block[0] == 'A')
            return 1;
        return 2;
    }
    for (unsigned i = 0; i < SIZE; i++) {
        if (block[i] & 1)
            odd++;
    }
    return odd > 3 ? 3 : 0;
}
