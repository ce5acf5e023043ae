// Numbers of formulas: up to 128 bits, unsigned, masked to their width. Nearly all have 64 at most, so what is hot is
// made for both sizes.
#pragma once

#include <cstdint>

static_assert(sizeof(void *) == 8, "the engine needs a machine of 64 bits");

namespace score {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

constexpr unsigned WIDEST = 128;

template <class Word> constexpr Word mask(unsigned width) {
    return width >= 8 * sizeof(Word) ? ~Word(0) : (Word(1) << width) - 1;
}

template <class Word> constexpr Word sign_bit(unsigned width) { return Word(1) << (width - 1); }

inline unsigned bits_of(u128 value) {
    u64 high = u64(value >> 64), low = u64(value);
    return high ? 128 - unsigned(__builtin_clzll(high)) : low ? 64 - unsigned(__builtin_clzll(low)) : 0;
}

inline unsigned zeros_of(u128 value) {  // not of 0
    u64 low = u64(value);
    return low ? unsigned(__builtin_ctzll(low)) : 64 + unsigned(__builtin_ctzll(u64(value >> 64)));
}

}  // namespace score
