// Names of paths: the id of the decisions up to a place, each hashed with the id of those before as its key. The same
// decisions have the same id in every process. A cryptographic hash, unlike the target's: two pairs taken for one would
// lose paths. Each condition of each path goes through it, so it is one made for short messages.
#pragma once

#include <array>
#include <vector>

#include "path.hpp"

namespace score {

using PairId = std::array<u8, 16>;

// The id of the decisions `before` followed by this condition's direction, or its other side.
PairId decided(const PairId &before, const Condition &condition, bool flipped);

// Goes along a path: the ids of the decisions before each of its conditions, and of all.
class Decisions {
  public:
    Decisions();
    void cut(std::size_t count) { ids_.resize(std::min(ids_.size(), count + 1)); }
    void pass_by(const Condition &condition) { ids_.push_back(decided(ids_.back(), condition, false)); }
    const PairId &before(std::size_t index) const { return ids_.at(index); }  // std::out_of_range

  private:
    std::vector<PairId> ids_;
};

}  // namespace score
