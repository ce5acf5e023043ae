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
        std::size_t index = place(hashes, hash);
        if (index < hashes.size() && hashes[index] == hash) return false;
        if (hashes.size() == hashes.capacity()) hashes.reserve(hashes.size() + hashes.size() / 8 + 4);
        hashes.insert(hashes.begin() + std::ptrdiff_t(index), hash);
        return true;
    }

  private:
    static constexpr std::size_t NEAR = 8;
    static constexpr unsigned LOW_BITS = 52;  // of a hash, below those that say its shard
    struct Shard {
        std::vector<u64> hashes{};
        bool is_sorted = true;
    };
    // Before the first that is not smaller. They are spread evenly, so it is near where its bits say, and to look there
    // waits for memory once, not as often as the array can be halved.
    static std::size_t place(const std::vector<u64> &hashes, u64 hash) {
        auto near = std::size_t(u128(hash << (64 - LOW_BITS)) * hashes.size() >> 64), low = near, high = near;
        for (std::size_t step = NEAR; low && hashes[low - 1] >= hash; step *= 2) low -= std::min(low, step);
        for (std::size_t step = NEAR; high < hashes.size() && hashes[high] < hash; step *= 2)
            high += std::min(hashes.size() - high, step);
        auto begin = hashes.begin();
        return std::size_t(std::lower_bound(begin + std::ptrdiff_t(low), begin + std::ptrdiff_t(high), hash) - begin);
    }
    Shard &of(u64 hash) { return shards_[hash >> LOW_BITS]; }

    std::vector<Shard> shards_;
};

}  // namespace score
