// Results by formulas: runs of one campaign compute the same again and again. Beyond a limit all are forgotten, which
// bounds memory, and with it how many formulas outlive their path.
#pragma once

#include <unordered_map>

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

template <class Value> class Remembered {
  public:
    // By two numbers, formulas, and bytes (which may be none).
    Value *find(u64 a, u64 b, const Ref *refs, std::size_t count, const ObjectBytes *bytes = nullptr) {
        auto [from, to] = entries_.equal_range(hash(a, b, refs, count, bytes));
        for (; from != to; ++from) {
            Entry &entry = from->second;
            if (entry.a == a && entry.b == b && entry.refs.size() == count && same(entry.refs, refs) &&
                (!bytes || (entry.bytes.get() == bytes || *entry.bytes == *bytes)))
                return &entry.value;
        }
        return nullptr;
    }
    Value &add(u64 a, u64 b, const Ref *refs, std::size_t count, Value value, SharedBytes bytes = nullptr) {
        u64 where = hash(a, b, refs, count, bytes.get());
        Entry entry{a, b, std::vector<Ref>(refs, refs + count), std::move(bytes), std::move(value)};
        return entries_.emplace(where, std::move(entry))->second.value;
    }
    std::size_t size() const { return entries_.size(); }
    void clear() { entries_.clear(); }

  private:
    struct Entry {
        u64 a, b;
        std::vector<Ref> refs;
        SharedBytes bytes;
        Value value;
    };

    static bool same(const std::vector<Ref> &kept, const Ref *refs) {
        for (std::size_t i = 0; i < kept.size(); ++i)
            if (Id(kept[i]) != Id(refs[i])) return false;
        return true;
    }
    static u64 hash(u64 a, u64 b, const Ref *refs, std::size_t count, const ObjectBytes *bytes) {
        u64 found = a * 0x9E3779B97F4A7C15u ^ b;
        for (std::size_t i = 0; i < count; ++i) found = (found ^ found >> 32 ^ Id(refs[i])) * 0x9E3779B97F4A7C15u;
        return found ^ found >> 31 ^ (bytes ? bytes->hash() : 0);
    }

    std::unordered_multimap<u64, Entry> entries_;
};

}  // namespace score
