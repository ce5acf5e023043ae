#include "operate.hpp"

#include <stdexcept>

#include "ieee.hpp"

namespace score {

namespace {

template <class Word> Word extended(Word value, unsigned from) {  // the sign, to all bits
    Word sign = sign_bit<Word>(from);
    return (value ^ sign) - sign;
}

template <class Word> Word divided(Word a, Word b, unsigned width, bool rest) {
    Word all = mask<Word>(width), sign = sign_bit<Word>(width);
    if (!b) return rest ? a : a & sign ? 1 : all;
    bool minus = a & sign, below = b & sign;
    Word x = minus ? (0 - a) & all : a, y = below ? (0 - b) & all : b;
    Word found = rest ? x % y : x / y;
    return (rest ? minus : minus != below) ? (0 - found) & all : found;
}

template <class Word> double number_of_integer(const Operator &op, Word a) {
    bool negative = op.kind == Kind::SITOF && (a & sign_bit<Word>(op.widths[0]));
    return from_integer(negative ? (0 - a) & mask<Word>(op.widths[0]) : a, negative, op.width);
}

// Calls `with` with a function of the operator's one, two or three arguments: what to do with it (one value, many) is
// up to the caller, and is compiled for each operator.
template <class Word, class With> void dispatch(const Operator &op, With with) {
    const unsigned width = op.width, from = op.widths[0], second = op.widths[1];
    const Word all = mask<Word>(width);
    const u64 value = op.value;
    auto number = [from](Word pattern) { return decode(u64(pattern), from); };
    auto pattern = [width](double result) { return Word(encode(result, width)); };
    switch (op.kind) {
    case Kind::ADD: return with([=](Word a, Word b) { return (a + b) & all; });
    case Kind::SUB: return with([=](Word a, Word b) { return (a - b) & all; });
    case Kind::MUL: return with([=](Word a, Word b) { return (a * b) & all; });
    case Kind::UDIV: return with([=](Word a, Word b) { return b ? a / b : all; });
    case Kind::SDIV: return with([=](Word a, Word b) { return divided(a, b, width, false); });
    case Kind::UREM: return with([=](Word a, Word b) { return b ? a % b : a; });
    case Kind::SREM: return with([=](Word a, Word b) { return divided(a, b, width, true); });
    case Kind::AND: return with([=](Word a, Word b) { return a & b; });
    case Kind::OR: return with([=](Word a, Word b) { return a | b; });
    case Kind::XOR: return with([=](Word a, Word b) { return a ^ b; });
    case Kind::SHL: return with([=](Word a, Word b) { return b < width ? (a << b) & all : 0; });
    case Kind::LSHR: return with([=](Word a, Word b) { return b < width ? a >> b : 0; });
    case Kind::ASHR:
        return with([=](Word a, Word b) {
            Word shift = b < width ? b : Word(width - 1), high = a & sign_bit<Word>(width) ? all : 0;
            return (a >> shift | (high & ~(all >> shift))) & all;
        });
    case Kind::NOT: return with([=](Word a) { return a ^ all; });
    case Kind::NEG: return with([=](Word a) { return (0 - a) & all; });
    case Kind::ZEXT: return with([](Word a) { return a; });
    case Kind::SEXT: return with([=](Word a) { return extended(a, from) & all; });
    case Kind::EXTRACT: return with([=](Word a) { return a >> value & all; });
    case Kind::CONCAT: return with([=](Word a, Word b) { return a << second | b; });
    case Kind::EQ: return with([](Word a, Word b) { return Word(a == b); });
    case Kind::ULT: return with([](Word a, Word b) { return Word(a < b); });
    case Kind::SLT:
        return with([=](Word a, Word b) {
            Word sign = sign_bit<Word>(from);
            return Word((a ^ sign) < (b ^ sign));
        });
    case Kind::ITE: return with([](Word a, Word b, Word c) { return a ? b : c; });
    case Kind::TABLE: {
        const u64 *entries = op.table->entries.data();
        return with([=](Word a) { return Word(entries[std::size_t(a)]); });
    }
    case Kind::FADD: return with([=](Word a, Word b) { return pattern(number(a) + number(b)); });
    case Kind::FSUB: return with([=](Word a, Word b) { return pattern(number(a) - number(b)); });
    case Kind::FMUL: return with([=](Word a, Word b) { return pattern(number(a) * number(b)); });
    case Kind::FDIV: return with([=](Word a, Word b) { return pattern(number(a) / number(b)); });
    case Kind::FNEG: return with([=](Word a) { return a ^ sign_bit<Word>(width); });
    case Kind::FABS: return with([=](Word a) { return a & mask<Word>(width - 1); });
    case Kind::FSQRT: return with([=](Word a) { return pattern(std::sqrt(number(a))); });
    case Kind::FROUND: return with([=](Word a) { return pattern(whole(number(a), value)); });
    case Kind::FCONV: return with([=](Word a) { return pattern(number(a)); });
    case Kind::SITOF:
    case Kind::UITOF: return with([=](Word a) { return pattern(number_of_integer(op, a)); });
    case Kind::FTOSI: return with([=](Word a) { return to_integer<Word>(number(a), width, true); });
    case Kind::FTOUI: return with([=](Word a) { return to_integer<Word>(number(a), width, false); });
    case Kind::FEQ: return with([=](Word a, Word b) { return Word(number(a) == number(b)); });
    case Kind::FLT: return with([=](Word a, Word b) { return Word(number(a) < number(b)); });
    case Kind::FLE: return with([=](Word a, Word b) { return Word(number(a) <= number(b)); });
    case Kind::CONST:
    case Kind::BYTE: break;
    }
    throw std::invalid_argument("a constant or an input byte computes nothing");
}

template <class Word> struct One {
    const Word *values;
    Word &out;

    template <class F> auto operator()(F f) const -> decltype(f(Word()), void()) { out = f(values[0]); }
    template <class F> auto operator()(F f) const -> decltype(f(Word(), Word()), void()) {
        out = f(values[0], values[1]);
    }
    template <class F> auto operator()(F f) const -> decltype(f(Word(), Word(), Word()), void()) {
        out = f(values[0], values[1], values[2]);
    }
};

struct Many {
    const u64 *const *values;
    u64 *__restrict out;
    std::size_t count;

