#include "siphash.hpp"

#include <cstring>

namespace score {

namespace {

u64 rotated(u64 value, unsigned by) { return value << by | value >> (64 - by); }

struct State {
    u64 v0, v1, v2, v3;

    void rounds(unsigned count) {
        for (; count; --count) {
            v0 += v1, v1 = rotated(v1, 13) ^ v0, v0 = rotated(v0, 32);
            v2 += v3, v3 = rotated(v3, 16) ^ v2;
            v0 += v3, v3 = rotated(v3, 21) ^ v0;
            v2 += v1, v1 = rotated(v1, 17) ^ v2, v2 = rotated(v2, 32);
        }
    }
    void take(u64 word) {
        v3 ^= word;
        rounds(2);
        v0 ^= word;
    }
    u64 all() const { return v0 ^ v1 ^ v2 ^ v3; }
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

}  // namespace

void siphash(const u8 *key, const u8 *message, std::size_t size, u8 *out) {
    u64 k[2], word;
    std::memcpy(k, key, sizeof k);
    State state{k[0] ^ 0x736F6D6570736575, k[1] ^ 0x646F72616E646F6D ^ 0xEE, k[0] ^ 0x6C7967656E657261,
                k[1] ^ 0x7465646279746573};
    std::size_t at = 0;
    for (; at + sizeof word <= size; at += sizeof word) {
        std::memcpy(&word, message + at, sizeof word);
        state.take(word);
    }
    word = 0;
    std::memcpy(&word, message + at, size - at);
    state.take(word | u64(size) << 56);
    state.v2 ^= 0xEE;
    state.rounds(4);
    u64 made[2] = {state.all(), 0};
    state.v1 ^= 0xDD;
    state.rounds(4);
    made[1] = state.all();
    std::memcpy(out, made, sizeof made);
}

}  // namespace score
