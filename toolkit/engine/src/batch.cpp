#include "batch.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "casters.hpp"
#include "packs.hpp"
#include "pooled.hpp"

namespace nb = nanobind;

namespace score {

namespace {

constexpr std::size_t LONG = 64;  // bytes of an input that is worth a row of its own

struct HashOfId {
    std::size_t operator()(const PairId &id) const {
        return std::hash<std::string_view>()({reinterpret_cast<const char *>(id.data()), id.size()});
    }
};

class PairBatch final : public BatchSide {
  public:
    PairBatch() = default;
    PairBatch(const PairBatch &) = delete;

    void add(nb::handle pair, const Rank &rank) override {
        places_[pair_of(pair).id] = found_.size();
        found_.push_back({nb::borrow(pair), rank});
    }

    // These wait from now on; `ranks`: theirs, in the same order.
    void add_all(nb::handle pairs, nb::handle ranks) {
        nb::iterator rank = nb::iter(ranks);
        for (nb::handle pair : nb::borrow<nb::iterable>(pairs)) {
            if (rank == nb::iterator::sentinel()) throw std::invalid_argument("fewer ranks than pairs");
            add(pair, nb::cast<Rank>(*rank));
            ++rank;
        }
    }

    void done(nb::handle pair) override {
        const Pair &one = pair_of(pair);
        if (one.row) {
            gone_.append(nb::make_tuple(one.row));
        } else if (auto at = places_.find(one.id); at != places_.end()) {
            found_[at->second].pair.reset();
            places_.erase(at);
        }
    }

    // Its rank is another one from now on. False: the record has it, and has to be told.
    bool rerank(nb::handle pair, const Rank &rank) {
        auto at = places_.find(pair_of(pair).id);
        if (at == places_.end()) return false;
        found_[at->second].rank = rank;
        return true;
    }

    // Packs of those that wait, whose rows have numbers from this one on, with at most so many pairs each; and the rows
    // of the pairs that are done. `apart` says the number of an input that is kept elsewhere, since others have it,
    // too. The batch is empty then.
    std::pair<nb::list, nb::list> take(u64 number, std::size_t most, nb::handle apart) {
        std::vector<Entry *> waiting;
        for (Entry &entry : found_)
            if (entry.pair.is_valid()) waiting.push_back(&entry);
        std::stable_sort(waiting.begin(), waiting.end(),
                         [](const Entry *a, const Entry *b) { return a->rank < b->rank; });
        nb::list packs;
        Packer packer;
        auto end = [&] {
            if (packer.size()) packs.append(packer.take(number - packer.size()));
        };
        for (Entry *entry : waiting) {
            if (packer.size() == most || !packer.is_of_lane(entry->rank)) end();
            Pair &pair = pair_of(entry->pair);
            packer.add(entry->rank, pair, pair.shared_bytes() < LONG ? 0 : nb::cast<u64>(apart(pair.input)));
            pair.row = number++;
        }
        end();
        found_.clear(), places_.clear();
        nb::list gone = std::move(gone_);
        gone_ = nb::list();
        return {packs, gone};
    }

  private:
    struct Entry {
        nb::object pair;  // null: it is done
        Rank rank;
    };

    std::vector<Entry> found_;
    std::unordered_map<PairId, std::size_t, HashOfId, std::equal_to<>, Pooled<std::pair<const PairId, std::size_t>>>
        places_;  // in it
    nb::list gone_;
};

}  // namespace

BatchSide &batch_of(nb::handle object) {
    if (!nb::isinstance<PairBatch>(object)) throw std::invalid_argument("a batch is expected");
    return nb::cast<PairBatch &>(object);
}

void add_batches(nb::module_ &m) {
    nb::class_<PairBatch>(m, "PairBatch")
        .def(nb::init<>())
        .def("add", &PairBatch::add_all)
        .def("done", &PairBatch::done)
        .def("rerank", &PairBatch::rerank)
        .def("take", &PairBatch::take);
}

}  // namespace score
