// Relations: which values some variables may have together, a row each, as a database has them.
//
// Rows and not arrays with an axis for each variable: most variables are functions of others, so that few of all
// combinations are possible.
#pragma once

#include <stdexcept>

#include "grid.hpp"

namespace score {

struct TooLarge : std::length_error {  // a join has too many rows, or too many variables
    TooLarge() : std::length_error("a relation is too large") {}
};

// For each row the index of each variable's value; the rows lie one behind the other.
struct Relation {
    static constexpr std::size_t OVERHEAD = 64;  // cells that an empty one takes as much memory as

    Relation(Variables variables, std::vector<u8> cells, std::size_t rows);

    const u8 *row(std::size_t at) const { return cells.data() + at * variables.size(); }
    std::size_t taken() const { return OVERHEAD + cells.size(); }  // memory, in cells

    Variables variables;
    std::vector<u8> cells;
    std::size_t rows;
    u64 number;  // that no other relation ever had
};
using RelationPtr = std::shared_ptr<const Relation>;

// A number for each row: equal or smaller as the values of these columns are, the first one first.
std::vector<u64> coded(const Relation &relation, const std::vector<std::size_t> &columns);

// For each value of a variable the first one that goes with the same values of the others; those that have no row are
// alike.
std::vector<u8> alike(const Relation &relation, const VariablePtr &variable, Effort &effort);

// The rows in which the variable has a value that is the first of those which are alike (`first`: as of `alike`).
RelationPtr of_first(const Relation &relation, const VariablePtr &variable, const std::vector<u8> &first);

// The rows that agree with all of the relations, which have a variable in common. TooLarge beyond `most` rows; may
// throw GaveUp.
RelationPtr joined(std::vector<RelationPtr> relations, std::size_t most, Effort &effort);

}  // namespace score
