// Conditions that exclude each other since they compare one number with constants: nothing is above -1 and below 0.
// Programs that look for a number in an order ask this often (tables of borders, binary search, ranges of a protocol),
// local search looks for an input in vain then, and a solver takes a thousand times as long.
#pragma once

#include "arena.hpp"

namespace score {

// Whether no input satisfies the target and these conditions, by the target alone, by its opposite among them, or by
// what they say of the number that it compares. False: not known. `several` may be of any bytes.
bool is_excluded(Id target, const std::vector<Id> &several);

}  // namespace score
