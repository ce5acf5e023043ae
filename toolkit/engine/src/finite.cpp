#include "finite.hpp"

#include <algorithm>
#include <numeric>

namespace score {

namespace {

constexpr std::size_t MOST = 1 << 16;  // rows of a join
constexpr u64 CHEAPEST_STEPS = 1 << 23;  // of a question, in the cheapest order
constexpr u64 EARNED = 1 << 22;          // more of them, by an answer
constexpr u64 MOST_EARNED = 1 << 28;
constexpr u64 OVERHEAD_STEPS = 32;     // of a variable or a relation, however small it is

bool ranks_below(const VariablePtr &a, const VariablePtr &b) { return a->rank < b->rank; }

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

// Every element of an inner variable's table, and which of the values it has. Column by column: these tables are large.
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
    return std::make_shared<Relation>(std::move(variables), std::move(cells), rows);
}

// The constraints that are left, and on which variables they are.
class Network {
  public:
    Network(const Variables &variables, Order order, Effort &effort)
        : variables_(variables), on_(variables.size()), is_weighed_(order == Order::CHEAPEST), effort_(effort) {
        for (std::size_t at = 0; at < variables.size(); ++at) {
            place_[variables[at]->number] = at;
            weights_.push_back(0);
            order_.emplace(0, at);
        }
    }

    void add(const RelationPtr &relation) {
        for (const VariablePtr &variable : relation->variables) {
            std::size_t at = place_.at(variable->number);
            on_[at].push_back(relation);
            changed_.insert(at);
        }
    }

    // The variable that is eliminated next; from here on it is none of the network's.
    const VariablePtr &next() {
        for (std::size_t at : changed_) weigh(at);
        changed_.clear();
        std::size_t first = order_.begin()->second;
        order_.erase(order_.begin());
        effort_.spend(OVERHEAD_STEPS);
        return variables_[first];
    }

    // All that are on this variable, which are no more; and those that say nothing of other variables than these do:
    // with them the join is smaller.
    std::vector<RelationPtr> take(const VariablePtr &variable) {
        std::vector<RelationPtr> taken = std::move(on_[place_.at(variable->number)]);
        Variables all = variables_of(taken);
        for (const VariablePtr &other : all) {
            if (other == variable) continue;
            std::size_t at = place_.at(other->number);
            auto is_taken = [&](const RelationPtr &relation) { return is_on(*relation, variable); };
            on_[at].erase(std::remove_if(on_[at].begin(), on_[at].end(), is_taken), on_[at].end());
            changed_.insert(at);
            for (const RelationPtr &relation : on_[at])
                if (relation->variables[0] == other && is_among(relation->variables, all)) taken.push_back(relation);
        }
        return taken;
    }

  private:
    // By how many combinations of values the constraints on it are; or by the input's order, where that goes first
    // which is on one constraint beside what is on nothing else: without it no constraint has more rows.
    void weigh(std::size_t at) {
        double weight = 1;
        if (is_weighed_) {
            for (const VariablePtr &variable : variables_of(on_[at])) weight *= variable->count;
        } else {
            auto binds = [](const RelationPtr &relation) { return relation->variables.size() > 1; };
            effort_.spend(on_[at].size());
            bool is_last = std::count_if(on_[at].begin(), on_[at].end(), binds) <= 1;
            weight = 2.0 * std::get<0>(variables_[at]->rank) + !is_last;
        }
        order_.erase({weights_[at], at});
        order_.emplace(weights_[at] = weight, at);
    }

