// What became of pairs since the record was last written: those that wait, and those that it has and that are done.
// Most pairs are run soon after they were found, so only what is left of a batch is written, and serialised, at all.
#pragma once

#include "orders.hpp"

namespace score {

// Python's batch, as far as other parts of the extension need it.
struct BatchSide {
    virtual void add(nanobind::handle pair, const Rank &rank) = 0;  // it waits from now on
    virtual void done(nanobind::handle pair) = 0;

  protected:
    ~BatchSide() = default;
};
BatchSide &batch_of(nanobind::handle object);  // of Python's PairBatch; else std::invalid_argument

// Adds PairBatch to the module.
void add_batches(nanobind::module_ &module);

}  // namespace score
