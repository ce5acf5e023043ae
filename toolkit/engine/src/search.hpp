// Local search: an input that satisfies a flip's target and its slice, from the run's own input, which satisfies all
// but the target. It finds or gives up; that there is none it cannot say. The same question has the same answer.
#pragma once

#include <vector>

#include "evaluate.hpp"

namespace score {

struct Searched {
    bool found = false;
    std::vector<std::pair<u32, u8>> values;  // of the bytes that change
    u32 evaluations = 0;  // more, if the formulas are so large that one takes as long as several
};

// `sets`: values that bytes may have; a byte that is not named may have any. At most so many evaluations.
Searched search(Id target, const std::vector<Id> &several, const std::vector<std::pair<u32, ByteSet>> &sets,
                const Input &data, u32 most);

}  // namespace score
