#include "evaluate.hpp"

#include <stdexcept>

#include "operate.hpp"

namespace score {

u8 Input::operator[](u128 index) const {
    if (index >= size) throw std::out_of_range("the input has no such byte");
    return bytes[std::size_t(index)];
}

// --- memo ------------------------------------------------------------------------------------------------------

namespace {

std::size_t spread(Id id) { return std::size_t((id * u64(0x9E3779B97F4A7C15u)) >> 32); }

}  // namespace

const u128 *Memo::find(Id id) const {
    if (places_.empty()) return nullptr;
    for (std::size_t at = spread(id) & (places_.size() - 1); places_[at]; at = (at + 1) & (places_.size() - 1))
        if (entries_[places_[at] - 1].node == id) return &entries_[places_[at] - 1].value;
    return nullptr;
}

void Memo::set(Id id, u128 value) {
    if (2 * (entries_.size() + 1) > places_.size()) rebuild(places_.empty() ? 32 : 2 * places_.size());
    entries_.push_back({Ref(id), value});
    index(id, u32(entries_.size()));
}

void Memo::index(Id id, u32 place) {
    std::size_t at = spread(id) & (places_.size() - 1);
    while (places_[at]) at = (at + 1) & (places_.size() - 1);
    places_[at] = place;
}

void Memo::rebuild(std::size_t size) {
    places_.assign(size, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) index(entries_[i].node, u32(i + 1));
}

void Memo::clear() {
    entries_.clear();
    places_.clear();
}

void Memo::forget(const Deps &changed) {
    std::vector<Entry> kept;
    for (Entry &entry : entries_)
        if (!node(entry.node).deps.meets(changed)) kept.push_back(std::move(entry));
    entries_ = std::move(kept);
    if (!places_.empty()) rebuild(places_.size());
}

// --- marks -----------------------------------------------------------------------------------------------------

void Marks::clear() {
    if (++stamp_ == 0) {
        stamps_.assign(stamps_.size(), 0);
        stamp_ = 1;
    }
}

bool Marks::add(Id id) {
    if (id >= stamps_.size()) stamps_.resize(arena().bound() + 1024);
    if (stamps_[id] == stamp_) return false;
    stamps_[id] = stamp_;
    return true;
}

// --- values ----------------------------------------------------------------------------------------------------

namespace {

// For one call: a number for each id of the arena. No formula dies meanwhile.
struct Scratch {
    Marks known;
    std::vector<u128> values;

    const u128 *find(Id id) const { return known.has(id) ? &values[id] : nullptr; }
    void set(Id id, u128 value) {
        known.add(id);
        if (id >= values.size()) values.resize(arena().bound() + 1024);
        values[id] = value;
    }
};

template <class Values> u128 evaluated(Id expr, const Input &data, Values &values) {
    if (const u128 *known = values.find(expr)) return *known;
    static std::vector<Id> stack;  // its memory is used again
    stack.assign(1, expr);
    while (!stack.empty()) {
        Id id = stack.back();
        const Node &node = score::node(id);
        if (values.find(id)) {  // it was wanted twice
            stack.pop_back();
            continue;
        }
        u128 value;
        if (node.kind == Kind::CONST) {
            value = node.value;
        } else if (node.kind == Kind::BYTE) {
            value = data[node.value];
        } else if (node.kind == Kind::ITE) {  // one arm is enough: elements of arrays are long chains of these
            const u128 *condition = values.find(node.args[0]);
            Id wanted = !condition ? node.args[0] : *condition ? node.args[1] : node.args[2];
            const u128 *found = condition ? values.find(wanted) : nullptr;
            if (!found) {
                stack.push_back(wanted);
                continue;
            }
            value = *found;
        } else {
            u128 arguments[3];
            bool complete = true;
            for (unsigned i = 0; i < node.arity; ++i) {
                const u128 *found = values.find(node.args[i]);
                if (found) {
                    arguments[i] = *found;
                } else {
                    stack.push_back(node.args[i]);
                    complete = false;
                }
            }
            if (!complete) continue;
            value = operate(operator_of(node), arguments);
        }
        values.set(id, value);
        stack.pop_back();
    }
    return *values.find(expr);
}

}  // namespace

u128 evaluate(Id expr, const Input &data) {
    static Scratch scratch;
    scratch.known.clear();
    return evaluated(expr, data, scratch);
}

u128 evaluate(Id expr, const Input &data, Memo &memo) { return evaluated(expr, data, memo); }

std::vector<Id> nodes(const std::vector<Id> &exprs) {
    static Marks seen;
    seen.clear();
    std::vector<Id> order;
    std::vector<std::pair<Id, bool>> stack;
    for (Id id : exprs) stack.emplace_back(id, false);
    while (!stack.empty()) {
        auto [id, ready] = stack.back();
        stack.pop_back();
        if (ready) {
            order.push_back(id);
        } else if (seen.add(id)) {
            stack.emplace_back(id, true);
            const Node &node = score::node(id);
            for (unsigned i = 0; i < node.arity; ++i) stack.emplace_back(node.args[i], false);
        }
    }
    return order;
}

}  // namespace score
