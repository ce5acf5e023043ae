/* bench: 12; small: 2; canonical Huffman codes from lengths, decoded by a table that the next bits index, as inflate does */
#include <stdint.h>

#include "score.h"

enum { SYMBOLS = 12, LONGEST = 5, END = 11 };

static const uint8_t lengths[SYMBOLS] = {3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 3};
static const uint8_t extra[SYMBOLS] = {0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 0};
static const uint8_t values[SYMBOLS] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 18, 0};

struct entry {
    uint8_t symbol, length;
};

static struct entry table[1 << LONGEST];
static uint8_t packed[SIZE + 2]; /* zeros behind the end */

/* Codes of one length are consecutive, shorter ones come first; each fills the entries that begin with it. */
static void make_table(void)
{
    unsigned code = 0;

    for (unsigned length = 1; length <= LONGEST; length++) {
        for (unsigned symbol = 0; symbol < SYMBOLS; symbol++) {
            unsigned span = 1u << (LONGEST - length);

            if (lengths[symbol] != length)
                continue;
            for (unsigned i = 0; i < span; i++) {
                table[code + i].symbol = (uint8_t)symbol;
                table[code + i].length = (uint8_t)length;
            }
            code += span;
        }
    }
}

static unsigned peek(unsigned bit, unsigned count)
{
    unsigned word = (unsigned)packed[bit >> 3] << 8 | packed[(bit >> 3) + 1];

    return word >> (16 - (bit & 7) - count) & ((1u << count) - 1);
}

int main(void)
{
    unsigned bit = 0, sum = 0, symbols = 0;

    SYM_BYTES(packed, SIZE);
    make_table();
    while (bit < 8 * SIZE) {
        struct entry *entry = &table[peek(bit, LONGEST)];

        if (entry->length == 0)
            return 1;
        bit += entry->length;
        if (entry->symbol == END)
            break;
        sum += values[entry->symbol];
        if (extra[entry->symbol]) {
            sum += peek(bit, extra[entry->symbol]);
            bit += extra[entry->symbol];
        }
        symbols++;
    }
    if (bit > 8 * SIZE)
        return 2;
    return sum > 20 && symbols < 4 ? 3 : 0;
}
