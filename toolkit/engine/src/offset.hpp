// What is known of an offset into an object from its formula alone: how far apart its values lie, and in which window
// of the object.
#pragma once

#include "arena.hpp"

namespace score {

constexpr unsigned DEEP = 8;  // how deep formulas are looked into for what is known of their values

struct Stride {
    unsigned step;  // the offset is some number << step,
    u128 rest;      // plus this
};
Stride stride_of(Id offset);

// Where in an object an offset can be: it is `from`, which is `last` at most, plus `first`, if it is no more than the
// `last` that was given.
struct Window {
    Id from;
    u64 first, last;
};
Window window_of(Id offset, u64 last);

// Which of the elements, in as few bits as tell them apart. `last`: the largest offset.
Ref index_of(Id offset, Stride stride, u64 last);

}  // namespace score
