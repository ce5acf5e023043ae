// What is known of an offset into an object from its formula alone: how large it can be, and how far apart its values lie.
#pragma once

#include "arena.hpp"

namespace score {

constexpr unsigned DEEP = 8;  // how deep formulas are looked into for what is known of their values

// A value that it never exceeds, as an unsigned number.
u128 upper(Id expr, unsigned depth);

struct Stride {
    unsigned step;  // the offset is some number << step,
    u128 rest;      // plus this
};
Stride stride_of(Id offset);

// Which of the elements, in as few bits as tell them apart. `last`: the largest offset.
Ref index_of(Id offset, Stride stride, u64 last);

}  // namespace score
