/* bench: 12; small: 2; a Huffman decoder whose nodes are bit-fields in a union, and counters that are bit-fields, too */
#include <stdint.h>

#include "score.h"

union node {
    struct {
        uint16_t final : 1;
        uint16_t bits : 3;
        uint16_t next : 12;
    } inner;
    struct {
        uint16_t final : 1;
        uint16_t length : 3;
        int16_t x : 4;
        int16_t y : 4;
    } leaf;
};

struct count {
    unsigned char seen : 3;
    unsigned char full : 1;
};

#define INNER(bits, next) {.inner = {0, bits, next}}
#define LEAF(length, x, y) {.leaf = {1, length, x, y}}

static const union node nodes[] = {
    INNER(2, 4), INNER(1, 8), LEAF(1, 1, 0), LEAF(1, -1, 1),
    LEAF(2, 3, -2), LEAF(2, 0, 2), LEAF(1, -3, 1), LEAF(1, -3, 1),
    LEAF(1, 7, 7), LEAF(1, -8, 0),
};
static struct count counts[4];

int main(void)
{
    uint8_t in[SIZE];
    unsigned at = 0, held = 0;
    int sum = 0;

    SYM_BYTES(in, SIZE);
    while (at < 8 * SIZE) {
        const union node *node = &nodes[in[at / 8] >> at % 8 & 3];

        held = 2;
        while (!node->inner.final) {
            unsigned next = at + held;

            held += node->inner.bits;
            if (next + node->inner.bits > 8 * SIZE)
                return 1;
            node = &nodes[node->inner.next + (in[next / 8] >> next % 8 & ((1u << node->inner.bits) - 1))];
        }
        at += held;
        sum += node->leaf.x * 2 + node->leaf.y;
        struct count *count = &counts[node->leaf.x & 3];
        count->seen++;
        count->full |= count->seen == 0;
        if (count->full)
            return 2;
    }
    if (sum == 9)
        return 3;
    return counts[sum & 3].seen > 2 ? 4 : 0;
}
