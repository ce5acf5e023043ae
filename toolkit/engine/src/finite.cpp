#include "finite.hpp"

#include <algorithm>
#include <numeric>

namespace score {

namespace {

constexpr std::size_t MOST = 1 << 16;   // rows of a join
constexpr u64 OVERHEAD_STEPS = 32;      // of a variable or a relation, however small it is
constexpr std::size_t OVERHEAD = 64;    // cells that an empty relation takes as much memory as

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
    std::sort(found.begin(), found.end(), [](const VariablePtr &a, const VariablePtr &b) { return a->rank < b->rank; });
    return found;
}

// The rows of a table's elements that satisfy `take`, which gets an element's number and adds what follows its place.
template <class Take> RelationPtr relation_of(Variables variables, const Variables &axes, std::size_t size, Take take) {
    std::vector<u8> cells, at(axes.size());
    std::size_t rows = 0;
    for (std::size_t element = 0; element < size; ++element) {
        if (take.wants(element)) {
            cells.insert(cells.end(), at.begin(), at.end());
            take.add(element, cells);
            ++rows;
        }
        for (std::size_t axis = axes.size(); axis--;) {
            if (unsigned(at[axis]) + 1 < axes[axis]->count) {
                ++at[axis];
                break;
            }
            at[axis] = 0;
        }
    }
    return std::make_shared<Relation>(std::move(variables), std::move(cells), rows);
}

struct Where {  // an element is not 0
    const std::vector<u64> &values;
    bool wants(std::size_t element) const { return values[element]; }
    void add(std::size_t, std::vector<u8> &) const {}
};
struct Each {  // every element, and its value
    const std::vector<u8> &choice;
    bool wants(std::size_t) const { return true; }
    void add(std::size_t element, std::vector<u8> &cells) const { cells.push_back(choice[element]); }
};

}  // namespace

Decided Finite::solve(Id target, const std::vector<Id> &several, const std::vector<std::pair<u32, ByteSet>> &sets,
                      const Input &data) {
    if (kept_ > most_) forget();
    effort_.begin();
    try {
        std::vector<RelationPtr> conditions{condition(target)};
        for (std::size_t i = 0; conditions.back() && i < several.size(); ++i)
            conditions.push_back(condition(several[i]));
        if (!conditions.back()) return {Decided::TOO_LARGE, {}};
        return decide(conditions, Sets(sets.begin(), sets.end()), data);
    } catch (const TooLarge &) {
        return {Decided::TOO_LARGE, {}};
    } catch (const GaveUp &) {
        return {Decided::GAVE_UP, {}};
    }
}

void Finite::forget() {
    made_of_.clear(), sets_.clear(), conditions_.clear(), joins_.clear(), left_.clear();
    kept_ = 0;
}

RelationPtr Finite::keep(RelationPtr relation) {
    kept_ += relation->cells.size() + OVERHEAD;
    return relation;
}

RelationPtr Finite::condition(Id condition) {
    effort_.spend(OVERHEAD_STEPS);
    u64 name = node(condition).uid;
    if (auto known = conditions_.find(name); known != conditions_.end()) return known->second;
    GridPtr grid = grids_.of(condition);
    if (!grid) return nullptr;
    effort_.spend(grid->values.size() * (1 + grid->variables.size()));
    return conditions_[name] =
               keep(relation_of(grid->variables, grid->variables, grid->values.size(), Where{grid->values}));
}

