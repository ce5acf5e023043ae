#include "decoded.hpp"

#include <algorithm>
#include <optional>

#include "build.hpp"
#include "columns.hpp"
#include "floats.hpp"
#include "ieee.hpp"
#include "known.hpp"

namespace score {

namespace {

constexpr ByteSet FULL = {~u64(0), ~u64(0), ~u64(0), ~u64(0)};

constexpr int MOST = 128;  // of a byte's 256 values

int values_left(const ByteSet &set) {
    int count = 0;
    for (u64 word : set) count += __builtin_popcountll(word);
    return count;
}

// The only argument that is no constant; 0: there are several.
Id unknown_of(Id expr) {
    const Node &node = score::node(expr);
    Id found = 0;
    for (unsigned i = 0; i < node.arity; ++i) {
        if (score::node(node.args[i]).is_const()) continue;
        if (found) return 0;
        found = node.args[i];
    }
    return found;
}

// The value of a formula of one byte that all of these values of the byte give it.
std::optional<u128> only_value(Id expr, const ByteSet &values) {
    const Column &each = column(expr);
    std::optional<u128> found;
    for (unsigned byte = 0; byte < 256; ++byte) {
        if (!(values[byte / 64] >> byte % 64 & 1)) continue;
        u128 value = u128(each.high ? (*each.high)[byte] : 0) << 64 | each.low[byte];
        if (found && *found != value) return std::nullopt;
        found = value;
    }
    return found;
}

}  // namespace

bool is_within(const Deps &some, const Deps &all) {
    for (std::size_t i = 0; i < some.size(); ++i)
        if (some.words()[i] & ~(i < all.size() ? all.words()[i] : 0)) return false;
    return true;
}

Decoded::Decoded(unsigned pointer_bits, bool verify)
    : verify(verify), cursor(pointer_bits), mirror(mask<u64>(pointer_bits)) {}

void Decoded::clear() {
    Checkpoint start{};
    return_to(start);
    cursor.events = nullptr;
    cursor.size = 0;
    take_input({});
}

void Decoded::take_input(Input input) {
    data = input;
    values_.clear();
}

Checkpoint Decoded::checkpoint(std::size_t at, u64 address) const {
    return {at,          address,        cursor.depth, consumed, mirror.mark(), log_.size(),
            pins.size(), objects.size(), settled_,     reach_,   forked,        vanished};
}

void Decoded::return_to(const Checkpoint &point) {
    replaced_.clear();
    mirror.undo(point.mirror);
    while (log_.size() > point.log) {
        Change change = std::move(log_.back());
        log_.pop_back();
        undo(change);
    }
    cursor.at = point.at, cursor.address = point.address, cursor.depth = point.depth;
    consumed = point.consumed, settled_ = point.settled, reach_ = point.reach;
    forked = point.forked, vanished = point.vanished;
    pins.resize(point.pins);
    objects.resize(point.objects);
    disagreements.clear();
}

void Decoded::undo(const Change &change) {
    switch (change.table) {
    case Table::SET:
        sets_[change.a] = old_sets_.back();
        old_sets_.pop_back();
        break;
    case Table::LIMIT:
        if (change.was_there)
            limits_.at(change.node).most = change.number;
        else
            limits_.erase(change.node);
        break;
    case Table::FIXED:
        if (change.was_there)
            fixed_.at(change.node).value = change.before;
        else
            fixed_.erase(change.node);
        break;
    case Table::SIZE:
        if (change.was_there)
            limited_[change.a] = change.before;
        else
            limited_.erase(change.a);
        break;
    case Table::CONTENT:
        if (change.was_there)
            contents_.at({change.a, change.b}) = std::move(old_contents_.back());
        else
            contents_.erase({change.a, change.b});
        old_contents_.pop_back();
        break;
    case Table::NOTE:
        if (change.was_there) {
            --notes[change.a].times;
        } else {
            noted_.erase({notes.back().what, notes.back().site});
            notes.pop_back();
        }
        break;
    case Table::DECLARED:
        --declared_.at(*names_.back());
        names_.pop_back();
    }
}

// --- values ----------------------------------------------------------------------------------------------------

u128 Decoded::value(Id expr) {
    const Node &node = score::node(expr);
    if (node.is_const()) return node.value;
    if (node.kind == Kind::BYTE) return data[node.value];
    return evaluate(expr, data, values_);
}

bool Decoded::holds(Id condition) {
    int index = node(condition).only_byte;
    if (index < 0) return value(condition) != 0;
    u8 byte = data[u128(index)];
    return byte_set(condition)[byte / 64] >> byte % 64 & 1;
}

// --- what the path says ----------------------------------------------------------------------------------------

void Decoded::learn(Id condition) {
    const Node &node = score::node(condition);
    bool is_equation = node.kind == Kind::EQ && score::node(node.args[1]).is_const();
    if (node.only_byte >= 0) {
        // A table's entry that several bytes have: what is read by it is known, though the byte is not.
        if (is_equation && score::node(node.args[0]).table) fix(node.args[0], node.args[1]);
        auto index = std::size_t(node.only_byte);
        if (index >= sets_.size()) sets_.resize(std::max(index + 1, 2 * sets_.size()), FULL);
        const ByteSet &set = byte_set(condition);
        ByteSet after = sets_[index];
        for (unsigned i = 0; i < 4; ++i) after[i] &= set[i];
        if (after == sets_[index]) return;
        old_sets_.push_back(sets_[index]);
        log_.push_back({Table::SET, true, index, 0, Ref(), Ref(), 0});
        sets_[index] = after;
        if (int left = values_left(after); left <= 1)
            settled_ = Deps::both(settled_, node.deps);
        else if (left > MOST)
            learn_compared(condition, after);
        return;
    }
    if (is_equation) return fix(node.args[0], node.args[1]);
    auto [formula, most] = limit_of(condition);
    if (!formula) return;
    auto found = limits_.find(formula);
    bool was_there = found != limits_.end();
    if (was_there && found->second.most <= most) return;
    log_.push_back({Table::LIMIT, was_there, 0, 0, Ref(formula), Ref(), was_there ? found->second.most : 0});
    if (was_there)
        found->second.most = most;
    else
        limits_.emplace(formula, Limit{Ref(formula), most});
    if (!most) {
        Ref zero = constant(0, score::node(formula).width);
        fix(formula, zero);
    }
}

// What is compared may have one value left where its byte has several: `(given + 255) >> 8` that is not 0. The smallest
// part of it that has one is the one that other formulas have in common with it. Entries of tables are known above; of
// these, and of single bits, to know more costs more than it brings.
void Decoded::learn_compared(Id condition, const ByteSet &left) {
    Id part = 0;
    u128 value = 0;
    for (Id next = unknown_of(condition); next; next = unknown_of(next)) {
        const Node &inner = score::node(next);
        if (inner.kind == Kind::BYTE || inner.floats || inner.origins || inner.reads) break;
        if (inner.width == 1 && !part) continue;  // the condition itself, negated
        std::optional<u128> only = only_value(next, left);
        if (!only) break;
        part = next, value = *only;
    }
    if (!part) return;
    Ref constant = score::constant(value, score::node(part).width);
    fix(part, constant);
}

// From here on the formula has this value.
void Decoded::fix(Id value, Id constant) {
    if (node(constant).origins) return;
    auto found = fixed_.find(value);
    bool was_there = found != fixed_.end();
    if (was_there && found->second.value == constant) return;
    log_.push_back({Table::FIXED, was_there, 0, 0, Ref(value), was_there ? found->second.value : Ref(), 0});
    if (was_there)
        found->second.value = Ref(constant);
    else
        fixed_.emplace(value, Known{Ref(value), Ref(constant)});
    replaced_.clear();
    reach_ = Deps::both(reach_, node(value).deps);
}

void Decoded::fork(Id value) {
    Ref now = constant(this->value(value), node(value).width);
    fix(value, now);
    forked = Deps::both(forked, node(value).deps);
}

u128 Decoded::most_values(Id value) const {
    return score::most_values(value, [this](Id id) -> const u128 * {
        auto found = limits_.find(id);
        return found == limits_.end() ? nullptr : &found->second.most;
    });
}

void Decoded::say(Leaves &leaves) {
    if (!is_told_of(leaves)) return;
    for (Ref &leaf : leaves) leaf = constant_of(leaf);
}

void Decoded::say_of_value(Leaves &leaves) {
    if (!is_told_of(leaves)) return;
    Leaves before = leaves;
    for (Ref &leaf : leaves) leaf = constant_of(leaf);
    for (std::size_t i = 0; i < leaves.size(); ++i)
        if (!node(leaves[i]).deps) vanished = Deps::both(vanished, node(before[i]).deps);
}

bool Decoded::is_told_of(const Leaves &leaves) const {
    if (!settled_ && !reach_) return false;
    return std::any_of(leaves.begin(), leaves.end(), [this](Id leaf) {
        const Deps &deps = node(leaf).deps;
        return deps.meets(settled_) || deps.meets(reach_);
    });
}

Ref Decoded::constant_of(const Ref &leaf) {
    const Node &node = score::node(leaf);
    if (!node.deps || node.floats) return leaf;
    if (is_within(node.deps, settled_)) return constant(value(leaf), node.width, node.origins);
    auto found = replaced_.find(leaf);
    if (found == replaced_.end()) {
        Ref made = replaced(
            leaf,
            [this](Id id) {
                auto known = fixed_.find(id);
                return known == fixed_.end() ? Id(0) : Id(known->second.value);
            },
            reach_);
        found = replaced_.emplace(leaf, Known{leaf, std::move(made)}).first;
    }
    return found->second.value;
}

// --- what is told of the path ----------------------------------------------------------------------------------

void Decoded::note(const std::string &what, u64 site) {
    auto [found, is_new] = noted_.try_emplace({what, site}, notes.size());
    if (is_new) notes.push_back({what, site, 0});
    ++notes[found->second].times;
    log_.push_back({Table::NOTE, !is_new, found->second, 0, Ref(), Ref(), 0});
}

void Decoded::pin(u64 site, Id value) {
    Ref now = constant(this->value(value), node(value).width);
    Ref formula = binary(Kind::EQ, value, now);
    pins.push_back({site, Ref(value), std::move(formula)});
}

void Decoded::pin_number(u64 site, Id value) {
    pins.push_back({site, Ref(value), float_binary(Kind::FEQ, value, value)});
}

bool Decoded::are_numbers(const std::vector<Id> &patterns) {
    return std::none_of(patterns.begin(), patterns.end(),
                        [this](Id expr) { return is_nan(u64(value(expr)), node(expr).width); });
}

SharedBytes Decoded::content(u64 address, u64 size) const {
    auto found = contents_.find({address, size});
    return found == contents_.end() ? nullptr : found->second;
}

void Decoded::keep_content(u64 address, SharedBytes content) {
    u64 size = content->size();
    auto [place, is_new] = contents_.try_emplace({address, size});
    if (place->second == content) return;
    old_contents_.push_back(std::move(place->second));
    log_.push_back({Table::CONTENT, !is_new, address, size, Ref(), Ref(), 0});
    place->second = std::move(content);
}

void Decoded::keep_size(u64 address, Id size) {
    auto [place, is_new] = limited_.try_emplace(address);
    log_.push_back({Table::SIZE, !is_new, address, 0, Ref(), place->second, 0});
    place->second = Ref(size);
}

Ref Decoded::size_of(u64 address, u128 size, unsigned width) {
    auto found = limited_.find(address);
    if (found == limited_.end()) return constant(size, width);
    Leaves size_now{found->second};
    say(size_now);
    return size_now[0];
}

u64 Decoded::declare(u64 site, const std::string &name, u64 size) {
    auto [found, is_new] = declared_.try_emplace(name, 0);
    u64 number = ++found->second;
    names_.push_back(&found->first);
    log_.push_back({Table::DECLARED, true, 0, 0, Ref(), Ref(), 0});
    u64 offset = consumed;
    consumed += size;
    objects.push_back({number == 1 ? name : name + "#" + std::to_string(number), offset, size, site});
    return offset;
}

void Decoded::pass_stored() {
    if (verify) cursor.signed_number();
}

void Decoded::check_stored(u64 site, Id expr) {
    if (!verify) return;
    u128 stored = u128(cursor.signed_number()) & mask<u128>(node(expr).width), computed = value(expr);
    if (stored == computed || (node(expr).floats && is_open(expr, stored, computed))) return;
    disagreements.push_back({site, stored, computed});
}

// Whether both are no number, or depend on how the machine writes that.
bool Decoded::is_open(Id expr, u128 stored, u128 computed) {
    unsigned width = node(expr).width;
    if (is_float_width(width) && is_nan(u64(stored), width) && is_nan(u64(computed), width)) return true;
    return !are_numbers(pattern_uses(expr, true));
}

}  // namespace score
