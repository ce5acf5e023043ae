// Where exploration is told to stop: branches that are not flipped although they could be. What a bound cuts is lost,
// so who asks counts and locates it.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "path.hpp"

namespace score {

enum class Bound { NONE, DEPTH, LOOP };

// The bounds applied to the path in work: goes along it condition by condition, forth and back.
class BoundedPath {
  public:
    // `depth`: only so many conditions of a path are flipped, the first ones; `loop`: a path is led through the same
    // direction of a branch so often at most.
    BoundedPath(std::optional<u64> depth, std::optional<u64> loop) : depth_(depth), loop_(loop) {}

    void cut(std::size_t count) {
        for (; taken_.size() > count; taken_.pop_back())
            if (auto place = times_.find(taken_.back()); --place->second == 0) times_.erase(place);
    }

    void pass_by(const Condition &condition) {
        if (!loop_) return;
        taken_.push_back({condition.site, condition.chain, condition.direction});
        ++times_[taken_.back()];
    }

    // Which bound keeps the condition from being flipped.
    Bound forbids(const Condition &condition) const {
        if (depth_ && condition.counted >= *depth_) return Bound::DEPTH;
        if (!loop_) return Bound::NONE;
        auto place = times_.find({condition.site, condition.chain, 1 - condition.direction});
        return (place == times_.end() ? 0 : place->second) >= *loop_ ? Bound::LOOP : Bound::NONE;
    }

  private:
    using Decision = std::tuple<u64, i64, unsigned>;  // site, chain, direction

    std::optional<u64> depth_, loop_;
    std::vector<Decision> taken_;  // by each condition; kept only for the loop bound
    std::map<Decision, u64> times_;
};

}  // namespace score
