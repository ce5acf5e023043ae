// What each operator computes, from the values of its arguments. The one place that says so: constants are folded with
// it, inputs evaluated, columns and rows filled. Semantics are those of SMT-LIB's QF_BV, division by zero and over-wide
// shifts included; floating point is in ieee.hpp.
#pragma once

#include "arena.hpp"

namespace score {

struct Operator {
    Kind kind;
    unsigned width;                    // of the result
    std::array<unsigned, 3> widths{};  // of the arguments
    u64 value = 0;                     // EXTRACT's lowest bit, FROUND's way
    const Table *table = nullptr;

    bool fits() const;  // all numbers have 64 bits at most
};

Operator operator_of(const Node &node);

u128 operate(const Operator &op, const u128 *values);

// The same for many: `count` numbers of each argument, each of 64 bits at most. `out` is none of the arguments.
void operate(const Operator &op, const u64 *const *values, u64 *out, std::size_t count);

}  // namespace score
