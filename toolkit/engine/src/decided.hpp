// What is said of a question by who decides some of them and leaves the others.
#pragma once

#include <utility>
#include <vector>

#include "arena.hpp"

namespace score {

struct Decided {
    enum Result { LEFT, GAVE_UP, UNSAT, SAT } result;  // LEFT: it is of another kind, or too large
    std::vector<std::pair<u32, u8>> values;  // of input bytes: those of the run where they are as good as others
};

using ByteSets = std::vector<std::pair<u32, ByteSet>>;  // by input byte: the values that it may have

}  // namespace score
