#include "chosen.hpp"

#include <algorithm>

#include "build.hpp"
#include "difference.hpp"

namespace score {

namespace {

constexpr unsigned NESTED = 64;  // choices that depend on choices: beyond, what decides is not told as a constant
constexpr std::size_t KEPT = 100'000;  // formulas

// What a choice depends on: the whole index, where the condition looks at a bit of it or for one of its values.
Id decider_of(Id condition) {
    while (is_in(node(condition).kind, set_of({Kind::NOT, Kind::EXTRACT, Kind::ZEXT})))
        condition = node(condition).args[0];
    const Node &found = node(condition);
    return found.kind == Kind::EQ && node(found.args[1]).is_const() ? found.args[0] : condition;
}

}  // namespace

Deps changed_bytes(const u8 *a, std::size_t size_a, const u8 *b, std::size_t size_b) {
    constexpr std::size_t FEW = 16;  // words on the stack: as many as nearly all inputs need
    std::size_t common = std::min(size_a, size_b), size = std::max(size_a, size_b), count = (size + 63) / 64;
    u64 few[FEW] = {};
    std::vector<u64> many(count > FEW ? count : 0);
    u64 *words = count > FEW ? many.data() : few;
    for (std::size_t i = 0; (i = first_difference(a, b, common, i)) < common; ++i) words[i / 64] |= u64(1) << i % 64;
    for (std::size_t i = common; i < size; ++i) words[i / 64] |= u64(1) << i % 64;
    return Deps::of_words(words, count);
}

void Chosen::take(const u8 *data, std::size_t size) {
    Deps changed = changed_bytes(data_.data(), data_.size(), data, size);
    if (!changed) return;
    data_.assign(data, data + size);
    if (plain_.size() > KEPT) {
        values_.clear(), plain_.clear(), known_.clear(), fixed_.clear(), because_.clear();
        return;
    }
    auto forget = [&](auto &table) {
        for (auto at = table.begin(); at != table.end();)
            at = node(at->first).deps.meets(changed) ? table.erase(at) : std::next(at);
    };
    values_.forget(changed);
    forget(plain_), forget(known_), forget(fixed_), forget(because_);
}

const Chosen::Simple &Chosen::of(Id formula) {
    auto found = known_.find(formula);
    if (found == known_.end())
        found = known_.emplace(formula, Entry<Simple>{Ref(formula), simple(formula, NESTED)}).first;
    return found->second.value;
}

// Goes through all that the formula is made of in this run.
Chosen::Simple Chosen::simple(Id formula, unsigned depth) {
    std::unordered_set<Id> seen;
    Conditions conditions;
    std::vector<Id> stack{formula};
    while (!stack.empty()) {
        Id id = stack.back();
        if (seen.count(id)) {
            stack.pop_back();
            continue;
        }
        const Node &node = score::node(id);
        std::array<Id, 3> needed = node.args;
        unsigned count = node.arity;
        if (id != formula && fixed_.count(id)) {
            conditions.add(because_.at(id).value);
            count = 0;
        } else if (node.kind == Kind::ITE) {
            needed[0] = choice(node, depth, conditions);
            count = 1;
        } else if (is_in(node.kind, SHIFTS) && score::node(node.args[1]).deps) {
            fix(node.args[1], depth, conditions);
        }
        std::size_t before = stack.size();
        for (unsigned i = 0; i < count; ++i)
            if (!seen.count(needed[i])) stack.push_back(needed[i]);
        if (stack.size() > before) continue;
        stack.pop_back();
        seen.insert(id);
        if (!plain_.count(id)) {
            Ref plain = made(id, needed.data(), count);
            plain_.emplace(id, Entry<Ref>{Ref(id), std::move(plain)});
        }
    }
    return {plain_.at(formula).value, std::move(conditions)};
}

// The part that is chosen in this run; why, is added to the conditions.
Id Chosen::choice(const Node &node, unsigned depth, Conditions &conditions) {
    Id decider = decider_of(node.args[0]);
    if (score::node(decider).deps) fix(decider, depth, conditions);
    return value(node.args[0]) ? node.args[1] : node.args[2];
}

void Chosen::fix(Id decider, unsigned depth, Conditions &conditions) {
    if (!because_.count(decider)) decide(decider, depth);
    conditions.add(because_.at(decider).value);
}

void Chosen::decide(Id decider, unsigned depth) {
    Ref held(decider), value = constant(this->value(decider), node(decider).width);
    Simple known{held, {}};
    if (depth) known = simple(decider, depth - 1);
    Ref condition = binary(Kind::EQ, known.formula, value);
    if (!node(condition).is_const()) known.conditions.add(condition);
    because_.insert_or_assign(decider, Entry<Conditions>{held, std::move(known.conditions)});
    fixed_.insert_or_assign(decider, Entry<Ref>{held, std::move(value)});
}

Ref Chosen::made(Id id, const Id *needed, unsigned count) {
    const Node &node = score::node(id);
    if (node.kind == Kind::ITE && count == 1) return as_used(needed[0]);
    Ref arguments[3];
    bool changes = false;
    for (unsigned i = 0; i < count; ++i) {
        arguments[i] = as_used(needed[i]);
        changes |= arguments[i] != needed[i];
    }
    return changes ? rebuilt(id, arguments) : Ref(id);
}

Ref Chosen::as_used(Id id) const {
    auto found = fixed_.find(id);
    return found != fixed_.end() ? found->second.value : plain_.at(id).value;
}

}  // namespace score
