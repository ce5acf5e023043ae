// The site table as the trail reads it: what each probe means (score_embed/contract/sites.py, which reads the image and
// has the numbers first; tests/unit/test_contract_engine.py compares them).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "word.hpp"

namespace score {

enum class SiteKind : u8 {
    ASSIGN = 1, COND, SWITCH, CALL, RESULT, OPAQUE, COPY, PIN, ENTER, SYMBOLIC, SELECT, CHECK, RANGE, BOUNDS, STORE,
    VARIADIC, SPAN, SIZED, CONSTANT, MARK
};

enum class Place : u8 { SLOT, MEMORY, GLOBAL, NONE };

enum class Op : u8 {
    LEAF = 1, CONST, ADD, SUB, MUL, UDIV, SDIV, UREM, SREM, AND, OR, XOR, SHL, LSHR, ASHR, NOT, NEG, ZEXT, SEXT, TRUNC,
    EQ, NE, ULT, ULE, SLT, SLE, ADDRESS, FADD, FSUB, FMUL, FDIV, FNEG, FABS, FSQRT, FFLOOR, FCEIL, FTRUNC, FCONV, SITOF,
    UITOF, FTOSI, FTOUI, FEQ, FLT, FLE
};

// The runtime's own events, in the place of a site.
enum class Reserved : u8 {
    FRAME = 0, UNTAINT = 2, OPAQUE_ARGUMENTS, CALLBACK_RETURN, LOST, SEEN, FOUND, SHARED, OPAQUE_NUMBERS
};

constexpr u64 SELECT_CONSTANT = 1;  // a flag: the object is as the image has it

struct Leaf {  // an operand of a template, or a destination
    Place place;
    u64 bits;
    u64 where;  // a slot, or a global's address
};

struct TemplateStep {  // one postfix step
    Op op;
    u64 bits;    // the result's width
    u128 value;  // a constant, or a leaf's place
};

struct Template {
    std::vector<Leaf> leaves;
    std::vector<TemplateStep> steps;
    bool floats;  // it has operators of floating point
};

struct Site {
    u64 id;
    SiteKind kind;
    std::string place;  // `file:line`, for messages
    std::string name;
    std::optional<Leaf> dest;
    std::optional<Template> formula;
    std::vector<Leaf> leaves;                  // of a call or a switch
    std::vector<std::pair<u128, u128>> labels;  // of a switch: first and last value
    u64 coverage, flags, size, stride;
    bool is_assumption;
};

inline std::string name_of(const Site &site) { return "site " + std::to_string(site.id); }

// The site of this number, or null. What it gives stays where it is.
using SiteSource = std::function<const Site *(u64)>;

}  // namespace score
