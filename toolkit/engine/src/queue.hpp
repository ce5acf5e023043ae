// The pairs that wait to be run, in the order of a strategy. Memory holds the first ones, the backlog all.
//
// The backlog is the campaign's record, which knows every waiting pair with its rank anyway. So to spill is to forget:
// all pairs of a lane ranked above its `end` wait in the backlog only, and are fetched when memory has run out of
// better ones.
//
// A strategy may be made of several orders that take turns. Each then has a lane, a queue of its own: the pairs whose
// ranks begin alike. Which lane is next the strategy says.
//
// What was put off (a flip that was too hard before, the rest of a long path) waits behind all others, whatever the
// strategy says: a byte before the strategy's rank.
#pragma once

#include "orders.hpp"

namespace score {

// Python's queue, as far as other parts of the extension need it.
struct QueueSide {
    virtual nanobind::object next() = 0;  // None if none waits
    // The lane of the pair that was taken last, by its name of the strategy's, and at most so many of those in it that
    // will be next soon, if nothing better comes.
    virtual u8 lane() const = 0;
    virtual std::vector<nanobind::object> likely(std::size_t most) const = 0;
    virtual std::vector<Rank> keep(nanobind::handle pairs) = 0;  // derived from one run; returns their ranks
    virtual std::size_t size() const = 0;

  protected:
    ~QueueSide() = default;
};
QueueSide &queue_of(nanobind::handle object);  // of Python's Queue; else std::invalid_argument

// Adds Queue, and what a fleet's clients need of it for queues of their own, to the module.
void add_queues(nanobind::module_ &module);

}  // namespace score
