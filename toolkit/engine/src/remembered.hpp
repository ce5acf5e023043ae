// Results by formulas: runs of one campaign compute the same again and again. Beyond a limit all are forgotten, which
// bounds memory, and with it how many formulas outlive their path.
#pragma once

#include <deque>

#include "path.hpp"

namespace score {

// Bytes of an object, shared by all who look at it.
class ObjectBytes {
  public:
    ObjectBytes(const u8 *bytes, std::size_t size) : bytes_(bytes, bytes + size) {
        for (u8 byte : bytes_) hash_ = (hash_ ^ byte) * 0x100000001B3u;
        hash_ ^= hash_ >> 29;
    }
    const u8 *data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size(); }
    u64 hash() const { return hash_; }
    bool operator==(const ObjectBytes &other) const { return hash_ == other.hash_ && bytes_ == other.bytes_; }

  private:
    std::vector<u8> bytes_;
    u64 hash_ = 0xCBF29CE484222325u;
};

using SharedBytes = std::shared_ptr<const ObjectBytes>;

// One table of entries with their hashes, and all formulas in one row: what is looked for lies in two places, not in
// one for each of its parts.
template <class Value> class Remembered {
  public:
    // By two numbers, formulas, and bytes (which may be none). What is found stays where it is until all is forgotten.
    Value *find(u64 a, u64 b, const Ref *refs, std::size_t count, const ObjectBytes *bytes = nullptr) {
        if (slots_.empty()) return nullptr;
        u64 wanted = hash(a, b, refs, count, bytes);
        for (std::size_t at = home(wanted); slots_[at]; at = (at + 1) & (slots_.size() - 1)) {
            Entry &entry = entries_[slots_[at] - 1];
            if (entry.hash == wanted && entry.a == a && entry.b == b && entry.count == count && same(entry, refs) &&
                (!bytes || (entry.bytes.get() == bytes || *entry.bytes == *bytes)))
                return &entry.value;
        }
        return nullptr;
    }
    Value &add(u64 a, u64 b, const Ref *refs, std::size_t count, Value value, SharedBytes bytes = nullptr) {
        if (2 * (entries_.size() + 1) > slots_.size()) grow();
        u64 where = hash(a, b, refs, count, bytes.get());
        entries_.push_back({where, a, b, refs_.size(), count, std::move(bytes), std::move(value)});
        refs_.insert(refs_.end(), refs, refs + count);
        place(entries_.size());
        return entries_.back().value;
    }
    std::size_t size() const { return entries_.size(); }
    void clear() { entries_.clear(), refs_.clear(), slots_.clear(); }

  private:
    struct Entry {
        u64 hash, a, b;
        std::size_t from, count;  // its formulas in the row
        SharedBytes bytes;
        Value value;
    };

    bool same(const Entry &entry, const Ref *refs) const {
        for (std::size_t i = 0; i < entry.count; ++i)
            if (Id(refs_[entry.from + i]) != Id(refs[i])) return false;
        return true;
    }
    static u64 hash(u64 a, u64 b, const Ref *refs, std::size_t count, const ObjectBytes *bytes) {
        u64 found = a * 0x9E3779B97F4A7C15u ^ b;
        for (std::size_t i = 0; i < count; ++i) found = (found ^ found >> 32 ^ Id(refs[i])) * 0x9E3779B97F4A7C15u;
        return found ^ found >> 31 ^ (bytes ? bytes->hash() : 0);
    }

    std::size_t home(u64 hash) const { return hash * 0x9E3779B97F4A7C15u >> 32 & (slots_.size() - 1); }
    void place(std::size_t number) {  // of an entry, from 1 on
        std::size_t at = home(entries_[number - 1].hash);
        while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = u32(number);
    }
    void grow() {
        slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), 0);
        for (std::size_t number = 1; number <= entries_.size(); ++number) place(number);
    }

    std::deque<Entry> entries_;
    std::vector<Ref> refs_;
    std::vector<u32> slots_;  // numbers of entries by their hashes, 0: free; a power of two, at most half in use
};

}  // namespace score
