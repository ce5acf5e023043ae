// Between which numbers all values of a formula lie, whatever the input is: interval arithmetic of unsigned numbers.
// Much that a path asks is answered by that alone (an address in a table, `&t[hash % 31]`, is not null), and would take
// a solver long.
#pragma once

#include <unordered_map>

#include "arena.hpp"

namespace score {

struct Interval {
    u128 least, most;
};

// Of formulas that have parts in common.
class Intervals {
  public:
    // The smallest interval that was found; where it takes too deep a look, all numbers of the formula's width.
    Interval of(Id expr);

  private:
    Interval of(Id expr, unsigned depth);
    Interval computed(Id expr, unsigned depth);

    std::unordered_map<Id, Interval> known_;
};

// A value that it never exceeds, as an unsigned number.
u128 upper(Id expr);

// Whether no input makes the condition true, by the intervals of what it compares. False: not known.
bool is_refuted(Id condition);

}  // namespace score
