// What the path says of whole formulas, and what follows: how many values one can have at most, and formulas with parts
// of them replaced by constants.
#pragma once

#include <functional>

#include "arena.hpp"

namespace score {

constexpr u128 ALL_128 = ~u128(0);  // stands for 2 to the power of 128, too

// The largest value that the path leaves a formula; null: it says nothing. And the constant that a formula is; 0: none.
using Limits = std::function<const u128 *(Id)>;
using Constants = std::function<Id(Id)>;

// No more than so many values; of a formula that is too deep, 2 to the power of its width. The number is static, so
// that all runs of a path, sessions and machines agree.
u128 most_values(Id expr, const Limits &limits);

// What a condition that holds says of a formula as a whole: its largest value. 0: nothing.
std::pair<Id, u128> limit_of(Id condition);

// The formula, or one that is equal to it where each of the `known` is its constant. `reach`: their input bytes.
Ref replaced(Id expr, const Constants &known, const Deps &reach);

// The formula with other ones for some of its parts (0: none), however deep these lie.
Ref substituted(Id expr, const std::function<Id(Id)> &others);

}  // namespace score
