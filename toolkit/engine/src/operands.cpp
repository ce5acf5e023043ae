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
    Branch branch{exprs, {}, {}, {}, floats, lanes_};
    for (const Ref &expr : exprs) {
        branch.values.push_back(decoded.value(expr));
        deps = Deps::both(deps, node(expr).deps);
    }
    branch.reached = branches_.empty() ? deps : Deps::both(deps, branches_.back().reached);
    branch.deps = std::move(deps);
    lanes_ = mixed(lanes_, branch);
    branches_.push_back(std::move(branch));
}

void Operands::cut(std::size_t count) {
    if (count >= branches_.size()) return;
    lanes_ = branches_[count].before;
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
            for (std::size_t k = 0; k < branch.exprs.size(); ++k) branch.values[k] = decoded.value(branch.exprs[k]);
        lanes = mixed(lanes, branch);
    }
    lanes_ = lanes;
}

Lanes Operands::mixed(Lanes lanes, const Branch &branch) {
    for (std::size_t i = 0; i < branch.exprs.size(); ++i) {
        u128 value = branch.values[i];
        if (branch.floats && may_be_no_number(value)) value = 0;  // machines differ in the pattern of what is no number
        lanes = mix_operand(lanes, value, node(branch.exprs[i]).width);
    }
    return lanes;
}

}  // namespace score
