#include "excluded.hpp"

#include <algorithm>

#include "build.hpp"
#include "interval.hpp"

namespace score {

namespace {

using Runs = std::vector<Interval>;  // of unsigned numbers, rising and apart

constexpr std::size_t MOST_RUNS = 64;  // where there would be more a condition is left out

struct Comparison {
    Id number = 0;  // 0: the condition compares no number with a constant
    Kind kind = Kind::EQ;
    u128 limit = 0;
    bool is_number_first = true, holds = true;
};

Comparison comparison_of(Id condition) {
    const Node *x = &node(condition);
    bool holds = x->kind != Kind::NOT;
    if (!holds) x = &node(x->args[0]);
    if (x->kind != Kind::EQ && x->kind != Kind::ULT && x->kind != Kind::SLT) return {};
    const Node &first = node(x->args[0]), &second = node(x->args[1]);
    if (first.is_const() == second.is_const()) return {};
    if (second.is_const()) return {x->args[0], x->kind, second.value, true, holds};
    return {x->args[1], x->kind, first.value, false, holds};
}

Runs complement(const Runs &runs, u128 all) {
    Runs found;
    u128 from = 0;
    for (const Interval &run : runs) {
        if (from < run.least) found.push_back({from, run.least - 1});
        if (run.most == all) return found;
        from = run.most + 1;
    }
    found.push_back({from, all});
    return found;
}

Runs both(const Runs &a, const Runs &b) {
    Runs found;
    for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
        u128 least = std::max(a[i].least, b[k].least), most = std::min(a[i].most, b[k].most);
        if (least <= most) found.push_back({least, most});
        a[i].most < b[k].most ? ++i : ++k;
    }
    return found;
}

// Runs of numbers in the order of signed ones, that with the sign turned over, as unsigned numbers.
Runs turned(const Runs &runs, u128 sign) {
    Runs low, high;
    for (const Interval &run : runs) {
        if (run.least < sign) high.push_back({run.least | sign, std::min(run.most, sign - 1) | sign});
        if (run.most >= sign) low.push_back({std::max(run.least, sign) & ~sign, run.most & ~sign});
    }
    low.insert(low.end(), high.begin(), high.end());
    return low;
}

// The numbers with which the comparison is as it says.
Runs allowed_by(const Comparison &said, unsigned width) {
    const u128 all = mask<u128>(width), sign = said.kind == Kind::SLT ? sign_bit<u128>(width) : 0;
    const u128 limit = said.limit ^ sign;
    Runs runs;
    if (said.kind == Kind::EQ) {
        runs.push_back({limit, limit});
    } else if (said.is_number_first) {
        if (limit) runs.push_back({0, limit - 1});
    } else if (limit < all) {
        runs.push_back({limit + 1, all});
    }
    if (!said.holds) runs = complement(runs, all);
    return sign ? turned(runs, sign) : runs;
}

}  // namespace

bool is_excluded(Id target, const std::vector<Id> &several) {
    if (is_refuted(target)) return true;
    Ref opposite = bit_not(target);
    const Id number = comparison_of(target).number;
    const unsigned width = number ? node(number).width : 1;
    Runs left = number ? both({Intervals().of(number)}, allowed_by(comparison_of(target), width)) : Runs{{0, 1}};
    for (Id condition : several) {
        if (condition == opposite) return true;
        Comparison said = comparison_of(condition);
        if (!number || said.number != number) continue;
        Runs narrowed = both(left, allowed_by(said, width));
        if (narrowed.size() <= MOST_RUNS) left = std::move(narrowed);
        if (left.empty()) return true;
    }
    return left.empty();
}

}  // namespace score
