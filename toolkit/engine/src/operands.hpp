// The leaves that the path's branches compare, and their running hash: compared with the target's in every END.
//
// The hash notices stale state that a direction alone would not show. It depends on the input, so when a prefix is kept
// for another input, the values that a changed byte reaches are computed again.
#pragma once

#include "decoded.hpp"

namespace score {

class Operands {
  public:
    // Those of one more branch. `floats`: its comparison is one of floating point; `deps`: other input bytes that it
    // depends on.
    void add(const Leaves &exprs, bool floats, Deps deps, Decoded &decoded);
    void cut(std::size_t count);  // keep the first branches
    // The first branch with an operand that depends on one of these input bytes, or their number.
    std::size_t first_reached(const Deps &changed) const;
    void recompute(const Deps &changed, Decoded &decoded);  // the values that depend on these input bytes
    u32 hash() const { return folded(lanes_); }

  private:
    struct Branch {
        std::size_t begin, end;  // its operands
        Deps deps, reached;      // input bytes of these, and of all earlier ones, too
        bool floats;             // they may be floating-point numbers
        Lanes before;
    };

    Lanes mixed(Lanes lanes, const Branch &branch) const;

    std::vector<Branch> branches_;
    Leaves exprs_;  // of all branches
    std::vector<u128> values_;
    Lanes lanes_;
};

}  // namespace score
