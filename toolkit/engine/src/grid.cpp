#include "grid.hpp"

#include <algorithm>

#include "operate.hpp"

namespace score {

namespace {

constexpr unsigned WIDEST_WORD = 64;  // bits
constexpr u128 FAR_TOO_LARGE = u128(1) << 32;
constexpr std::size_t MOST_JOINED = 1 << 22;  // elements of an inner variable's table times its values
constexpr std::size_t KEPT = 1 << 23;         // elements of all tables together, of 8 bytes
constexpr std::size_t MOST_IN_QUESTION = 2 * KEPT;
constexpr std::size_t CHOICES = 4;            // of an inner variable, of one byte and kept twice, for one such element
constexpr std::size_t KEPT_ALLOWED = 4;       // of a formula: its values that some conditions allow
constexpr u64 NODE_OVERHEAD = 32;             // steps of a node, however small its table is
constexpr u64 CHOOSING = set_of({Kind::TABLE, Kind::ITE});  // their results are few, and much is made of them

Variables union_of(const std::vector<GridPtr> &parts) {
    Variables all;
    for (const GridPtr &part : parts) all = score::union_of(all, part->variables);
    return all;
}

u128 size_of(const std::vector<GridPtr> &parts) { return size_of(union_of(parts)); }

void add_to(std::vector<u64> &rising, const std::vector<u64> &more) {
    if (more.empty()) return;
    std::vector<u64> both;
    std::set_union(rising.begin(), rising.end(), more.begin(), more.end(), std::back_inserter(both));
    rising = std::move(both);
}

std::optional<Partition> few_values(const std::vector<u64> &table) {
    return partition(table, MOST_JOINED / std::max(table.size(), std::size_t(1)));
}

}  // namespace

void Grids::assume(const std::vector<Id> &conditions, bool looks) {
    if (size_ > KEPT) forget();  // not amid a question if that can be, as its conditions exclude values of each other
    looks_ = looks;
    ++question_;
    assumed_ = conditions;
    assumed_uids_.clear();
    for (Id condition : conditions) assumed_uids_.push_back(score::node(condition).uid);
    std::sort(assumed_uids_.begin(), assumed_uids_.end());
}

bool Grids::holds(const std::vector<u64> &under) const {
    return std::includes(assumed_uids_.begin(), assumed_uids_.end(), under.begin(), under.end());
}

bool Grids::is_known(Id id) const {
    auto found = known_.find(id);
    if (found == known_.end()) return false;
    const Known &known = found->second;
    return known.grid ? holds(known.under) : !looks_ || known.question == question_;
}

GridPtr Grids::of(Id expr) {
    if (size_ > MOST_IN_QUESTION) forget();
    std::vector<Id> stack{expr};
    while (!stack.empty()) {
        Id id = stack.back();
        if (is_known(id)) {
            stack.pop_back();
            continue;
        }
        const Node &node = score::node(id);
        effort_.spend(NODE_OVERHEAD);
        std::size_t before = stack.size();
        bool has_none = node.width > WIDEST_WORD || node.kind >= Kind::FADD;
        for (unsigned i = 0; i < node.arity && !has_none; ++i)
            if (!is_known(node.args[i])) stack.push_back(node.args[i]);
        if (stack.size() > before) continue;
        std::vector<u64> under;
        GridPtr grid = has_none ? nullptr : made(id, under);
        auto [place, is_new] = known_.try_emplace(id);
        Known &known = place->second;
        size_ -= known.size;
        known = {std::move(grid), nullptr, 0, std::move(under), question_, {}};
        count(known, known.grid ? known.grid->values.size() : 0);
        if (is_new) arena().mourn(id, this);
    }
    return known_.at(expr).grid;
}

void Grids::died(Id id) {
    auto known = known_.find(id);
    size_ -= known->second.size;
    known_.erase(known);
}

void Grids::forget() {
    for (const auto &[id, known] : known_) arena().mourn_no_more(id, this);
    known_.clear();
    size_ = 0;
}

GridPtr Grids::made(Id id, std::vector<u64> &under) {
    const Node &node = score::node(id);
    if (node.kind == Kind::CONST) return std::make_shared<Grid>(Grid{{}, {u64(node.value)}});
    if (node.kind == Kind::BYTE) {
        std::vector<u64> values(256);
        for (unsigned v = 0; v < 256; ++v) values[v] = v;
        return std::make_shared<Grid>(Grid{{byte(u32(node.value))}, std::move(values)});
    }
    std::vector<GridPtr> parts;
    for (unsigned i = 0; i < node.arity; ++i) {
        const Known &part = known_.at(node.args[i]);
        parts.push_back(part.grid);
        if (!parts.back()) return nullptr;
        add_to(under, part.under);
    }
    for (const GridPtr &part : parts) effort_.spend(NODE_OVERHEAD * part->variables.size());
    parts = in_few_values(node, parts);
    for (std::size_t i = 0; looks_ && i < parts.size() && size_of(parts) > sizes_.largest; ++i)
        parts[i] = allowed(node.args[i], parts[i], under);
    if (size_of(parts) > sizes_.largest) return nullptr;
    return computed(node, parts);
}

void Grids::count(Known &known, std::size_t elements) {
    known.size += elements;
    size_ += elements;
}

// The arguments' grids, over inner variables where that makes the node's grid smaller.
std::vector<GridPtr> Grids::in_few_values(const Node &node, const std::vector<GridPtr> &parts) {
    std::vector<GridPtr> reduced = parts;
    for (unsigned i = 0; i < node.arity; ++i)
        if (is_in(score::node(node.args[i]).kind, CHOOSING)) reduced[i] = few_of(node.args[i], parts[i]);
    if (size_of(reduced) > sizes_.at_ease)
        for (unsigned i = 0; i < node.arity; ++i) reduced[i] = few_of(node.args[i], parts[i]);
    for (unsigned i = 0; i < node.arity; ++i) {
        if (parts[i] == reduced[i]) continue;
        std::vector<GridPtr> other = reduced;
        other[i] = parts[i];
        if (size_of(other) <= size_of(reduced)) reduced = std::move(other);
    }
    return reduced;
}

GridPtr Grids::computed(const Node &node, const std::vector<GridPtr> &parts) {
    auto made = std::make_shared<Grid>();
    made->variables = union_of(parts);
    std::size_t size = std::size_t(size_of(parts));
    effort_.spend((1 + 2 * parts.size()) * size);
    std::vector<std::vector<u64>> arguments;
    const u64 *values[3] = {};
    for (const GridPtr &part : parts)
        arguments.push_back(part->values.size() == size ? std::vector<u64>() : spread(*part, made->variables, size));
    for (std::size_t i = 0; i < parts.size(); ++i)
        values[i] = arguments[i].empty() ? parts[i]->values.data() : arguments[i].data();
    made->values.resize(size);
    operate(operator_of(node), values, made->values.data(), size);
    return made;
}

GridPtr Grids::few_of(Id id, const GridPtr &grid) {
    Known &known = known_.at(id);
    if (!known.few) {
        known.few = reduced(grid);
        if (known.few != grid) count(known, grid->values.size() / CHOICES);
    }
    return known.few;
}

// These variables, with what they are made of in the place of those that are related to others. It may grow before it
// shrinks, but where it is far too large it seldom does.
Variables Grids::basis_of(Variables variables) {
    for (std::size_t at = variables.size(); at-- > 1;) {
        if (!is_related(*variables[at], variables)) continue;
        Variables parts = variables[at]->made_of;
        variables.erase(variables.begin() + std::ptrdiff_t(at));
        variables = score::union_of(variables, parts);
        if (size_of(variables) > FAR_TOO_LARGE) break;
        at = variables.size();
        effort_.spend(NODE_OVERHEAD * at);
    }
    return variables;
}

// The same values without some that cannot be. Of a variable that comes of what another one of the grid comes of, only
// those count that go with the other's: a state and the step from it to the next have few sums, as the step is this
// state's. Null if there is nothing to gain, or the table is too large.
GridPtr Grids::possible(const Grid &grid) {
    Variables basis = basis_of(grid.variables);
    u128 size = size_of(basis);
    if (size > sizes_.largest || basis == grid.variables) return nullptr;
    Choices known;
    std::vector<u64> places = places_in(grid, basis, std::size_t(size), known);
    effort_.spend((2 * known.size() + 1) * u64(size));
    for (u64 &place : places) place = grid.values[place];
    return std::make_shared<Grid>(Grid{std::move(basis), std::move(places)});
}

// These values as those of an inner variable, if they are few; else the same grid.
GridPtr Grids::reduced(const GridPtr &grid) {
    GridPtr whole = grid;
    effort_.spend(8 * grid->values.size());
    std::optional<Partition> found = few_values(grid->values);
    if (!found) {
        whole = possible(*grid);
        if (!whole) return grid;
        effort_.spend(8 * whole->values.size());
        found = few_values(whole->values);
        if (!found) return grid;
    }
    return as_variable(whole->variables, std::move(*found));
}

// The same values without some that a condition of the question excludes; adds what it is then right under. The same
// grid if that makes no few values of them.
GridPtr Grids::allowed(Id id, const GridPtr &grid, std::vector<u64> &under) {
    for (const Allowed &each : known_.at(id).allowed)
        if (holds(each.under)) {
            add_to(under, each.under);
            return each.grid;
        }
    std::vector<u64> used, others_used;
    GridPtr fewer = allowed_of(grid, used), whole = possible(*grid);
    if (GridPtr other = whole ? allowed_of(whole, others_used) : nullptr)
        if (!fewer || other->values.size() < fewer->values.size()) {
            fewer = std::move(other);
            used = std::move(others_used);
        }
    if (!fewer) return grid;
    std::vector<Allowed> &kept = known_.at(id).allowed;
    if (kept.size() == KEPT_ALLOWED) kept.pop_back();
    kept.insert(kept.begin(), Allowed{fewer, used});
    add_to(under, used);
    return fewer;
}

GridPtr Grids::allowed_of(const GridPtr &grid, std::vector<u64> &under) {
    const Variables &basis = grid->variables;
    std::size_t size = grid->values.size();
    std::vector<bool> may(size, true);
    std::vector<u64> used;
    Choices choice;
    for (Id condition : assumed_) {
        auto known = known_.find(condition);
        effort_.spend(NODE_OVERHEAD);
        if (known == known_.end() || !known->second.grid || !holds(known->second.under)) continue;
        const Grid &other = *known->second.grid;
        if (!come_of(other.variables, basis)) continue;
        std::vector<u64> places = places_in(other, basis, size, choice);
        effort_.spend((2 + 2 * other.variables.size()) * size);
        bool excludes = false;
        for (std::size_t i = 0; i < size; ++i)
            if (may[i] && !other.values[places[i]]) may[i] = false, excludes = true;
        if (!excludes) continue;
        add_to(used, known->second.under);
        add_to(used, {score::node(condition).uid});
    }
    auto first = std::find(may.begin(), may.end(), true);
    if (used.empty() || first == may.end()) return nullptr;
    std::vector<u64> values = grid->values;
    u64 other = values[std::size_t(first - may.begin())];  // for what cannot be any of the values will do
    for (std::size_t i = 0; i < size; ++i)
        if (!may[i]) values[i] = other;
    effort_.spend(8 * size);
    std::size_t possible = std::size_t(std::count(may.begin(), may.end(), true));
    std::optional<Partition> found = partition(values, std::min(std::size_t(CANNOT_BE), MOST_JOINED / possible));
    if (!found) return nullptr;
    for (std::size_t i = 0; i < size; ++i)
        if (!may[i]) found->choice[i] = CANNOT_BE;
    under = std::move(used);
    return as_variable(basis, std::move(*found));
}

GridPtr Grids::as_variable(const Variables &variables, Partition found) {
    Key key{{found.values.size()}, {}};
    for (const VariablePtr &variable : variables) key.first.push_back(variable->number);
    key.second = std::move(found.choice);
    if (inner_.size() > inner_limit_) {
        for (auto each = inner_.begin(); each != inner_.end();)
            each = each->second.expired() ? inner_.erase(each) : std::next(each);
        inner_limit_ = 1024 + 2 * inner_.size();
    }
    std::weak_ptr<const Variable> &known = inner_[key];
    VariablePtr variable = known.lock();
    if (!variable) {
        variable = std::make_shared<const Variable>(variables, unsigned(found.values.size()), key.second);
        known = variable;
    }
    return std::make_shared<Grid>(Grid{{variable}, std::move(found.values)});
}

const VariablePtr &Grids::byte(u32 index) {
    VariablePtr &found = bytes_[index];
    if (!found) found = std::make_shared<const Variable>(int(index), 256);
    return found;
}

}  // namespace score
