#include "rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "columns.hpp"
#include "evaluate.hpp"
#include "operate.hpp"

namespace score {

namespace {

constexpr u64 FLOAT_COST = 5;  // operations that one of floating point takes as long as
constexpr std::size_t BLOCK = 256;  // rows that are computed together

bool has(const ByteSet &set, unsigned value) { return set[value / 64] >> value % 64 & 1; }

// The value of one of a row's bytes.
u8 byte_of(Row row, std::size_t which, std::size_t count) { return u8(row >> 8 * (count - 1 - which)); }

bool is_mixed(const Node &node) { return node.deps && node.only_byte < 0; }

// One node of several bytes, as a step over a block of rows.
struct Step {
    Operator op;
    std::array<std::size_t, 3> args;  // numbers of slots
};

// A condition as straight-line code over slots, each a block of values: first the columns (and constants) that it looks
// up, then a slot for each node of several bytes.
class Plan {
  public:
    Plan(Id condition, const std::vector<int> &indices) : indices_(indices) {
        const Deps &deps = node(condition).deps;
        for (u32 index : deps.indices())
            if (std::find(indices.begin(), indices.end(), int(index)) == indices.end())
                throw std::invalid_argument("a condition on other bytes than the rows are made of");
        std::vector<Id> order = nodes({condition});
        for (Id id : order) {
            const Node &node = score::node(id);
            if (is_mixed(node))
                for (unsigned i = 0; i < node.arity; ++i)
                    if (!is_mixed(score::node(node.args[i]))) look_up(node.args[i]);
        }
        if (!is_mixed(node(condition))) look_up(condition);
        for (Id id : order)
            if (is_mixed(node(id))) add_step(id);
        for (Id id : order) is_wide_ |= node(id).width > 64;
        slots_.resize((looked_up_.size() + steps_.size()) * BLOCK);
        result_ = place_.at(condition);
    }

    bool is_wide() const { return is_wide_; }

    // The condition's value for each of these rows.
    const u64 *run(const Row *rows, std::size_t count) {
        for (std::size_t i = 0; i < looked_up_.size(); ++i) {
            const u64 *column = looked_up_[i].column->low.data();
            u64 *out = slot(i);
            unsigned shift = looked_up_[i].shift;
            for (std::size_t k = 0; k < count; ++k) out[k] = column[rows[k] >> shift & 255];
        }
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const u64 *args[3] = {slot(steps_[i].args[0]), slot(steps_[i].args[1]), slot(steps_[i].args[2])};
            operate(steps_[i].op, args, slot(looked_up_.size() + i), count);
        }
        return slot(result_);
    }

  private:
    struct LookedUp {
        const Column *column;
        unsigned shift;  // of its byte in a row
    };

    u64 *slot(std::size_t number) { return slots_.data() + number * BLOCK; }

    void look_up(Id id) {
        if (!place_.emplace(id, looked_up_.size()).second) return;
        auto at = std::find(indices_.begin(), indices_.end(), node(id).only_byte);
        unsigned behind = at == indices_.end() ? 0 : unsigned(indices_.end() - at) - 1;  // a constant has no byte
        looked_up_.push_back({&column(id), 8 * behind});
    }

    void add_step(Id id) {
        const Node &node = score::node(id);
        Step step{operator_of(node), {}};
        for (unsigned i = 0; i < node.arity; ++i) step.args[i] = place_.at(node.args[i]);
        place_.emplace(id, looked_up_.size() + steps_.size());
        steps_.push_back(step);
    }

    const std::vector<int> &indices_;
    bool is_wide_ = false;
    std::vector<LookedUp> looked_up_;
    std::vector<Step> steps_;
    std::unordered_map<Id, std::size_t> place_;  // numbers of slots
    std::vector<u64> slots_;
    std::size_t result_ = 0;
};

// Row by row: of formulas wider than 64 bits.
std::pair<Rows, Rows> interpreted(Id condition, const std::vector<int> &indices, const Row *rows, std::size_t count) {
    std::pair<Rows, Rows> found;
    std::vector<u8> data(std::size_t(*std::max_element(indices.begin(), indices.end())) + 1);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < indices.size(); ++k)
            data[std::size_t(indices[k])] = byte_of(rows[i], k, indices.size());
        (evaluate(condition, Input{data.data(), data.size()}) ? found.first : found.second).push_back(rows[i]);
    }
    return found;
}

}  // namespace

Rows all_rows(const std::vector<ByteSet> &sets) {
    Rows found{0};
    for (const ByteSet &set : sets) {
        Rows longer;
        for (Row row : found)
            for (unsigned value = 0; value < COLUMN; ++value)
                if (has(set, value)) longer.push_back(row << 8 | value);
        found = std::move(longer);
    }
    return found;
}

Rows product(const std::vector<RowsPart> &parts) {
    std::size_t bytes = 0;
    for (const RowsPart &part : parts) bytes += part.places.size();
    Rows found{0};
    for (const RowsPart &part : parts) {
        Rows longer;
        longer.reserve(found.size() * part.count);
        for (Row row : found)
            for (std::size_t i = 0; i < part.count; ++i) {
                Row both = row;
                for (std::size_t k = 0; k < part.places.size(); ++k)
                    both |= Row(byte_of(part.rows[i], k, part.places.size())) << 8 * (bytes - 1 - part.places[k]);
                longer.push_back(both);
            }
        found = std::move(longer);
    }
    if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
    return found;
}

Rows within(const Row *rows, std::size_t count, const std::vector<ByteSet> &sets) {
    Rows found;
    std::copy_if(rows, rows + count, std::back_inserter(found), [&](Row row) {
        for (std::size_t k = 0; k < sets.size(); ++k)
            if (!has(sets[k], byte_of(row, k, sets.size()))) return false;
        return true;
    });
    return found;
}

u64 cost(Id condition) {
    u64 sum = 0;
    for (Id id : nodes({condition}))
        if (is_mixed(node(id))) sum += node(id).kind >= Kind::FADD ? FLOAT_COST : 1;
    return sum;
}

std::pair<Rows, Rows> split(Id condition, const std::vector<int> &indices, const Row *rows, std::size_t count) {
    arena().forget_columns();
    Plan plan(condition, indices);
    if (plan.is_wide()) return interpreted(condition, indices, rows, count);
    std::pair<Rows, Rows> found;
    for (std::size_t at = 0; at < count; at += BLOCK) {
        std::size_t here = std::min(BLOCK, count - at);
        const u64 *holds = plan.run(rows + at, here);
        for (std::size_t i = 0; i < here; ++i) (holds[i] ? found.first : found.second).push_back(rows[at + i]);
    }
    return found;
}

}  // namespace score
