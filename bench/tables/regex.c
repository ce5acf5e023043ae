/* bench: 24; small: 2; a regular expression becomes an automaton's tables at run time; a text is searched with them */
#include <stdint.h>

#include "score.h"

enum { MOST_NODES = 16, MOST_STATES = 24, CHARACTERS = 32, DEAD = 0 };

/* Letters, one set of neighbours, any letter, each with * + or ?; alternatives. */
static const char pattern[] = "x*ab+c?d|q[a-f]*z|k.";

struct node {
    uint32_t characters; /* which letters of 32 lead on, to the next node */
    uint8_t many, none;  /* it may come again; it may be left out */
    uint8_t last;        /* of an alternative */
};

static struct node nodes[MOST_NODES];
static unsigned count;
static uint32_t sets[MOST_STATES]; /* an automaton's state is a set of nodes that may come next; bit 31: all have come */
static uint8_t next[MOST_STATES][CHARACTERS], accepts[MOST_STATES];
static unsigned states = 1;
static uint8_t text[SIZE];

static uint32_t letter(char c)
{
    return (uint32_t)1 << (c & 31);
}

/* Reads the pattern into nodes. */
static void parse(void)
{
    for (const char *p = pattern; *p; p++) {
        struct node *node = &nodes[count];

        switch (*p) {
        case '*': node[-1].many = node[-1].none = 1; continue;
        case '+': node[-1].many = 1; continue;
        case '?': node[-1].none = 1; continue;
        case '|': node[-1].last = 1; continue;
        case '.': node->characters = 0xffffffff; break;
        case '[':
            for (char c = p[1]; c <= p[3]; c++)
                node->characters |= letter(c);
            p += 4;
            break;
        default: node->characters = letter(*p);
        }
        count++;
    }
    nodes[count - 1].last = 1;
}

/* Node `at` and those that may come in its place, as it may be left out. */
static uint32_t with_empty(unsigned at)
{
    uint32_t set = (uint32_t)1 << at;

    while (nodes[at].none) {
        if (nodes[at].last)
            return set | 0x80000000;
        set |= (uint32_t)1 << ++at;
    }
    return set;
}

static uint32_t after(uint32_t set, unsigned c)
{
    uint32_t result = 0;

    for (unsigned at = 0; at < count; at++) {
        if (!(set >> at & 1) || !(nodes[at].characters >> c & 1))
            continue;
        if (nodes[at].many)
            result |= with_empty(at);
        result |= nodes[at].last ? 0x80000000 : with_empty(at + 1);
    }
    return result;
}

static uint8_t number_of(uint32_t set)
{
    unsigned state = 0;

    while (state < states && sets[state] != set)
        state++;
    if (state == states) {
        sets[states++] = set;
        accepts[state] = set >> 31;
    }
    return (uint8_t)state;
}

static void make_tables(void)
{
    uint32_t first = 0;

    for (unsigned at = 0; at < count; at++) {
        if (at == 0 || nodes[at - 1].last)
            first |= with_empty(at);
    }
    number_of(first);
    for (unsigned state = 1; state < states; state++) {
        for (unsigned c = 0; c < CHARACTERS; c++)
            next[state][c] = number_of(after(sets[state], c));
    }
}

/* How many letters from `at` on match, the most; 0: none do. */
static unsigned match(unsigned at)
{
    unsigned longest = 0;
    uint8_t state = 1;

    for (unsigned i = at; i < SIZE && state != DEAD; i++) {
        state = next[state][text[i] & 31];
        if (accepts[state])
            longest = i + 1 - at;
    }
    return longest;
}

int main(void)
{
    unsigned at = 0, matches = 0;

    SYM_BYTES(text, SIZE);
    parse();
    make_tables();
    while (at < SIZE) {
        unsigned length = match(at);

        if (length)
            matches++;
        at += length ? length : 1;
    }
    return matches > 3 ? 4 : matches;
}
