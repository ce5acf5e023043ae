/* bench: 16; small: 2; UTF-8 by an automaton: a table of the bytes' classes and one of states times classes */
#include <stdint.h>

#include "score.h"

enum { ASCII, LOW, MIDDLE, HIGH, TWO, E0, THREE, ED, F0, FOUR, F4, WRONG, CLASSES }; /* LOW: 80 to 8f, HIGH: a0 to bf */
enum { START, ONE_MORE, TWO_MORE, THREE_MORE, AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4, FAILED, STATES };

struct range {
    uint8_t first, last, class;
};

static const struct range ranges[] = {
    {0x00, 0x7f, ASCII}, {0x80, 0x8f, LOW}, {0x90, 0x9f, MIDDLE}, {0xa0, 0xbf, HIGH}, {0xc0, 0xc1, WRONG},
    {0xc2, 0xdf, TWO}, {0xe0, 0xe0, E0}, {0xe1, 0xec, THREE}, {0xed, 0xed, ED}, {0xee, 0xef, THREE},
    {0xf0, 0xf0, F0}, {0xf1, 0xf3, FOUR}, {0xf4, 0xf4, F4}, {0xf5, 0xff, WRONG},
};
static const uint8_t first_bits[CLASSES] = {0x7f, 0x3f, 0x3f, 0x3f, 0x1f, 0x0f, 0x0f, 0x0f, 0x07, 0x07, 0x07, 0x00};
static uint8_t class_of[256], next[STATES][CLASSES];

static void make_tables(void)
{
    for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        for (unsigned byte = ranges[i].first; byte <= ranges[i].last; byte++)
            class_of[byte] = ranges[i].class;
    }
    for (unsigned state = 0; state < STATES; state++) {
        for (unsigned class = 0; class < CLASSES; class++)
            next[state][class] = FAILED;
    }
    next[START][ASCII] = START;
    next[START][TWO] = ONE_MORE;
    next[START][THREE] = TWO_MORE;
    next[START][FOUR] = THREE_MORE;
    next[START][E0] = AFTER_E0;
    next[START][ED] = AFTER_ED;
    next[START][F0] = AFTER_F0;
    next[START][F4] = AFTER_F4;
    for (unsigned class = LOW; class <= HIGH; class++) {
        next[ONE_MORE][class] = START;
        next[TWO_MORE][class] = ONE_MORE;
        next[THREE_MORE][class] = TWO_MORE;
    }
    next[AFTER_E0][HIGH] = next[AFTER_ED][LOW] = next[AFTER_ED][MIDDLE] = ONE_MORE;
    next[AFTER_F0][MIDDLE] = next[AFTER_F0][HIGH] = next[AFTER_F4][LOW] = TWO_MORE;
}

int main(void)
{
    uint8_t text[SIZE], state = START;
    uint32_t point = 0;
    unsigned wide = 0;

    SYM_BYTES(text, SIZE);
    make_tables();
    for (unsigned i = 0; i < SIZE; i++) {
        uint8_t class = class_of[text[i]], bits = (uint8_t)(text[i] & first_bits[class]);

        point = state == START ? bits : point << 6 | bits;
        state = next[state][class];
        if (state == FAILED)
            return 1;
        if (state == START && point > 0xff)
            wide++;
    }
    if (state != START)
        return 2;
    return wide > 1 ? 3 : 0;
}
