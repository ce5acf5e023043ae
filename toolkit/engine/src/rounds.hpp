// The loop around a test, as long as nothing of a test is out of the ordinary: a pair is taken from the work list, its
// run sent, the answer read, its path followed and flipped, children put into the work list, the test into a row.
//
// Whatever else there is to do (a question to the solver, a bug, new coverage, a note, a silent target, a deadline),
// Python does. It is told how far the test at hand has come.
#pragma once

#include <nanobind/nanobind.h>

namespace score {

// Adds Rounds and PathHashes to the module.
void add_rounds(nanobind::module_ &module);

}  // namespace score
