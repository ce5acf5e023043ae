#include "orders.hpp"

#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <unordered_map>

#include "blake2b.hpp"
#include "casters.hpp"

namespace nb = nanobind;

namespace score {

namespace {

constexpr u32 LAST = 0xFFFFFFFF;
// Of `Mixed`, whose orders are coverage, dfs and random; measured with bench/orders.py.
constexpr std::size_t ORDERS = 3;
constexpr double FRESH_SHARES[ORDERS] = {2, 1, 1};       // of the work while tests cover something new
constexpr double STALE_SHARES[ORDERS] = {1, 4, 1};       // and when they have not for long
constexpr u8 FRESH[8] = {0, 0, 0, 0, 0, 0, 1, 2};        // whose a pair is while tests cover something new: by chance
constexpr u8 STALE[8] = {0, 1, 1, 1, 1, 1, 1, 2};        // and when they have not for long
constexpr unsigned TURN = 8;                             // pairs
constexpr double CHILD = 0.25;                           // of a test's work is what one child more takes
constexpr u64 PATIENCE = 256;                            // pairs without anything new; later a quarter of all
constexpr double UNIT = double(u64(1) << 40);            // of the clocks of `Random`
constexpr double TO_64 = 18446744073709551616.0;  // 2 to the power of 64
constexpr u64 QUARTER = 4;  // of `Deciding`: so many pairs that may show something have the turn of one that does not

// The parts of a rank, as big endian numbers: the turn or the like, and where the pair comes from.
struct Parts {
    u64 turn;
    u32 run, flip;
};

Rank packed(const Parts &parts) {
    u8 bytes[16];
    for (unsigned i = 0; i < 8; ++i) bytes[i] = u8(parts.turn >> (56 - 8 * i));
    for (unsigned i = 0; i < 4; ++i) {
        bytes[8 + i] = u8(parts.run >> (24 - 8 * i));
        bytes[12 + i] = u8(parts.flip >> (24 - 8 * i));
    }
    return Rank(bytes, sizeof bytes);
}

Parts unpacked(const Rank &rank) {
    if (rank.size() != 16) throw std::invalid_argument("a rank of another order");
    Parts parts{};
    for (unsigned i = 0; i < 8; ++i) parts.turn = parts.turn << 8 | rank[i];
    for (unsigned i = 0; i < 4; ++i) {
        parts.run = parts.run << 8 | rank[8 + i];
        parts.flip = parts.flip << 8 | rank[12 + i];
    }
    return parts;
}

// 64 bits that nobody chose, for whatever has this id: explore/prf.py's `number`.
u64 chance(u64 seed, const PairId &id) {
    u64 number;  // little endian, as the hosts are
    blake2b_keyed(reinterpret_cast<const u8 *>(&seed), sizeof seed, id.data(), id.size(),
                  reinterpret_cast<u8 *>(&number), sizeof number);
    return number;
}

// Python's set of covered directions; it grows while the campaign goes on.
class Covered {
  public:
    explicit Covered(nb::object set) : set_(std::move(set)) {
        if (!PySet_Check(set_.ptr())) throw std::invalid_argument("covered directions are a set");
    }
    bool has(u32 index) const {
        int found = PySet_Contains(set_.ptr(), nb::int_(index).ptr());
        if (found < 0) nb::raise_python_error();
        return found;
    }
    std::size_t size() const { return std::size_t(PySet_GET_SIZE(set_.ptr())); }

    // To a direction that no test has taken; or nobody knows where.
    bool is_led_on_by(const Pair &pair) const {
        if (pair.targets_from >= pair.targets_to) return true;
        for (u32 index = pair.targets_from; index < pair.targets_to; ++index)
            if (!has(index)) return true;
        return false;
    }

  private:
    nb::object set_;
};

struct DepthFirst final : Order {
    Rank rank(nb::handle, Flip flip) override { return packed({0, LAST - flip.run, LAST - flip.number}); }
    bool is_depth_first(const Rank &) const override { return true; }
};

struct OtherBranchFirst final : Order {
    Rank rank(nb::handle, Flip flip) override { return packed({0, LAST - flip.run, flip.number}); }
};

struct BreadthFirst final : Order {
    Rank rank(nb::handle pair, Flip flip) override { return packed({pair_of(pair).depth(), flip.run, flip.number}); }
};

class Random final : public Order {
  public:
    explicit Random(Word seed) : seed_(u64(seed.value)) {}

