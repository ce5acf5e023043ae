// How much a question may cost: steps of loops, never time, so that campaigns repeat on every machine.
//
// Who loops says how many steps it is about to take, a nanosecond or a few each. Beyond the bound that ends the
// question.
#pragma once

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "word.hpp"

namespace score {

struct GaveUp : std::runtime_error {
    GaveUp() : std::runtime_error("a question took more steps than it may") {}
};

class Effort {
  public:
    // `look` is called each few ten thousand steps; what it throws ends the question.
    Effort(u64 most, std::function<void()> look) : most_(most), begun_(most), left_(most), look_(std::move(look)) {}
    Effort(const Effort &) = delete;

    void begin() { begin(most_); }
    void begin(u64 most) { left_ = begun_ = std::min(most, most_); }
    void spend(u64 steps) {
        if (steps > left_) {
            left_ = 0;
            throw GaveUp();
        }
        left_ -= steps;
        if ((since_ += steps) < LOOK) return;
        since_ = 0;
        look_();
    }
    u64 spent() const { return begun_ - left_; }  // since `begin`

  private:
    static constexpr u64 LOOK = 1 << 16;

    u64 most_, begun_, left_, since_ = 0;
    std::function<void()> look_;
};

}  // namespace score
