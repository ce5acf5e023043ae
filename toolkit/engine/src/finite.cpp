#include "finite.hpp"

#include <algorithm>
#include <numeric>

namespace score {

namespace {

constexpr std::size_t MOST = 1 << 16;  // rows of a join
constexpr u64 CHEAPEST_STEPS = 1 << 23;  // of a question, in the cheapest order
constexpr u64 EARNED = 1 << 22;          // more of them, by an answer
constexpr u64 MOST_EARNED = 1 << 28;
constexpr i64 EACH_ALLOWED = 1 << 14;    // steps of a question, to look in vain for what its conditions exclude
constexpr i64 MOST_ALLOWED = 1 << 26;
constexpr u64 OVERHEAD_STEPS = 32;     // of a variable or a relation, however small it is

// Also those that others are made of.
Variables all_variables(const std::vector<RelationPtr> &relations, Effort &effort) {
    Variables found, waiting;
    std::set<u64> known;
    for (const RelationPtr &relation : relations) {
        effort.spend(relation->variables.size());
        waiting.insert(waiting.end(), relation->variables.begin(), relation->variables.end());
    }
    while (!waiting.empty()) {
        effort.spend(OVERHEAD_STEPS);
        VariablePtr next = std::move(waiting.back());
        waiting.pop_back();
        if (!known.insert(next->number).second) continue;
        waiting.insert(waiting.end(), next->made_of.begin(), next->made_of.end());
        found.push_back(std::move(next));
    }
    std::sort(found.begin(), found.end(), ranks_below);
    return found;
}

// The elements of a table that are not 0, a row each.
RelationPtr where(const Variables &axes, const std::vector<u64> &values) {
    std::size_t width = axes.size(), rows = values.size() - std::size_t(std::count(values.begin(), values.end(), 0u));
    std::vector<u8> cells(rows * width);
    u8 *row = cells.data();
    for (std::size_t element = 0; element < values.size(); ++element) {
        if (!values[element]) continue;
        std::size_t rest = element;
        for (std::size_t axis = width; axis--; rest /= axes[axis]->count) row[axis] = u8(rest % axes[axis]->count);
        row += width;
    }
    return std::make_shared<Relation>(axes, std::move(cells), rows);
}

// Every element of an inner variable's table that can be, and which of the values it has. Column by column: these
// tables are large.
RelationPtr each(const VariablePtr &variable) {
    Variables variables = variable->made_of;
    variables.push_back(variable);
    std::size_t rows = variable->choice.size(), width = variables.size(), stride = rows;
    std::vector<u8> cells(rows * width);
    for (std::size_t row = 0; row < rows; ++row) cells[row * width + width - 1] = variable->choice[row];
    for (std::size_t axis = 0; axis + 1 < width; ++axis) {
        unsigned count = variables[axis]->count;
        stride /= count;
        u8 *to = cells.data() + axis;
        for (u8 *end = to + rows * width; to < end;)
            for (unsigned value = 0; value < count; ++value)
                for (std::size_t i = 0; i < stride; ++i, to += width) *to = u8(value);
    }
    std::size_t kept = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        if (!variable->can_be(row)) continue;
        if (kept < row) std::copy_n(&cells[row * width], width, &cells[kept * width]);
        ++kept;
    }
    cells.resize(kept * width);
    rows = kept;
    return std::make_shared<Relation>(std::move(variables), std::move(cells), rows);
}

// Which row these values are, of rows that rise. It has to be there.
std::size_t row_of(const Relation &relation, const std::vector<u8> &values) {
    std::size_t low = 0, high = relation.rows;
    while (high - low > 1) {
        std::size_t middle = (low + high) / 2;
        const u8 *row = relation.row(middle);
        bool is_above = std::lexicographical_compare(values.begin(), values.end(), row, row + values.size());
        (is_above ? high : low) = middle;
    }
    return low;
}

}  // namespace

Decided Finite::solve(Id target, const std::vector<Id> &several, const std::vector<std::pair<u32, ByteSet>> &sets,
                      const Input &data) {
    room_.tidy();
    effort_.begin();
    try {
        std::vector<RelationPtr> conditions = all_of(several, target);
        Sets of_bytes(sets.begin(), sets.end());
        try {
            return decide(conditions, of_bytes, data, Elimination::BY_INPUT);
        } catch (const TooLarge &) {
            if (earned_ < CHEAPEST_STEPS) throw;
        }
        return in_cheapest_order(conditions, of_bytes, data);
    } catch (const TooLarge &) {
        return {Decided::LEFT, {}};
    } catch (const GaveUp &) {
        return {Decided::GAVE_UP, {}};
    }
}

// What the conditions say. To look for values that they exclude has to be earned, as in most code none is excluded by
// them. May throw TooLarge and GaveUp.
std::vector<RelationPtr> Finite::all_of(const std::vector<Id> &several, Id target) {
    allowance_ = std::min(allowance_ + EACH_ALLOWED, MOST_ALLOWED);
    bool is_allowed = allowance_ > 0;
    grids_.assume(several, is_allowed);
    std::vector<Id> all = several;
    all.push_back(target);
    std::vector<RelationPtr> found;
    u64 before = 0;
    try {
        for (Id each : all) {
            before = effort_.spent();
            found.push_back(condition(each));
        }
    } catch (...) {
        if (is_allowed) allowance_ -= i64(effort_.spent() - before);
        throw;
    }
    return found;
}

