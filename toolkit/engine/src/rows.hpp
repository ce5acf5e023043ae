// Assignments of one to eight input bytes as rows. A row is a number whose digits of 8 bits are the bytes' values, the
// last byte's the lowest.
#pragma once

#include <vector>

#include "arena.hpp"

namespace score {

using Row = u64;
using Rows = std::vector<Row>;  // in rising order
constexpr std::size_t MOST_ROW_BYTES = sizeof(Row);

// Every choice of one value of each byte's set.
Rows all_rows(const std::vector<ByteSet> &sets);

// Every choice of one row of each part. `places`: of each part's bytes, where they are among all.
struct RowsPart {
    const Row *rows;
    std::size_t count;
    std::vector<std::size_t> places;
};
Rows product(const std::vector<RowsPart> &parts);

// The rows whose bytes are in these sets.
Rows within(const Row *rows, std::size_t count, const std::vector<ByteSet> &sets);

// Operations that `split` does for each row: what depends on one byte is looked up.
u64 cost(Id condition);

// The rows that satisfy the condition, and those that do not. It depends on no bytes but these, which the rows are made
// of, else std::invalid_argument.
std::pair<Rows, Rows> split(Id condition, const std::vector<int> &indices, const Row *rows, std::size_t count);

}  // namespace score
