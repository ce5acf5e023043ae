#include "offset.hpp"

#include <algorithm>

#include "build.hpp"
#include "interval.hpp"

namespace score {

namespace {

constexpr unsigned WIDEST_STEP = 63;  // places in an object have 64 bits; formulas of 128 bits may have more zeros

// How many of the lowest bits are zero for sure.
unsigned zeros(Id expr, unsigned depth) {
    const Node &node = score::node(expr);
    if (node.is_const()) return node.value ? zeros_of(node.value) : node.width;
    if (depth == 0) return 0;
    auto of = [&](unsigned i) { return zeros(node.args[i], depth - 1); };
    switch (node.kind) {
    case Kind::CONCAT: {
        unsigned low = of(1);
        return low < score::node(node.args[1]).width ? low : low + of(0);
    }
    case Kind::ZEXT:
    case Kind::SEXT: return of(0);
    case Kind::MUL: return std::min<unsigned>(node.width, of(0) + of(1));
    case Kind::ADD:
    case Kind::SUB:
    case Kind::OR:
    case Kind::XOR: return std::min(of(0), of(1));
    case Kind::AND: return std::max(of(0), of(1));
    default: return 0;
    }
}

// Bits low ... low + width - 1, of a formula whose lower bits are all zero: arithmetic is done in few bits.
Ref bits(Id expr, unsigned low, unsigned width, unsigned depth = DEEP) {
    const Node &node = score::node(expr);
    if (depth && node.kind == Kind::ADD && zeros(node.args[0], DEEP) >= low && zeros(node.args[1], DEEP) >= low) {
        Ref first = bits(node.args[0], low, width, depth - 1);
        return binary(Kind::ADD, first, bits(node.args[1], low, width, depth - 1));
    }
    if (depth && node.kind == Kind::MUL) {
        const Node &factor = score::node(node.args[0]), &constant = score::node(node.args[1]);
        if (constant.is_const() && !constant.origins) {
            unsigned shift = std::min(zeros(node.args[1], 1), low);
            if (shift == low && factor.width >= width) {
                Ref odd = score::constant(constant.value >> shift, width);
                return binary(Kind::MUL, bits(node.args[0], 0, width, depth - 1), odd);
            }
        }
    }
    unsigned kept = std::min(width, node.width - low);
    return zext(extract(expr, low, kept), width);
}

}  // namespace

Stride stride_of(Id offset) {
    const Node &node = score::node(offset);
    if (node.kind == Kind::ADD && score::node(node.args[1]).is_const()) {
        unsigned step = std::min(zeros(node.args[0], DEEP), WIDEST_STEP);
        return {step, score::node(node.args[1]).value & mask<u128>(step)};
    }
    return {std::min(zeros(offset, DEEP), WIDEST_STEP), 0};
}

Window window_of(Id offset, u64 last) {
    const Node &node = score::node(offset);
    Window whole{offset, 0, last};
    if (node.kind == Kind::ADD && score::node(node.args[1]).is_const() && !score::node(node.args[1]).origins) {
        u128 first = score::node(node.args[1]).value, room = mask<u128>(node.width) - first;
        if (first <= last && upper(node.args[0]) <= room) whole = {node.args[0], u64(first), u64(last - first)};
    }
    whole.last = u64(std::min<u128>(whole.last, upper(whole.from)));
    return whole;
}

Ref index_of(Id offset, Stride stride, u64 last) {
    if (stride.step >= node(offset).width) return constant(0, 1, node(offset).origins);  // no bit can be set
    unsigned needed = std::max(1u, bits_of((last - stride.rest) >> stride.step));
    Ref from_first = binary(Kind::SUB, offset, constant(stride.rest, node(offset).width));
    return bits(from_first, stride.step, needed);
}

}  // namespace score
