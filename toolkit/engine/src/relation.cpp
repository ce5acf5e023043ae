#include "relation.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace score {

namespace {

constexpr u64 JOIN_OVERHEAD = 64;      // steps of a join, however small it is
constexpr u128 CODES = u128(1) << 62;  // combinations that can be told apart by a number
u64 last_relation = 0;

std::size_t column_of(const Relation &relation, const VariablePtr &variable) {
    const Variables &all = relation.variables;
    return std::size_t(std::find(all.begin(), all.end(), variable) - all.begin());
}

std::size_t shared_with(const Relation &a, const Relation &b) {
    return std::size_t(std::count_if(a.variables.begin(), a.variables.end(), [&](const VariablePtr &variable) {
        return column_of(b, variable) < b.variables.size();
    }));
}

using Codes = std::vector<std::vector<u64>>;

// The same numbers in the same order, without what is between them; how many there are.
std::size_t closed_up(Codes &codes) {
    std::vector<u64> all;
    for (const std::vector<u64> &each : codes) all.insert(all.end(), each.begin(), each.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (std::vector<u64> &each : codes)
        for (u64 &code : each) code = u64(std::lower_bound(all.begin(), all.end(), code) - all.begin());
    return all.size();
}

struct Columns {
    const Relation *relation;
    std::vector<std::size_t> columns;
};

// A number for each row: of rows, also of two relations, it is equal or smaller as the values of these columns are, the
// first one first. The columns are of the same variables in each.
Codes coded(const std::vector<Columns> &all) {
    Codes codes;
    for (const Columns &each : all) codes.emplace_back(each.relation->rows);
    u128 combinations = 1;
    for (std::size_t at = 0; at < all.front().columns.size(); ++at) {
        u64 count = all.front().relation->variables[all.front().columns[at]]->count;
        if (combinations * count > CODES) combinations = closed_up(codes);
        combinations *= count;
        for (std::size_t k = 0; k < all.size(); ++k) {
            const Relation &relation = *all[k].relation;
            std::size_t column = all[k].columns[at];
            std::vector<u64> &mine = codes[k];
            for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = mine[i] * count + relation.row(i)[column];
        }
    }
    return codes;
}

// Rows by their codes. A table of slots, and a chain of the rows of each code in their order: to sort them took half of
// the time of large joins.
class Rows {
  public:
    static constexpr u32 NONE = 0xFFFFFFFF;

    explicit Rows(const std::vector<u64> &codes) : codes_(codes), next_(codes.size()) {
        while ((std::size_t(1) << bits_) < 2 * codes.size()) ++bits_;
        first_.assign(std::size_t(1) << bits_, NONE);
        for (std::size_t row = codes.size(); row--;) {
            u32 &first = first_[slot(codes[row])];
            next_[row] = first;
            first = u32(row);
        }
    }

    u32 first(u64 code) const { return first_[slot(code)]; }  // NONE: no row has it
    u32 next(u32 row) const { return next_[row]; }            // of the same code

  private:
    std::size_t slot(u64 code) const {
        std::size_t slot = std::size_t(code * 0x9E3779B97F4A7C15u >> (64 - bits_));
        while (first_[slot] != NONE && codes_[first_[slot]] != code) slot = (slot + 1) & (first_.size() - 1);
        return slot;
    }

    const std::vector<u64> &codes_;
    unsigned bits_ = 1;
    std::vector<u32> first_, next_;
};

RelationPtr joined(const Relation &a, const Relation &b, std::size_t most, Effort &effort) {
    effort.spend(JOIN_OVERHEAD + a.rows * (a.variables.size() + bits_of(b.rows)) +
                 b.rows * (b.variables.size() + bits_of(b.rows)));
    std::vector<std::size_t> mine, theirs;
    for (std::size_t column = 0; column < a.variables.size(); ++column)
        if (std::size_t other = column_of(b, a.variables[column]); other < b.variables.size())
            mine.push_back(column), theirs.push_back(other);
    Codes both = coded({{&a, mine}, {&b, theirs}});
    const std::vector<u64> &wanted = both[0];
    Rows by_code(both[1]);
    Variables variables = union_of(a.variables, b.variables);
    std::vector<std::size_t> from_a(variables.size()), from_b(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i)
        from_a[i] = column_of(a, variables[i]), from_b[i] = column_of(b, variables[i]);
    std::vector<u8> cells;
    std::size_t rows = 0, told = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        for (u32 row = by_code.first(wanted[i]); row != Rows::NONE; row = by_code.next(row)) {
            if (++rows > most) throw TooLarge();
            for (std::size_t k = 0; k < variables.size(); ++k)
                cells.push_back(from_a[k] < a.variables.size() ? a.row(i)[from_a[k]] : b.row(row)[from_b[k]]);
        }
        effort.spend((rows - told) * variables.size());
        told = rows;
    }
    return std::make_shared<Relation>(std::move(variables), std::move(cells), rows);
}

}  // namespace

