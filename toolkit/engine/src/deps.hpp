// Sets of input bytes: what a formula depends on. Shared by all formulas that depend on the same, and counted.
#pragma once

#include <new>
#include <vector>

#include "word.hpp"

namespace score {

constexpr u64 MOST_INPUT = u64(1) << 24;  // bytes

class Deps {
  public:
    Deps() = default;
    Deps(const Deps &other) : set_(other.set_) {
        if (set_) ++set_->refs;
    }
    Deps(Deps &&other) noexcept : set_(other.set_) { other.set_ = nullptr; }
    Deps &operator=(Deps other) noexcept {
        Set *mine = set_;
        set_ = other.set_;
        other.set_ = mine;
        return *this;
    }
    ~Deps() { drop(); }

    static Deps of_byte(u64 index);  // std::length_error beyond MOST_INPUT
    static Deps of_words(const u64 *words, std::size_t size);
    static Deps both(const Deps &a, const Deps &b);

    explicit operator bool() const { return set_; }
    const u64 *words() const { return set_ ? set_->words() : nullptr; }
    std::size_t size() const { return set_ ? set_->size : 0; }  // words; the last is not 0
    bool has(u64 index) const { return index / 64 < size() && words()[index / 64] >> index % 64 & 1; }
    bool meets(const Deps &other) const;
    int only() const { return set_ ? set_->only : -1; }  // the index of the one byte, else -1
    int compare(const Deps &other) const;                // as numbers with these bits
    std::vector<u32> indices() const;

  private:
    struct alignas(u64) Set {  // and behind it its words
        u32 refs, size;
        int only;
        u64 *words() { return reinterpret_cast<u64 *>(this + 1); }
    };

    explicit Deps(std::size_t size);  // of no byte yet
    void drop() {
        if (set_ && --set_->refs == 0) ::operator delete(set_);
    }
    int only_of_words() const;

    Set *set_ = nullptr;
};

}  // namespace score
