// IEEE 754 on bit patterns, exactly: patterns of binary32 or binary64, rounding to nearest, ties to even. Operations on
// binary32 go through binary64: its 53 bits are more than twice 24 and two, so rounding twice gives what rounding once
// does; only conversions of integers of more than 53 bits need care. Every result that is no number (NaN) has one
// pattern here, while machines differ in its sign and payload.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstring>

#include "word.hpp"

namespace score {

static_assert(FLT_EVAL_METHOD == 0, "floating point must be computed in its own precision");

constexpr u64 FLOOR = 1, CEIL = 2, TRUNC = 3;  // values of FROUND

constexpr bool is_float_width(unsigned width) { return width == 32 || width == 64; }
constexpr u64 nan_of(unsigned width) { return width == 32 ? 0x7FC00000 : 0x7FF8000000000000; }
constexpr u64 infinity_of(unsigned width) { return width == 32 ? 0x7F800000 : 0x7FF0000000000000; }

inline bool is_nan(u64 pattern, unsigned width) { return (pattern & mask<u64>(width - 1)) > infinity_of(width); }

inline double decode(u64 pattern, unsigned width) {
    if (width == 64) {
        double number;
        std::memcpy(&number, &pattern, 8);
        return number;
    }
    u32 half = u32(pattern);
    float number;
    std::memcpy(&number, &half, 4);
    return double(number);
}

inline u64 encode(double number, unsigned width) {
    if (std::isnan(number)) return nan_of(width);
    if (width == 64) {
        u64 pattern;
        std::memcpy(&pattern, &number, 8);
        return pattern;
    }
    // rounds to infinity
    if (std::fabs(number) >= 0x1.ffffffp127) return std::signbit(number) ? 0xFF800000 : 0x7F800000;
    float rounded = float(number);
    u32 pattern;
    std::memcpy(&pattern, &rounded, 4);
    return pattern;
}

inline double whole(double x, u64 how) {
    if (!(std::fabs(x) < 0x1p52)) return x;
    double rounded = how == FLOOR ? std::floor(x) : how == CEIL ? std::ceil(x) : std::trunc(x);
    return std::copysign(rounded, x);
}

// The magnitude and sign of an integer as a number that converting it rounds to.
inline double from_integer(u128 size, bool negative, unsigned width) {
    double number;
    unsigned bits = bits_of(size);
    if (width == 64 || bits <= 53) {
        number = double(size);
    } else {
        unsigned shift = bits - 24;
        u128 kept = size >> shift, rest = size & mask<u128>(shift), half = u128(1) << (shift - 1);
        kept += rest > half || (rest == half && (kept & 1));
        number = std::ldexp(double(kept), int(shift));
    }
    return negative ? -number : number;
}

// The nearest integer that there is: out of range C leaves it open, and the path says that it is not.
template <class Word> Word to_integer(double x, unsigned width, bool is_signed) {
    if (std::isnan(x)) return 0;
    double beyond = std::ldexp(1.0, int(is_signed ? width - 1 : width));
    if (x >= beyond) return is_signed ? mask<Word>(width - 1) : mask<Word>(width);
    if (x <= (is_signed ? -beyond : 0.0)) return is_signed ? sign_bit<Word>(width) : 0;
    return (x < 0 ? Word(0) - Word(-x) : Word(x)) & mask<Word>(width);
}

}  // namespace score
