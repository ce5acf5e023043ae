// Puts random slices to who decides some of them (equality.hpp, proved.hpp, excluded.hpp), under the sanitizers. Bytes
// have few values, so that each answer is compared with all combinations of them.
// Usage: score_fuzz_slices SEED ROUNDS. Prints how many slices were decided, how many were given up, how many were
// known of others, and in how many comparisons exclude each other; 0 must be left at the end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "build.hpp"
#include "columns.hpp"
#include "equality.hpp"
#include "excluded.hpp"
#include "proved.hpp"

using namespace score;

namespace {

constexpr u32 BYTES = 5, APART = 70;  // between two of them: sets of bytes have several words
constexpr unsigned VALUES = 3;

void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "score_fuzz_slices: %s\n", what);
    std::abort();
}

class Round {
  public:
    explicit Round(u64 seed) : random_(seed), input_(APART * BYTES) {
        for (u8 &byte : input_) byte = u8(below(VALUES + 1));
    }

    void equalities(u64 &decided, u64 &given_up) {
        std::vector<Ref> conditions;
        for (u64 count = 1 + below(14); count; --count) {
            Ref made = comparison();
            if (node(made).deps) conditions.push_back(made);
        }
        if (conditions.empty()) return;
        Slice slice = taken(conditions);
        Comparisons comparisons;
        require(comparisons.take(slice.target, slice.several), "these are comparisons of bytes");
        Equality equality(below(2) ? 5000 : below(4), below(2) ? 300 : below(3), [] {});
        Decided found = equality.solve(comparisons, slice.target, slice.sets, data());
        (found.result == Decided::GAVE_UP ? given_up : decided) += 1;
        judge(slice, found);
    }

    void exclusions(u64 &excluded) {
        constexpr Kind KINDS[] = {Kind::EQ, Kind::ULT, Kind::SLT};
        Ref number = word(2 + unsigned(below(3)));
        std::vector<Ref> conditions;
        for (u64 count = 2 + below(6); count; --count) {
            input_[APART * below(BYTES)] = u8(below(VALUES));
            unsigned width = node(number).width;
            Ref limit = constant((evaluate(number, data()) + below(3) - 1) & mask<u128>(width), width);
            Kind kind = KINDS[below(3)];
            Ref made = below(2) ? binary(kind, number, limit) : binary(kind, limit, number);
            if (node(made).deps) conditions.push_back(below(2) ? made : bit_not(made));
        }
        if (conditions.empty()) return;
        Slice slice = taken(conditions);
        if (!is_excluded(slice.target, slice.several)) return;
        ++excluded;
        judge(slice, {Decided::UNSAT, {}});
    }

    void proved(u64 &known) {
        std::vector<Ref> pool;
        for (u64 count = 3 + below(12); count; --count) {
            Ref made = below(2) ? comparison() : order();
            if (node(made).deps) pool.push_back(made);
        }
        if (pool.empty()) return;
        std::size_t most = 5 + below(200);
        Proved proved(most);
        for (int i = 0; i < 40; ++i) {
            std::vector<Ref> conditions;
            for (u64 count = 1 + below(5); count; --count) conditions.push_back(pool[below(pool.size())]);
            Slice slice = taken(conditions);
            std::vector<Id> all{slice.target};
            all.insert(all.end(), slice.several.begin(), slice.several.end());
            Conjunction asked(all, slice.sets);
            Decided found = proved.find(asked, data());
            known += found.result != Decided::LEFT;
            judge(slice, found);
            if (found.result != Decided::LEFT) continue;
            std::vector<u8> model = model_of(slice);
            if (model.empty())
                proved.add_core(asked);
            else
                proved.add_model(asked, {model.data(), model.size()});
            require(proved.cores().size() <= most && proved.models().size() <= most, "more is kept than may be");
            if (most > 100)
                require(proved.find(asked, data()).result != Decided::LEFT || asked.names().empty(), "it is not kept");
            if (below(8) == 0) pool[below(pool.size())] = order();  // what was named dies
            if (below(4) == 0) input_[APART * below(BYTES)] = u8(below(VALUES + 1));
        }
    }

