// What the solver knows at a condition of a path: the conditions before it, and beside them the pins.
//
// A pin (a symbolic value that was used concretely) is a soft constraint: a flip that keeps it is sure to lead where it
// should, so it is asked for first; without a model it is asked again without pins. Pins are rare, so the second slicer
// exists only from the first pin on.
//
// A flip that waits keeps its run's path. When its turn comes, the scope goes there from wherever it is: back to where
// the two paths part, and forth from there.
#pragma once

#include "path.hpp"
#include "slicer.hpp"

namespace score {

class Scope {
  public:
    Scope() : loose_(std::make_shared<Slicer>()) {}

    // To before condition `index` of this path is reached.
    void go_to(const Path &path, const std::vector<Pin> &pins, std::size_t index);
    void reach(const Condition &condition, const std::vector<Pin> &pins);  // the path has come to its next condition
    void pass_by(const ConditionPtr &condition);                          // it holds from now on

    const std::shared_ptr<Slicer> &loose() const { return loose_; }
    const std::shared_ptr<Slicer> &strict() const { return strict_; }  // with the pins; null: there is none yet

  private:
    // the state before a condition: marks of the slicers (-1: there was none), and how many pins stand there
    struct Mark {
        std::size_t loose;
        std::ptrdiff_t strict;
        std::size_t pins;
    };

    std::size_t in_common(const Path &path, std::size_t most) const;
    void cut(std::size_t count);

    Path conditions_;  // of the path, before the place where the scope is
    std::size_t pins_ = 0;   // taken over so far
    std::shared_ptr<Slicer> loose_, strict_;
    std::vector<Mark> marks_;  // by each condition
};

}  // namespace score
