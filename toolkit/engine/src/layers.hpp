// What Python's layers of the solver ask of formulas: byte sets and rows, what is known of a formula's values, choices
// as they are in a run, local search, and tables of values.
#pragma once

#include <nanobind/nanobind.h>

namespace score {

void add_layers(nanobind::module_ &module);

}  // namespace score