    Rank rank(nb::handle pair, Flip flip) override {
        double share = double(u128(chance(seed_, pair_of(pair).id)) + 1) / TO_64;
        double wait = -std::log(share);
        return packed({now_ + u64(wait * UNIT), flip.run, flip.number});
    }
    Rank on_top(nb::handle, const Rank &rank) override {
        now_ = unpacked(rank).turn;
        return rank;
    }

  private:
    u64 seed_, now_ = 0;
};

class UncoveredFirst final : public Order {
  public:
    explicit UncoveredFirst(nb::object covered) : covered_(std::move(covered)) {}

    Rank rank(nb::handle pair, Flip flip) override {
        return ranked(pair_of(pair), LAST - flip.run, LAST - flip.number);
    }
    Rank on_top(nb::handle pair, const Rank &rank) override {
        Parts parts = unpacked(rank);
        return parts.turn ? rank : ranked(pair_of(pair), parts.run, parts.flip);
    }
    bool leads_on(const Pair &pair) const { return covered_.is_led_on_by(pair); }
    // That of the pair with this rank.
    static Flip flip(const Rank &rank) {
        Parts parts = unpacked(rank);
        return {LAST - parts.run, LAST - parts.flip};
    }

  private:
    Rank ranked(const Pair &pair, u32 run, u32 flip) {
        return packed({leads_on(pair) ? 0 : ++turns_[pair.targets_from], run, flip});
    }

    Covered covered_;
    std::unordered_map<u32, u64> turns_;  // given to each direction so far
};

class Deciding final : public Order {
  public:
    Deciding(nb::object covered, nb::object may_show)
        : covered_(std::move(covered)), may_show_(std::move(may_show)) {}

    Rank rank(nb::handle pair, Flip flip) override {
        return ranked(pair_of(pair), nb::cast<bool>(may_show_(pair)), LAST - flip.run, LAST - flip.number);
    }
    Rank on_top(nb::handle pair, const Rank &rank) override {
        Parts parts = unpacked(rank);
        return parts.turn ? rank : ranked(pair_of(pair), false, parts.run, parts.flip);
    }

  private:
    Rank ranked(const Pair &pair, bool may_show, u32 run, u32 flip) {
        if (covered_.is_led_on_by(pair)) return packed({0, run, flip});
        u64 turn = ++turns_[pair.targets_from];
        return packed({1 + (may_show ? turn / QUARTER : turn), run, flip});
    }

    Covered covered_;
    nb::object may_show_;
    std::unordered_map<u32, u64> turns_;
};

class Mixed final : public Order {
  public:
    Mixed(Word seed, nb::object covered)
        : seed_(u64(seed.value)), covered_(covered), uncovered_(covered), random_(seed) {}

    Rank rank(nb::handle pair, Flip flip) override {
        if (taken_) work_ += CHILD;  // what waits from the beginning is nobody's
        return ranked(pair, flip);
    }

    Rank on_top(nb::handle pair, const Rank &rank) override {
        std::size_t lane = rank[0];
        if (lane >= ORDERS) throw std::invalid_argument("a rank of another order");
        Rank now = rank.without_first();
        if (!lane && owner(pair_of(pair))) {
            work_ = 0;  // it is not run yet
            return ranked(pair, UncoveredFirst::flip(now));
        }
        if (pair_of(pair).pending) {  // its question may take longer than many tests
            work_ += TURN - 1;
            left_ = 0;
        }
        return orders_[lane]->on_top(pair, now).behind(u8(lane));
    }

    u8 turn(const std::vector<u8> &lanes) override {
        look();
        had_[lane_] += work_ / (is_stale() ? STALE_SHARES : FRESH_SHARES)[lane_];
        if (!left_ || !is_among(lanes, lane_)) lane_ = next(lanes), left_ = TURN;
        --left_;
        work_ = 1;
        return u8(lane_);
    }