Decided Finite::in_cheapest_order(const std::vector<RelationPtr> &conditions, const Sets &sets, const Input &data) {
    effort_.begin(CHEAPEST_STEPS);
    try {
        Decided found = decide(conditions, sets, data, Elimination::CHEAPEST);
        earned_ = std::min(earned_ + EARNED, MOST_EARNED);
        return found;
    } catch (const GaveUp &) {
        earned_ -= CHEAPEST_STEPS;
        throw TooLarge();
    } catch (const TooLarge &) {
        earned_ -= effort_.spent();
        throw;
    }
}

RelationPtr Finite::condition(Id condition) {
    effort_.spend(OVERHEAD_STEPS);
    GridPtr grid = grids_.of(condition);
    if (!grid) throw TooLarge();
    std::vector<u64> name{node(condition).uid};
    const std::vector<u64> &under = grids_.under(condition);
    if (!under.empty()) allowance_ = MOST_ALLOWED;
    name.insert(name.end(), under.begin(), under.end());
    if (RelationPtr known = conditions_.find(name)) return known;
    effort_.spend(grid->values.size() * (1 + grid->variables.size()));
    return conditions_.add(std::move(name), where(grid->variables, grid->values));
}

Decided Finite::decide(const std::vector<RelationPtr> &conditions, const Sets &sets, const Input &data,
                       Elimination order) {
    Variables variables = all_variables(conditions, effort_);
    std::vector<RelationPtr> relations = conditions;
    effort_.spend(OVERHEAD_STEPS * (relations.size() + variables.size() + sets.size()));
    for (const VariablePtr &variable : variables) {
        if (!variable->made_of.empty())
            relations.push_back(definition(variable));
        else if (auto values = sets.find(u32(variable->index)); values != sets.end())
            relations.push_back(set(variable, values->second));
    }
    MergedBytes bytes = merge(variables, relations);
    Network network(variables, order, effort_);
    for (const RelationPtr &relation : relations) {
        if (!relation->rows) return {Decided::UNSAT, {}};
        network.add(relation);
    }
    std::vector<std::pair<VariablePtr, EliminatedPtr>> steps;
    while (steps.size() < variables.size()) {
        const VariablePtr &variable = network.next();
        std::vector<RelationPtr> mine = network.take(variable);
        effort_.spend(OVERHEAD_STEPS * (1 + mine.size()));
        std::set<u64> numbers;
        for (const RelationPtr &relation : mine) numbers.insert(relation->number);
        std::vector<u64> key{variable->number};
        key.insert(key.end(), numbers.begin(), numbers.end());
        EliminatedPtr known = joins_.find(key);
        if (!known) known = joins_.add(std::move(key), eliminated(variable, mine));
        steps.emplace_back(variable, known);
        if (const RelationPtr &left = known->left) {
            if (left->variables.empty()) return {Decided::UNSAT, {}};
            network.add(left);
        }
    }
    std::unordered_map<u64, u8> now;  // by the variable's number: its value in the run
    for (const VariablePtr &variable : variables) {
        if (variable->made_of.empty()) {
            now[variable->number] = data[u128(variable->index)];
            continue;
        }
        std::size_t element = 0;
        for (const VariablePtr &part : variable->made_of) element = element * part->count + now[part->number];
        // Where conditions exclude what the run has, any of the values will do.
        now[variable->number] = variable->can_be(element) ? variable->choice[element] : u8(0);
    }
    std::unordered_map<u64, u8> chosen;  // by the variable's number
    Decided found{Decided::SAT, {}};
    while (!steps.empty()) {
        const auto [variable, eliminated] = std::move(steps.back());
        const Eliminated &step = *eliminated;
        steps.pop_back();
        effort_.spend(step.others->variables.size());
        const Variables &others = step.others->variables;
        std::vector<u8> wanted;
        for (const VariablePtr &other : others) wanted.push_back(chosen.at(other->number));
        std::size_t row = row_of(*step.others, wanted);
        auto first = step.own.begin() + step.begins[row], last = step.own.begin() + step.begins[row + 1];
        auto merged = bytes.find(variable->number);
        u8 run = now[variable->number], mine = merged == bytes.end() ? run : merged->second->first[run];
        if (std::find(first, last, mine) == last) mine = run = *first;
        chosen[variable->number] = mine;
        if (variable->index >= 0) found.values.emplace_back(u32(variable->index), run);
    }
    return found;
}

