#include "queue.hpp"

#include <nanobind/stl/optional.h>

#include <map>

#include "casters.hpp"

namespace nb = nanobind;

namespace score {

namespace {

using Lane = std::array<u8, 2>;         // of a rank: how often it was put off, and the strategy's first byte
constexpr std::size_t OVERHEAD = 320;   // bytes that a pair in memory takes besides its input, measured

Lane lane_of(const Rank &rank) { return {rank[0], rank[1]}; }

Rank ranked(Order &order, nb::handle pair, Flip flip) {
    Rank rank = order.rank(pair, flip);
    return rank.behind(pair_of(pair).behind);
}

// Of these, in order, of which there is at least one: what was put off least, then what the strategy says.
Lane next_lane(Order &order, const std::vector<Lane> &lanes, std::vector<u8> &firsts) {
    u8 behind = lanes.at(0)[0];
    firsts.clear();
    for (const Lane &lane : lanes)
        if (lane[0] == behind) firsts.push_back(lane[1]);
    return {behind, order.turn(firsts)};
}

struct Entry {
    Rank rank;
    nb::object pair;

    const PairId &id() const { return pair_of(pair).id; }
    bool operator>(const Entry &other) const {
        if (rank == other.rank) return id() > other.id();
        return other.rank < rank;
    }
};

std::size_t size_of(nb::handle object) {
    const Pair &pair = pair_of(object);
    return OVERHEAD + (pair.route.is_none() ? pair.input.size() : 0);  // flips of a run share its input
}

struct Waiting {
    std::vector<Entry> heap{};  // the first is the next
    std::size_t size = 0;       // bytes of these, about
    std::optional<Rank> end{};  // the pairs ranked above it are in the backlog only; none: all are in memory
};

class Queue final : public QueueSide {
  public:
    Queue(nb::object order, nb::object backlog, std::size_t memory)
        : held_(std::move(order)), order_(order_of(held_)), backlog_(std::move(backlog)), memory_(memory) {}
    Queue(const Queue &) = delete;

    // Pairs derived from one run, the shallowest flip first; returns their ranks, for the backlog.
    nb::tuple add(nb::handle pairs) {
        nb::list ranks;
        for (const Rank &rank : keep(pairs)) ranks.append(rank);
        return nb::tuple(ranks);
    }

    std::vector<Rank> keep(nb::handle pairs) override {
        std::vector<Entry> entries;
        entries.reserve(PyList_CheckExact(pairs.ptr()) ? nb::len(pairs) : 0);
        for (nb::handle pair : nb::borrow<nb::iterable>(pairs))
            entries.push_back({ranked(order_, pair, {runs_, u32(entries.size())}), nb::borrow(pair)});
        std::vector<Rank> ranks;
        ranks.reserve(entries.size());
        for (Entry &entry : entries) {
            ranks.push_back(entry.rank);
            push(std::move(entry));
        }
        runs_ += !entries.empty();
        if (bytes_ > memory_ && !backlog_.is_none()) spill();
        return ranks;
    }

    nb::object next() override {
        fill();
        while (!lanes_.empty()) {
            names_.clear();
            for (const auto &[name, lane] : lanes_) names_.push_back(name);
            Entry next = pop(next_lane(order_, names_, firsts_));
            Rank now = order_.on_top(next.pair, next.rank.without_first()).behind(next.rank[0]);
            if (now == next.rank) {
                taken = now;
                return next.pair;
            }
            if (!backlog_.is_none()) backlog_.attr("rerank")(next.pair, now);
            next.rank = now;
            push(std::move(next));
            fill();
        }
        return nb::none();
    }

    u8 lane() const override { return taken.size() ? taken[1] : 0; }

