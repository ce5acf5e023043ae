// Where two rows of bytes differ: eight at a time, for what consecutive tests have in common is most of them.
#pragma once

#include <cstring>

#include "word.hpp"

namespace score {

// The first place from `at` on where they do, of so many bytes; `size` if there is none.
inline std::size_t first_difference(const void *one, const void *other, std::size_t size, std::size_t at = 0) {
    auto *a = static_cast<const u8 *>(one), *b = static_cast<const u8 *>(other);
    for (; at + sizeof(u64) <= size; at += sizeof(u64)) {
        u64 x, y;
        std::memcpy(&x, a + at, sizeof x);
        std::memcpy(&y, b + at, sizeof y);
        if (x != y) return at + std::size_t(__builtin_ctzll(x ^ y)) / 8;  // hosts are little endian
    }
    while (at < size && a[at] == b[at]) ++at;
    return at;
}

}  // namespace score
