#include "scope.hpp"

#include <algorithm>

namespace score {

void Scope::go_to(const Path &path, const std::vector<Pin> &pins, std::size_t index) {
    cut(in_common(path, index));
    for (std::size_t i = conditions_.size(); i < index; ++i) {
        reach(*path[i], pins);
        pass_by(path[i]);
    }
}

// How many conditions this path shares with the one that the scope is on. A condition is made once, behind the others
// of its path: so those before a shared one are shared, too.
std::size_t Scope::in_common(const Path &path, std::size_t most) const {
    std::size_t high = std::min(conditions_.size(), most);
    if (high && conditions_[high - 1] == path[high - 1]) return high;
    for (std::size_t low = 0;;) {
        if (low >= high) return low;
        std::size_t middle = (low + high + 1) / 2;
        if (conditions_[middle - 1] == path[middle - 1])
            low = middle;
        else
            high = middle - 1;
    }
}

// Go back to before condition `count` was reached.
void Scope::cut(std::size_t count) {
    if (count >= marks_.size()) return;
    Mark to = marks_[count];
    marks_.resize(count);
    if (conditions_.size() > count) conditions_.resize(count);
    pins_ = to.pins;
    loose_->undo(to.loose);
    if (to.strict < 0)
        strict_.reset();
    else
        strict_->undo(std::size_t(to.strict));
}

void Scope::reach(const Condition &condition, const std::vector<Pin> &pins) {
    marks_.push_back({loose_->mark(), strict_ ? std::ptrdiff_t(strict_->mark()) : -1, pins_});
    if (condition.pins == pins_) return;
    if (!strict_) {
        strict_ = std::make_shared<Slicer>();
        for (const ConditionPtr &passed : conditions_) strict_->add(passed->formula);
    }
    for (; pins_ < condition.pins && pins_ < pins.size(); ++pins_) strict_->add(pins[pins_].formula);
}

void Scope::pass_by(const ConditionPtr &condition) {
    conditions_.push_back(condition);
    loose_->add(condition->formula);
    if (strict_) strict_->add(condition->formula);
}

}  // namespace score
