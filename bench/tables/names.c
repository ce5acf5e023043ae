/* bench: 12; small: 2; commands: a table of pointers to names of different lengths, chosen by a table of abbreviations */
#include <stdint.h>

#include "score.h"

struct command {
    const char *name;
    uint8_t least, argument;
};

static const struct command commands[] = {
    {"get", 1, 0}, {"goto", 2, 1}, {"set", 1, 2}, {"stop", 2, 0}, {"help", 1, 0}, {"hold", 2, 1},
};
enum { COMMANDS = sizeof commands / sizeof commands[0], NONE = COMMANDS };

/* By the low five bits of the first letter. */
static const uint8_t first_of[32] = {
    [0 ... 31] = NONE, ['g' & 31] = 0, ['s' & 31] = 2, ['h' & 31] = 4,
};
static const char *const answers[] = {"ok", "what", "busy", "no", "full", "late", "un"};

static uint8_t line[SIZE + 1];

/* The command that begins at `at`, and how many letters of it stand there. */
static uint8_t command_at(unsigned at, unsigned *length)
{
    uint8_t first = first_of[line[at] & 31];

    for (uint8_t i = first; i < COMMANDS && i < first + 2; i++) {
        const char *name = commands[i].name;
        unsigned same = 0;

        while (name[same] && (uint8_t)name[same] == line[at + same])
            same++;
        if (same >= commands[i].least) {
            *length = same;
            return i;
        }
    }
    return NONE;
}

int main(void)
{
    unsigned at = 0, length = 0, sum = 0;

    SYM_BYTES(line, SIZE);
    while (at < SIZE) {
        uint8_t found = command_at(at, &length);
        const char *answer = answers[(found + line[at]) % 7];

        if (found == NONE)
            return answer[0] == 'w' ? 1 : 2;
        at += length + commands[found].argument;
        sum += (uint8_t)answer[1 + (sum & 1)];
    }
    if (at > SIZE)
        return 3;
    return sum > 250 ? 4 : 0;
}
