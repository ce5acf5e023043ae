#include "equality.hpp"

#include <algorithm>

#include "columns.hpp"

namespace score {

namespace {

constexpr int NO_COLOUR = -1;

unsigned count(const ByteSet &values) {
    unsigned found = 0;
    for (u64 word : values) found += unsigned(__builtin_popcountll(word));
    return found;
}

bool has(const ByteSet &values, unsigned value) { return values[value / 64] >> value % 64 & 1; }
void remove(ByteSet &values, unsigned value) { values[value / 64] &= ~(u64(1) << value % 64); }

ByteSet only(unsigned value) {
    ByteSet made{};
    made[value / 64] = u64(1) << value % 64;
    return made;
}

ByteSet both(const ByteSet &a, const ByteSet &b) { return {a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]}; }
bool is_empty(const ByteSet &values) { return !(values[0] | values[1] | values[2] | values[3]); }

// Bytes are named by places, which count them as they come; a class is named by the place of one of its bytes.
class Problem {
  public:
    Problem(const Comparisons &slice, const ByteSets &sets, const Input &data, u64 steps, std::size_t depth,
            Effort &effort)
        : slice_(slice), data_(data), steps_(steps), depth_(depth), effort_(effort) {
        std::size_t bound = slice.bound();
        for (const auto &set : sets) bound = std::max(bound, std::size_t(set.first) + 1);
        places_.resize(bound);
        for (const auto &[index, values] : sets) narrow(place(index), values);
        for (const Comparisons::Relation &relation : slice.relations()) {
            for (std::size_t at = relation.from; at < relation.to; ++at) {
                auto [a, b] = slice.pair(at);
                place(u32(a));
                if (b >= 0) place(u32(b));
            }
            if (!relation.equal) continue;
            is_possible_ = is_possible_ && !relation.decided;
            for (std::size_t at = relation.from; at < relation.to; ++at) join(slice.pair(at));
        }
    }

    Decided solve() {
        if (!is_possible_) return {Decided::UNSAT, {}};
        for (u32 each = 0; each < indices_.size(); ++each)
            if (parents_[each] == each) classes_.push_back(each);
        left_ = values_;
        edges_.resize(indices_.size());
        for (const Comparisons::Relation &relation : slice_.relations())
            if (!relation.equal && !relation.decided && !differs(relation)) return {Decided::UNSAT, {}};
        if (!choose(0)) return {Decided::UNSAT, {}};
        Decided found{Decided::SAT, {}};
        for (u32 each = 0; each < indices_.size(); ++each)
            found.values.emplace_back(indices_[each], u8(colours_[root(each)]));
        return found;
    }

  private:
    struct Unlike {  // two classes, or one and a constant
        u32 one, other;
        bool is_constant;
    };
    using Choice = std::vector<Unlike>;  // at least one of them
    struct Uncoloured {
        u32 place;
        ByteSet values;
    };

    // --- classes ---------------------------------------------------------------------------------------------------

    u32 place(u32 index) {
        u32 &known = places_[index];
        if (!known) {
            parents_.push_back(u32(indices_.size()));
            indices_.push_back(index);
            values_.push_back(EVERY_BYTE);
            known = u32(indices_.size());
        }
        return known - 1;
    }

    u32 root(u32 place) {
        while (parents_[place] != place) place = parents_[place] = parents_[parents_[place]];
        return place;
    }

    void narrow(u32 root, const ByteSet &values) {
        values_[root] = both(values_[root], values);
        is_possible_ = is_possible_ && !is_empty(values_[root]);
    }

    void join(const Comparisons::Pair &pair) {
        u32 a = root(place(u32(pair.first)));
        if (pair.second < 0) return narrow(a, only(unsigned(~pair.second)));
        u32 b = root(place(u32(pair.second)));
        if (a == b) return;
        parents_[b] = a;
        narrow(a, values_[b]);
    }

    // --- what must differ ------------------------------------------------------------------------------------------

    // One of the relation's pairs has to differ; false if none can.
    bool differs(const Comparisons::Relation &relation) {
        Choice open;
        for (std::size_t at = relation.from; at < relation.to; ++at) {
            auto [first, second] = slice_.pair(at);
            u32 a = root(place(u32(first)));
            Unlike pair{a, second < 0 ? u32(~second) : root(place(u32(second))), second < 0};
            if (!pair.is_constant && pair.other == a) continue;
            const ByteSet &mine = values_[a], others = pair.is_constant ? only(pair.other) : values_[pair.other];
            if (is_empty(both(mine, others))) return true;
            if (mine == others && count(mine) == 1) continue;
            open.push_back(pair);
        }
        if (open.size() == 1) return part(open[0]);
        if (!open.empty()) choices_.push_back(open);
        return !open.empty();
    }

