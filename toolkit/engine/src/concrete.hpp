// Values that the program uses as they are in the run: what has no formula (a structure that is copied at a symbolic
// index, a call through a table, a volatile object), and arguments of opaque calls.
//
// Such a use *forks* if the value is one of few: that it is what it is becomes a condition of the path, whose other
// side is another value, until each had its test. The target knows nothing of that condition: it is in neither of its
// hashes and not in its count. From there on the value is a constant. Else the use is noted, and the value is *pinned*:
// a soft constraint (docs/design/forks.md).
#pragma once

#include "decoded.hpp"

namespace score {

// `values`: how many a value may have at most to fork; 0: none does. `arguments`: not only addresses and sizes do, but
// also arguments of opaque calls and numbers of types without formulas.
struct Forks {
    u128 values = 256;
    bool arguments = false;
};

class Concrete {
  public:
    Concrete(Decoded &decoded, Branches &branches, Forks forks)
        : decoded_(decoded), branches_(branches), forks_(forks) {}

    // The value of this event is used as it is. `symbolic`, `opaque`: the notes if it does not fork, as input or as an
    // opaque result; nothing: what comes of it is noted.
    void use(const Site &site, Id value, const char *symbolic, const char *opaque, bool is_address = false);
    void address(const Site &site, Id value, const char *symbolic);

    // Whether it is symbolic, and its values are so few that each can have its test.
    bool is_few(Id value) const;

    // The condition that the value is what it is in this run; no formula if it is pinned, or known.
    Outcome fork(const Site &site, Id value);

  private:
    Decoded &decoded_;
    Branches &branches_;
    Forks forks_;
};

}  // namespace score
