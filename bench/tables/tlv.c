/* bench: 24; small: 2; a chain of records: type, length, value; a table says what lengths a type may have */
#include <stdint.h>

#include "score.h"

enum { END, NUMBER, TEXT, LIST, PADDING, KINDS };

struct rule {
    uint8_t least, most, weight;
};

static const uint8_t kind_of[16] = {END, NUMBER, NUMBER, TEXT, LIST, PADDING, TEXT, END,
                                    LIST, NUMBER, PADDING, TEXT, TEXT, LIST, NUMBER, PADDING};
static const struct rule rules[KINDS] = {
    [NUMBER] = {1, 4, 2}, [TEXT] = {0, 15, 1}, [LIST] = {2, 8, 3}, [PADDING] = {0, 3, 0},
};

static uint8_t message[SIZE + 16]; /* a value of the last record may reach behind the message: zeros */

/* Where the next record begins; 0: the record is wrong. */
static unsigned record(unsigned at, unsigned *sum)
{
    uint8_t kind = kind_of[message[at] & 15], length = message[at] >> 4;
    const struct rule *rule = &rules[kind];

    if (length < rule->least || length > rule->most)
        return 0;
    for (unsigned i = 0; i < rule->weight; i++)
        *sum += message[at + 1 + i];
    return at + 1 + length;
}

int main(void)
{
    unsigned at = 0, next, records = 0, sum = 0;

    SYM_BYTES(message, SIZE);
    while (at < SIZE && kind_of[message[at] & 15] != END) {
        next = record(at, &sum);
        if (!next)
            return 1;
        at = next;
        records++;
    }
    if (at > SIZE)
        return 2;
    return records > 3 && sum > 600 ? 3 : 0;
}
