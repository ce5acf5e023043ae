#include "blake2b.hpp"

#include <algorithm>
#include <cstring>

namespace score {

namespace {

constexpr u64 START[8] = {0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
                          0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179};
constexpr u8 ORDER[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

u64 rotated(u64 value, unsigned by) { return value >> by | value << (64 - by); }

void mix(u64 &a, u64 &b, u64 &c, u64 &d, u64 x, u64 y) {
    a += b + x, d = rotated(d ^ a, 32);
    c += d, b = rotated(b ^ c, 24);
    a += b + y, d = rotated(d ^ a, 16);
    c += d, b = rotated(b ^ c, 63);
}

void compress(u64 *state, const u8 *block, u64 counted, bool last) {
    u64 m[16], v[16];
    std::memcpy(m, block, 128);  // little endian, as the hosts are
    for (unsigned i = 0; i < 8; ++i) v[i] = state[i], v[i + 8] = START[i];
    v[12] ^= counted;
    if (last) v[14] = ~v[14];
    for (unsigned round = 0; round < 12; ++round) {
        const u8 *s = ORDER[round % 10];
        mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
        mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
        mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
        mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
        mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
        mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
        mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
        mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
    }
    for (unsigned i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[i + 8];
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// `counted`: bytes that went before. The message ends the digest, so it is not empty unless nothing went before.
void finish(u64 *state, u64 counted, const u8 *message, std::size_t size, u8 *out, std::size_t digest_size) {
    std::size_t at = 0;
    while (size - at > 128) {
        compress(state, message + at, counted + at + 128, false);
        at += 128;
    }
    u8 block[128] = {};
    std::copy(message + at, message + size, block);
    compress(state, block, counted + size, true);
    std::memcpy(out, state, digest_size);
}

}  // namespace

void blake2b(const u8 *message, std::size_t size, u8 *out, std::size_t digest_size) {
    u64 state[8];
    std::memcpy(state, START, sizeof state);
    state[0] ^= 0x01010000 ^ digest_size;
    finish(state, 0, message, size, out, digest_size);
}

void blake2b_keyed(const u8 *key, std::size_t key_size, const u8 *message, std::size_t size, u8 *out,
                   std::size_t digest_size) {
    u64 state[8];
    std::memcpy(state, START, sizeof state);
    state[0] ^= 0x01010000 ^ key_size << 8 ^ digest_size;
    u8 block[128] = {};
    std::copy(key, key + key_size, block);
    compress(state, block, 128, size == 0);
    if (size) {
        finish(state, 128, message, size, out, digest_size);
    } else {
        std::memcpy(out, state, digest_size);
    }
}

}  // namespace score
