// The trail as Python has it: site tables and constants that Python answers for, and objects for what was decoded.
#pragma once

#include <nanobind/nanobind.h>

namespace score {

// Adds Trail, Cursor and Condition to the module.
void add_trails(nanobind::module_ &module);

}  // namespace score
