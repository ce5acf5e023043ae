// Where the pattern of a floating-point number matters that is none (NaN): machines differ in it.
#pragma once

#include <vector>

#include "arena.hpp"

namespace score {

// The results of arithmetic in a formula whose pattern, not only their number, it depends on. `whole`: the formula's
// own value is stored, so that its pattern is not looked at.
std::vector<Id> pattern_uses(Id expr, bool whole);

// Whether a value may be no number. Without a search: sure are values of one byte, and those that stay small.
bool may_be_nan(Id expr);

}  // namespace score