    // Makes the pair differ; false if then a class has no value.
    bool part(const Unlike &pair) {
        if (pair.is_constant) {
            remove(left_[pair.one], pair.other);
            return !is_empty(left_[pair.one]);
        }
        connect(pair.one, pair.other), connect(pair.other, pair.one);
        return true;
    }

    // Neighbours are kept in the input's order: colours depend on it.
    std::vector<u32>::iterator neighbour(u32 one, u32 other) {
        return std::lower_bound(edges_[one].begin(), edges_[one].end(), other,
                                [&](u32 a, u32 b) { return indices_[a] < indices_[b]; });
    }
    bool is_edge(u32 one, u32 other) {
        auto at = neighbour(one, other);
        return at != edges_[one].end() && *at == other;
    }
    void connect(u32 one, u32 other) {
        auto at = neighbour(one, other);
        if (at == edges_[one].end() || *at != other) edges_[one].insert(at, other);
    }
    void disconnect(u32 one, u32 other) { edges_[one].erase(neighbour(one, other)); }

    bool is_kept(const Choice &choice) const {
        return std::any_of(choice.begin(), choice.end(), [&](const Unlike &pair) {
            return colours_[pair.one] != (pair.is_constant ? int(pair.other) : colours_[pair.other]);
        });
    }

    // Colours; if a choice is not kept by chance, makes each of its pairs differ in turn.
    bool choose(std::size_t depth) {
        if (!colour()) return false;
        auto is_broken = [&](const Choice &each) { return !is_kept(each); };
        auto broken = std::find_if(choices_.begin(), choices_.end(), is_broken);
        if (broken == choices_.end()) return true;
        if (depth == depth_) throw GaveUp();
        for (const Unlike &pair : *broken) {
            step();
            ByteSet before = left_[pair.one];
            if (part(pair) && choose(depth + 1)) return true;
            left_[pair.one] = before;
            // There was no such edge: the two had one colour.
            if (!pair.is_constant) disconnect(pair.one, pair.other), disconnect(pair.other, pair.one);
        }
        return false;
    }

    void step() {
        if (!steps_--) throw GaveUp();
    }

    // --- colouring -------------------------------------------------------------------------------------------------

    // Values that differ along all edges.
    bool colour() {
        std::vector<std::size_t> degrees(indices_.size());
        std::vector<bool> is_hard(indices_.size());
        std::vector<u32> easy, stack, rest;  // easy: whatever the others get. Last taken off, first coloured
        for (u32 each : classes_) {
            degrees[each] = edges_[each].size();
            is_hard[each] = true;
            effort_.spend(1 + degrees[each]);
            if (count(left_[each]) > degrees[each]) stack.push_back(each);
        }
        while (!stack.empty()) {
            u32 each = stack.back();
            stack.pop_back();
            if (!is_hard[each]) continue;
            is_hard[each] = false;
            easy.push_back(each);
            for (u32 other : edges_[each]) {
                --degrees[other];
                if (is_hard[other] && count(left_[other]) > degrees[other]) stack.push_back(other);
            }
        }
        std::vector<Uncoloured> hard;
        for (u32 each : classes_)
            if (is_hard[each]) hard.push_back({each, left_[each]});
        if (hard.size() > depth_) throw GaveUp();
        colours_.assign(indices_.size(), NO_COLOUR);
        if (!search(hard)) return false;
        for (auto each = easy.rbegin(); each != easy.rend(); ++each) {
            ByteSet values = left_[*each];
            for (u32 other : edges_[*each])
                if (colours_[other] != NO_COLOUR) remove(values, unsigned(colours_[other]));
            colours_[*each] = int(preferred(*each, values));
        }
        return true;
    }

