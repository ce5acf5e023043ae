/* bench: 40; small: 2; a scanner with compressed tables: base, next, check, default, and classes of characters */
#include <stdint.h>

#include "score.h"

enum { OTHER, LETTER, LETTER_I, LETTER_F, DIGIT, DOT, LESS, EQUAL, BLANK };
enum { JAM, START, IN_I, IN_IF, IN_NAME, IN_INT, IN_POINT, IN_REAL, IN_LESS, IN_LESS_EQUAL, IN_ASSIGN, IN_EQUAL, IN_BLANK };
enum { NOTHING, NAME, KEYWORD, WHOLE, REAL, OPERATOR, SPACE, KINDS };

static const uint8_t class_of[128] = {
    ['a' ... 'z'] = LETTER, ['A' ... 'Z'] = LETTER, ['_'] = LETTER, ['i'] = LETTER_I, ['f'] = LETTER_F,
    ['0' ... '9'] = DIGIT, ['.'] = DOT, ['<'] = LESS, ['='] = EQUAL, [' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK,
};

/* The rows of all states overlap in next; check says whose an entry is; default, which row is like this one. */
static const uint8_t base[] = {0, 0, 2, 0, 8, 9, 11, 12, 10, 0, 11, 0, 11};
static const uint8_t otherwise[] = {JAM, JAM, IN_NAME, IN_NAME, JAM, IN_REAL, JAM, JAM, JAM, JAM, JAM, JAM, JAM};
static const uint8_t next[] = {0, 4, 2, 4, 5, 3, 8, 10, 12, 4, 4, 4, 4, 5, 6, 7, 7, 9, 11, 12, 0};
static const uint8_t check[] = {255, 1, 1, 1, 1, 2, 1, 1, 1, 4, 4, 4, 4, 5, 5, 6, 7, 8, 10, 12, 255};
static const uint8_t accepts[] = {
    [IN_I] = NAME, [IN_IF] = KEYWORD, [IN_NAME] = NAME, [IN_INT] = WHOLE, [IN_REAL] = REAL, [IN_LESS] = OPERATOR,
    [IN_LESS_EQUAL] = OPERATOR, [IN_ASSIGN] = OPERATOR, [IN_EQUAL] = OPERATOR, [IN_BLANK] = SPACE,
};

static uint8_t text[SIZE];

static uint8_t follow(uint8_t state, uint8_t c)
{
    while (state != JAM && check[base[state] + c] != state)
        state = otherwise[state];
    return state == JAM ? JAM : next[base[state] + c];
}

/* The longest token at `at`: its kind, and where it ends. */
static uint8_t scan(unsigned at, unsigned *end)
{
    uint8_t state = START, kind = NOTHING;

    *end = at + 1;
    while (at < SIZE) {
        state = follow(state, class_of[text[at] & 127]);
        if (state == JAM)
            break;
        at++;
        if (accepts[state]) {
            kind = accepts[state];
            *end = at;
        }
    }
    return kind;
}

int main(void)
{
    uint8_t count[KINDS] = {0};
    unsigned at = 0;

    SYM_BYTES(text, SIZE);
    while (at < SIZE)
        count[scan(at, &at)]++;
    if (count[NOTHING])
        return 1;
    return count[KEYWORD] > count[NAME] ? 2 : 0;
}
