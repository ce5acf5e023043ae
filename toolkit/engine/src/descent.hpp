// What exploration does along a path, as Python has it: bounds, and the descent, which flips each new condition of a
// run while its path is decoded.
#pragma once

#include <nanobind/nanobind.h>

#include "tracing.hpp"

namespace score {

Follower *follower_of(nanobind::handle object);  // null: it is Python's own

// Adds BoundedPath and Descent to the module.
void add_descents(nanobind::module_ &module);

}  // namespace score