    // The order is not asked to rank them anew: that would change it.
    std::vector<nb::object> likely(std::size_t most) const override {
        std::vector<nb::object> found;
        most = std::min(most, order_.soon());
        auto at = taken.size() ? lanes_.find(lane_of(taken)) : lanes_.end();
        if (at == lanes_.end()) return found;
        const std::vector<Entry> &heap = at->second.heap;
        auto is_later = [&](std::size_t a, std::size_t b) { return heap[a] > heap[b]; };
        std::vector<std::size_t> open;  // a heap as well: those above which all are found
        found.reserve(std::min(most, heap.size())), open.reserve(found.capacity() + 1);
        if (!heap.empty()) open.push_back(0);
        while (!open.empty() && found.size() < most) {
            std::pop_heap(open.begin(), open.end(), is_later);
            std::size_t best = open.back();
            open.pop_back();
            found.push_back(heap[best].pair);
            for (std::size_t below : {2 * best + 1, 2 * best + 2}) {
                if (below >= heap.size()) continue;
                open.push_back(below);
                std::push_heap(open.begin(), open.end(), is_later);
            }
        }
        return found;
    }

    // Nothing waits; the next run that brings pairs has this number.
    void begin(u32 runs) {
        lanes_.clear();
        runs_ = runs, bytes_ = away_ = 0;
    }

    void put_back(nb::object pair) { push({taken, std::move(pair)}); }

    std::size_t size() const override {
        std::size_t count = away_;
        for (const auto &[name, lane] : lanes_) count += lane.heap.size();
        return count;
    }

    // Rank and pair of those in memory.
    nb::list in_memory() const {
        nb::list found;
        for (const auto &[name, lane] : lanes_)
            for (const Entry &entry : lane.heap) found.append(nb::make_tuple(entry.rank, entry.pair));
        return found;
    }

    u32 state() const { return runs_; }

    // Go on with what waits in the backlog.
    void restore(u32 runs) {
        runs_ = runs;
        for (nb::handle pair : nb::borrow<nb::iterable>(backlog_.attr("unranked")())) {
            backlog_.attr("rerank")(pair, ranked(order_, pair, {runs_, 0}));
            ++runs_;
        }
        lanes_.clear();
        for (std::optional<Rank> first = first_after(Rank()); first; first = first_after(above(lane_of(*first)))) {
            Lane name = lane_of(*first);
            lanes_[name].end = Rank(name.data(), name.size());
        }
        bytes_ = 0, away_ = nb::cast<std::size_t>(backlog_.attr("waiting")());
    }

    Rank taken;  // the rank of the pair that was taken last

  private:
    static Rank above(const Lane &lane) {  // all of its ranks
        u8 bytes[Rank::MOST];
        std::memset(bytes, 0xFF, sizeof bytes);
        std::memcpy(bytes, lane.data(), lane.size());
        return Rank(bytes, sizeof bytes);
    }

    std::optional<Rank> first_after(const Rank &rank) const {
        for (nb::handle known : nb::borrow<nb::iterable>(backlog_.attr("waiting_after")(rank)))
            return nb::cast<Rank>(known[0]);
        return std::nullopt;
    }

    void push(Entry entry) {
        Waiting &lane = lanes_[lane_of(entry.rank)];
        if (lane.end && *lane.end < entry.rank) {
            ++away_;
            return;
        }
        std::size_t size = size_of(entry.pair);
        lane.heap.push_back(std::move(entry));
        std::push_heap(lane.heap.begin(), lane.heap.end(), std::greater<>());
        lane.size += size, bytes_ += size;
    }

    Entry pop(const Lane &name) {
        Waiting &lane = lanes_.at(name);
        std::pop_heap(lane.heap.begin(), lane.heap.end(), std::greater<>());
        Entry entry = std::move(lane.heap.back());
        lane.heap.pop_back();
        std::size_t size = size_of(entry.pair);
        lane.size -= size, bytes_ -= size;
        if (lane.heap.empty() && !lane.end) lanes_.erase(name);
        return entry;
    }

