// BLAKE2b (RFC 7693) of one short message.
#pragma once

#include <cstddef>

#include "word.hpp"

namespace score {

void blake2b(const u8 *message, std::size_t size, u8 *out, std::size_t digest_size);

// The same with a key of 1 to 64 bytes.
void blake2b_keyed(const u8 *key, std::size_t key_size, const u8 *message, std::size_t size, u8 *out,
                   std::size_t digest_size);

}  // namespace score
