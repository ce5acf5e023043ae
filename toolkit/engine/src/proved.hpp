// Slices already proved sat or unsat, remembered by content and used for other slices too.
//
// A slice that holds an unsatisfiable core is unsat; a model of a slice satisfies each slice that asks for less.
// Entries hold names of conditions (digest.hpp), byte sets and values, no formulas: so nothing is kept alive, and what
// died and came again is found. The tables are bounded: what was not used for longest is forgotten. Which of several
// entries is found depends on the order of questions alone, so the same campaign finds the same ones every time.
#pragma once

#include <algorithm>
#include <list>
#include <optional>
#include <unordered_map>

#include "decided.hpp"
#include "digest.hpp"
#include "evaluate.hpp"

namespace score {

using Name = std::pair<u64, u64>;  // a digest's halves

// A conjunction of conditions as the tables have it: names of those over two bytes or more, and a set of values a byte.
class Conjunction {
  public:
    explicit Conjunction(const std::vector<Id> &conditions, const ByteSets &sets = {});

    const std::vector<Name> &in_order() const { return in_order_; }  // as the conditions come
    const std::vector<Name> &names() const { return names_; }        // rising, each once
    u64 mark() const { return mark_; }                               // a bit for each name: most are told apart by it
    const ByteSets &sets() const { return sets_; }                   // rising
    std::vector<u32> bytes() const;                                  // that it depends on, rising

  private:
    std::vector<Name> in_order_, names_;
    u64 mark_ = 0;
    ByteSets sets_;
    std::vector<u64> deps_;
};

// Entries by the names they are to be found under. `Said`: what an entry says of a byte.
template <class Said> class ProvedTable {
  public:
    struct Entry {
        std::size_t size() const { return names.size() + bytes.size() + 1; }

        std::vector<Name> names;  // rising
        u64 mark;
        std::vector<std::pair<u32, Said>> bytes;  // rising
        std::size_t first, last;                  // of the names, those that it is found under
        u64 number = 0;                           // a later entry has a larger one
    };
    using Place = typename std::list<Entry>::iterator;

    explicit ProvedTable(std::size_t most) : most_(most) {}
    ProvedTable(const ProvedTable &) = delete;

    void add(Entry entry) {
        entry.number = ++added_;
        size_ += entry.size();
        Place place = entries_.insert(entries_.end(), std::move(entry));
        for (std::size_t i = place->first; i < place->last; ++i) under_[place->names[i]].push_back(place);
        while (size_ > most_) forget();
    }

    // Those under a name, the oldest first.
    const std::vector<Place> &under(const Name &name) const {
        static const std::vector<Place> nothing;
        auto found = under_.find(name);
        return found == under_.end() ? nothing : found->second;
    }
    const Entry &used(Place place) {
        entries_.splice(entries_.end(), entries_, place);
        return *place;
    }

    std::size_t size() const { return size_; }            // names, sets and values of all entries, and one for each
    std::size_t entries() const { return entries_.size(); }
    std::size_t names() const { return under_.size(); }   // under which there is an entry

  private:
    struct Hash {
        std::size_t operator()(const Name &name) const { return name.first; }
    };

    void forget() {
        const Entry &entry = entries_.front();
        size_ -= entry.size();
        for (std::size_t i = entry.first; i < entry.last; ++i) {
            auto found = under_.find(entry.names[i]);
            std::vector<Place> &places = found->second;
            places.erase(std::lower_bound(places.begin(), places.end(), entry.number,
                                          [](Place place, u64 number) { return place->number < number; }));
            if (places.empty()) under_.erase(found);
        }
        entries_.pop_front();
    }

    std::size_t most_, size_ = 0;
    u64 added_ = 0;
    std::list<Entry> entries_;  // what was used last is last
    std::unordered_map<Name, std::vector<Place>, Hash> under_;
};

class Proved {
  public:
    // `most`: names, sets and values that each of the two tables keeps.
    explicit Proved(std::size_t most) : cores_(most), models_(most) {}

    // SAT, UNSAT or LEFT. `data`: the bytes that a model does not name keep their values.
    Decided find(const Conjunction &asked, const Input &data);

    void add_core(const Conjunction &core);
    void add_model(const Conjunction &satisfied, const Input &data);

    const ProvedTable<ByteSet> &cores() const { return cores_; }
    const ProvedTable<u8> &models() const { return models_; }

  private:
    std::optional<ProvedTable<ByteSet>::Place> core_of(const Conjunction &asked) const;
    std::optional<ProvedTable<u8>::Place> model_of(const Conjunction &asked, const Input &data) const;

    ProvedTable<ByteSet> cores_;
    ProvedTable<u8> models_;
};

}  // namespace score
