/* bytes: 2; constructs: reads at symbolic addresses: a CRC table built at run time, a table of character classes, a state machine of two tables; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

enum { OTHER, DIGIT, SIGN, DOT, CLASSES };
enum { START, SIGNED, WHOLE, PART, FAILED, STATES };

static uint8_t crc_table[256];
static const uint8_t classes[256] = { ['0' ... '9'] = DIGIT, ['+'] = SIGN, ['-'] = SIGN, ['.'] = DOT };
static const uint16_t next[STATES][CLASSES] = {
    [START] = { FAILED, WHOLE, SIGNED, PART }, [SIGNED] = { FAILED, WHOLE, FAILED, PART },
    [WHOLE] = { FAILED, WHOLE, FAILED, PART }, [PART] = { FAILED, PART, FAILED, FAILED },
    [FAILED] = { FAILED, FAILED, FAILED, FAILED },
};

static void make_table(void)
{
    int i, k;
    for (i = 0; i < 256; i++) {
        uint8_t c = (uint8_t)i;
        for (k = 0; k < 8; k++)
            c = (uint8_t)(c & 0x80 ? c << 1 ^ 0x07 : c << 1);
        crc_table[i] = c;
    }
}

static uint8_t crc8(const uint8_t *p, int n)
{
    uint8_t crc = 0;
    while (n--)
        crc = crc_table[crc ^ *p++];
    return crc;
}

int main(void)
{
    uint8_t text[2];
    uint16_t state = START;
    int i;
    SYM_BYTES(text, 2);
    make_table();
    if (crc8(text, 2) == 0x2b)
        printf("checked ");
    for (i = 0; i < 2; i++)
        state = next[state][classes[text[i]]];
    if (state == WHOLE)
        printf("whole\n");
    else if (state == PART)
        printf("part\n");
    else if (classes[(uint8_t)(text[0] + text[1])] == SIGN)
        printf("sum %d\n", state);
    else
        printf("no %d\n", state);
    return 0;
}