    // Colours the rest: the class with the fewest values first, of those the first of the input.
    bool search(const std::vector<Uncoloured> &uncoloured) {
        if (uncoloured.empty()) return true;
        step();
        auto rank = [&](const Uncoloured &each) { return std::pair(count(each.values), indices_[each.place]); };
        const Uncoloured &mine = *std::min_element(uncoloured.begin(), uncoloured.end(),
                                                   [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
        for (ByteSet values = mine.values; !is_empty(values);) {
            effort_.spend(uncoloured.size());
            unsigned value = preferred(mine.place, values);
            remove(values, value);
            std::vector<Uncoloured> narrowed;
            bool is_possible = true;
            for (const Uncoloured &other : uncoloured) {
                if (other.place == mine.place) continue;
                narrowed.push_back(other);
                if (!is_edge(mine.place, other.place)) continue;
                remove(narrowed.back().values, value);
                is_possible = is_possible && !is_empty(narrowed.back().values);
            }
            colours_[mine.place] = int(value);
            if (is_possible && search(narrowed)) return true;
        }
        return false;
    }

    // The byte's own value if it may keep it, else the smallest.
    unsigned preferred(u32 place, const ByteSet &values) const {
        unsigned own = data_[indices_[place]];
        return has(values, own) ? own : smallest(values);
    }

    const Comparisons &slice_;
    const Input &data_;
    u64 steps_;
    std::size_t depth_;
    Effort &effort_;

    std::vector<u32> places_;  // by index: 0, or one more than its place
    std::vector<u32> indices_, parents_;
    std::vector<ByteSet> values_;  // of classes, as sets and equalities leave them
    bool is_possible_ = true;

    std::vector<u32> classes_;
    std::vector<ByteSet> left_;  // of their values, without the constants that they must not be
    std::vector<std::vector<u32>> edges_;
    std::vector<Choice> choices_;
    std::vector<int> colours_;
};

}  // namespace

bool Comparisons::take(Id target, const std::vector<Id> &several) {
    if (node(target).only_byte < 0 && !add(target)) return false;
    return std::all_of(several.begin(), several.end(), [&](Id condition) { return add(condition); });
}

bool Comparisons::add(Id condition) {
    const Node *comparison = &node(condition);
    bool equal = comparison->kind != Kind::NOT;
    if (!equal) comparison = &node(comparison->args[0]);
    if (comparison->kind != Kind::EQ) return false;
    one_.clear(), other_.clear();
    if (!add_bytes(comparison->args[0], one_) || !add_bytes(comparison->args[1], other_)) return false;
    Relation relation{equal, false, pairs_.size(), 0};
    for (std::size_t i = 0; i < one_.size(); ++i) {
        int a = std::max(one_[i], other_[i]), b = std::min(one_[i], other_[i]);
        if (a < 0) {
            relation.decided = relation.decided || a != b;
            continue;
        }
        pairs_.push_back(one_[i] < 0 ? Pair(other_[i], one_[i]) : Pair(one_[i], other_[i]));
        bound_ = std::max(bound_, std::size_t(a) + 1);
    }
    relation.to = pairs_.size();
    relations_.push_back(relation);
    return true;
}

// The value's bytes, lowest first; false if it is computed in any way.
bool Comparisons::add_bytes(Id id, std::vector<int> &bytes) {
    const Node &value = node(id);
    if (value.width % 8) return false;
    switch (value.kind) {
    case Kind::BYTE: bytes.push_back(int(value.value)); return true;
    case Kind::CONST:
        for (unsigned low = 0; low < value.width; low += 8) bytes.push_back(~int(u8(value.value >> low)));
        return true;
    case Kind::ZEXT:
        if (!add_bytes(value.args[0], bytes)) return false;
        for (unsigned low = node(value.args[0]).width; low < value.width; low += 8) bytes.push_back(~0);
        return true;
    case Kind::CONCAT:  // a chain: the highest part is first
        return node(value.args[0]).kind != Kind::CONCAT && add_bytes(value.args[1], bytes) &&
               add_bytes(value.args[0], bytes);
    default: return false;
    }
}

Decided Equality::solve(const Comparisons &slice, Id target, const ByteSets &sets, const Input &data) {
    ByteSets narrowed = sets;
    int index = node(target).only_byte;
    if (index >= 0) {
        auto mine = std::find_if(narrowed.begin(), narrowed.end(), [&](auto &set) { return int(set.first) == index; });
        if (mine == narrowed.end())
            narrowed.emplace_back(u32(index), byte_set(target));
        else
            mine->second = both(mine->second, byte_set(target));
    }
    effort_.begin();
    try {
        return Problem(slice, narrowed, data, steps_, depth_, effort_).solve();
    } catch (const GaveUp &) {
        return {Decided::GAVE_UP, {}};
    }
}

}  // namespace score
