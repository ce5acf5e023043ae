#include "grid.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "operate.hpp"

namespace score {

namespace {

constexpr unsigned WIDEST_WORD = 64;          // bits
constexpr std::size_t LARGEST = 1 << 16;      // elements of a table
constexpr u128 FAR_TOO_LARGE = u128(1) << 32;
constexpr std::size_t MOST_VALUES = 256;      // of an inner variable
constexpr std::size_t FEWEST = 16;            // elements of a table that is worth one
constexpr std::size_t MOST_JOINED = 1 << 22;  // elements of an inner variable's table times its values
constexpr std::size_t KEPT = 1 << 23;         // elements of all tables together, of 8 bytes
constexpr std::size_t CHOICES = 4;            // of an inner variable, of one byte and kept twice, for one such element
constexpr u64 NODE_OVERHEAD = 32;             // steps of a node, however small its table is
constexpr u64 CHOOSING = set_of({Kind::TABLE, Kind::ITE});  // their results are few, and much is made of them

u64 last_variable = 0;

int last_byte(const Variable &variable) { return std::get<0>(variable.rank); }

// Whether an inner variable is made of an earlier one of these, or comes of the same byte as one.
bool is_related(const Variable &variable, const Variables &all) {
    const Variables &parts = variable.made_of;
    return !parts.empty() && std::any_of(all.begin(), all.end(), [&](const VariablePtr &other) {
        bool is_part = std::find(parts.begin(), parts.end(), other) != parts.end();
        return other->rank < variable.rank && (is_part || last_byte(*other) == last_byte(variable));
    });
}

bool ranks_below(const VariablePtr &a, const VariablePtr &b) { return a->rank < b->rank; }

Variables union_of(const std::vector<GridPtr> &parts) {
    Variables all;
    for (const GridPtr &part : parts) all = score::union_of(all, part->variables);
    return all;
}

// The number of elements of a table over these variables.
u128 size_of(const Variables &variables) {
    u128 size = 1;
    for (const VariablePtr &variable : variables)
        size = size >> 100 ? size : size * variable->count;  // beyond that it does not matter
    return size;
}

u128 size_of(const std::vector<GridPtr> &parts) { return size_of(union_of(parts)); }

// The grid's values, one for each element of a table over these variables.
std::vector<u64> spread(const Grid &grid, const Variables &variables, std::size_t size) {
    std::vector<u64> values(size);
    std::vector<std::size_t> steps(variables.size());  // in the grid, for one step of each variable
    std::size_t stride = 1, mine = grid.variables.size();
    for (std::size_t axis = variables.size(); axis--;)
        if (mine && grid.variables[mine - 1] == variables[axis]) {
            steps[axis] = stride;
            stride *= grid.variables[--mine]->count;
        }
    std::vector<unsigned> at(variables.size());
    std::size_t from = 0;
    for (std::size_t to = 0; to < size; ++to) {
        values[to] = grid.values[from];
        for (std::size_t axis = variables.size(); axis--;) {
            from += steps[axis];
            if (++at[axis] < variables[axis]->count) break;
            from -= steps[axis] * variables[axis]->count;
            at[axis] = 0;
        }
    }
    return values;
}

using Choices = std::unordered_map<u64, std::vector<u64>>;  // by the variable's number

// Which of its values the variable has, for each element of a table over variables that it comes of, or is one of.
const std::vector<u64> &choices(const VariablePtr &variable, const Variables &basis, std::size_t size, Choices &known) {
    std::vector<VariablePtr> waiting{variable};
    while (!waiting.empty()) {
        VariablePtr next = waiting.back();
        std::size_t before = waiting.size();
        bool is_axis = std::find(basis.begin(), basis.end(), next) != basis.end();
        for (const VariablePtr &part : is_axis ? Variables() : next->made_of)
            if (!known.count(part->number)) waiting.push_back(part);
        if (waiting.size() > before) continue;
        waiting.pop_back();
        if (known.count(next->number)) continue;
        std::vector<u64> found(size);
        if (is_axis) {
            for (unsigned value = 0; value < next->count; ++value) found[value] = value;
            found.resize(next->count);
            found = spread(Grid{{next}, std::move(found)}, basis, size);
        } else {
            for (const VariablePtr &part : next->made_of) {
                const std::vector<u64> &theirs = known.at(part->number);
                for (std::size_t i = 0; i < size; ++i) found[i] = found[i] * part->count + theirs[i];
            }
            for (u64 &element : found) element = next->choice[element];
        }
        known[next->number] = std::move(found);
    }
    return known.at(variable->number);
}

// None if the table's values are not few. A table of slots finds a value's place: a map of the library is slower here,
// and most of the time that tables take goes by here.
std::optional<Partition> partition(const std::vector<u64> &table) {
    constexpr std::size_t BITS = 10, SLOTS = 1 << BITS;
    static_assert(SLOTS >= 4 * MOST_VALUES, "few values share a slot");
    if (table.size() < FEWEST) return std::nullopt;
    std::size_t most = std::min({MOST_VALUES, table.size() / 2, MOST_JOINED / table.size()});
    Partition found;
    found.choice.reserve(table.size());
    std::array<u16, SLOTS> places{};  // of a value, counted from 1
    for (u64 value : table) {
        std::size_t slot = std::size_t(value * 0x9E3779B97F4A7C15u >> (64 - BITS));
        while (places[slot] && found.values[places[slot] - 1u] != value) slot = (slot + 1) % SLOTS;
        if (!places[slot]) {
            if (found.values.size() == most) return std::nullopt;
            found.values.push_back(value);
            places[slot] = u16(found.values.size());
        }
        found.choice.push_back(u8(places[slot] - 1));
    }
    return found;
}

}  // namespace

Variable::Variable(int index, unsigned count)
    : index(index), count(count), number(++last_variable), rank(index, 0, 0) {}

Variable::Variable(Variables parts, unsigned count, std::vector<u8> choice)
    : index(-1), count(count), made_of(std::move(parts)), choice(std::move(choice)), number(++last_variable) {
    auto [last, depth, _] = made_of.back()->rank;
    rank = {last, depth + 1, number};
}

Variable::~Variable() {  // chains of them are long
    Variables dying = std::move(made_of);
    while (!dying.empty()) {
        VariablePtr last = std::move(dying.back());
        dying.pop_back();
        if (last.use_count() > 1) continue;
        for (VariablePtr &part : last->made_of) dying.push_back(std::move(part));
        last->made_of.clear();
    }
}

Variables union_of(const Variables &a, const Variables &b) {
    Variables both;
    both.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both), ranks_below);
    return both;
}

