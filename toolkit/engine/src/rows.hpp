// Assignments of one or two input bytes as rows. A row is the value of the first byte times 256, plus that of the
// second (0 if there is none).
#pragma once

#include <vector>

#include "arena.hpp"

namespace score {

using Rows = std::vector<u16>;  // in rising order

// Every pair of a value of the first byte's set and one of the second's.
Rows all_rows(const ByteSet &first, const ByteSet &second);

// The rows whose bytes are in these sets.
Rows within(const u16 *rows, std::size_t count, const ByteSet &first, const ByteSet &second);

// Operations that `split` does for each row: what depends on one byte is looked up.
u64 cost(Id condition);

// The rows that satisfy the condition, and those that do not. It depends on no bytes but these two (`second`: -1 if
// there is one only), else std::invalid_argument.
std::pair<Rows, Rows> split(Id condition, int first, int second, const u16 *rows, std::size_t count);

}  // namespace score