    template <class F> auto operator()(F f) const -> decltype(f(u64()), void()) {
        const u64 *a = values[0];
        for (std::size_t i = 0; i < count; ++i) out[i] = f(a[i]);
    }
    template <class F> auto operator()(F f) const -> decltype(f(u64(), u64()), void()) {
        const u64 *a = values[0], *b = values[1];
        for (std::size_t i = 0; i < count; ++i) out[i] = f(a[i], b[i]);
    }
    template <class F> auto operator()(F f) const -> decltype(f(u64(), u64(), u64()), void()) {
        const u64 *a = values[0], *b = values[1], *c = values[2];
        for (std::size_t i = 0; i < count; ++i) out[i] = f(a[i], b[i], c[i]);
    }
};

}  // namespace

bool Operator::fits() const {
    return width <= 64 && widths[0] <= 64 && widths[1] <= 64 && widths[2] <= 64;
}

Operator operator_of(const Node &node) {
    Operator op{node.kind, node.width, {}, u64(node.value), node.table};
    for (unsigned i = 0; i < node.arity; ++i) op.widths[i] = score::node(node.args[i]).width;
    return op;
}

u128 operate(const Operator &op, const u128 *values) {
    if (op.fits()) {
        u64 small[3] = {}, out = 0;
        for (unsigned i = 0; i < 3 && op.widths[i]; ++i) small[i] = u64(values[i]);
        dispatch<u64>(op, One<u64>{small, out});
        return out;
    }
    u128 out = 0;
    dispatch<u128>(op, One<u128>{values, out});
    return out;
}

void operate(const Operator &op, const u64 *const *values, u64 *out, std::size_t count) {
    dispatch<u64>(op, Many{values, out, count});
}

}  // namespace score
