#include "search.hpp"

#include <algorithm>

#include "aim.hpp"
#include "digest.hpp"
#include "slots.hpp"

namespace score {

namespace {

constexpr std::size_t MOST_NODES = 20'000;
constexpr u64 PARTS = 64;                 // operators that an evaluation may compute on average: formulas may be large
constexpr u32 UNIT = 16;                  // of distance: a bit
constexpr unsigned DEEPEST = 64;          // of a condition's and, or, not
constexpr unsigned INVERSIONS = 6;        // tried at one place
constexpr unsigned ROUND = 400;           // evaluations before it begins anew
constexpr std::size_t CONSTANTS = 24;     // tried for a byte

u32 log_of(u64 far) {  // of numbers that are not 0: 16 for 1, 32 for 2, 48 for 4
    unsigned bits = bits_of(far);
    u64 below = bits > 4 ? far >> (bits - 5) : far << (5 - bits);
    return UNIT * bits + u32(below & 15);
}

class Search {
  public:
    Search(const std::vector<Id> &conditions, const std::vector<std::pair<u32, ByteSet>> &sets, const Input &data,
           u32 most, u64 seed)
        : slots_(conditions, data), count_(conditions.size()), most_(most), dice_(seed), aim_(slots_, sets_, dice_) {
        ByteSet any;
        any.fill(~u64(0));
        sets_.resize(slots_.size(), any);
        for (Slot byte : slots_.bytes()) {
            start_.push_back(u8(slots_[byte]));
            for (const auto &[index, values] : sets)
                if (index == slots_.index(byte)) sets_[byte] = values;
        }
        weights_.resize(count_, 1);
        gather_constants();
    }

    Searched run(const Input &data) {
        Searched result;
        distance_ = total();
        u32 since = 0;
        while (distance_ && is_going()) {
            if (evaluations_ - since > ROUND) {
                since = evaluations_;
                begin_anew();
            } else {
                step();
            }
        }
        result.evaluations = std::min(most_, std::max(evaluations_, u32(slots_.computed / PARTS)));
        result.found = !distance_;
        if (result.found)
            for (Slot byte : slots_.bytes())
                if (slots_[byte] != data[slots_.index(byte)])
                    result.values.emplace_back(slots_.index(byte), u8(slots_[byte]));
        return result;
    }

  private:
    bool is_going() const { return evaluations_ < most_ && slots_.computed < PARTS * most_; }

    // The bytes of the formulas' constants.
    void gather_constants() {
        for (Slot slot = 0; slot < slots_.size(); ++slot) {
            if (slots_.part(slot).op.kind != Kind::CONST) continue;
            u64 value = slots_[slot];
            do {
                u8 low = u8(value);
                if (constants_.size() < CONSTANTS &&
                    std::find(constants_.begin(), constants_.end(), low) == constants_.end())
                    constants_.push_back(low);
                value >>= 8;
            } while (value);
        }
    }

    u32 distance(Slot slot, bool wanted, unsigned depth) const {
        if (slots_[slot] == wanted) return 0;
        const Part &part = slots_.part(slot);
        const Slot a = part.args[0], b = part.args[1];
        if (++depth > DEEPEST) return UNIT;
        switch (part.op.kind) {
        case Kind::NOT: return distance(a, !wanted, depth);
        case Kind::AND:
        case Kind::OR: {
            u32 left = distance(a, wanted, depth), right = distance(b, wanted, depth);
            return (part.op.kind == Kind::AND) == wanted ? left + right : std::min(left, right);
        }
        case Kind::XOR: return std::min(distance(a, !slots_[a], depth), distance(b, !slots_[b], depth));
        case Kind::ITE: {
            bool taken = slots_[a];
            u32 here = distance(taken ? b : part.args[2], wanted, depth);
            return std::min(here, distance(a, !taken, depth) + distance(taken ? part.args[2] : b, wanted, depth));
        }
        case Kind::EQ: {
            if (!wanted) return UNIT;
            u64 x = slots_[a], y = slots_[b];
            return log_of(x < y ? y - x : x - y);
        }
        case Kind::ULT:
        case Kind::SLT: {
            u64 sign = part.op.kind == Kind::SLT ? sign_bit<u64>(part.op.widths[0]) : 0;
            u64 x = slots_[a] ^ sign, y = slots_[b] ^ sign;
            u64 far = wanted ? x - y : y - x - 1;
            return far == ~u64(0) ? log_of(far) : log_of(far + 1);
        }
        default: return UNIT;
        }
    }

    u64 total() const {
        u64 sum = 0;
        for (std::size_t i = 0; i < count_; ++i)
            if (!slots_[slots_.root(i)]) sum += u64(weights_[i]) * distance(slots_.root(i), true, 0);
        return sum;
    }

    // Whether the changes bring it nearer; then they stay.
    bool is_better(const std::vector<Change> &changes) {
        slots_.change(changes);
        u64 now = total();
        ++evaluations_;
        tried_ = now;
        if (now < distance_) {
            slots_.keep();
            distance_ = now;
            return true;
        }
        slots_.undo();
        return false;
    }

