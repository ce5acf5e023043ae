// The hashes of the paths that a campaign has seen: millions, and nothing else in memory grows with their number. So a
// hash takes 9 to 11 bytes: sorted arrays, one for each value of the highest bits (the hashes come from the target well
// mixed), so that taking one in moves a few kilobytes at most. Those that somebody knows already are sorted when the
// first of an array is asked for: a campaign of ten million goes on at once.
#pragma once

#include <algorithm>
#include <vector>

#include "word.hpp"

namespace score {

class HashSet {
  public:
    HashSet() : shards_(std::size_t(1) << (64 - LOW_BITS)) {}

    void know(u64 hash) {  // it is there from the beginning
        Shard &shard = of(hash);
        shard.hashes.push_back(hash), shard.is_sorted = false;
    }

    bool add(u64 hash) {  // true if it is new
        Shard &shard = of(hash);
        std::vector<u64> &hashes = shard.hashes;
        if (!shard.is_sorted) std::sort(hashes.begin(), hashes.end()), shard.is_sorted = true;
        auto at = std::lower_bound(hashes.begin(), hashes.end(), hash);
        if (at != hashes.end() && *at == hash) return false;
        auto index = at - hashes.begin();
        if (hashes.size() == hashes.capacity()) hashes.reserve(hashes.size() + hashes.size() / 8 + 4);
        hashes.insert(hashes.begin() + index, hash);
        return true;
    }

  private:
    static constexpr unsigned LOW_BITS = 52;  // of a hash, below those that say its shard
    struct Shard {
        std::vector<u64> hashes{};
        bool is_sorted = true;
    };
    Shard &of(u64 hash) { return shards_[hash >> LOW_BITS]; }

    std::vector<Shard> shards_;
};

}  // namespace score