    // Depth first the children of what others run come first when it is the lane's turn again.
    std::size_t soon() const override { return orders_[lane_] == &depth_ ? left_ / 2 : Order::soon(); }

    bool is_depth_first(const Rank &rank) const override {
        return rank[0] < ORDERS && orders_[rank[0]]->is_depth_first(rank.without_first());
    }

  private:
    Rank ranked(nb::handle pair, Flip flip) {
        std::size_t lane = owner(pair_of(pair));
        return orders_[lane]->rank(pair, flip).behind(u8(lane));
    }

    static bool is_among(const std::vector<u8> &lanes, std::size_t lane) {
        return std::find(lanes.begin(), lanes.end(), lane) != lanes.end();
    }

    // Whether something new was covered.
    void look() {
        ++taken_;
        if (!has_looked_ || covered_.size() > known_) known_ = covered_.size(), grown_ = taken_, has_looked_ = true;
    }

    std::size_t next(const std::vector<u8> &lanes) {
        double now = had_[lane_];
        for (std::size_t lane = 0; lane < ORDERS; ++lane)  // who has nothing to run saves no turns up
            if (!is_among(lanes, lane)) had_[lane] = std::max(had_[lane], now);
        std::size_t found = lanes.at(0);
        for (u8 lane : lanes) {
            if (lane >= ORDERS) throw std::invalid_argument("a rank of another order");
            if (had_[lane] < had_[found]) found = lane;
        }
        return found;
    }

    std::size_t owner(const Pair &pair) const {
        if (uncovered_.leads_on(pair)) return 0;
        return (is_stale() ? STALE : FRESH)[(pair.id[0] + seed_) % 8];
    }

    bool is_stale() const { return taken_ - grown_ > std::max(PATIENCE, taken_ / 4); }

    u64 seed_;
    Covered covered_;
    UncoveredFirst uncovered_;
    DepthFirst depth_;
    Random random_;
    Order *orders_[ORDERS] = {&uncovered_, &depth_, &random_};
    double had_[ORDERS] = {};  // work of each by its share
    double work_ = 0;          // since a pair was taken: its test, and what came of it
    std::size_t lane_ = 0;     // whose turn it is
    unsigned left_ = 0;        // and for how many pairs more
    u64 taken_ = 0;            // pairs
    u64 grown_ = 0;            // when something new was covered: `taken_` then
    std::size_t known_ = 0;    // covered directions
    bool has_looked_ = false;
};

}  // namespace

Rank Order::on_top(nb::handle, const Rank &rank) { return rank; }
u8 Order::turn(const std::vector<u8> &lanes) { return lanes.at(0); }
std::size_t Order::soon() const { return std::numeric_limits<std::size_t>::max(); }
bool Order::is_depth_first(const Rank &) const { return false; }

Order &order_of(nb::handle object) {
    if (!nb::isinstance<Order>(object)) throw std::invalid_argument("an order is expected");
    return nb::cast<Order &>(object);
}

void add_orders(nb::module_ &m) {
    nb::class_<Order>(m, "Order")
        .def("rank", [](Order &self, nb::handle pair, u32 run, u32 flip) { return self.rank(pair, {run, flip}); })
        .def("on_top", &Order::on_top)
        .def("turn", &Order::turn)
        .def("is_depth_first", &Order::is_depth_first);
    nb::class_<DepthFirst, Order>(m, "DepthFirst").def(nb::init<>());
    nb::class_<OtherBranchFirst, Order>(m, "OtherBranchFirst").def(nb::init<>());
    nb::class_<BreadthFirst, Order>(m, "BreadthFirst").def(nb::init<>());
    nb::class_<Random, Order>(m, "Random").def(nb::init<Word>());
    nb::class_<UncoveredFirst, Order>(m, "UncoveredFirst").def(nb::init<nb::object>());
    nb::class_<Deciding, Order>(m, "Deciding").def(nb::init<nb::object, nb::object>());
    nb::class_<Mixed, Order>(m, "Mixed").def(nb::init<Word, nb::object>());
}

}  // namespace score
