// SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012): a hash with a key, of short messages. One of 9 bytes takes
// 12 rounds of 14 operations.
#pragma once

#include <cstddef>

#include "word.hpp"

namespace score {

// `key` and `out` have 16 bytes; they may be the same.
void siphash(const u8 *key, const u8 *message, std::size_t size, u8 *out);

}  // namespace score