GridPtr Grids::of(Id expr) {
    if (size_ > KEPT) forget();
    std::vector<Id> stack{expr};
    while (!stack.empty()) {
        Id id = stack.back();
        if (known_.count(id)) {
            stack.pop_back();
            continue;
        }
        const Node &node = score::node(id);
        effort_.spend(NODE_OVERHEAD);
        std::size_t before = stack.size();
        bool has_none = node.width > WIDEST_WORD || node.kind >= Kind::FADD;
        for (unsigned i = 0; i < node.arity && !has_none; ++i)
            if (!known_.count(node.args[i])) stack.push_back(node.args[i]);
        if (stack.size() > before) continue;
        GridPtr grid = has_none ? nullptr : made(id);
        Known &known = known_[id];
        known.grid = std::move(grid);
        count(known, known.grid ? known.grid->values.size() : 0);
        arena().mourn(id, this);
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

GridPtr Grids::made(Id id) {
    const Node &node = score::node(id);
    if (node.kind == Kind::CONST) return std::make_shared<Grid>(Grid{{}, {u64(node.value)}});
    if (node.kind == Kind::BYTE) {
        std::vector<u64> values(256);
        for (unsigned v = 0; v < 256; ++v) values[v] = v;
        return std::make_shared<Grid>(Grid{{byte(u32(node.value))}, std::move(values)});
    }
    std::vector<GridPtr> parts;
    for (unsigned i = 0; i < node.arity; ++i) {
        parts.push_back(known_.at(node.args[i]).grid);
        if (!parts.back()) return nullptr;
    }
    for (const GridPtr &part : parts) effort_.spend(NODE_OVERHEAD * part->variables.size());
    parts = in_few_values(node, parts);
    if (size_of(parts) > LARGEST) return nullptr;
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
    if (size_of(reduced) > at_ease_)
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
    if (size > LARGEST || basis == grid.variables) return nullptr;
    Choices known;
    std::vector<u64> places(std::size_t(size), 0);
    for (const VariablePtr &variable : grid.variables) {
        const std::vector<u64> &choice = choices(variable, basis, std::size_t(size), known);
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = places[i] * variable->count + choice[i];
    }
    effort_.spend((2 * known.size() + 1) * u64(size));
    for (u64 &place : places) place = grid.values[place];
    return std::make_shared<Grid>(Grid{std::move(basis), std::move(places)});
}

// These values as those of an inner variable, if they are few; else the same grid.
GridPtr Grids::reduced(const GridPtr &grid) {
    GridPtr whole = grid;
    effort_.spend(8 * grid->values.size());
    std::optional<Partition> found = partition(grid->values);
    if (!found) {
        whole = possible(*grid);
        if (!whole) return grid;
        effort_.spend(8 * whole->values.size());
        found = partition(whole->values);
        if (!found) return grid;
    }
    Key key;
    for (const VariablePtr &variable : whole->variables) key.first.push_back(variable->number);
    key.second = std::move(found->choice);
    if (inner_.size() > inner_limit_) {
        for (auto each = inner_.begin(); each != inner_.end();)
            each = each->second.expired() ? inner_.erase(each) : std::next(each);
        inner_limit_ = 1024 + 2 * inner_.size();
    }
    std::weak_ptr<const Variable> &known = inner_[key];
    VariablePtr variable = known.lock();
    if (!variable) {
        variable = std::make_shared<const Variable>(whole->variables, unsigned(found->values.size()), key.second);
        known = variable;
    }
    return std::make_shared<Grid>(Grid{{variable}, std::move(found->values)});
}

const VariablePtr &Grids::byte(u32 index) {
    VariablePtr &found = bytes_[index];
    if (!found) found = std::make_shared<const Variable>(int(index), 256);
    return found;
}

}  // namespace score
