// The leaves of a site's template as an event brings them: what is symbolic is in the mirror, the rest in the stream.
#pragma once

#include "cursor.hpp"
#include "mirror.hpp"
#include "path.hpp"
#include "site.hpp"

namespace score {

enum class Mask : u8 { NONE, TAINTED, ONE, TWO, MANY };  // what is sent of the leaves' taint

Mask mask_of(const std::vector<Leaf> &leaves);

class LeafReader {
  public:
    LeafReader(Cursor &cursor, Mirror &mirror) : cursor_(cursor), mirror_(mirror) {}

    // Those of this site, which has a template, in place of what is in `found`. TraceFault or NotMirrored if they make
    // no sense.
    void read(const Site &site, Mask mask, Leaves &found);

  private:
    Ref leaf(const Leaf &leaf, u128 taint);

    Cursor &cursor_;
    Mirror &mirror_;
};

}  // namespace score
