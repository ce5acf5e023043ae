// Formulas as tables: the values of a formula for all values of the few variables that it depends on.
//
// A variable is an input byte, or an *inner* value: what a formula reads from a table, chooses, or cuts out, if that
// has few values. Code that is driven by tables computes chains of such values (a scanner's state after each byte),
// each from the one before and one byte more. Over bytes alone such a formula has more values than can be listed; over
// its inner values it has a few thousand. Each inner variable knows its own table, over the variables that it is made
// of. Where inner values that hang together have too many values together, they are told by what they are made of.
//
// A table knows nothing of the path: it counts values that a scanner's state has where the path does not go. Where
// there would be no table because of them, only those count that the question's conditions allow. Such a table is right
// where these hold, and is of no use to a question without them.
//
// Formulas wider than 64 bits and floating-point numbers have no table.
#pragma once

#include <map>

#include "arena.hpp"
#include "effort.hpp"
#include "table.hpp"

namespace score {

// Elements of a table: from where on a part of it becomes a variable, and how many it may have.
struct GridSizes {
    std::size_t at_ease, largest;
};
constexpr GridSizes GRID_SIZES{4096, 1 << 16};

// Makes grids and keeps those of formulas that are alive.
class Grids final : Mourner {
  public:
    Grids(GridSizes sizes, Effort &effort) : sizes_(sizes), effort_(effort) {}
    Grids(const Grids &) = delete;
    ~Grids() { forget(); }

    // What holds in all that is asked for from here on, which are conditions of one question. `looks`: whether to look
    // for what they exclude where there was no table before.
    void assume(const std::vector<Id> &conditions, bool looks);

    GridPtr of(Id expr);  // may throw GaveUp
    // The conditions that a formula's grid is right under, by their uids, rising; of one that `of` was called for.
    const std::vector<u64> &under(Id expr) const { return known_.at(expr).under; }

  private:
    struct Allowed {
        GridPtr grid;
        std::vector<u64> under;
    };
    struct Known {
        GridPtr grid, few;  // `few`: over inner variables, where that makes it smaller; null: it was not asked yet
        std::size_t size = 0;  // elements that are counted for it
        std::vector<u64> under;
        u64 question = 0;  // for which there is none
        std::vector<Allowed> allowed;
    };

    void died(Id id) override;
    void forget();
    void count(Known &known, std::size_t elements);
    bool holds(const std::vector<u64> &under) const;
    bool is_known(Id id) const;
    GridPtr made(Id id, std::vector<u64> &under);
    std::vector<GridPtr> in_few_values(const Node &node, const std::vector<GridPtr> &parts);
    GridPtr computed(const Node &node, const std::vector<GridPtr> &parts);
    GridPtr few_of(Id id, const GridPtr &grid);
    GridPtr reduced(const GridPtr &grid);
    GridPtr allowed(Id id, const GridPtr &grid, std::vector<u64> &under);
    GridPtr allowed_of(const GridPtr &grid, std::vector<u64> &under);
    GridPtr as_variable(const Variables &variables, Partition found);
    Variables basis_of(Variables variables);
    GridPtr possible(const Grid &grid);
    const VariablePtr &byte(u32 index);

    GridSizes sizes_;
    Effort &effort_;
    std::unordered_map<Id, Known> known_;
    std::map<u32, VariablePtr> bytes_;
    using Key = std::pair<std::vector<u64>, std::vector<u8>>;  // its count, numbers of what it is made of; the choice
    std::map<Key, std::weak_ptr<const Variable>> inner_;
    std::size_t inner_limit_ = 1024;  // of those, when they are looked through for dead ones
    std::size_t size_ = 0;  // elements of all tables together
    std::vector<Id> assumed_;
    std::vector<u64> assumed_uids_;  // rising
    u64 question_ = 0;
    bool looks_ = false;
};

}  // namespace score
