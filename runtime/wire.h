/* The wire's constants. Generated: python -m score_embed.link.message > runtime/wire.h */
#ifndef SC_WIRE_H
#define SC_WIRE_H

#define SC_WIRE_VERSION 4u
#define SC_MAX_OUTPUT 65536u
#define SC_RUN_SIZE 48u /* most bytes of a RUN before the input */

enum {
    SC_TYPE_HELLO = 1,
    SC_TYPE_RUN = 2,
    SC_TYPE_AGAIN = 3,
    SC_TYPE_RESET = 4,
    SC_TYPE_READY = 9,
    SC_TYPE_TRACE = 10,
    SC_TYPE_END = 11,
    SC_TYPE_LOG = 12,
    SC_TYPE_NEED_FULL = 13,
    SC_TYPE_COVERAGE = 14,
    SC_TYPE_DAMAGED = 15,
};

enum {
    SC_RUN_FULL = 1,
    SC_RUN_PREDICTED = 2,
    SC_RUN_ELIDED = 4,
    SC_RUN_SHORT = 8,
    SC_RUN_ACKNOWLEDGED = 16,
};

enum {
    SC_END_MATCHED = 1,
    SC_END_ELISION_FAILED = 2,
    SC_END_INTACT = 4,
    SC_END_USED = 8,
    SC_END_CHUNKED = 16,
    SC_END_VERDICT = 32,
    SC_END_EXTRAS = 64,
};

enum {
    SC_CAN_VERIFY = 1,
    SC_CAN_RESET = 2,
    SC_CAN_BOOTED = 32768,
};

enum {
    SC_VERDICT_RETURN = 0,
    SC_VERDICT_EXIT = 1,
    SC_VERDICT_ASSUMPTION = 2,
    SC_VERDICT_ASSERTION = 3,
    SC_VERDICT_ABORT = 4,
    SC_VERDICT_NULL_DEREFERENCE = 5,
    SC_VERDICT_INVALID_MEMORY_ACCESS = 6,
    SC_VERDICT_DIVISION_BY_ZERO = 7,
    SC_VERDICT_ILLEGAL_INSTRUCTION = 8,
    SC_VERDICT_STACK_OVERFLOW = 9,
    SC_VERDICT_HANG = 10,
    SC_VERDICT_WATCHDOG = 11,
};

#endif
