#include "slots.hpp"

#include <algorithm>

namespace score {

Slots::Slots(const std::vector<Id> &formulas, const Input &data) : ids_(nodes(formulas)) {
    static std::vector<Slot> place;  // by id
    if (place.size() < arena().bound()) place.resize(arena().bound() + 1024);
    parts_.reserve(ids_.size());
    values_.reserve(ids_.size());
    for (Slot slot = 0; slot < ids_.size(); ++slot) {
        const Node &node = score::node(ids_[slot]);
        place[ids_[slot]] = slot;
        Part part{operator_of(node), node.arity};
        u64 args[3] = {};
        for (unsigned i = 0; i < node.arity; ++i) {
            part.args[i] = place[node.args[i]];
            args[i] = values_[part.args[i]];
        }
        const u64 *columns[3] = {&args[0], &args[1], &args[2]};
        u64 value;
        if (node.kind == Kind::CONST)
            value = u64(node.value);
        else if (node.kind == Kind::BYTE)
            bytes_.push_back(slot), value = data[node.value];
        else
            operate(part.op, columns, &value, 1);
        parts_.push_back(part);
        values_.push_back(value);
    }
    for (Id id : formulas) roots_.push_back(place[id]);
    users_.resize(parts_.size());
    changed_.resize(parts_.size());
    computed = parts_.size();
}

bool Slots::fit(const std::vector<Id> &formulas, std::size_t most) {
    std::vector<Id> all = nodes(formulas);
    return all.size() <= most &&
           std::all_of(all.begin(), all.end(), [](Id id) { return node(id).width <= 64; });
}

const std::vector<Slot> &Slots::users(Slot byte) {
    std::vector<Slot> &found = users_[byte];
    if (found.empty()) {
        u32 at = index(byte);
        for (Slot slot = byte + 1; slot < parts_.size(); ++slot)
            if (parts_[slot].arity && node(ids_[slot]).deps.has(at)) found.push_back(slot);
        computed += parts_.size() / 8;
    }
    return found;
}

void Slots::set(Slot slot, u64 value) {
    before_.emplace_back(slot, values_[slot]);
    values_[slot] = value;
    changed_[slot] = now_;
}

void Slots::change(const std::vector<Change> &changes) {
    ++now_;
    due_.clear();
    for (const Change &change : changes) {
        if (values_[change.byte] == change.value) continue;
        set(change.byte, change.value);
        const std::vector<Slot> &more = users(change.byte);
        merged_.clear();
        std::set_union(due_.begin(), due_.end(), more.begin(), more.end(), std::back_inserter(merged_));
        due_.swap(merged_);
    }
    for (Slot slot : due_) {
        const Part &part = parts_[slot];
        u64 args[3] = {};
        bool is_due = false;
        for (unsigned i = 0; i < part.arity; ++i) {
            args[i] = values_[part.args[i]];
            is_due |= changed_[part.args[i]] == now_;
        }
        if (!is_due) continue;
        const u64 *columns[3] = {&args[0], &args[1], &args[2]};
        u64 value;
        operate(part.op, columns, &value, 1);
        if (value != values_[slot]) set(slot, value);
        ++computed;
    }
}

void Slots::undo() {
    for (auto at = before_.rbegin(); at != before_.rend(); ++at) values_[at->first] = at->second;
    before_.clear();
}

}  // namespace score
