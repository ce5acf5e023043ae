// The running hashes of docs/design/probes.md, exactly as the target computes them (two lanes of 32 bits).
#pragma once

#include "contract.hpp"

namespace score {

struct Lanes {
    u32 a = HASH_START[0], b = HASH_START[1];
};

inline Lanes mix(Lanes lanes, u32 x) {
    u32 a = (lanes.a ^ x) * HASH_FACTORS[0];
    u32 b = ((lanes.b << 5 | lanes.b >> 27) + x) * HASH_FACTORS[1];
    return {a ^ a >> 13, b ^ b >> 16};
}

inline u64 value(Lanes lanes) { return lanes.a | u64(lanes.b) << 32; }
inline u32 folded(Lanes lanes) { return lanes.a ^ lanes.b; }

// A leaf of a condition, as unsigned.
inline Lanes mix_operand(Lanes lanes, u128 operand, unsigned bits) {
    lanes = mix(lanes, u32(operand));
    return bits == 64 ? mix(lanes, u32(operand >> 32)) : lanes;
}

// A condition in this direction: a plain one (`chain` is below 0), or one of those that a tainted switch stands for.
inline Lanes mix_condition(Lanes lanes, u64 site, i64 chain, unsigned direction) {
    lanes = mix(lanes, u32(site) << 1 | direction);
    return chain < 0 ? lanes : mix(lanes, u32(chain));
}

}  // namespace score
