// The orders of the queue: each gives a pair a rank when it becomes known, bytes that sort. What the orders are for is
// said in score_embed/engine/_core.pyi, how ranks are used in queue.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "pairs.hpp"

namespace score {

// Bytes that sort as they are compared from the first on; a shorter one before what it begins.
class Rank {
  public:
    static constexpr std::size_t MOST = 18;

    Rank() = default;
    Rank(const u8 *bytes, std::size_t size) : size_(u8(size)) { std::memcpy(bytes_.data(), bytes, size); }

    // With a byte before it.
    Rank behind(u8 first) const {
        Rank made;
        made.size_ = u8(size_ + 1), made.bytes_[0] = first;
        std::memcpy(made.bytes_.data() + 1, bytes_.data(), size_);
        return made;
    }
    Rank without_first() const { return size_ ? Rank(bytes_.data() + 1, size_ - 1u) : Rank(); }

    const u8 *data() const { return bytes_.data(); }
    std::size_t size() const { return size_; }
    u8 operator[](std::size_t at) const { return bytes_[at]; }

    friend bool operator<(const Rank &a, const Rank &b) {
        for (std::size_t i = 0; i < WORDS; ++i)
            if (u64 x = a.word(i), y = b.word(i); x != y) return x < y;
        return a.size_ < b.size_;
    }
    friend bool operator==(const Rank &a, const Rank &b) {
        return a.size_ == b.size_ && a.bytes_ == b.bytes_;
    }

  private:
    static constexpr std::size_t WORDS = (MOST + sizeof(u64) - 1) / sizeof(u64);

    u64 word(std::size_t number) const {
        u64 word;
        std::memcpy(&word, bytes_.data() + number * sizeof word, sizeof word);
        return __builtin_bswap64(word);  // hosts are little endian
    }

    u8 size_ = 0;
    std::array<u8, WORDS * sizeof(u64)> bytes_{};  // 0 behind those that it has
};

// Where a pair comes from: the number of the run that it was derived from, and of the flip within that run, the
// shallowest first.
struct Flip {
    u32 run, number;
};

class Order {
  public:
    Order() = default;
    Order(const Order &) = delete;
    virtual ~Order() = default;

    // The rank of a new pair (Python's); no two are equal.
    virtual Rank rank(nanobind::handle pair, Flip flip) = 0;
    // The rank of the next pair as it is now. If it is another one than before, the pair goes back.
    virtual Rank on_top(nanobind::handle pair, const Rank &rank);
    // Whose turn it is, of the first bytes of the ranks of pairs that wait (in order, at least one).
    virtual u8 turn(const std::vector<u8> &lanes);
    // How many of the pairs that wait in the lane of the one that was taken last are most likely next.
    virtual std::size_t soon() const;
    // Whether the pair with this rank had its turn depth first: then what lies below it comes next.
    virtual bool is_depth_first(const Rank &rank) const;
};

Order &order_of(nanobind::handle object);  // of Python's Order; else std::invalid_argument

void add_orders(nanobind::module_ &module);

}  // namespace score

namespace nanobind::detail {

template <> struct type_caster<score::Rank> {
    NB_TYPE_CASTER(score::Rank, const_name("bytes"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        if (!PyBytes_Check(source.ptr()) || std::size_t(PyBytes_GET_SIZE(source.ptr())) > score::Rank::MOST)
            return false;
        value = score::Rank(reinterpret_cast<const score::u8 *>(PyBytes_AS_STRING(source.ptr())),
                            std::size_t(PyBytes_GET_SIZE(source.ptr())));
        return true;
    }
    static handle from_cpp(const score::Rank &rank, rv_policy, cleanup_list *) noexcept {
        return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(rank.data()), Py_ssize_t(rank.size()));
    }
};

}  // namespace nanobind::detail
