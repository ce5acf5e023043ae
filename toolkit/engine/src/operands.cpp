#include "operands.hpp"

#include <algorithm>

namespace score {

namespace {

// As the target decides it: by 8 bits of the exponent, in either half.
bool may_be_no_number(u128 value) {
    constexpr u64 EXPONENT = 0x7F800000;
    return ((value >> 32 | value) & EXPONENT) == EXPONENT;
}

}  // namespace

void Operands::add(const Leaves &exprs, bool floats, Deps deps, Decoded &decoded) {
    std::size_t begin = branches_.empty() ? 0 : branches_.back().end;
    exprs_.erase(exprs_.begin() + std::ptrdiff_t(begin), exprs_.end());  // one before may have been broken off
    values_.resize(begin);
    for (const Ref &expr : exprs) {
        values_.push_back(decoded.value(expr));
        exprs_.push_back(expr);
        deps = Deps::both(deps, node(expr).deps);
    }
    Deps reached = branches_.empty() ? deps : Deps::both(deps, branches_.back().reached);
    branches_.push_back({begin, exprs_.size(), std::move(deps), std::move(reached), floats, lanes_});
    lanes_ = mixed(lanes_, branches_.back());
}

void Operands::cut(std::size_t count) {
    if (count >= branches_.size()) return;
    const Branch &first = branches_[count];
    lanes_ = first.before;
    exprs_.erase(exprs_.begin() + std::ptrdiff_t(first.begin), exprs_.end());
    values_.resize(first.begin);
    branches_.erase(branches_.begin() + std::ptrdiff_t(count), branches_.end());
}

std::size_t Operands::first_reached(const Deps &changed) const {
    auto first = std::partition_point(branches_.begin(), branches_.end(),
                                      [&](const Branch &branch) { return !branch.reached.meets(changed); });
    return std::size_t(first - branches_.begin());
}

void Operands::recompute(const Deps &changed, Decoded &decoded) {
    std::size_t first = first_reached(changed);
    if (first == branches_.size()) return;
    Lanes lanes = branches_[first].before;
    for (std::size_t i = first; i < branches_.size(); ++i) {
        Branch &branch = branches_[i];
        branch.before = lanes;
        if (branch.deps.meets(changed))
            for (std::size_t k = branch.begin; k < branch.end; ++k) values_[k] = decoded.value(exprs_[k]);
        lanes = mixed(lanes, branch);
    }
    lanes_ = lanes;
}

Lanes Operands::mixed(Lanes lanes, const Branch &branch) const {
    for (std::size_t i = branch.begin; i < branch.end; ++i) {
        u128 value = values_[i];
        if (branch.floats && may_be_no_number(value)) value = 0;  // machines differ in the pattern of what is no number
        lanes = mix_operand(lanes, value, node(exprs_[i]).width);
    }
    return lanes;
}

}  // namespace score
