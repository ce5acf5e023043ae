// Conditions over one input byte as the set of its values that satisfy them: then a flip is an AND of four words. And
// the tables under it: a formula's value for each value of its only byte.
#pragma once

#include "arena.hpp"

namespace score {

// Computed once and kept until somebody calls Arena::forget_columns, which who asks for columns does now and then. The
// formula depends on one byte at most (else std::invalid_argument).
const Column &column(Id expr);

// Bit v is set if the condition holds when its only byte is v. Kept with the node.
const ByteSet &byte_set(Id condition);

unsigned smallest(const ByteSet &values);  // std::invalid_argument if there is none

}  // namespace score
