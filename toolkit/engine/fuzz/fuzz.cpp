// Puts random formulas and damaged arguments to the engine, under the sanitizers (tests/property/test_sanitized.py).
// Each formula is evaluated under random inputs in five ways, which must agree: with and without a memo, by its column,
// by its rows, by its grid. What grids decide is compared with random inputs, joins of relations with all combinations.
// Usage: score_fuzz SEED ROUNDS. Prints how many formulas there were and how many were refused; 0 must be left at the
// end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>

#include "build.hpp"
#include "chosen.hpp"
#include "columns.hpp"
#include "digest.hpp"
#include "evaluate.hpp"
#include "finite.hpp"
#include "floats.hpp"
#include "known.hpp"
#include "operate.hpp"
#include "rows.hpp"
#include "select.hpp"

using namespace score;

namespace {

constexpr unsigned INPUT = 80;  // bytes

void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "score_fuzz: %s\n", what);
    std::abort();
}

class Round {
  public:
    explicit Round(u64 seed) : random_(seed), input_(INPUT), has_tables_(seed % 4 == 0) {
        for (u8 &byte : input_) byte = u8(random_());
        for (unsigned i = 0; i < 4; ++i) pool_.push_back(input_byte(below(2) ? i : below(INPUT)));
    }

    void run(unsigned steps, u64 &made, u64 &refused) {
        for (unsigned i = 0; i < steps; ++i) {
            try {
                if (Ref next = step()) pool_.push_back(next), ++made;
            } catch (const std::logic_error &) {  // std::invalid_argument, std::out_of_range, std::length_error
                ++refused;
            }
            if (below(12) == 0) pool_.erase(pool_.begin() + below(pool_.size()));
            if (pool_.empty()) pool_.push_back(input_byte(0));
        }
        for (const Ref &each : pool_) look_at(each);
        if (has_tables_) decide(), join(), join_wide();
        if (has_tables_ && below(4) == 0) walk();
    }

