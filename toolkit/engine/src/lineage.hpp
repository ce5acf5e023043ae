// Which run a pair was derived from: what two paths have in common, without comparing their conditions.
//
// A path is its parent's up to the condition that was flipped. So two paths part where the first of their ancestors
// left the last run that both descend from. It is kept in memory only, and by waiting pairs only: a pair that comes
// from the record has no known ancestors.
#pragma once

#include <optional>
#include <utility>

#include "pooled.hpp"
#include "word.hpp"

namespace score {

// A run: the run it was derived from, and how many conditions it has in common with that. Shared and counted; null if
// it is not known.
class Origin {
  public:
    Origin() = default;
    static Origin first() { return Origin(made({1, 0, 0, nullptr})); }
    static Origin of(const Origin &parent, u32 common) {
        if (parent.run_) ++parent.run_->refs;
        return Origin(made({1, common, parent.run_ ? parent.run_->generation + 1 : 0, parent.run_}));
    }
    Origin(const Origin &other) : run_(other.run_) {
        if (run_) ++run_->refs;
    }
    Origin(Origin &&other) noexcept : run_(std::exchange(other.run_, nullptr)) {}
    Origin &operator=(Origin other) noexcept {
        std::swap(run_, other.run_);
        return *this;
    }
    ~Origin() {
        for (Run *run = run_, *parent; run && --run->refs == 0; run = parent) {  // lines of ancestors are long
            parent = run->parent;
            Pooled<Run>().deallocate(run, 1);
        }
    }
    explicit operator bool() const { return run_; }

    // How many conditions the paths of two runs share at least; none: all of them.
    static std::optional<u32> in_common(const Origin &one, const Origin &other) {
        const Run *a = one.run_, *b = other.run_;
        std::optional<u32> least;
        while (a != b) {
            if (!a || (b && b->generation > a->generation)) std::swap(a, b);
            least = least && *least < a->common ? *least : a->common;
            a = a->parent;
        }
        return least;
    }

  private:
    struct Run {
        u64 refs;
        u32 common, generation;
        Run *parent;
    };

    static Run *made(Run run) { return new (Pooled<Run>().allocate(1)) Run(run); }

    explicit Origin(Run *run) : run_(run) {}

    Run *run_ = nullptr;
};

}  // namespace score
