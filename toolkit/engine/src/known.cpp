#include "known.hpp"

#include <algorithm>
#include <unordered_map>

#include "build.hpp"
#include "evaluate.hpp"
#include "interval.hpp"

namespace score {

namespace {

constexpr unsigned COUNTED = 12, REPLACED = 8;  // how deep formulas are looked into: what the path says of a value, it
                                                // says soon after the value was made

u128 product(u128 a, u128 b) { return b && a > ALL_128 / b ? ALL_128 : a * b; }

u128 sum(u128 a, u128 b) { return a > ALL_128 - b ? ALL_128 : a + b; }

// What was found out of the parts of a formula.
struct Counts {
    std::unordered_map<Id, u128> known;
    Intervals intervals;
};

// Of the values of `x & mask`: one of each choice of the bits.
u128 of_bits(u128 mask) {
    unsigned bits = unsigned(__builtin_popcountll(u64(mask)) + __builtin_popcountll(u64(mask >> 64)));
    return bits == 128 ? ALL_128 : u128(1) << bits;
}

u128 most(Id expr, const Limits &limits, unsigned depth, Counts &counts) {
    const Node &node = score::node(expr);
    if (node.is_const()) return 1;
    auto found = counts.known.find(expr);
    if (found != counts.known.end()) return found->second;
    Interval between = counts.intervals.of(expr);
    u128 most = sum(between.most - between.least, 1);
    if (node.kind == Kind::AND)
        for (unsigned i = 0; i < 2; ++i)
            if (score::node(node.args[i]).is_const()) most = std::min(most, of_bits(score::node(node.args[i]).value));
    if (const u128 *limit = limits(expr)) most = std::min(most, sum(*limit, 1));
    if (node.only_byte >= 0) most = std::min<u128>(most, 256);
    if (node.table) most = std::min<u128>(most, node.table->distinct);
    if (depth && node.arity) {
        u128 each[3] = {1, 1, 1};
        for (unsigned i = 0; i < node.arity; ++i)
            if (score::node(node.args[i]).deps) each[i] = score::most(node.args[i], limits, depth - 1, counts);
        u128 all = node.kind == Kind::ITE ? sum(each[1], each[2]) : product(product(each[0], each[1]), each[2]);
        most = std::min(most, all);
    }
    counts.known.emplace(expr, most);
    return most;
}

using Seen = std::unordered_map<Id, Ref>;

Ref replaced(Id expr, const Constants &known, const Deps &reach, unsigned depth, Seen &seen) {
    const Node &node = score::node(expr);
    if (!node.deps.meets(reach) || node.floats) return Ref(expr);
    if (Id constant = known(expr)) return Ref(constant);
    auto found = seen.find(expr);
    if (found != seen.end()) return found->second;
    Ref made(expr);
    if (depth && node.kind != Kind::BYTE) {
        Ref arguments[3];
        bool changes = false;
        for (unsigned i = 0; i < node.arity; ++i) {
            arguments[i] = replaced(node.args[i], known, reach, depth - 1, seen);
            changes |= arguments[i] != node.args[i];
        }
        if (changes) made = rebuilt(expr, arguments);
    }
    seen.emplace(expr, made);
    return made;
}

}  // namespace

u128 most_values(Id expr, const Limits &limits) {
    Counts counts;
    return most(expr, limits, COUNTED, counts);
}

std::pair<Id, u128> limit_of(Id condition) {
    const Node &x = node(condition);
    if (x.kind == Kind::ULT && node(x.args[1]).is_const()) {  // x < c
        u128 limit = node(x.args[1]).value;
        return {x.args[0], limit ? limit - 1 : 0};
    }
    if (x.kind == Kind::NOT) {
        const Node &inner = node(x.args[0]);
        if (inner.kind == Kind::ULT && node(inner.args[0]).is_const())  // not c < x
            return {inner.args[1], node(inner.args[0]).value};
    }
    return {0, 0};
}

Ref replaced(Id expr, const Constants &known, const Deps &reach) {
    Seen seen;
    return replaced(expr, known, reach, REPLACED, seen);
}

Ref substituted(Id expr, const std::function<Id(Id)> &others) {
    Seen made;
    for (Id id : nodes({expr})) {
        const Node &node = score::node(id);
        if (Id other = others(id)) {
            made.emplace(id, Ref(other));
            continue;
        }
        Ref arguments[3];
        bool changes = false;
        for (unsigned i = 0; i < node.arity; ++i) {
            arguments[i] = made.at(node.args[i]);
            changes |= arguments[i] != node.args[i];
        }
        made.emplace(id, changes ? rebuilt(id, arguments) : Ref(id));
    }
    return made.at(expr);
}

}  // namespace score
