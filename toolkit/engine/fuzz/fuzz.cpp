// Puts random formulas and damaged arguments to the engine, under the sanitizers (tests/unit/test_engine.py). Each formula
// is evaluated under random inputs in four ways, which must agree: with and without a memo, by its column, by its rows.
// Usage: score_fuzz SEED ROUNDS. Prints how many formulas there were and how many were refused; 0 must be left at the end.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include "build.hpp"
#include "chosen.hpp"
#include "columns.hpp"
#include "digest.hpp"
#include "evaluate.hpp"
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
    explicit Round(u64 seed) : random_(seed), input_(INPUT) {
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
        case 0: return constant(number(), width(), below(8) ? nullptr : std::make_shared<std::set<i64>>(std::set<i64>{3}));
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
            follow(found, size, [&](u64 at) { return at & 1 ? std::optional<u64>(at) : std::nullopt; });
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
        if (indices.size() == 2) {
            u16 row = u16(input_[indices[0]] << 8 | input_[indices[1]]);
            auto [hits, misses] = split(id, int(indices[0]), int(indices[1]), &row, 1);
            require(hits.size() == (value ? 1 : 0) && hits.size() + misses.size() == 1, "rows are split wrongly");
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

    std::mt19937_64 random_;
    std::vector<u8> input_;
    std::vector<Ref> pool_;
    Memo memo_;
    Chosen chosen_;
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
