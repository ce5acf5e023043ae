// What is remembered while it is asked for: beyond a limit, what nobody asked for lately is forgotten.
//
// All maps of a room have two halves, the old and the young. What is added or asked for is young. When the young take
// half of the room, the old are dropped and the young are the old. That is nearly the least recently used, without a
// list of uses, and bounds memory as dropping everything would; but what neighbouring questions have in common stays.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace score {

class Room {
  public:
    // `most`: cells of all that is in its maps, about.
    explicit Room(std::size_t most) : half_(most / 2) {}
    Room(const Room &) = delete;

    void take(std::size_t cells) { young_ += cells; }
    // To be called when nobody holds what a map returned.
    void tidy() {
        if (young_ <= half_) return;
        young_ = 0;
        for (Ages *each : maps_) each->grow_old();
    }

  protected:
    struct Ages {
        virtual void grow_old() = 0;

      protected:
        ~Ages() = default;
    };

  private:
    template <class Map> friend class Twofold;

    std::size_t half_, young_ = 0;
    std::vector<Ages *> maps_;
};

// The mapped values are pointers to what has `taken()`: how many cells of the room.
template <class Map> class Twofold final : Room::Ages {
  public:
    using Value = typename Map::mapped_type;

    explicit Twofold(Room &room) : room_(room) { room.maps_.push_back(this); }
    Twofold(const Twofold &) = delete;

    // Null if it is not known.
    Value find(const typename Map::key_type &key) {
        if (auto known = young_.find(key); known != young_.end()) return known->second;
        auto part = old_.extract(key);
        if (part.empty()) return nullptr;
        room_.take(part.mapped()->taken());
        return young_.insert(std::move(part)).position->second;
    }
    // Of a key that is not known.
    Value add(typename Map::key_type key, Value value) {
        room_.take(value->taken());
        return young_.emplace(std::move(key), std::move(value)).first->second;
    }
    std::size_t size() const { return young_.size() + old_.size(); }

  private:
    void grow_old() override {
        old_ = std::move(young_);
        young_.clear();
    }

    Room &room_;
    Map young_, old_;
};

}  // namespace score
