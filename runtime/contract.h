/* What host, front-end and target agree on. Generated: python -m score_embed.contract.header */
#ifndef SC_CONTRACT_H
#define SC_CONTRACT_H

#define SC_WIRE_VERSION 5u
#define SC_MAX_OUTPUT 65536u /* bytes of the program's own output that are kept of one test */
#define SC_RUN_SIZE 48u /* most bytes of a RUN before the input */
#define SC_MAX_LEAVES 32 /* of one site: two mask bits each in one 64-bit varint */
#define SC_MAX_ARGUMENTS 63 /* scalar arguments whose taint is passed */
#define SC_MAX_STRUCTS 8 /* struct arguments of one call whose taint is passed */
#define SC_STACK_SITES 16 /* enter sites that are told of a bug */
#define SC_MOST_VARIABLE 16384u /* bytes of an object that can change and is read as a whole */
#define SC_FLOATS 0x8000u /* in a number of leaves: they may be floating-point numbers */
#define SC_MODEL_TABLE 0x8000u /* in a table: of a model of the C library */
#define SC_HASH_START {0x9e3779b9u, 0x7f4a7c15u}
#define SC_HASH_FACTOR_A 0x85ebca6bu
#define SC_HASH_FACTOR_B 0xc2b2ae35u

enum {
    SC_TYPE_HELLO = 1,
    SC_TYPE_RUN = 2,
    SC_TYPE_AGAIN = 3,
    SC_TYPE_RESET = 4,
    SC_TYPE_PASSED = 8,
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
    SC_RUN_EAGER = 32,
    SC_RUN_BOUNDED = 64,
    SC_RUN_VECTORS = 128,
};

enum {
    SC_END_MATCHED = 1,
    SC_END_ELISION_FAILED = 2,
    SC_END_INTACT = 4,
    SC_END_USED = 8,
    SC_END_CHUNKED = 16,
    SC_END_VERDICT = 32,
    SC_END_EXTRAS = 64,
    SC_END_UNCHECKED = 128,
};

enum {
    SC_CAN_VERIFY = 1,
    SC_CAN_RESET = 2,
    SC_CAN_BOOTED = 32768,
};

enum {
    SC_LEAF_SLOT = 0,
    SC_LEAF_MEMORY = 1,
    SC_LEAF_GLOBAL = 2,
    SC_LEAF_NONE = 3,
};

enum {
    SC_EVENT_FRAME = 0,
    SC_EVENT_UNTAINT = 2,
    SC_EVENT_OPAQUE_ARGUMENTS = 3,
    SC_EVENT_CALLBACK_RETURN = 4,
    SC_EVENT_LOST = 5,
    SC_EVENT_SEEN = 6,
    SC_EVENT_FOUND = 7,
    SC_EVENT_SHARED = 8,
    SC_EVENT_OPAQUE_NUMBERS = 9,
};

enum {
    SC_OPAQUE_HARMLESS = 1,
    SC_OPAQUE_OF_THE_PROJECT = 2,
    SC_OPAQUE_OUTPUT = 4,
    SC_OPAQUE_GIVES_BACK = 8,
    SC_OPAQUE_TOLD = 16,
    SC_OPAQUE_TOLD_AFTER = 32,
};

enum {
    SC_RELATION_EQ = 0,
    SC_RELATION_NE = 1,
    SC_RELATION_LT = 2,
    SC_RELATION_LE = 3,
};

enum {
    SC_RELATION_SIGNED = 4,
    SC_RELATION_CONSTANT_LEFT = 8,
};

enum {
    SC_ARGUMENT_DOUBLE = 1,
    SC_ARGUMENT_UNKNOWN = 2,
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
    SC_VERDICT_OUT_OF_BOUNDS = 12,
    SC_VERDICT_OVERFLOW = 13,
    SC_VERDICT_SHIFT_RANGE = 14,
    SC_VERDICT_UNREACHABLE = 15,
    SC_VERDICT_USE_AFTER_FREE = 16,
    SC_VERDICT_DOUBLE_FREE = 17,
    SC_VERDICT_INVALID_FREE = 18,
    SC_VERDICT_HEAP_CORRUPTION = 19,
    SC_VERDICT_DEVICE_WAIT = 20,
};

#endif
