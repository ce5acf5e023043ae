#include "interval.hpp"

#include <algorithm>

namespace score {

namespace {

constexpr unsigned DEEPEST = 16;  // levels that are looked into: bounds are made close to where they are of use

u128 all_of(Id expr) { return mask<u128>(node(expr).width); }

// The sum or the difference of two numbers of a width is reduced once at most: exact, if all of it is, or none.
Interval reduced(u128 least, bool is_least_reduced, u128 most, bool is_most_reduced, u128 all) {
    if (is_least_reduced != is_most_reduced) return {0, all};
    return {least & all, most & all};
}

bool exceeds(u128 a, u128 b, u128 all) { return a > all - b; }  // a + b > all

Interval sum(Interval a, Interval b, u128 all) {
    return reduced(a.least + b.least, exceeds(a.least, b.least, all), a.most + b.most, exceeds(a.most, b.most, all),
                   all);
}

Interval difference(Interval a, Interval b, u128 all) {
    return reduced(a.least - b.most, a.least < b.most, a.most - b.least, a.most < b.least, all);
}

Interval product(Interval a, Interval b, u128 all) {
    if (a.most && b.most > all / a.most) return {0, all};
    return {a.least * b.least, a.most * b.most};
}

Interval quotient(Interval a, Interval b, u128 all) {
    if (!b.least) return {0, all};
    return {a.least / b.most, a.most / b.least};
}

Interval rest(Interval a, Interval b) {
    if (a.most < b.least) return a;
    return {0, b.least ? std::min(a.most, b.most - 1) : a.most};  // of nothing divided by 0 all is left
}

Interval shifted_left(Interval a, Interval by, unsigned width, u128 all) {
    if (by.most >= width || a.most > all >> unsigned(by.most)) return {0, all};
    return {a.least << unsigned(by.least), a.most << unsigned(by.most)};
}

Interval shifted_right(Interval a, Interval by, unsigned width) {
    return {by.most < width ? a.least >> unsigned(by.most) : 0, by.least < width ? a.most >> unsigned(by.least) : 0};
}

Interval extended(Interval a, unsigned from, u128 all) {
    u128 sign = sign_bit<u128>(from), high = all & ~mask<u128>(from);
    if (a.most < sign) return a;
    if (a.least >= sign) return {a.least | high, a.most | high};
    return {0, all};
}

Interval part(Interval a, unsigned low, u128 all) {
    Interval found{a.least >> low, a.most >> low};
    // Within one turn of the bits above those that are taken, the numbers grow.
    if ((found.least & ~all) != (found.most & ~all)) return {0, all};
    return {found.least & all, found.most & all};
}

// As 0, 1 or either.
Interval truth(bool can_be_false, bool can_be_true) { return {u128(!can_be_false), u128(can_be_true)}; }

Interval less(Interval a, Interval b) { return truth(a.most >= b.least, a.least < b.most); }

Interval equal(Interval a, Interval b) {
    bool is_one = a.least == a.most && b.least == b.most;
    bool is_apart = a.most < b.least || b.most < a.least;
    return truth(is_apart || !is_one, !is_apart);
}

// In the order of signed numbers, which is that of unsigned ones with the sign turned over.
Interval ordered(Interval a, unsigned width) {
    u128 sign = sign_bit<u128>(width);
    if ((a.least ^ a.most) & sign) return {0, mask<u128>(width)};
    return {a.least ^ sign, a.most ^ sign};
}

bool are_positive(Interval a, Interval b, unsigned width) { return std::max(a.most, b.most) < sign_bit<u128>(width); }

Interval either(Interval a, Interval b) { return {std::min(a.least, b.least), std::max(a.most, b.most)}; }

}  // namespace

Interval Intervals::of(Id expr) { return of(expr, DEEPEST); }

Interval Intervals::of(Id expr, unsigned depth) {
    const Node &node = score::node(expr);
    if (node.is_const()) return {node.value, node.value};
    if (node.kind == Kind::BYTE) return {0, 255};
    if (!depth) return {0, all_of(expr)};
    auto found = known_.find(expr);
    if (found != known_.end()) return found->second;
    Interval made = computed(expr, depth - 1);
    known_.emplace(expr, made);
    return made;
}

Interval Intervals::computed(Id expr, unsigned depth) {
    const Node &node = score::node(expr);
    const u128 all = all_of(expr);
    const unsigned width = node.width, from = score::node(node.args[0]).width;
    auto a = [&] { return of(node.args[0], depth); };
    auto b = [&] { return of(node.args[1], depth); };
    switch (node.kind) {
    case Kind::ADD: return sum(a(), b(), all);
    case Kind::SUB: return difference(a(), b(), all);
    case Kind::NEG: return difference({0, 0}, a(), all);
    case Kind::NOT: {
        Interval of = a();
        return {all - of.most, all - of.least};
    }
    case Kind::MUL: return product(a(), b(), all);
    case Kind::UDIV: return quotient(a(), b(), all);
    case Kind::UREM: return rest(a(), b());
    case Kind::SDIV: return are_positive(a(), b(), width) ? quotient(a(), b(), all) : Interval{0, all};
    case Kind::SREM: return are_positive(a(), b(), width) ? rest(a(), b()) : Interval{0, all};
    case Kind::AND: {
        Interval one = a(), other = b();
        bool are_ones = one.least == all && other.least == all;
        return {are_ones ? all : 0, std::min(one.most, other.most)};
    }
    case Kind::OR: {
        Interval one = a(), other = b();
        return {std::max(one.least, other.least), mask<u128>(bits_of(one.most | other.most))};
    }
    case Kind::XOR: return {0, mask<u128>(bits_of(a().most | b().most))};
    case Kind::SHL: return shifted_left(a(), b(), width, all);
    case Kind::LSHR: return shifted_right(a(), b(), width);
    case Kind::ASHR: return a().most < sign_bit<u128>(width) ? shifted_right(a(), b(), width) : Interval{0, all};
    case Kind::ZEXT: return a();
    case Kind::SEXT: return extended(a(), from, all);
    case Kind::EXTRACT: return part(a(), unsigned(node.value), all);
    case Kind::CONCAT: {
        Interval high = a(), low = b();
        unsigned by = score::node(node.args[1]).width;
        return {high.least << by | low.least, high.most << by | low.most};
    }
    case Kind::EQ: return equal(a(), b());
    case Kind::ULT: return less(a(), b());
    case Kind::SLT: return less(ordered(a(), from), ordered(b(), from));
    case Kind::ITE: return either(b(), of(node.args[2], depth));
    case Kind::TABLE: return {0, node.table->largest};
    default: return {0, all};
    }
}

u128 upper(Id expr) { return Intervals().of(expr).most; }

bool is_refuted(Id condition) { return node(condition).width == 1 && Intervals().of(condition).most == 0; }

}  // namespace score
