/* bench: 24; small: 2; a gate: the CRC-32 of a block must be that of a known block, its table built at run time */
#include <stdint.h>

#include "score.h"

static uint32_t table[256];

static void make_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
        table[i] = crc;
    }
}

static uint32_t crc32(const uint8_t *data, unsigned count)
{
    uint32_t crc = 0xffffffff;

    while (count--)
        crc = crc >> 8 ^ table[(crc ^ *data++) & 0xff];
    return ~crc;
}

int main(void)
{
    uint8_t block[SIZE], known[SIZE];

    SYM_BYTES(block, SIZE);
    make_table();
    for (unsigned i = 0; i < SIZE; i++)
        known[i] = (uint8_t)(7 * i + 0x41);
    if (crc32(block, SIZE) != crc32(known, SIZE))
        return (table[block[0]] & 0xff) == block[1] ? 1 : 2;
    for (unsigned i = 0; i < SIZE; i++) {
        if (block[i] < 0x20)
            return 3;
    }
    return 0;
}
