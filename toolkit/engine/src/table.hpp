// Tables over variables that have few values, and what can be said of them without the formulas that they are of.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "word.hpp"

namespace score {

// A table's elements by their values, which are few: `choice` has, for each element, which of `values` it is. They are
// numbered as they come: what tells the same apart is the same partition, whatever the values are.
struct Partition {
    std::vector<u64> values;
    std::vector<u8> choice;
};

constexpr u8 CANNOT_BE = 255;

struct Variable;
using VariablePtr = std::shared_ptr<const Variable>;
using Variables = std::vector<VariablePtr>;  // in the order of their ranks

// An input byte has its `index`; an inner variable has -1 and is `made_of` others: the `choice` of a table over them
// says which of its `count` values it has, and CANNOT_BE (which is then none of them) where conditions exclude that.
struct Variable {
    Variable(int index, unsigned count);
    Variable(Variables made_of, unsigned count, std::vector<u8> choice);
    Variable(const Variable &) = delete;
    ~Variable();

    bool can_be(std::size_t element) const { return choice[element] < count; }

    int index;
    unsigned count;  // 256 at most
    mutable Variables made_of;
    std::vector<u8> choice;
    u64 number;  // that no other variable ever had
    // Of two variables that one is made of the other, the other is first; else the input's order decides.
    std::tuple<int, unsigned, u64> rank;
};

Variables union_of(const Variables &a, const Variables &b);

struct Grid {
    Variables variables;
    std::vector<u64> values;  // row by row: the last variable's values are side by side
};
using GridPtr = std::shared_ptr<const Grid>;  // null: there is none of a bearable size

bool ranks_below(const VariablePtr &a, const VariablePtr &b);

// Whether an inner variable is made of an earlier one of these, or comes of the same byte as one.
bool is_related(const Variable &variable, const Variables &all);

// Whether these are functions of the basis.
bool come_of(const Variables &variables, const Variables &basis);

// The number of elements of a table over these variables.
u128 size_of(const Variables &variables);

// The grid's values, one for each element of a table over these variables, of which there are `size`.
std::vector<u64> spread(const Grid &grid, const Variables &variables, std::size_t size);

// For elements of one table, which of its values a variable has; by the variable's number.
using Choices = std::unordered_map<u64, std::vector<u64>>;

// For each element of a table over the basis, of which the grid's variables come: which of the grid's it is.
std::vector<u64> places_in(const Grid &grid, const Variables &basis, std::size_t size, Choices &known);

// None if the values are more than `most`, or are too many for the table's size.
std::optional<Partition> partition(const std::vector<u64> &table, std::size_t most);

}  // namespace score
