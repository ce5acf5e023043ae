// Equalities between bytes: slices made of `a == b` and `a != b` are decided without a solver.
//
// Equal bytes are put into classes; a class has the values that all of its bytes may have. What is left are values that
// must differ, which is colouring a graph: whoever has more values than neighbours can always be coloured last, and
// only the rest, mostly nothing, is searched. Numbers of several bytes are compared byte by byte: `x == y` is one
// equality for each byte, `x != y` says that one of the pairs differs. That is chosen only where the colouring found
// does not keep it by itself. The search is complete within its steps; what takes more is left to others.
#pragma once

#include "decided.hpp"
#include "effort.hpp"
#include "evaluate.hpp"

namespace score {

// A slice as comparisons of bytes. Apart from the rest, since most slices are none, and then nothing else is looked at.
class Comparisons {
  public:
    using Pair = std::pair<int, int>;  // an input byte, and another one or ~constant
    struct Relation {  // all pairs are equal; or, if not `equal`, at least one of them differs
        bool equal, decided;  // decided: constants differ, so it is unequal whatever the bytes are
        std::size_t from, to;  // its pairs
    };

    // Whether all are such comparisons. A target on one byte alone is a set of its values, and none of them.
    bool take(Id target, const std::vector<Id> &several);

    const std::vector<Relation> &relations() const { return relations_; }
    const Pair &pair(std::size_t at) const { return pairs_[at]; }
    std::size_t bound() const { return bound_; }  // input bytes are below

  private:
    bool add(Id condition);
    bool add_bytes(Id value, std::vector<int> &bytes);

    std::vector<Relation> relations_;
    std::vector<Pair> pairs_;
    std::vector<int> one_, other_;  // of the condition that is being taken
    std::size_t bound_ = 0;
};

class Equality {
  public:
    // `steps`: of the search for one question. `depth`: classes that it may search, and choices above one another.
    // `look` is called now and then; what it throws ends the question.
    Equality(u64 steps, std::size_t depth, std::function<void()> look)
        : steps_(steps), depth_(depth), effort_(~u64(0), std::move(look)) {}
    Equality(const Equality &) = delete;

    Decided solve(const Comparisons &slice, Id target, const ByteSets &sets, const Input &data);

  private:
    u64 steps_;
    std::size_t depth_;
    Effort effort_;
};

}  // namespace score
