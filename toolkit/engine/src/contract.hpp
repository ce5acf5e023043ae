// What contract/ says and the engine has to know. Generated: python -m score_embed.contract.header
#pragma once

#include "word.hpp"

namespace score {

constexpr u32 HASH_START[2] = {0x9e3779b9, 0x7f4a7c15}, HASH_FACTORS[2] = {0x85ebca6b, 0xc2b2ae35};
constexpr unsigned WIRE_VERSION = 5, VERDICTS = 21,
                   WATCHDOG = 11;

enum class SiteKind : u8 {
    ASSIGN = 1,
    COND = 2,
    SWITCH = 3,
    CALL = 4,
    RESULT = 5,
    OPAQUE = 6,
    COPY = 7,
    PIN = 8,
    ENTER = 9,
    SYMBOLIC = 10,
    SELECT = 11,
    CHECK = 12,
    RANGE = 13,
    BOUNDS = 14,
    STORE = 15,
    VARIADIC = 16,
    SPAN = 17,
    SIZED = 18,
    CONSTANT = 19,
    MARK = 20,
};

enum class Place : u8 {
    SLOT = 0,
    MEMORY = 1,
    GLOBAL = 2,
    NONE = 3,
};

enum class Op : u8 {
    LEAF = 1,
    CONST = 2,
    ADD = 3,
    SUB = 4,
    MUL = 5,
    UDIV = 6,
    SDIV = 7,
    UREM = 8,
    SREM = 9,
    AND = 10,
    OR = 11,
    XOR = 12,
    SHL = 13,
    LSHR = 14,
    ASHR = 15,
    NOT = 16,
    NEG = 17,
    ZEXT = 18,
    SEXT = 19,
    TRUNC = 20,
    EQ = 21,
    NE = 22,
    ULT = 23,
    ULE = 24,
    SLT = 25,
    SLE = 26,
    ADDRESS = 27,
    FADD = 28,
    FSUB = 29,
    FMUL = 30,
    FDIV = 31,
    FNEG = 32,
    FABS = 33,
    FSQRT = 34,
    FFLOOR = 35,
    FCEIL = 36,
    FTRUNC = 37,
    FCONV = 38,
    SITOF = 39,
    UITOF = 40,
    FTOSI = 41,
    FTOUI = 42,
    FEQ = 43,
    FLT = 44,
    FLE = 45,
};

enum class Reserved : u8 {
    FRAME = 0,
    UNTAINT = 2,
    OPAQUE_ARGUMENTS = 3,
    CALLBACK_RETURN = 4,
    LOST = 5,
    SEEN = 6,
    FOUND = 7,
    SHARED = 8,
    OPAQUE_NUMBERS = 9,
};

enum class Type : u8 {
    HELLO = 1,
    RUN = 2,
    AGAIN = 3,
    RESET = 4,
    PASSED = 8,
    READY = 9,
    TRACE = 10,
    END = 11,
    LOG = 12,
    NEED_FULL = 13,
    COVERAGE = 14,
    DAMAGED = 15,
};

namespace run_flag {
constexpr unsigned FULL = 1;
constexpr unsigned PREDICTED = 2;
constexpr unsigned ELIDED = 4;
constexpr unsigned SHORT = 8;
constexpr unsigned ACKNOWLEDGED = 16;
constexpr unsigned EAGER = 32;
constexpr unsigned BOUNDED = 64;
constexpr unsigned VECTORS = 128;
}

namespace end_flag {
constexpr unsigned MATCHED = 1;
constexpr unsigned ELISION_FAILED = 2;
constexpr unsigned INTACT = 4;
constexpr unsigned USED = 8;
constexpr unsigned CHUNKED = 16;
constexpr unsigned VERDICT = 32;
constexpr unsigned EXTRAS = 64;
constexpr unsigned UNCHECKED = 128;
}

namespace capability {
constexpr unsigned VERIFY = 1;
constexpr unsigned RESET = 2;
constexpr unsigned BOOTED = 32768;
}

namespace select_flag {
constexpr unsigned CONSTANT = 1;
}

namespace notes {
constexpr const char *SYMBOLIC_ADDRESS = "symbolic address";
constexpr const char *OUTSIDE = "symbolic address outside of its object";
constexpr const char *POINTER_ASTRAY = "wrong access through a symbolic pointer";
constexpr const char *OPAQUE_ADDRESS = "opaque result in an address";
constexpr const char *OPAQUE_CONDITION = "opaque result in a condition";
constexpr const char *CONCRETIZED = "concretized value";
constexpr const char *CONVERSION = "conversion to an integer out of range";
constexpr const char *FLOAT_PATTERN = "pattern of a floating-point result";
constexpr const char *OPAQUE_ARGUMENTS = "symbolic data given to an opaque call";
constexpr const char *OPAQUE_CHANGED = "symbolic memory changed by an opaque call";
constexpr const char *OPAQUE_FINDS = "symbolic data that an opaque call can find";
constexpr const char *CALLBACK_RETURN = "symbolic result given to an opaque caller";
constexpr const char *OUT_OF_REACH = "symbolic value stored out of reach";
constexpr const char *IN_HANDLER = "symbolic data in an interrupt handler";
constexpr const char *HANDLER_READS = "symbolic data where an interrupt handler without probes can read it";
constexpr const char *DIVERGENCE = "divergence";
constexpr const char *MISPREDICTED = "mispredicted";
constexpr const char *TRACE_LOST = "trace lost";
constexpr const char *VALUE_DIFFERS = "value differs from its formula";
constexpr const char *OPERANDS_DIFFER = "operands differ from their formulas";
constexpr const char *GAVE_UP = "solver gave up";
constexpr const char *FIRST_DIFFERS = "the first test took different paths when run again";
constexpr const char *CLIENT_UNREADABLE = "a client reported a test that cannot be read";
}

}  // namespace score
