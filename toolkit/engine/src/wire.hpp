// What Python may call of the link: frames and sessions.
#pragma once

#include <nanobind/nanobind.h>

#include "session.hpp"

namespace score {

nanobind::object error_of(const LinkFailure &failure);  // Python's

void add_wire(nanobind::module_ &m);

}  // namespace score
