// What the layers of the solver are asked, as Python has it: the slice of a flip, the path that it stands on, and the
// paths that flips keep while they wait.
#pragma once

#include <nanobind/nanobind.h>

#include "scope.hpp"

namespace score {

// Python's classes for what is asked, and for that nobody wants answers any more. They live as long as the process.
struct Questions {
    nanobind::object query, stopped;
};
Questions &questions();

// Python's Query for a slice of the slicer's path.
nanobind::object question(const std::shared_ptr<Slicer> &slicer, const Slice &slice, Id target,
                          const nanobind::bytes &data);

// The path of a trail, for the flips that wait.
struct Route {
    Path conditions;
    std::vector<Pin> pins;
    nanobind::object trail;  // makes Python's conditions
};

// Adds Slicer, Passed and Route to the module.
void add_questions(nanobind::module_ &module);

}  // namespace score
