// BLAKE2b (RFC 7693) of one short message, unkeyed.
#pragma once

#include <cstddef>

#include "word.hpp"

namespace score {

void blake2b(const u8 *message, std::size_t size, u8 *out, std::size_t digest_size);

}  // namespace score
