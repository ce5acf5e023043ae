#include "packs.hpp"

#include <algorithm>

#include "casters.hpp"
#include "cursor.hpp"

namespace nb = nanobind;

namespace score {

namespace {

// As it is kept: version; then of each pair how its rank differs from the one before, and what is its own; 0 and how
// its input differs, or, if that is kept apart, its number.
// A difference: how long it is, and in turn how many bytes are as before, how many are not, and these.
constexpr u8 VERSION = 1;
constexpr std::size_t GAP = 2;  // so few equal bytes are not worth another turn

View view_of(const Rank &rank) { return {reinterpret_cast<const char *>(rank.data()), rank.size()}; }

void put(Bytes &to, u64 number) {
    for (; number > 127; number >>= 7) to.push_back(char(number | 128));
    to.push_back(char(number));
}

void put_difference(Bytes &to, View now, View before) {
    std::size_t common = std::min(now.size(), before.size());
    put(to, now.size());
    for (std::size_t at = 0; at < now.size();) {
        std::size_t first = at, same = 0;
        while (first < common && now[first] == before[first]) ++first;
        std::size_t last = first;  // behind what differs
        for (std::size_t i = first; i < now.size() && same <= GAP; ++i) {
            bool is_same = i < common && now[i] == before[i];
            same = is_same ? same + 1 : 0;
            if (!is_same) last = i + 1;
        }
        put(to, first - at), put(to, last - first);
        to.append(now.substr(first, last - first));
        at = last;
    }
}

Bytes difference(Cursor &from, const Bytes &before) {
    u128 size = from.varint();
    Bytes now;
    while (now.size() < size) {
        u128 same = from.varint(), own = from.varint();
        std::size_t left = before.size() - std::min(now.size(), before.size());
        if (!(same + own) || same > left || same + own > size - now.size())
            throw from.fail("a difference that cannot be");
        now.append(before, std::min(now.size(), before.size()), std::size_t(same));
        now.append(reinterpret_cast<const char *>(from.take(own)), std::size_t(own));
    }
    return now;
}

// The pairs of a pack one after the other, each made when it is asked for: a merge holds many packs at once.
class Unpacked {
  public:
    Unpacked(nb::bytes pack, nb::object apart) : pack_(std::move(pack)), apart_(std::move(apart)) {
        from_.events = reinterpret_cast<const u8 *>(pack_.c_str()), from_.size = pack_.size();
        if (!from_.size || from_.events[from_.at++] != VERSION) raise_damaged();
    }

    nb::tuple next() {
        if (from_.at == from_.size) throw nb::stop_iteration();
        u64 number = 0;
        try {
            rank_ = difference(from_, rank_);
            own_ = difference(from_, own_);
            number = u64(from_.varint());
            if (!number) input_ = difference(from_, input_);
        } catch (const TraceFault &) {
            raise_damaged();
        }
        nb::bytes rank(rank_.data(), rank_.size());
        if (!number) return nb::make_tuple(rank, parsed(own_ + input_));
        nb::bytes input = nb::cast<nb::bytes>(apart_(number));
        return nb::make_tuple(rank, parsed(own_ + Bytes(input.c_str(), input.size())));
    }

  private:
    nb::bytes pack_;
    nb::object apart_;
    Cursor from_{64};
    Bytes rank_, own_, input_;  // the last one's
};

}  // namespace

bool Packer::is_of_lane(const Rank &rank) const {
    constexpr std::size_t LANE = 2;  // bytes
    return !size_ || (rank.size() == last_.size() && view_of(rank).substr(0, LANE) == view_of(last_).substr(0, LANE));
}

void Packer::add(const Rank &rank, const Pair &pair, u64 apart) {
    if (!size_++) first_ = rank, last_ = Rank(), bytes_.assign(1, char(VERSION)), own_.clear(), input_ = View();
    Bytes whole;
    pair.write(whole);
    View input = View(pair.input.c_str(), pair.input.size());
    View own = View(whole).substr(0, whole.size() - input.size());
    put_difference(bytes_, view_of(rank), view_of(last_));
    put_difference(bytes_, own, own_);
    put(bytes_, apart);
    if (!apart) put_difference(bytes_, input, input_), input_ = input;
    last_ = rank;
    own_.assign(own);
}

nb::tuple Packer::take(u64 number) {
    nb::object pack = nb::bytes(bytes_.data(), bytes_.size());
    nb::tuple row = nb::make_tuple(number, size_, first_, last_, pack);
    size_ = 0;
    return row;
}

void add_packs(nb::module_ &m) {
    nb::class_<Unpacked>(m, "Unpacked")
        .def(nb::init<nb::bytes, nb::object>())
        .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
        .def("__next__", &Unpacked::next);
}

}  // namespace score