  private:
    u64 below(u64 limit) { return random_() % limit; }
    const Ref &any() { return pool_[below(pool_.size())]; }
    unsigned width() {
        static constexpr unsigned WIDTHS[] = {0, 1, 3, 7, 8, 16, 32, 64, 65, 128, 129, 4'000'000'000};
        return WIDTHS[below(12)];
    }
    u128 number() { return below(3) ? u128(below(260)) : u128(random_()) << 64 | random_(); }
    Kind kind() { return Kind(below(KINDS)); }

    Ref of_width(unsigned wanted) {  // mostly
        const Ref &found = any();
        unsigned have = node(found).width;
        if (wanted < 1 || wanted > WIDEST || below(16) == 0) return found;
        return have < wanted ? zext(found, wanted) : extract(found, 0, wanted);
    }

    Ref step() {
        Ref a = any(), b = below(3) ? of_width(node(a).width) : any();
        switch (below(16)) {
        case 0:
            return constant(number(), width(), below(8) ? nullptr : std::make_shared<std::set<i64>>(std::set<i64>{3}));
        case 1: return input_byte(below(8) ? below(INPUT) : random_());
        case 2: return zext(a, width());
        case 3: return sext(a, width());
        case 4: return extract(a, below(4) ? unsigned(below(node(a).width)) : width(), width());
        case 5: return concat(a, b);
        case 6: return ite(of_width(1), a, b);
        case 7: return member(a, number(), number());
        case 8: return float_binary(kind(), of_width(below(2) ? 32 : 64), b);
        case 9: return float_unary(kind(), of_width(below(2) ? 32 : 64), width(), below(5));
        case 10: return read(a);
        case 11: return within(a, i64(number()));
        case 12: return below(2) ? bit_not(a) : neg(a);
        default: return binary(kind(), a, b);
        }
    }

    Ref read(Id offset) {
        std::vector<u8> content(below(600));
        for (u8 &byte : content) byte = u8(random_());
        Ref element = any();
        Cell cell;
        if (below(2))
            cell = [&](u64 at) {
                if (below(400) == 0) throw std::out_of_range("a callback failed");
                return at % 7 == 0 ? element : Ref();
            };
        unsigned size = 1u << below(5);
        Ref found = select(offset, Content{content.data(), content.size(), content.size()}, size, cell);
        changed(offset, i64(number()), u64(number()));
        if (found && node(found).table)
            follow(found, size, [&](u64, u64 at) { return at & 1 ? std::optional<u64>(at) : std::nullopt; });
        return found;
    }

    void look_at(Id id) {
        const Node &node = score::node(id);
        Input data{input_.data(), input_.size()};
        u128 value = evaluate(id, data);
        require(value <= mask<u128>(node.width), "a value is wider than its formula");
        require(evaluate(id, data, memo_) == value && *memo_.find(id) == value, "a memo changes a value");
        digest(id), cost(id), pattern_uses(id, below(2));
        if (node.width == 32 || node.width == 64) may_be_nan(id);
        if (node.only_byte >= 0) {
            arena().forget_columns();
            const Column &values = column(id);
            unsigned at = input_[unsigned(node.only_byte)];
            require(u64(value) == values.low[at] && (values.high ? (*values.high)[at] : 0) == u64(value >> 64),
                    "a column has another value");
            if (node.width == 1) require((byte_set(id)[at / 64] >> at % 64 & 1) == (value & 1), "a byte set is wrong");
        }
        std::vector<u32> indices = node.deps.indices();
        if (!indices.empty() && indices.size() <= MOST_ROW_BYTES) {
            Row row = 0;
            std::vector<RowsPart> parts;
            std::vector<Row> singles(indices.size());
            std::vector<ByteSet> sets(indices.size(), ByteSet{});
            for (std::size_t k = 0; k < indices.size(); ++k) {
                u8 mine = input_[indices[k]];
                row = row << 8 | mine, singles[k] = mine, sets[k][mine / 64] = u64(1) << mine % 64;
                parts.push_back({&singles[k], 1, {k}});
            }
            require(product(parts) == Rows{row} && all_rows(sets) == Rows{row} && within(&row, 1, sets) == Rows{row},
                    "a row is put together wrongly");
            auto [hits, misses] = split(id, std::vector<int>(indices.begin(), indices.end()), &row, 1);
            require(hits.size() == (value ? 1 : 0) && hits.size() + misses.size() == 1, "rows are split wrongly");
        }
        if (has_tables_) {
            grids_.assume({}, false);
            look_at_grid(id);
        }
        if (!node.floats) {
            chosen_.take(input_.data(), input_.size());
            Ref simple = chosen_.of(id).formula;
            require(evaluate(simple, data) == value, "what is chosen has another value in its own run");
        }
        Ref part = any();
        Ref known = constant(evaluate(part, data), score::node(part).width);
        Ref other = replaced(id, [&](Id each) { return each == part ? Id(known) : 0; }, score::node(part).deps);
        require(evaluate(other, data) == value, "a formula with a known part replaced has another value");
        require(most_values(id, [](Id) { return nullptr; }) >= 1, "a formula has a value");
        limit_of(id);
        if (below(8) == 0) input_[below(INPUT)] = u8(random_()), memo_.clear();
    }

    void look_at_grid(Id id) {
        GridPtr grid = grids_.of(id);
        if (!grid) return;
        std::size_t at = 0;
        for (const VariablePtr &variable : grid->variables) at = at * variable->count + place_of(*variable);
        require(grid->values.at(at) == evaluate(id, Input{input_.data(), input_.size()}), "a grid has another value");
    }

    std::size_t place_of(const Variable &variable) const {  // which of its values it has under the input
        if (variable.made_of.empty()) return input_[std::size_t(variable.index)];
        std::size_t at = 0;
        for (const VariablePtr &part : variable.made_of) at = at * part->count + place_of(*part);
        require(variable.can_be(at), "what is excluded cannot be, and is");
        return variable.choice.at(at);
    }

    // Conditions that hold under the input, and one that need not.
    void decide() {
        std::vector<Ref> held;
        for (const Ref &each : pool_)
            if (node(each).width == 1 && node(each).deps && node(each).only_byte < 0) held.push_back(each);
        Input data{input_.data(), input_.size()};
        for (Ref &each : held)
            if (!evaluate(each, data)) each = bit_not(each);
        for (const Ref &each : held) {
            Ref target = bit_not(each);
            std::vector<Id> several;
            for (const Ref &other : held)
                if (!(other == each) && node(other).deps.meets(node(target).deps) && below(2)) several.push_back(other);
            std::vector<std::pair<u32, ByteSet>> sets;
            for (u32 index : node(target).deps.indices()) {
                if (below(2)) continue;
                sets.emplace_back(index, ByteSet{random_(), random_(), random_(), random_()});
                sets.back().second[input_[index] / 64] |= u64(1) << input_[index] % 64;
            }
            auto satisfies = [&](const std::vector<u8> &bytes) {
                Input given{bytes.data(), bytes.size()};
                for (const auto &[index, values] : sets)
                    if (!(values[bytes[index] / 64] >> bytes[index] % 64 & 1)) return false;
                for (Id other : several)
                    if (!evaluate(other, given)) return false;
                return evaluate(target, given) == 1;
            };
            Decided found = finite_.solve(target, several, sets, data);
            std::vector<u8> answer = input_;
            for (auto [index, value] : found.values) answer[index] = value;
            if (found.result == Decided::SAT) require(satisfies(answer), "values do not satisfy what they were for");
            std::vector<u32> indices = node(target).deps.indices();
            for (unsigned i = 0; found.result == Decided::UNSAT && i < 30; ++i) {
                for (u32 index : indices) answer[index] = u8(below(2) ? random_() : below(8));
                require(!satisfies(answer), "there are values where there should be none");
            }
        }
    }

    // A state and a byte lead to a place in a table and to what stands there, as in a scanner, twice. Without the
    // conditions that entries fit, that is too much for a table. Questions in turn, with and without them.
    void walk() {
        Ref first = input_byte(0), value = zext(binary(Kind::AND, first, constant(15, 8)), 16);
        std::vector<Ref> fit, values;
        for (unsigned step = 1; step < 3; ++step) {
            Ref place = binary(Kind::ADD, value, zext(input_byte(step), 16));
            value = binary(Kind::MUL, place, constant(2 * below(500) + 1, 16));
            value = binary(Kind::AND, value, constant(1023, 16));
            values.push_back(value);
            Ref entry = binary(Kind::AND, binary(Kind::MUL, place, constant(2 * below(50) + 1, 16)), constant(7, 16));
            fit.push_back(binary(Kind::EQ, entry, constant(below(8), 16)));
        }
        if (below(2)) value = binary(Kind::ADD, values[0], values[1]);
        Ref sum = binary(Kind::ADD, value, zext(input_byte(3), 16));
        Ref last = binary(Kind::EQ, binary(Kind::AND, sum, constant(63, 16)), constant(below(64), 16));
        Finite finite(100'000, u64(1) << 22, [] {}, {64, 1 << 15});
        for (int i = 0; i < 12; ++i) {
            std::vector<Ref> conditions;
            for (const Ref &each : fit)
                if (below(4)) conditions.push_back(below(4) ? each : bit_not(each));
            std::vector<Id> several(conditions.begin(), conditions.end());
            if (below(2)) std::reverse(several.begin(), several.end());
            Ref target = below(2) ? last : bit_not(last);
            Input data{input_.data(), input_.size()};
            auto holds = [&](Id each) { return evaluate(each, data) == 1; };
            for (int tries = 0; tries < 100; ++tries) {
                for (unsigned k = 0; k < 4; ++k) input_[k] = u8(random_());
                if (!std::all_of(several.begin(), several.end(), holds)) continue;
                grids_.assume(several, true);
                for (Id each : several) look_at_grid(each);
                for (Id each : {Id(sum), Id(target)}) look_at_grid(each);
                break;
            }
            Decided found = finite.solve(target, several, {}, data);
            require(found.result != Decided::UNSAT, "there are such values, and none were found");
            if (found.result != Decided::SAT) continue;
            for (auto [index, given] : found.values) input_[index] = given;
            require(holds(target) && std::all_of(several.begin(), several.end(), holds), "these values do not do");
        }
        memo_.clear();
    }

    void join() {
        Variables variables;
        for (int i = 0; i < 4; ++i) variables.push_back(std::make_shared<const Variable>(i, 1 + unsigned(below(3))));
        std::vector<RelationPtr> relations;
        for (u64 count = 1 + below(4); count; --count) {
            Variables mine{variables[0]};
            for (unsigned i = 1; i < 4; ++i)
                if (below(2)) mine.push_back(variables[i]);
            std::set<std::vector<u8>> rows;
            for (u64 i = below(9); i; --i) {
                std::vector<u8> row;
                for (const VariablePtr &variable : mine) row.push_back(u8(below(variable->count)));
                rows.insert(row);
            }
            std::vector<u8> cells;
            for (const std::vector<u8> &row : rows) cells.insert(cells.end(), row.begin(), row.end());
            relations.push_back(std::make_shared<const Relation>(mine, cells, rows.size()));
        }
        RelationPtr found = joined(relations, 1 << 16, effort_);
        auto has = [](const Relation &relation, const std::vector<u8> &all) {
            for (std::size_t i = 0; i < relation.rows; ++i) {
                bool same = true;
                for (std::size_t k = 0; k < relation.variables.size(); ++k)
                    same = same && relation.row(i)[k] == all[std::size_t(relation.variables[k]->index)];
                if (same) return true;
            }
            return false;
        };
        std::vector<u8> all(4);
        std::size_t agreeing = 0;
        for (all[0] = 0; all[0] < variables[0]->count; ++all[0])
            for (all[1] = 0; all[1] < variables[1]->count; ++all[1])
                for (all[2] = 0; all[2] < variables[2]->count; ++all[2])
                    for (all[3] = 0; all[3] < variables[3]->count; ++all[3]) {
                        bool agree = true;
                        for (const RelationPtr &relation : relations) agree = agree && has(*relation, all);
                        require(has(*found, all) == agree, "a join has other rows");
                        agreeing += agree;
                    }
        for (const VariablePtr &variable : variables)  // those in none of the relations took part in no join
            if (std::count(found->variables.begin(), found->variables.end(), variable) == 0)
                agreeing /= variable->count;
        require(found->rows == agreeing, "a join has rows twice");
    }

    // More combinations of values than a number can tell apart.
    void join_wide() {
        Variables variables;
        for (int i = 0; i < 20; ++i) variables.push_back(std::make_shared<const Variable>(i, 256));
        std::vector<std::set<std::vector<u8>>> rows(2);
        std::vector<RelationPtr> relations;
        for (std::set<std::vector<u8>> &each : rows) {
            for (u64 i = below(40); i; --i) {
                std::vector<u8> row(variables.size());
                for (u64 k = below(3); k; --k) row[below(row.size())] = u8(below(2));
                each.insert(row);
            }
            std::vector<u8> cells;
            for (const std::vector<u8> &row : each) cells.insert(cells.end(), row.begin(), row.end());
            relations.push_back(std::make_shared<const Relation>(variables, cells, each.size()));
        }
        std::vector<std::size_t> columns(variables.size());
        std::iota(columns.begin(), columns.end(), std::size_t(0));
        std::vector<u64> codes = coded(*relations[0], columns);
        require(std::adjacent_find(codes.begin(), codes.end(), std::greater_equal<>()) == codes.end(),
                "codes do not rise with their rows");
        RelationPtr found = joined(relations, 1 << 16, effort_);
        std::set<std::vector<u8>> both;
        for (std::size_t i = 0; i < found->rows; ++i) both.emplace(found->row(i), found->row(i) + variables.size());
        std::set<std::vector<u8>> wanted;
        std::set_intersection(rows[0].begin(), rows[0].end(), rows[1].begin(), rows[1].end(),
                              std::inserter(wanted, wanted.end()));
        require(both == wanted && both.size() == found->rows, "a wide join has other rows");
    }

    std::mt19937_64 random_;
    std::vector<u8> input_;
    bool has_tables_;  // those take longer
    std::vector<Ref> pool_;
    Memo memo_;
    Chosen chosen_;
    Effort effort_{~u64(0), [] {}};
    Grids grids_{{64, 1 << 15}, effort_};
    Finite finite_{100'000, u64(1) << 22, [] {}};
};

}  // namespace

int main(int count, char **words) {
    if (count != 3) return std::fprintf(stderr, "usage: score_fuzz SEED ROUNDS\n"), 2;
    u64 seed = std::strtoull(words[1], nullptr, 10), rounds = std::strtoull(words[2], nullptr, 10);
    u64 made = 0, refused = 0;
    for (u64 i = 0; i < rounds; ++i) Round(seed + i).run(60, made, refused);
    std::printf("%llu formulas, %llu refused, %zu left\n", static_cast<unsigned long long>(made),
                static_cast<unsigned long long>(refused), arena().size());
    return arena().size() ? 1 : 0;
}
