// What became of pairs since the record was last written: those that wait, and those that it has and that are done.
// Most pairs are run soon after they were found, so only what is left of a batch is written, and serialised, at all.
#pragma once

#include <nanobind/nanobind.h>

namespace score {

// Adds PairBatch to the module.
void add_batches(nanobind::module_ &module);

}  // namespace score