Relation::Relation(Variables variables, std::vector<u8> cells, std::size_t rows)
    : variables(std::move(variables)), cells(std::move(cells)), rows(rows), number(++last_relation) {}

std::vector<u64> coded(const Relation &relation, const std::vector<std::size_t> &columns) {
    return coded({{&relation, columns}}).front();
}

std::vector<u8> alike(const Relation &relation, const VariablePtr &variable, Effort &effort) {
    std::size_t mine = column_of(relation, variable);
    std::vector<std::size_t> others;
    for (std::size_t column = 0; column < relation.variables.size(); ++column)
        if (column != mine) others.push_back(column);
    effort.spend(relation.rows * (relation.variables.size() + bits_of(relation.rows)));
    std::vector<u64> codes = coded(relation, others);
    std::vector<std::vector<u64>> with(variable->count);
    for (std::size_t i = 0; i < codes.size(); ++i) with[relation.row(i)[mine]].push_back(codes[i]);
    std::map<std::vector<u64>, u8> known;
    std::vector<u8> first;
    for (std::vector<u64> &each : with) {
        std::sort(each.begin(), each.end());
        first.push_back(known.emplace(std::move(each), u8(first.size())).first->second);
    }
    return first;
}

RelationPtr of_first(const Relation &relation, const VariablePtr &variable, const std::vector<u8> &first) {
    std::size_t mine = column_of(relation, variable), width = relation.variables.size(), rows = 0;
    std::vector<u8> cells;
    for (std::size_t i = 0; i < relation.rows; ++i) {
        const u8 *row = relation.row(i);
        if (first[row[mine]] != row[mine]) continue;
        cells.insert(cells.end(), row, row + width);
        ++rows;
    }
    return std::make_shared<Relation>(relation.variables, std::move(cells), rows);
}

RelationPtr joined(std::vector<RelationPtr> relations, std::size_t most, Effort &effort) {
    effort.spend(relations.size() * bits_of(relations.size()));
    std::stable_sort(relations.begin(), relations.end(),
                     [](const RelationPtr &a, const RelationPtr &b) { return a->rows < b->rows; });
    RelationPtr result = relations.front();
    relations.erase(relations.begin());
    while (!relations.empty()) {  // that with the most variables in common, of those the one of the fewest rows
        std::size_t best = 0, shared = 0;
        for (std::size_t k = 0; k < relations.size(); ++k) {
            effort.spend(relations[k]->variables.size() * result->variables.size());
            std::size_t now = shared_with(*relations[k], *result);
            if (k && (now < shared || (now == shared && relations[k]->rows >= relations[best]->rows))) continue;
            best = k, shared = now;
        }
        result = joined(*result, *relations[best], most, effort);
        relations.erase(relations.begin() + std::ptrdiff_t(best));
    }
    return result;
}

}  // namespace score
