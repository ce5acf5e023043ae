#include "table.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace score {

namespace {

constexpr std::size_t MOST_VALUES = 256;  // of an inner variable
constexpr std::size_t FEWEST = 16;        // elements of a table that is worth one

u64 last_variable = 0;

int last_byte(const Variable &variable) { return std::get<0>(variable.rank); }

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
            for (u64 &element : found) element = next->can_be(element) ? next->choice[element] : 0;
        }
        known[next->number] = std::move(found);
    }
    return known.at(variable->number);
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

bool ranks_below(const VariablePtr &a, const VariablePtr &b) { return a->rank < b->rank; }

bool is_related(const Variable &variable, const Variables &all) {
    const Variables &parts = variable.made_of;
    return !parts.empty() && std::any_of(all.begin(), all.end(), [&](const VariablePtr &other) {
        bool is_part = std::find(parts.begin(), parts.end(), other) != parts.end();
        return other->rank < variable.rank && (is_part || last_byte(*other) == last_byte(variable));
    });
}

bool come_of(const Variables &variables, const Variables &basis) {
    Variables waiting = variables;
    std::set<u64> known;
    while (!waiting.empty()) {
        VariablePtr next = std::move(waiting.back());
        waiting.pop_back();
        if (std::find(basis.begin(), basis.end(), next) != basis.end() || !known.insert(next->number).second) continue;
        if (next->made_of.empty()) return false;
        waiting.insert(waiting.end(), next->made_of.begin(), next->made_of.end());
    }
    return true;
}

u128 size_of(const Variables &variables) {
    u128 size = 1;
    for (const VariablePtr &variable : variables)
        size = size >> 100 ? size : size * variable->count;  // beyond that it does not matter
    return size;
}

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

std::vector<u64> places_in(const Grid &grid, const Variables &basis, std::size_t size, Choices &known) {
    std::vector<u64> places(size, 0);
    for (const VariablePtr &variable : grid.variables) {
        const std::vector<u64> &choice = choices(variable, basis, size, known);
        for (std::size_t i = 0; i < size; ++i) places[i] = places[i] * variable->count + choice[i];
    }
    return places;
}

// A table of slots finds a value's place: a map of the library is slower here, and most of the time that tables take
// goes by here.
std::optional<Partition> partition(const std::vector<u64> &table, std::size_t most) {
    constexpr std::size_t BITS = 10, SLOTS = 1 << BITS;
    static_assert(SLOTS >= 4 * MOST_VALUES, "few values share a slot");
    if (table.size() < FEWEST) return std::nullopt;
    most = std::min({most, MOST_VALUES, table.size() / 2});
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

}  // namespace score