  private:
    struct Slice {
        Ref target;
        std::vector<Id> several;
        ByteSets sets;
        std::vector<Ref> held;
    };

    u64 below(u64 limit) { return random_() % limit; }
    Input data() const { return {input_.data(), input_.size()}; }
    Ref byte() { return input_byte(APART * below(BYTES)); }

    Ref word(unsigned bytes) {
        if (below(6) == 0) return zext(byte(), 8 * bytes);
        Ref made;
        for (unsigned i = 0; i < bytes; ++i) {
            Ref next = below(2) ? byte() : constant(below(VALUES), 8);
            made = made ? concat(next, made) : next;  // the highest part is a byte, as the decoder makes them
        }
        return made;
    }
    Ref comparison() {
        unsigned bytes = 1 + unsigned(below(4));
        Ref one = word(bytes), other = word(bytes);
        Ref made = binary(Kind::EQ, one, other);
        return below(3) ? bit_not(made) : made;
    }
    Ref order() {
        Ref one = byte(), other = below(2) ? byte() : constant(1 + below(VALUES), 8);
        return binary(Kind::ULT, one, other);
    }

    // The first is the target. Bytes have few values, and of these what conditions on one alone leave.
    Slice taken(const std::vector<Ref> &conditions) {
        Slice slice{conditions[0], {}, {}, conditions};
        for (u32 i = 0; i < BYTES; ++i) {
            ByteSet values{(u64(1) << VALUES) - 1, 0, 0, 0};
            if (below(4) == 0) values[0] = 1 + below(7);
            slice.sets.emplace_back(APART * i, values);
        }
        for (std::size_t i = 1; i < conditions.size(); ++i) {
            int index = node(conditions[i]).only_byte;
            if (index < 0)
                slice.several.push_back(conditions[i]);
            else
                slice.sets[unsigned(index) / APART].second[0] &= byte_set(conditions[i])[0];
        }
        return slice;
    }

    bool holds(const Slice &slice, const Input &input) const {
        auto is_true = [&](Id each) { return evaluate(each, input) == 1; };
        return std::all_of(slice.sets.begin(), slice.sets.end(), [&](const auto &set) {
            return set.second[input[set.first] / 64] >> input[set.first] % 64 & 1;
        }) && is_true(slice.target) && std::all_of(slice.several.begin(), slice.several.end(), is_true);
    }

    std::vector<u8> model_of(const Slice &slice) const {  // empty: there is none
        std::vector<u8> input = input_;
        for (unsigned number = 0; number < 243; ++number) {  // VALUES to the power of BYTES
            for (unsigned i = 0, left = number; i < BYTES; ++i, left /= VALUES) input[APART * i] = u8(left % VALUES);
            if (holds(slice, {input.data(), input.size()})) return input;
        }
        return {};
    }

    void judge(const Slice &slice, const Decided &found) const {
        if (found.result == Decided::UNSAT)
            require(model_of(slice).empty(), "there are such values, and none were found");
        if (found.result != Decided::SAT) return;
        std::vector<u8> input = input_;
        for (auto [index, value] : found.values) input[index] = value;
        require(holds(slice, {input.data(), input.size()}), "these values do not do");
    }

    std::mt19937_64 random_;
    std::vector<u8> input_;
};

}  // namespace

int main(int count, char **words) {
    if (count != 3) return std::fprintf(stderr, "usage: score_fuzz_slices SEED ROUNDS\n"), 2;
    u64 seed = std::strtoull(words[1], nullptr, 10), rounds = std::strtoull(words[2], nullptr, 10);
    u64 decided = 0, given_up = 0, known = 0, excluded = 0;
    for (u64 i = 0; i < rounds; ++i) {
        Round round(seed + i);
        for (int k = 0; k < 8; ++k) round.equalities(decided, given_up), round.exclusions(excluded);
        round.proved(known);
    }
    std::printf("%llu decided, %llu given up, %llu known, %llu excluded, %zu left\n",
                static_cast<unsigned long long>(decided), static_cast<unsigned long long>(given_up),
                static_cast<unsigned long long>(known), static_cast<unsigned long long>(excluded), arena().size());
    return arena().size() ? 1 : 0;
}