// Puts the constraints on each input byte with its first values in the place of those with all.
Finite::MergedBytes Finite::merge(const Variables &variables, std::vector<RelationPtr> &relations) {
    std::unordered_map<u64, std::vector<std::size_t>> places;  // of the constraints on a byte
    for (std::size_t at = 0; at < relations.size(); ++at)
        for (const VariablePtr &variable : relations[at]->variables)
            if (variable->index >= 0) places[variable->number].push_back(at);
    MergedBytes found;
    for (const VariablePtr &variable : variables) {
        if (variable->index < 0) continue;
        std::vector<RelationPtr> mine;
        std::vector<u64> key{variable->number};
        for (std::size_t at : places[variable->number]) {
            mine.push_back(relations[at]);
            key.push_back(relations[at]->number);
        }
        effort_.spend(OVERHEAD_STEPS * (1 + mine.size()));
        MergedPtr known = merged_.find(key);
        if (!known) known = merged_.add(std::move(key), merged(variable, mine));
        for (std::size_t i = 0; i < mine.size(); ++i) relations[places[variable->number][i]] = known->relations[i];
        found[variable->number] = std::move(known);
    }
    return found;
}

Finite::MergedPtr Finite::merged(const VariablePtr &byte, const std::vector<RelationPtr> &relations) {
    auto made = std::make_shared<Merged>();
    std::vector<std::vector<u8>> each(byte->count);  // what the constraints say of each value
    for (const RelationPtr &relation : relations) {
        std::pair key(byte->number, relation->number);
        auto known = alike_.find(key);
        if (!known) known = alike_.add(key, std::make_shared<const Alike>(Alike{alike(*relation, byte, effort_)}));
        for (unsigned value = 0; value < byte->count; ++value) each[value].push_back(known->first[value]);
    }
    std::map<std::vector<u8>, u8> first;
    for (const std::vector<u8> &said : each)
        made->first.push_back(first.emplace(said, u8(made->first.size())).first->second);
    effort_.spend(byte->count * (OVERHEAD_STEPS + relations.size()));
    for (const RelationPtr &relation : relations) {
        effort_.spend(relation->cells.size());
        made->relations.push_back(first.size() == byte->count ? relation : of_first(*relation, byte, made->first));
    }
    return made;
}

RelationPtr Finite::definition(const VariablePtr &variable) {
    if (RelationPtr known = made_of_.find(variable->number)) return known;
    effort_.spend(variable->choice.size() * (2 + variable->made_of.size()));
    return made_of_.add(variable->number, each(variable));
}

RelationPtr Finite::set(const VariablePtr &variable, const ByteSet &values) {
    std::pair key(variable->number, values);
    if (RelationPtr known = sets_.find(key)) return known;
    std::vector<u8> cells;
    for (unsigned v = 0; v < 256; ++v)
        if (values[v / 64] >> v % 64 & 1) cells.push_back(u8(v));
    std::size_t rows = cells.size();
    return sets_.add(key, std::make_shared<Relation>(Variables{variable}, std::move(cells), rows));
}

// What all constraints on a variable say together.
Finite::EliminatedPtr Finite::eliminated(const VariablePtr &variable, const std::vector<RelationPtr> &relations) {
    auto made = std::make_shared<Eliminated>();
    if (relations.empty()) {
        made->others = shared({}, {}, 1);
        made->begins = {0, u32(variable->count)};
        made->own.resize(variable->count);
        std::iota(made->own.begin(), made->own.end(), u8(0));
        return made;
    }
    RelationPtr together = joined(relations, MOST, effort_);
    std::size_t width = together->variables.size();
    effort_.spend(OVERHEAD_STEPS + together->rows * (3 * width + bits_of(together->rows)));
    std::size_t mine = 0;
    Variables others;
    std::vector<std::size_t> columns;  // of the others
    for (std::size_t column = 0; column < width; ++column) {
        if (together->variables[column] == variable) {
            mine = column;
            continue;
        }
        columns.push_back(column);
        others.push_back(together->variables[column]);
    }
    std::vector<u64> keys = coded(*together, columns);
    std::vector<u32> order(keys.size());
    std::iota(order.begin(), order.end(), u32(0));
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return keys[a] < keys[b]; });
    std::vector<u8> cells;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const u8 *row = together->row(order[i]);
        if (!i || keys[order[i - 1]] != keys[order[i]]) {
            cells.insert(cells.end(), row, row + mine);
            cells.insert(cells.end(), row + mine + 1, row + width);
            made->begins.push_back(u32(i));
        }
        made->own.push_back(row[mine]);
    }
    std::size_t rows = made->begins.size();
    made->begins.push_back(u32(order.size()));
    made->others = shared(rows ? std::move(others) : Variables(), std::move(cells), rows);
    u128 every = 1;
    for (const VariablePtr &other : made->others->variables) every = every >> 100 ? every : every * other->count;
    if (rows != every) made->left = made->others;
    return made;
}

// Equal constraints are one, so that joins are found again.
RelationPtr Finite::shared(Variables variables, std::vector<u8> cells, std::size_t rows) {
    std::vector<u64> numbers{rows};
    for (const VariablePtr &variable : variables) numbers.push_back(variable->number);
    std::pair key(std::move(numbers), cells);
    if (RelationPtr known = left_.find(key)) return known;
    return left_.add(std::move(key), std::make_shared<Relation>(std::move(variables), std::move(cells), rows));
}

}  // namespace score