    Variables variables_of(const std::vector<RelationPtr> &relations) {
        Variables all;
        for (const RelationPtr &relation : relations) {
            effort_.spend(relation->variables.size());
            all.insert(all.end(), relation->variables.begin(), relation->variables.end());
        }
        std::sort(all.begin(), all.end(), ranks_below);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    bool is_on(const Relation &relation, const VariablePtr &variable) {
        effort_.spend(relation.variables.size());
        return std::find(relation.variables.begin(), relation.variables.end(), variable) != relation.variables.end();
    }

    bool is_among(const Variables &some, const Variables &all) {
        effort_.spend(some.size() + all.size());
        return std::includes(all.begin(), all.end(), some.begin(), some.end(), ranks_below);
    }

    const Variables &variables_;
    std::unordered_map<u64, std::size_t> place_;  // of a variable, by its number
    std::vector<std::vector<RelationPtr>> on_;    // each variable
    bool is_weighed_;
    std::vector<double> weights_;
    std::set<std::pair<double, std::size_t>> order_;
    std::set<std::size_t> changed_;  // whose weight is another now
    Effort &effort_;
};

}  // namespace

Decided Finite::solve(Id target, const std::vector<Id> &several, const std::vector<std::pair<u32, ByteSet>> &sets,
                      const Input &data) {
    room_.tidy();
    effort_.begin();
    try {
        std::vector<RelationPtr> conditions{condition(target)};
        for (std::size_t i = 0; conditions.back() && i < several.size(); ++i)
            conditions.push_back(condition(several[i]));
        if (!conditions.back()) return {Decided::TOO_LARGE, {}};
        Sets of_bytes(sets.begin(), sets.end());
        try {
            return decide(conditions, of_bytes, data, Order::INPUT);
        } catch (const TooLarge &) {
            if (earned_ < CHEAPEST_STEPS) throw;
        }
        return in_cheapest_order(conditions, of_bytes, data);
    } catch (const TooLarge &) {
        return {Decided::TOO_LARGE, {}};
    } catch (const GaveUp &) {
        return {Decided::GAVE_UP, {}};
    }
}

Decided Finite::in_cheapest_order(const std::vector<RelationPtr> &conditions, const Sets &sets, const Input &data) {
    effort_.begin(CHEAPEST_STEPS);
    try {
        Decided found = decide(conditions, sets, data, Order::CHEAPEST);
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
    u64 name = node(condition).uid;
    if (RelationPtr known = conditions_.find(name)) return known;
    GridPtr grid = grids_.of(condition);
    if (!grid) return nullptr;
    effort_.spend(grid->values.size() * (1 + grid->variables.size()));
    return conditions_.add(name, where(grid->variables, grid->values));
}

Decided Finite::decide(const std::vector<RelationPtr> &conditions, const Sets &sets, const Input &data, Order order) {
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
        now[variable->number] = variable->choice[element];
    }
    std::unordered_map<u64, u8> chosen;  // by the variable's number
    Decided found{Decided::SAT, {}};
    while (!steps.empty()) {
        const auto [variable, eliminated] = std::move(steps.back());
        const Eliminated &step = *eliminated;
        steps.pop_back();
        effort_.spend(step.others.size());
        u64 key = 0;
        for (const VariablePtr &other : step.others) key = key * other->count + chosen.at(other->number);
        auto [low, high] = std::equal_range(step.keys.begin(), step.keys.end(), key);
        auto first = step.own.begin() + (low - step.keys.begin()), last = step.own.begin() + (high - step.keys.begin());
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
        made->keys.resize(variable->count), made->own.resize(variable->count);
        std::iota(made->own.begin(), made->own.end(), u8(0));
        return made;
    }
    RelationPtr together = joined(relations, MOST, effort_);
    std::size_t width = together->variables.size();
    effort_.spend(OVERHEAD_STEPS + together->rows * (3 * width + bits_of(together->rows)));
    std::size_t mine = 0;
    std::vector<std::size_t> columns;  // of the others
    for (std::size_t column = 0; column < width; ++column) {
        if (together->variables[column] == variable) {
            mine = column;
            continue;
        }
        columns.push_back(column);
        made->others.push_back(together->variables[column]);
    }
    std::vector<u64> keys = coded(*together, columns);
    std::vector<u32> order(keys.size());
    std::iota(order.begin(), order.end(), u32(0));
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return keys[a] < keys[b]; });
    std::vector<u8> cells;
    std::size_t rows = 0;
    for (u32 at : order) {
        const u8 *row = together->row(at);
        if (made->keys.empty() || made->keys.back() != keys[at]) {
            cells.insert(cells.end(), row, row + mine);
            cells.insert(cells.end(), row + mine + 1, row + width);
            ++rows;
        }
        made->keys.push_back(keys[at]), made->own.push_back(row[mine]);
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
    std::pair key(std::move(numbers), cells);
    if (RelationPtr known = left_.find(key)) return known;
    return left_.add(std::move(key), std::make_shared<Relation>(std::move(variables), std::move(cells), rows));
}

}  // namespace score