    // Forget those of each lane that the order wants last, so that half of the memory stays in use.
    void spill() {
        std::size_t left = 0;
        for (auto &[name, lane] : lanes_) {
            std::sort(lane.heap.begin(), lane.heap.end(), [](const Entry &a, const Entry &b) { return b > a; });
            std::size_t allowed = std::size_t(u128(lane.size) * (memory_ / 2) / bytes_);
            while (lane.size > allowed && lane.heap.size() > 1) {
                lane.size -= size_of(lane.heap.back().pair);
                lane.heap.pop_back();
                ++away_;
            }
            if (!lane.heap.empty()) lane.end = lane.heap.back().rank;
            left += lane.size;
        }
        bytes_ = left;
    }

    // Each lane has a pair in memory; those in which nothing waits any more are gone.
    void fill() {
        for (auto at = lanes_.begin(); at != lanes_.end();) {
            if (at->second.heap.empty() && !fetch(at->first, at->second))
                at = lanes_.erase(at);
            else
                ++at;
        }
    }

    // A share of half of the memory full of what comes next from the backlog; false if nothing waits there.
    bool fetch(const Lane &name, Waiting &lane) {
        if (!lane.end) return false;
        std::size_t most = memory_ / 2 / lanes_.size();
        nb::object known = backlog_.attr("waiting_after")(*lane.end);
        lane.end.reset();
        for (nb::handle row : nb::borrow<nb::iterable>(known)) {
            Rank rank = nb::cast<Rank>(row[0]);
            if (lane_of(rank) != name) break;
            lane.heap.push_back({rank, row[1]});  // in order, so it is a heap
            lane.size += size_of(lane.heap.back().pair);
            if (lane.size > most) {
                lane.end = rank;
                break;
            }
        }
        bytes_ += lane.size;
        away_ -= std::min(away_, lane.heap.size());
        return !lane.heap.empty();
    }

    nb::object held_;
    Order &order_;
    nb::object backlog_;
    std::size_t memory_;
    std::map<Lane, Waiting> lanes_;  // those in which pairs wait
    std::vector<Lane> names_;        // of these, while the next pair is chosen: vectors whose memory is used again
    std::vector<u8> firsts_;
    std::size_t bytes_ = 0;          // of pairs in memory, about
    std::size_t away_ = 0;           // pairs that are in the backlog only
    u32 runs_ = 0;                   // that brought pairs
};

}  // namespace

QueueSide &queue_of(nb::handle object) {
    if (!nb::isinstance<Queue>(object)) throw std::invalid_argument("a queue is expected");
    return nb::cast<Queue &>(object);
}

void add_queues(nb::module_ &m) {
    nb::class_<Queue>(m, "Queue")
        .def(nb::init<nb::object, nb::object, std::size_t>(), nb::arg("order"), nb::arg("backlog").none(),
             nb::arg("memory"))
        .def("add", &Queue::add)
        .def("take", &Queue::next)
        .def("begin", &Queue::begin)
        .def("put_back", &Queue::put_back)
        .def("__len__", &Queue::size)
        .def("in_memory", &Queue::in_memory)
        .def("state", &Queue::state)
        .def("restore", &Queue::restore)
        .def_ro("taken", &Queue::taken);
    m.def("ranked", [](Order &order, nb::handle pair, u32 run, u32 flip) { return ranked(order, pair, {run, flip}); });
    m.def("next_lane", [](Order &order, nb::handle lanes) {
        std::vector<Lane> names;
        for (nb::handle lane : nb::borrow<nb::iterable>(lanes)) {
            nb::bytes name = nb::cast<nb::bytes>(lane);
            if (name.size() != 2) throw std::invalid_argument("a lane's name has two bytes");
            names.push_back({u8(name.c_str()[0]), u8(name.c_str()[1])});
        }
        std::sort(names.begin(), names.end());
        std::vector<u8> firsts;
        Lane next = next_lane(order, names, firsts);
        return nb::bytes(next.data(), next.size());
    });
}

}  // namespace score
