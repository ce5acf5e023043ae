#include "floats.hpp"

#include <algorithm>
#include <unordered_map>

#include "columns.hpp"
#include "evaluate.hpp"
#include "ieee.hpp"

namespace score {

namespace {

// Their results may be no number, of a pattern that only the machine knows.
constexpr u64 ARITHMETIC = set_of({Kind::FADD, Kind::FSUB, Kind::FMUL, Kind::FDIV, Kind::FSQRT, Kind::FROUND,
                                   Kind::FCONV});
constexpr u64 SIGN = set_of({Kind::FNEG, Kind::FABS});  // these change the sign bit and nothing else, also of NaN
constexpr u64 TAKES_NUMBERS =
    ARITHMETIC | SIGN | set_of({Kind::FTOSI, Kind::FTOUI, Kind::FEQ, Kind::FLT, Kind::FLE});

double largest(unsigned width) { return width == 32 ? double(FLT_MAX) : DBL_MAX; }

double size_of(const Node &node, const std::unordered_map<Id, double> &known) {
    double sizes[3] = {}, biggest = 0;
    for (unsigned i = 0; i < node.arity; ++i) biggest = std::max(biggest, sizes[i] = known.at(node.args[i]));
    switch (node.kind) {
    case Kind::CONST: {
        if (!is_float_width(node.width)) return HUGE_VAL;
        double size = std::fabs(decode(u64(node.value), node.width));
        return size < HUGE_VAL ? size : HUGE_VAL;
    }
    case Kind::SITOF:
    case Kind::UITOF: return std::ldexp(1.0, score::node(node.args[0]).width);
    case Kind::FNEG:
    case Kind::FABS:
    case Kind::FROUND:
    case Kind::FCONV: return sizes[0] + 1;
    case Kind::FADD:
    case Kind::FSUB: return sizes[0] + sizes[1];
    case Kind::FMUL: return biggest < HUGE_VAL ? sizes[0] * sizes[1] : HUGE_VAL;
    case Kind::FDIV: {
        const Node &divisor = score::node(node.args[1]);
        if (!divisor.is_const()) return HUGE_VAL;
        double size = std::fabs(decode(u64(divisor.value), node.width));
        return size != 0 ? sizes[0] / size : HUGE_VAL;
    }
    case Kind::ITE: return std::max(sizes[1], sizes[2]);
    default: return HUGE_VAL;
    }
}

// What the number's size does not exceed by more than rounding; infinity if that is not known.
double magnitude(Id expr) {
    std::unordered_map<Id, double> known;
    for (Id id : nodes({expr})) {
        const Node &node = score::node(id);
        double size = size_of(node, known);
        bool is_small = !is_float_width(node.width) || size < largest(node.width) / 2;
        known[id] = is_small ? size : HUGE_VAL;
    }
    return known[expr];
}

}  // namespace

std::vector<Id> pattern_uses(Id expr, bool whole) {
    static Marks seen[2], taken;
    seen[0].clear(), seen[1].clear(), taken.clear();
    std::vector<Id> found;
    std::vector<std::pair<Id, bool>> stack{{expr, whole}};
    while (!stack.empty()) {
        auto [id, as_number] = stack.back();
        stack.pop_back();
        const Node &node = score::node(id);
        if (!node.floats || !seen[as_number].add(id)) continue;
        if (is_in(node.kind, ARITHMETIC) && !as_number && taken.add(id)) found.push_back(id);
        if (node.kind == Kind::ITE) {
            stack.emplace_back(node.args[0], false);
            stack.emplace_back(node.args[1], as_number);
            stack.emplace_back(node.args[2], as_number);
        } else if (is_in(node.kind, SIGN)) {
            stack.emplace_back(node.args[0], as_number);
        } else {
            for (unsigned i = 0; i < node.arity; ++i)
                stack.emplace_back(node.args[i], is_in(node.kind, TAKES_NUMBERS));
        }
    }
    return found;
}

bool may_be_nan(Id expr) {
    const Node &node = score::node(expr);
    if (node.only_byte >= 0) {
        arena().forget_columns();
        const Column &values = column(expr);
        return std::any_of(values.low.begin(), values.low.end(),
                           [&](u64 value) { return is_nan(value, node.width); });
    }
    double size = magnitude(expr);
    return !(size < largest(node.width));
}

}  // namespace score
