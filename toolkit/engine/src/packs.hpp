// Pairs that wait and their ranks in few bytes, for the record: each is said by how it differs from the one before.
// Siblings have most of their input in common, and all pairs have most of what they predict.
#pragma once

#include "frame.hpp"
#include "orders.hpp"
#include "pairs.hpp"

namespace score {

class Packer {
  public:
    std::size_t size() const { return size_; }  // pairs
    // Whether pairs of this rank belong to the same lane as those that are there, if there are any.
    bool is_of_lane(const Rank &rank) const;
    // Ranks do not fall; the pair lives until `take`. `apart`: the number of its input if that is kept elsewhere, or 0.
    void add(const Rank &rank, const Pair &pair, u64 apart);
    // The row, which has this number: that, how many pairs, the first and the last rank, the pack. It is empty then.
    nanobind::tuple take(u64 number);

  private:
    std::size_t size_ = 0;
    Rank first_, last_;
    Bytes bytes_, own_;
    View input_;  // the last one's
};

void add_packs(nanobind::module_ &module);  // Unpacked

}  // namespace score
