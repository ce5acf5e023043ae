// Names of formulas by content: equal formulas have equal digests, also if one died before the other was made. So a
// cache can remember formulas without keeping them alive. Origins are not part of it: they change no value.
#pragma once

#include "arena.hpp"

namespace score {

const Digest &digest(Id expr);  // kept with each node

}  // namespace score
