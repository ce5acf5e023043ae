// Python's side of a condition of a path: an object with the condition's parts as attributes, made when Python first
// sees it. It stays when the trail goes back, for pending flips that remember their path.
#pragma once

#include <Python.h>

#include "path.hpp"

namespace score {

bool add_conditions(PyObject *module);  // the type Condition; raises (false) as Python does

// A new reference; null with an exception. `chosen`: Python's form of what was chosen, or None.
PyObject *python_condition(const Condition &condition, PyObject *chosen);

}  // namespace score