    void take(const std::vector<Change> &changes) {
        slots_.change(changes);
        slots_.keep();
        distance_ = total();
        ++evaluations_;
    }

    std::size_t broken() {  // a condition that does not hold
        std::size_t found = 0, seen = 0;
        for (std::size_t i = 0; i < count_; ++i)
            if (!slots_[slots_.root(i)] && dice_.below(++seen) == 0) found = i;
        return found;
    }

    void step() {
        std::size_t condition = broken();
        Slot root = slots_.root(condition);
        std::vector<Change> changes, nearest;
        u64 least = ~u64(0);
        for (unsigned i = 0; i < INVERSIONS && is_going(); ++i) {
            if (!aim_.at(root, 1, changes)) continue;
            if (is_better(changes)) return;
            if (tried_ < least) least = tried_, nearest = changes;
        }
        if (is_neighbour_better(root) || !is_going()) return;
        for (std::size_t i = 0; i < count_; ++i)
            if (!slots_[slots_.root(i)]) ++weights_[i];
        if (!nearest.empty() && dice_.below(4))
            take(nearest);
        else
            wander();
        distance_ = total();
    }

    // Bytes of the condition, one after the other, each with its moves.
    bool is_neighbour_better(Slot root) {
        std::vector<Change> change(1);
        std::vector<Slot> bytes = bytes_under(root);
        if (bytes.empty()) return false;
        std::size_t start = dice_.below(bytes.size());
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            Slot byte = bytes[(start + i) % bytes.size()];
            for (u8 value : moves(u8(slots_[byte]))) {
                if (!is_going()) return false;
                if (value == slots_[byte] || !(sets_[byte][value / 64] >> value % 64 & 1)) continue;
                change[0] = {byte, value};
                if (is_better(change)) return true;
            }
        }
        return false;
    }

    std::vector<u8> moves(u8 value) const {
        std::vector<u8> found;
        for (int step : {1, 2, 16}) found.push_back(u8(value + step)), found.push_back(u8(value - step));
        for (int bit = 2; bit < 8; ++bit) found.push_back(u8(value ^ 1 << bit));
        found.insert(found.end(), constants_.begin(), constants_.end());
        return found;
    }

    const std::vector<Slot> &bytes_under(Slot root) {
        for (const auto &[slot, bytes] : under_)
            if (slot == root) return bytes;
        std::vector<Slot> found, stack{root};
        std::vector<bool> seen(slots_.size());
        while (!stack.empty()) {
            Slot slot = stack.back();
            stack.pop_back();
            if (seen[slot]) continue;
            seen[slot] = true;
            const Part &part = slots_.part(slot);
            if (part.op.kind == Kind::BYTE) found.push_back(slot);
            for (unsigned i = 0; i < part.arity; ++i) stack.push_back(part.args[i]);
        }
        std::sort(found.begin(), found.end());
        under_.emplace_back(root, std::move(found));
        return under_.back().second;
    }

    // A byte of those that matter gets any of its values.
    void wander() {
        const std::vector<Slot> &bytes = bytes_under(slots_.root(broken()));
        if (bytes.empty()) {
            evaluations_ = most_;
            return;
        }
        Slot byte = bytes[dice_.below(bytes.size())];
        for (unsigned i = 0; i < 16; ++i) {
            u64 value = dice_.below(COLUMN);
            if (!(sets_[byte][value / 64] >> value % 64 & 1)) continue;
            take({{byte, u8(value)}});
            return;
        }
        ++evaluations_;
    }

    void begin_anew() {
        std::vector<Change> changes;
        for (std::size_t i = 0; i < start_.size(); ++i) changes.push_back({slots_.bytes()[i], start_[i]});
        take(changes);
    }

    Slots slots_;
    std::size_t count_;
    u32 most_, evaluations_ = 0;
    Dice dice_;
    std::vector<ByteSet> sets_;
    Aim aim_;
    std::vector<u8> start_, constants_;
    std::vector<u32> weights_;
    std::vector<std::pair<Slot, std::vector<Slot>>> under_;
    u64 distance_ = 0, tried_ = 0;
};

u64 seed_of(Id target, const std::vector<std::size_t> &indices, const Input &data) {
    u64 seed = 0;
    const Digest &name = digest(target);
    for (unsigned i = 0; i < 8; ++i) seed = seed << 8 | name[i];
    for (std::size_t index : indices) seed = (seed ^ data.bytes[index]) * 0x100000001B3u;
    return seed;
}

}  // namespace

Searched search(Id target, const std::vector<Id> &several, const std::vector<std::pair<u32, ByteSet>> &sets,
                const Input &data, u32 most) {
    std::vector<Id> conditions{target};
    conditions.insert(conditions.end(), several.begin(), several.end());
    if (!Slots::fit(conditions, std::min<u64>(MOST_NODES, PARTS * most / 2))) return {};
    std::vector<std::size_t> indices;
    for (u32 index : node(target).deps.indices())
        if (index < data.size) indices.push_back(index);
    return Search(conditions, sets, data, most, seed_of(target, indices, data)).run(data);
}

}  // namespace score
