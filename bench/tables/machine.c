/* bench: 40; small: 2; a protocol's states, each a row of functions that the type of an event calls */
#include <stdint.h>

#include "score.h"

enum { IDLE, OPEN, BUSY, STATES };
enum { CONNECT, DATA, ACKNOWLEDGE, RESET, TYPES };

struct link {
    uint8_t state, sent, acknowledged, errors;
};

typedef void (*handler)(struct link *link, uint8_t value);

static void ignore(struct link *link, uint8_t value)
{
    if (value & 0x80)
        link->errors++;
}

static void connect(struct link *link, uint8_t value)
{
    if (value == 1 || value == 2)
        link->state = OPEN;
    else
        link->errors++;
}

static void send(struct link *link, uint8_t value)
{
    if (value < 16) {
        link->sent++;
        link->state = BUSY;
    }
}

static void acknowledge(struct link *link, uint8_t value)
{
    if (value != link->sent) {
        link->errors++;
        return;
    }
    link->acknowledged = value;
    link->state = OPEN;
}

static void reset(struct link *link, uint8_t value)
{
    link->state = IDLE;
    if (value == 0x3f)
        link->errors = 0;
}

static const handler handlers[STATES][TYPES] = {
    [IDLE] = {connect, ignore, ignore, reset},
    [OPEN] = {ignore, send, ignore, reset},
    [BUSY] = {ignore, ignore, acknowledge, reset},
};

int main(void)
{
    struct link link = {IDLE, 0, 0, 0};
    uint8_t events[SIZE];

    SYM_BYTES(events, SIZE);
    for (unsigned i = 0; i < SIZE; i++)
        handlers[link.state][events[i] & 3](&link, events[i] >> 2);
    if (link.errors > 1)
        return 1;
    return link.state;
}
