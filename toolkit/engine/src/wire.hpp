// What Python may call of the link: frames and sessions.
#pragma once

#include <nanobind/nanobind.h>

namespace score {

void add_wire(nanobind::module_ &m);

}  // namespace score