Decided Finite::decide(const std::vector<RelationPtr> &conditions, const Sets &sets, const Input &data) {
    Variables variables = all_variables(conditions, effort_);
    std::vector<RelationPtr> relations = conditions;
    effort_.spend(OVERHEAD_STEPS * (relations.size() + variables.size() + sets.size()));
    for (const VariablePtr &variable : variables) {
        if (!variable->made_of.empty())
            relations.push_back(definition(variable));
        else if (auto values = sets.find(u32(variable->index)); values != sets.end())
            relations.push_back(set(variable, values->second));
    }
    std::unordered_map<u64, std::vector<RelationPtr>> buckets;  // by the first variable that each is on
    for (const RelationPtr &relation : relations) {
        if (!relation->rows) return {Decided::UNSAT, {}};
        if (!relation->variables.empty()) buckets[relation->variables[0]->number].push_back(relation);
    }
    std::vector<EliminatedPtr> steps;
    for (const VariablePtr &variable : variables) {
        const std::vector<RelationPtr> &mine = buckets[variable->number];
        effort_.spend(OVERHEAD_STEPS * (1 + mine.size()));
        std::set<u64> numbers;
        for (const RelationPtr &relation : mine) numbers.insert(relation->number);
        std::vector<u64> key{variable->number};
        key.insert(key.end(), numbers.begin(), numbers.end());
        auto known = joins_.find(key);
        if (known == joins_.end()) {
            known = joins_.emplace(std::move(key), eliminated(variable, mine)).first;
            kept_ += 2 * known->second->own.size() + OVERHEAD;
        }
        steps.push_back(known->second);
        if (const RelationPtr &left = steps.back()->left) {
            if (left->variables.empty()) return {Decided::UNSAT, {}};
            buckets[left->variables[0]->number].push_back(left);
        }
    }
    std::unordered_map<u64, u8> now, chosen;  // by the variable's number: its value in the run, and in the answer
    for (const VariablePtr &variable : variables) {
        if (variable->made_of.empty()) {
            now[variable->number] = data[u128(variable->index)];
            continue;
        }
        std::size_t element = 0;
        for (const VariablePtr &part : variable->made_of) element = element * part->count + now[part->number];
        now[variable->number] = variable->choice[element];
    }
    Decided found{Decided::SAT, {}};
    for (std::size_t i = variables.size(); i--;) {
        const Eliminated &step = *steps[i];
        effort_.spend(step.others.size());
        u64 key = 0;
        for (const VariablePtr &other : step.others) key = key * other->count + chosen.at(other->number);
        auto [low, high] = std::equal_range(step.keys.begin(), step.keys.end(), key);
        auto first = step.own.begin() + (low - step.keys.begin()), last = step.own.begin() + (high - step.keys.begin());
        u8 mine = now[variables[i]->number];
        if (std::find(first, last, mine) == last) mine = *first;
        chosen[variables[i]->number] = mine;
        if (variables[i]->index >= 0) found.values.emplace_back(u32(variables[i]->index), mine);
    }
    return found;
}

RelationPtr Finite::definition(const VariablePtr &variable) {
    RelationPtr &found = made_of_[variable->number];
    if (!found) {
        effort_.spend(variable->choice.size() * (2 + variable->made_of.size()));
        Variables variables = variable->made_of;
        variables.push_back(variable);
        const Variables &axes = variable->made_of;
        found = keep(relation_of(std::move(variables), axes, variable->choice.size(), Each{variable->choice}));
    }
    return found;
}

RelationPtr Finite::set(const VariablePtr &variable, const ByteSet &values) {
    RelationPtr &found = sets_[{variable->number, values}];
    if (!found) {
        std::vector<u8> cells;
        for (unsigned v = 0; v < 256; ++v)
            if (values[v / 64] >> v % 64 & 1) cells.push_back(u8(v));
        std::size_t rows = cells.size();
        found = keep(std::make_shared<Relation>(Variables{variable}, std::move(cells), rows));
    }
    return found;
}

// What all constraints on a variable that is the first of each say together.
Finite::EliminatedPtr Finite::eliminated(const VariablePtr &variable, const std::vector<RelationPtr> &relations) {
    auto made = std::make_shared<Eliminated>();
    if (relations.empty()) {
        made->keys.resize(variable->count), made->own.resize(variable->count);
        std::iota(made->own.begin(), made->own.end(), u8(0));
        return made;
    }
    RelationPtr together = joined(relations, MOST, effort_);
    std::size_t width = together->variables.size();
    effort_.spend(OVERHEAD_STEPS + together->rows * (3 * width + bits_of(together->rows)));
    made->others.assign(together->variables.begin() + 1, together->variables.end());
    std::vector<std::size_t> columns(width - 1);
    std::iota(columns.begin(), columns.end(), std::size_t(1));
    std::vector<u64> keys = coded(*together, columns);
    std::vector<u32> order(keys.size());
    std::iota(order.begin(), order.end(), u32(0));
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return keys[a] < keys[b]; });
    std::vector<u8> cells;
    std::size_t rows = 0;
    for (u32 at : order) {
        const u8 *row = together->row(at);
        if (made->keys.empty() || made->keys.back() != keys[at]) cells.insert(cells.end(), row + 1, row + width), ++rows;
        made->keys.push_back(keys[at]), made->own.push_back(row[0]);
    }
    if (made->keys.empty())
        made->left = std::make_shared<Relation>(Variables(), std::vector<u8>(), 0);
    else
        made->left = what_is_left(made->others, std::move(cells), rows);
    return made;
}

// Equal constraints are one, so that joins are found again.
RelationPtr Finite::what_is_left(Variables variables, std::vector<u8> cells, std::size_t rows) {
    u128 every = 1;
    std::vector<u64> numbers;
    for (const VariablePtr &variable : variables) {
        every = every >> 100 ? every : every * variable->count;
        numbers.push_back(variable->number);
    }
    if (rows == every) return nullptr;
    RelationPtr &found = left_[{std::move(numbers), cells}];
    if (!found) found = keep(std::make_shared<Relation>(std::move(variables), std::move(cells), rows));
    return found;
}

}  // namespace score
