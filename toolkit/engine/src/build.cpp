#include "build.hpp"

#include <stdexcept>
#include <string>

#include "ieee.hpp"
#include "interval.hpp"
#include "operate.hpp"

namespace score {

namespace {

constexpr u64 JOINS = set_of({Kind::OR, Kind::ADD, Kind::XOR});     // all alike where no two bits meet
constexpr u64 LOW_BITS = set_of({Kind::ADD, Kind::SUB, Kind::MUL});  // their low bits depend on low bits only
constexpr u64 BITWISE = set_of({Kind::AND, Kind::OR, Kind::XOR});
constexpr u64 THIN = set_of({Kind::CONST, Kind::BYTE, Kind::ZEXT, Kind::SEXT, Kind::CONCAT, Kind::EXTRACT});
constexpr u64 BOUNDED = QUOTIENTS | set_of({Kind::AND, Kind::LSHR, Kind::ITE, Kind::TABLE, Kind::ADD, Kind::OR});
constexpr u64 WIDENS = set_of({Kind::ZEXT, Kind::SEXT});
constexpr u64 BINARY = QUOTIENTS | SHIFTS | set_of({Kind::ADD, Kind::SUB, Kind::MUL, Kind::AND, Kind::OR, Kind::XOR,
                                                    Kind::EQ, Kind::ULT, Kind::SLT});
constexpr u64 FLOAT_BINARY = set_of({Kind::FADD, Kind::FSUB, Kind::FMUL, Kind::FDIV, Kind::FEQ, Kind::FLT, Kind::FLE});
constexpr u64 FLOAT_UNARY = set_of({Kind::FNEG, Kind::FABS, Kind::FSQRT, Kind::FROUND, Kind::FCONV, Kind::SITOF,
                                    Kind::UITOF, Kind::FTOSI, Kind::FTOUI});

// The node itself, or the constant it folds to.
Ref raw(Kind kind, unsigned width, std::initializer_list<Id> args, u64 value = 0) {
    Operator op{kind, width, {}, value, nullptr};
    u128 values[3] = {};
    unsigned at = 0;
    for (Id id : args) {
        const Node &arg = node(id);
        if (!arg.is_const()) return arena().intern(kind, width, args.begin(), unsigned(args.size()), value);
        values[at] = arg.value;
        op.widths[at++] = arg.width;
    }
    Origins origins;
    for (Id id : args) origins = origins_of_both(origins, node(id).origins);
    return constant(operate(op, values), width, origins);
}

// Constants stand on the right; else the order is by input bytes, which is the same in every session.
bool belongs_right(const Node &a, const Node &b) {
    if (a.is_const() || b.is_const()) return a.is_const();
    int order = a.deps.compare(b.deps);
    return order > 0 || (order == 0 && a.uid > b.uid);
}

Ref fill_tail(const Node &high, Id low) {
    Id top = high.args[0];
    const Node &tail = node(high.args[1]);
    if (tail.kind == Kind::CONCAT) {
        Ref filled = fill_tail(tail, low);
        return filled ? concat(top, filled) : Ref();
    }
    if (tail.is_const() && tail.value == 0 && !tail.origins && tail.width >= node(low).width)
        return concat(top, zext(low, tail.width));
    return Ref();
}

// `b` put into the zero bits at the end of `a`: how parsers build numbers from bytes (`h << 8 | l`).
Ref join(const Node &a, const Node &b) {
    const Node &high = a.kind == Kind::ZEXT ? node(a.args[0]) : a;
    if (high.kind != Kind::CONCAT || b.kind != Kind::ZEXT) return Ref();
    Ref joined = fill_tail(high, b.args[0]);
    return joined ? zext(joined, a.width) : Ref();
}

Ref same(Kind kind, Id a) {
    unsigned width = node(a).width;
    if (kind == Kind::SUB || kind == Kind::XOR) return constant(0, width);
    if (kind == Kind::AND || kind == Kind::OR) return Ref(a);
    return raw(kind, width, {a, a});
}

// Neutral and absorbing constants on the right. `b`'s origins go to every result that `b` decided.
Ref with_const(Kind kind, Id a, Id b) {
    const Node &x = node(a), &y = node(b);
    unsigned width = x.width;
    if (!y.is_const()) return raw(kind, width, {a, b});
    u128 c = y.value;
    bool plain = !y.origins;
    if (kind == Kind::SUB) return binary(Kind::ADD, a, constant(0 - c, width, y.origins));
    if (c == 0 && plain && is_in(kind, SHIFTS | set_of({Kind::ADD, Kind::OR, Kind::XOR}))) return Ref(a);
    if (c == 1 && plain && is_in(kind, set_of({Kind::MUL, Kind::UDIV, Kind::SDIV}))) return Ref(a);
    if (c == 0 && (kind == Kind::MUL || kind == Kind::AND)) return Ref(b);
    if (kind == Kind::ADD && x.kind == Kind::ADD && node(x.args[1]).is_const())
        return binary(Kind::ADD, x.args[0], binary(Kind::ADD, x.args[1], b));
    if (kind == Kind::AND && plain && (c & (c + 1)) == 0) return zext(extract(a, 0, bits_of(c)), width);  // low bits
    if (kind == Kind::XOR && plain && c == mask<u128>(width)) return bit_not(a);
    if (c >= width && (kind == Kind::SHL || kind == Kind::LSHR)) return constant(0, width, y.origins);
    if (kind == Kind::SHL && plain) {
        unsigned shift = unsigned(c);
        return concat(extract(a, 0, width - shift), constant(0, shift));
    }
    if (kind == Kind::LSHR && plain) {
        unsigned shift = unsigned(c);
        return zext(extract(a, shift, width - shift), width);
    }
    return raw(kind, width, {a, b});
}

bool widen_alike(const Node &a, const Node &b) {
    return a.kind == b.kind && is_in(a.kind, WIDENS) && node(a.args[0]).width == node(b.args[0]).width;
}

// The number whose product with an odd one is 1, in 128 bits and so in any lower ones (Newton's iteration: each turn
// doubles the bits that are right, and of an odd number the lowest three are).
u128 inverse_of(u128 odd) {
    u128 found = odd;
    for (unsigned right = 3; right < WIDEST; right *= 2) found *= 2 - odd * found;
    return found;
}

// `x * factor == product`: of x as many bits are known as the factor does not shift out.
Ref equal_product(Id x, u128 factor, u128 product) {
    unsigned width = node(x).width, shift = zeros_of(factor);
    if (product & mask<u128>(shift)) return truth(false);
    return binary(Kind::EQ, extract(x, 0, width - shift),
                  constant((product >> shift) * inverse_of(factor >> shift), width - shift));
}

// What equals a constant, said of what it is computed from by a step that can be taken back: then the path knows that
// from there on, too.
Ref equal_to(Id a, Id b) {
    const Node &x = node(a), &y = node(b);
    if (x.width == 1 && !y.origins) return y.value ? Ref(a) : bit_not(a);
    if (x.kind == Kind::ADD && node(x.args[1]).is_const())
        return binary(Kind::EQ, x.args[0], binary(Kind::SUB, b, x.args[1]));
    if (x.kind == Kind::SUB && y.value == 0 && !y.origins) return binary(Kind::EQ, x.args[0], x.args[1]);
    if (is_in(x.kind, WIDENS)) {
        Id inner = x.args[0];
        Ref low = constant(y.value, node(inner).width, y.origins);
        Ref widened = x.kind == Kind::ZEXT ? zext(low, x.width) : sext(low, x.width);
        return node(widened).value == y.value ? binary(Kind::EQ, inner, low) : constant(0, 1, y.origins);
    }
    if (x.origins || y.origins) return Ref();
    if (x.arity == 2 && node(x.args[1]).is_const()) {
        const Node &last = node(x.args[1]);
        if (x.kind == Kind::MUL) return equal_product(x.args[0], last.value, y.value);
        if (x.kind == Kind::XOR) return binary(Kind::EQ, x.args[0], constant(y.value ^ last.value, x.width));
        if (x.kind == Kind::CONCAT) {
            if ((y.value & mask<u128>(last.width)) != last.value) return truth(false);
            return binary(Kind::EQ, x.args[0], constant(y.value >> last.width, x.width - last.width));
        }
    }
    if (is_in(x.kind, BOUNDED)) {
        Interval between = Intervals().of(a);
        if (y.value < between.least || y.value > between.most) return truth(false);
    }
    return Ref();
}

Ref equal(Id a, Id b) {
    if (a == b) return truth(true);
    const Node &x = node(a), &y = node(b);
    if (y.is_const()) {
        if (Ref found = equal_to(a, b)) return found;
    } else if (widen_alike(x, y)) {
        return binary(Kind::EQ, x.args[0], y.args[0]);
    }
    return raw(Kind::EQ, 1, {a, b});
}

bool never_negative(const Node &e) {
    return e.kind == Kind::ZEXT || (e.is_const() && !(e.value >> (e.width - 1)));
}

// Compares what was widened instead, if the constant is in its range; if it is not, the order is known.
Ref narrow(Kind kind, const Node &wide, const Node &limit, bool wide_first) {
    bool is_signed = wide.kind == Kind::SEXT && kind == Kind::SLT;
    if (wide.kind != Kind::ZEXT && !is_signed) return Ref();
    Id inner = wide.args[0];
    unsigned width = node(inner).width;
    u128 value = limit.value, top = sign_bit<u128>(limit.width);
    bool above, below;
    if (kind == Kind::SLT) {  // as signed numbers
        u128 all = mask<u128>(limit.width), bound = is_signed ? sign_bit<u128>(width) : mask<u128>(width) + 1;
        bool negative = value & top;
        // of width 128 and unsigned, `bound` wraps, but wide is wider
        u128 size = negative ? (0 - value) & all : value;
        above = !negative && size >= bound;
        below = negative && (is_signed ? size > bound : true);
    } else {
        above = value > mask<u128>(width);
        below = false;
    }
    if (above || below) return constant(above == wide_first, 1, limit.origins);
    Ref low = constant(value, width, limit.origins);
    Kind order = is_signed ? Kind::SLT : Kind::ULT;
    return wide_first ? binary(order, inner, low) : binary(order, low, inner);
}

Ref less(Kind kind, Id a, Id b) {
    if (a == b) return truth(false);
    const Node &x = node(a), &y = node(b);
    if (kind == Kind::SLT && never_negative(x) && never_negative(y)) kind = Kind::ULT;
    if (widen_alike(x, y)) return less(kind, x.args[0], y.args[0]);  // widening keeps the order
    bool wide_first = y.is_const();
    const Node &wide = wide_first ? x : y, &limit = wide_first ? y : x;
    if (limit.is_const()) {
        if (kind == Kind::ULT && wide_first && limit.value == 0) return constant(0, 1, limit.origins);
        if (Ref narrowed = narrow(kind, wide, limit, wide_first)) return narrowed;
        if (kind == Kind::ULT && is_in(wide.kind, BOUNDED) && !wide.origins && !limit.origins) {
            Interval between = Intervals().of(wide_first ? a : b);
            if (wide_first ? between.most < limit.value : limit.value < between.least) return truth(true);
            if (wide_first ? between.least >= limit.value : limit.value >= between.most) return truth(false);
        }
    }
    return raw(kind, 1, {a, b});
}

// The two as one, if they are neighbouring bits of the same formula, or constants.
Ref adjacent(Id high, Id low) {
    const Node &x = node(high), &y = node(low);
    if (x.is_const() && y.is_const()) return raw(Kind::CONCAT, x.width + y.width, {high, low});
    if (y.kind != Kind::EXTRACT || x.kind != Kind::EXTRACT) return Ref();
    if (x.args[0] == y.args[0] && x.value == y.value + y.width)
        return extract(y.args[0], unsigned(y.value), x.width + y.width);
    return Ref();
}

void check_equal_widths(Kind kind, Id a, Id b) {
    if (node(a).width != node(b).width)
        throw std::invalid_argument(std::string("operands of ") + name_of(kind) + " have " +
                                    std::to_string(node(a).width) + " and " + std::to_string(node(b).width) + " bits");
}

void check_width(unsigned width) {
    if (width < 1 || width > WIDEST)
        throw std::invalid_argument("formulas have 1 to 128 bits, not " + std::to_string(width));
}

}  // namespace

Ref constant(u128 value, unsigned width, const Origins &origins) {
    check_width(width);
    return arena().intern(Kind::CONST, width, nullptr, 0, value & mask<u128>(width), origins);
}

Ref input_byte(u64 index) { return arena().intern(Kind::BYTE, 8, nullptr, 0, index); }

Ref truth(bool value) { return constant(value, 1); }

Ref binary(Kind kind, Id a, Id b) {
    if (!is_in(kind, BINARY))
        throw std::invalid_argument(std::string(name_of(kind)) + " is no operator of two integers");
    check_equal_widths(kind, a, b);
    if (node(a).is_const() && node(b).is_const())
        return raw(kind, is_in(kind, COMPARISONS) ? 1 : node(a).width, {a, b});
    if (is_in(kind, COMMUTATIVE) && belongs_right(node(a), node(b))) std::swap(a, b);
    if (kind == Kind::EQ) return equal(a, b);
    if (kind == Kind::ULT || kind == Kind::SLT) return less(kind, a, b);
    if (is_in(kind, JOINS) && a != b) {
        if (Ref joined = join(node(a), node(b))) return joined;
        if (Ref joined = join(node(b), node(a))) return joined;
    }
    return a == b ? same(kind, a) : with_const(kind, a, b);
}

Ref less_equal(Kind kind, Id a, Id b) { return bit_not(binary(kind, b, a)); }

Ref bit_not(Id a) {
    const Node &x = node(a);
    return x.kind == Kind::NOT ? Ref(x.args[0]) : raw(Kind::NOT, x.width, {a});
}

Ref neg(Id a) {
    const Node &x = node(a);
    return x.kind == Kind::NEG ? Ref(x.args[0]) : raw(Kind::NEG, x.width, {a});
}

Ref zext(Id a, unsigned width) {
    const Node &x = node(a);
    if (width == x.width) return Ref(a);
    check_width(width);
    if (width < x.width) throw std::invalid_argument("widening to fewer bits");
    return raw(Kind::ZEXT, width, {x.kind == Kind::ZEXT ? x.args[0] : a});
}

Ref sext(Id a, unsigned width) {
    const Node &x = node(a);
    if (width == x.width) return Ref(a);
    check_width(width);
    if (width < x.width) throw std::invalid_argument("widening to fewer bits");
    if (x.kind == Kind::ZEXT) return zext(x.args[0], width);
    return raw(Kind::SEXT, width, {x.kind == Kind::SEXT ? x.args[0] : a});
}

Ref extract(Id a, unsigned low, unsigned width) {
    const Node &x = node(a);
    if (width < 1 || low > x.width || width > x.width - low)
        throw std::invalid_argument("bits that a formula does not have");
    if (width == x.width) return Ref(a);
    if (x.kind == Kind::EXTRACT) return extract(x.args[0], unsigned(x.value) + low, width);
    if (is_in(x.kind, WIDENS)) {
        Id inner = x.args[0];
        unsigned bits = node(inner).width;
        if (low + width <= bits) return extract(inner, low, width);
        if (x.kind == Kind::ZEXT && low >= bits) return constant(0, width);
        if (low < bits) {
            Ref part = extract(inner, low, bits - low);
            return x.kind == Kind::ZEXT ? zext(part, width) : sext(part, width);
        }
    } else if (x.kind == Kind::CONCAT) {
        Id high = x.args[0], bottom = x.args[1];
        unsigned bits = node(bottom).width;
        if (low >= bits) return extract(high, low - bits, width);
        if (low + width <= bits) return extract(bottom, low, width);
        Ref top = extract(high, 0, low + width - bits);
        return concat(top, extract(bottom, low, bits - low));
    } else if ((is_in(x.kind, BITWISE) || (is_in(x.kind, LOW_BITS) && low == 0)) &&
               is_in(node(x.args[0]).kind, THIN) && is_in(node(x.args[1]).kind, THIN)) {
        Kind kind = x.kind;
        Id one = x.args[0], other = x.args[1];
        Ref first = extract(one, low, width);
        return binary(kind, first, extract(other, low, width));
    }
    return raw(Kind::EXTRACT, width, {a}, low);
}

Ref concat(Id high, Id low) {
    check_width(unsigned(node(high).width) + node(low).width);
    unsigned width = node(high).width + node(low).width;
    if (Ref merged = adjacent(high, low)) return merged;
    const Node &x = node(high), &y = node(low);
    if (y.kind == Kind::CONCAT)
        if (Ref merged = adjacent(high, y.args[0])) return concat(merged, y.args[1]);
    if (x.is_const() && x.value == 0 && !x.origins) return zext(low, width);
    if (x.kind == Kind::ZEXT) return zext(concat(x.args[0], low), width);
    Id args[] = {high, low};
    return arena().intern(Kind::CONCAT, width, args, 2);
}

Ref ite(Id condition, Id then, Id otherwise) {
    const Node &x = node(condition);
    if (x.is_const() && !x.origins) return Ref(x.value ? then : otherwise);
    if (then == otherwise) return Ref(then);
    check_equal_widths(Kind::ITE, then, otherwise);
    return raw(Kind::ITE, node(then).width, {condition, then, otherwise});
}

Ref float_binary(Kind kind, Id a, Id b) {
    if (!is_in(kind, FLOAT_BINARY))
        throw std::invalid_argument(std::string(name_of(kind)) + " is no operator of two numbers");
    if (node(a).width != node(b).width || !is_float_width(node(a).width))
        throw std::invalid_argument(std::string("operands of ") + name_of(kind) + " have " +
                                    std::to_string(node(a).width) + " and " + std::to_string(node(b).width) + " bits");
    if (is_in(kind, COMMUTATIVE) && belongs_right(node(a), node(b))) std::swap(a, b);
    return raw(kind, is_in(kind, COMPARISONS) ? 1 : node(a).width, {a, b});
}

Ref float_unary(Kind kind, Id a, unsigned width, u64 value) {
    check_width(width);
    unsigned from = node(a).width;
    bool takes = kind != Kind::SITOF && kind != Kind::UITOF, gives = kind != Kind::FTOSI && kind != Kind::FTOUI;
    if (!is_in(kind, FLOAT_UNARY) || (takes && !is_float_width(from)) || (gives && !is_float_width(width)) ||
        (kind == Kind::FROUND && (value < FLOOR || value > TRUNC)) ||
        (takes && gives && kind != Kind::FCONV && from != width))
        throw std::invalid_argument(std::string(name_of(kind)) + " of " + std::to_string(from) + " bits to " +
                                    std::to_string(width));
    return kind == Kind::FCONV && width == from ? Ref(a) : raw(kind, width, {a}, value);
}

Ref member(Id value, u128 first, u128 last) {
    unsigned width = node(value).width;
    u128 all = mask<u128>(width);
    if (first == last) return binary(Kind::EQ, value, constant(first, width));
    if (first > last)  // a signed range over zero, written as unsigned bounds
        return last + 1 <= first - 1 ? bit_not(member(value, last + 1, first - 1)) : truth(true);
    Ref below = binary(Kind::ULT, value, constant(first & all, width));
    Ref above = binary(Kind::ULT, constant(last & all, width), value);
    Ref not_below = bit_not(below);  // in this order: it decides the operands' order
    return binary(Kind::AND, not_below, bit_not(above));
}

Ref rebuilt(Id expr, const Ref *arguments) {
    const Node &x = node(expr);
    switch (x.kind) {
    case Kind::TABLE: {
        const Node &index = node(arguments[0]);
        if (index.is_const()) return constant(x.table->entries[std::size_t(index.value)], x.width, index.origins);
        return arena().intern_table(x.width, arguments[0], x.table->name, x.table->entries.data(),
                                    x.table->entries.size());
    }
    case Kind::ZEXT: return zext(arguments[0], x.width);
    case Kind::SEXT: return sext(arguments[0], x.width);
    case Kind::EXTRACT: return extract(arguments[0], unsigned(x.value), x.width);
    case Kind::CONCAT: return concat(arguments[0], arguments[1]);
    case Kind::ITE: return ite(arguments[0], arguments[1], arguments[2]);
    case Kind::NOT: return bit_not(arguments[0]);
    case Kind::NEG: return neg(arguments[0]);
    default: break;
    }
    if (is_in(x.kind, BINARY)) return binary(x.kind, arguments[0], arguments[1]);
    if (is_in(x.kind, FLOAT_BINARY)) return float_binary(x.kind, arguments[0], arguments[1]);
    if (is_in(x.kind, FLOAT_UNARY)) return float_unary(x.kind, arguments[0], x.width, u64(x.value));
    return Ref(expr);
}

const char *name_of(Kind kind) {
    static const char *const NAMES[KINDS] = {
        "CONST", "BYTE",  "ADD",   "SUB",    "MUL",   "UDIV",  "SDIV",  "UREM",  "SREM",  "AND",   "OR",
        "XOR",   "SHL",   "LSHR",  "ASHR",   "NOT",   "NEG",   "ZEXT",  "SEXT",  "EXTRACT", "CONCAT", "EQ",
        "ULT",   "SLT",   "ITE",   "TABLE",  "FADD",  "FSUB",  "FMUL",  "FDIV",  "FNEG",  "FABS",  "FSQRT",
        "FROUND", "FCONV", "SITOF", "UITOF", "FTOSI", "FTOUI", "FEQ",   "FLT",   "FLE"};
    return unsigned(kind) < KINDS ? NAMES[unsigned(kind)] : "?";
}

}  // namespace score
