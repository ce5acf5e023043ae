/* bench: 12; small: 2; an interpreter of symbolic byte-code: a table decodes it, a stack, a jump within the code */
#include <stdint.h>

#include "score.h"

enum { STOP, PUSH, ADD, SWAP, LOAD, STORE, SKIP, BAD };
enum { DEPTH = 4, VARIABLES = 4, STEPS = SIZE + 4 };

static const uint8_t operation_of[16] = {STOP, PUSH, PUSH, ADD, SWAP, LOAD, STORE, SKIP,
                                         PUSH, ADD, BAD, STORE, LOAD, SKIP, BAD, STOP};
static uint8_t code[SIZE], stack[DEPTH], variables[VARIABLES] = {1, 2, 40, 200};
static unsigned depth;

static int needs(unsigned least, unsigned most)
{
    return depth >= least && depth <= most;
}

/* One instruction, its operand in the high four bits; returns how far to go on, 0: the program is wrong. */
static unsigned step(uint8_t instruction)
{
    uint8_t operand = instruction >> 4, top;

    switch (operation_of[instruction & 15]) {
    case PUSH:
        if (!needs(0, DEPTH - 1))
            return 0;
        stack[depth++] = operand;
        return 1;
    case ADD:
        if (!needs(2, DEPTH))
            return 0;
        depth--;
        stack[depth - 1] = (uint8_t)(stack[depth - 1] + stack[depth]);
        return 1;
    case SWAP:
        if (!needs(2, DEPTH))
            return 0;
        top = stack[depth - 1];
        stack[depth - 1] = stack[depth - 2];
        stack[depth - 2] = top;
        return 1;
    case LOAD:
        if (!needs(0, DEPTH - 1))
            return 0;
        stack[depth++] = variables[operand & 3];
        return 1;
    case STORE:
        if (!needs(1, DEPTH))
            return 0;
        variables[operand & 3] = stack[--depth];
        return 1;
    case SKIP:
        if (depth && stack[depth - 1] > 8)
            return 1u + (operand & 1);
        return 1;
    default:
        return 0;
    }
}

int main(void)
{
    unsigned at = 0, length;

    SYM_BYTES(code, SIZE);
    while (at < SIZE && operation_of[code[at] & 15] != STOP) {
        length = step(code[at]);
        if (!length)
            return 1;
        at += length;
    }
    if (depth && stack[0] == variables[1])
        return 2;
    return depth;
}
