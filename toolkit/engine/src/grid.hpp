// Formulas as tables: the values of a formula for all values of the few variables that it depends on.
//
// A variable is an input byte, or an *inner* value: what a formula reads from a table, chooses, or cuts out, if that
// has few values. Code that is driven by tables computes chains of such values (a scanner's state after each byte),
// each from the one before and one byte more. Over bytes alone such a formula has more values than can be listed; over
// its inner values it has a few thousand. Each inner variable knows its own table, over the variables that it is made
// of. Where inner values that hang together have too many values together, they are told by what they are made of.
//
// Formulas wider than 64 bits and floating-point numbers have no table.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "arena.hpp"
#include "effort.hpp"

namespace score {

// A table's elements by their values, which are few: `choice` has, for each element, which of `values` it is. They are
// numbered as they come: what tells the same apart is the same partition, whatever the values are.
struct Partition {
    std::vector<u64> values;
    std::vector<u8> choice;
};

struct Variable;
using VariablePtr = std::shared_ptr<const Variable>;
using Variables = std::vector<VariablePtr>;  // in the order of their ranks

// An input byte has its `index`; an inner variable has -1 and is `made_of` others: the `choice` of a table over them
// says which of its `count` values it has.
struct Variable {
    Variable(int index, unsigned count);
    Variable(Variables made_of, unsigned count, std::vector<u8> choice);
    Variable(const Variable &) = delete;
    ~Variable();

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

// Makes grids and keeps those of formulas that are alive.
class Grids final : Mourner {
  public:
    // `at_ease`: elements that a table may have before a part of it becomes a variable.
    Grids(std::size_t at_ease, Effort &effort) : at_ease_(at_ease), effort_(effort) {}
    Grids(const Grids &) = delete;
    ~Grids() { forget(); }

    GridPtr of(Id expr);  // may throw GaveUp

  private:
    struct Known {
        GridPtr grid, few;  // `few`: over inner variables, where that makes it smaller; null: it was not asked yet
        std::size_t size = 0;  // elements that are counted for it
    };

    void died(Id id) override;
    void forget();
    void count(Known &known, std::size_t elements);
    GridPtr made(Id id);
    std::vector<GridPtr> in_few_values(const Node &node, const std::vector<GridPtr> &parts);
    GridPtr computed(const Node &node, const std::vector<GridPtr> &parts);
    GridPtr few_of(Id id, const GridPtr &grid);
    GridPtr reduced(const GridPtr &grid);
    Variables basis_of(Variables variables);
    GridPtr possible(const Grid &grid);
    const VariablePtr &byte(u32 index);

    std::size_t at_ease_;
    Effort &effort_;
    std::unordered_map<Id, Known> known_;
    std::map<u32, VariablePtr> bytes_;
    using Key = std::pair<std::vector<u64>, std::vector<u8>>;  // numbers of what it is made of, and the choice
    std::map<Key, std::weak_ptr<const Variable>> inner_;
    std::size_t inner_limit_ = 1024;  // of those, when they are looked through for dead ones
    std::size_t size_ = 0;  // elements of all tables together
};

}  // namespace score
