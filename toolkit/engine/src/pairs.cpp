#include "pairs.hpp"

#include <nanobind/stl/optional.h>

#include <cstring>
#include <string>

#include "casters.hpp"
#include "tracing.hpp"

namespace nb = nanobind;

namespace score {

namespace {

// As it is kept: version, neg_limit, place, predicted, condition hash, site, targets from and to; the id; `pending`,
// `behind`, how many objects are left out, the digest of their address; these objects; the decisions; the input.
constexpr u8 VERSION = 8;
constexpr std::size_t ID = sizeof(PairId), HEAD = 33, MORE = 4 + 16, OBJECT = 16;
constexpr unsigned HAS_DECISIONS = 0x8000;  // beside the number of objects

struct Classes {
    nb::object left_out, damaged;
};
Classes &classes() {
    static Classes *const known = new Classes;
    return *known;
}

template <class Number> void put(std::string &to, Number number) {  // little endian, as the hosts are
    to.append(reinterpret_cast<const char *>(&number), sizeof number);
}
template <class Number> Number got(const u8 *from) {
    Number number;
    std::memcpy(&number, from, sizeof number);  // little endian, as the hosts are
    return number;
}
void put(std::string &to, const PairId &id) { to.append(reinterpret_cast<const char *>(id.data()), id.size()); }

nb::object range_of(u32 from, u32 to) {
    return nb::borrow(reinterpret_cast<PyObject *>(&PyRange_Type))(from, to);
}

// A serialised pair, looked at where it lies.
struct Stored {
    const u8 *bytes;
    std::size_t size;

    bool has_head() const { return size >= HEAD + ID + MORE && bytes[0] == VERSION; }
    unsigned count() const { return got<u16>(bytes + HEAD + ID + 2); }
    std::size_t objects_end() const { return HEAD + ID + MORE + std::size_t(count() & ~HAS_DECISIONS) * OBJECT; }
    std::size_t own() const { return objects_end() + (count() & HAS_DECISIONS ? ID : 0); }
    bool is_whole() const { return has_head() && size >= own(); }
    PairId id_at(std::size_t at) const {
        PairId id;
        std::memcpy(id.data(), bytes + at, ID);
        return id;
    }
};

Stored stored(const nb::bytes &data) { return {static_cast<const u8 *>(data.data()), data.size()}; }

nb::object fields(const Pair &pair) {
    nb::dict found;
    found["id"] = pair.id, found["input"] = pair.input, found["neg_limit"] = pair.neg_limit;
    found["place"] = pair.place, found["predicted"] = pair.predicted, found["condition_hash"] = pair.condition_hash;
    found["site"] = pair.site, found["targets"] = range_of(pair.targets_from, pair.targets_to);
    found["left_out"] = pair.left_out, found["decided"] = pair.decided;
    found["pending"] = pair.pending, found["behind"] = pair.behind;
    return found;
}

nb::object but(nb::handle self, nb::kwargs changes) {
    const Pair &pair = nb::cast<const Pair &>(self);
    nb::object made = fields(pair);
    made["route"] = pair.route;
    made["origin"] = pair.origin ? nb::cast(pair.origin) : nb::none();
    for (auto [name, value] : changes) made[name] = value;
    return self.type()(**nb::cast<nb::kwargs>(made));
}

bool equal(const Pair &a, nb::handle other) {
    return nb::isinstance<Pair>(other) && fields(a).equal(fields(nb::cast<const Pair &>(other)));
}

std::size_t own_part(const nb::bytes &data) {
    Stored from = stored(data);
    bool is_pending = from.has_head() && from.bytes[HEAD + ID];
    return is_pending ? from.own() : data.size();
}

bool is_serialised(const nb::bytes &data, const nb::bytes &id) {
    Stored from = stored(data);
    return from.size >= HEAD + ID && from.bytes[0] == VERSION && id.size() == ID &&
           !std::memcmp(from.bytes + HEAD, id.data(), ID);
}

}  // namespace

void raise_damaged() {
    nb::object error = classes().damaged();
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
    nb::raise_python_error();
}

Pair parsed(std::string_view data) {
    Stored from{reinterpret_cast<const u8 *>(data.data()), data.size()};
    if (!from.is_whole()) raise_damaged();
    const u8 *head = from.bytes, *more = head + HEAD + ID;
    Pair made{from.id_at(HEAD), nb::bytes(head + from.own(), from.size - from.own()), got<u32>(head + 1),
              got<u32>(head + 5), got<u32>(head + 9), got<u64>(head + 13), got<u32>(head + 21), got<u32>(head + 25),
              got<u32>(head + 29)};
    made.pending = more[0], made.behind = more[1];
    if (unsigned count = from.count() & ~HAS_DECISIONS) {
        nb::list objects;
        for (unsigned i = 0; i < count; ++i) {
            const u8 *object = more + MORE + i * OBJECT;
            objects.append(nb::make_tuple(got<u64>(object), got<u64>(object + 8)));
        }
        made.left_out = classes().left_out(nb::bytes(more + 4, 16), nb::tuple(objects));
    }
    if (from.count() & HAS_DECISIONS) made.decided = from.id_at(from.objects_end());
    return made;
}

void Pair::write(std::string &text) const {
    text.reserve(text.size() + HEAD + ID + MORE + ID + input.size());
    put(text, VERSION), put(text, neg_limit), put(text, place), put(text, predicted), put(text, condition_hash);
    put(text, site), put(text, targets_from), put(text, targets_to);
    put(text, id);
    put(text, pending), put(text, behind);
    std::string objects, address(16, '\0');
    unsigned count = 0;
    if (!left_out.is_none()) {
        nb::bytes given = nb::cast<nb::bytes>(left_out.attr("address"));
        std::memcpy(address.data(), given.data(), std::min<std::size_t>(given.size(), address.size()));
        for (nb::handle object : nb::borrow<nb::iterable>(left_out.attr("objects"))) {
            put(objects, nb::cast<u64>(object[0])), put(objects, nb::cast<u64>(object[1]));
            ++count;
        }
    }
    put(text, u16(count | (decided ? HAS_DECISIONS : 0)));
    text += address + objects;
    if (decided) put(text, *decided);
    text.append(static_cast<const char *>(input.data()), input.size());
}

nb::bytes Pair::to_bytes() const {
    std::string text;
    write(text);
    return nb::bytes(text.data(), text.size());
}

std::size_t Pair::shared_bytes() const { return pending ? input.size() : 0; }

Pair other_side(const PairId &decisions, nb::bytes input, u32 index, const Condition &condition,
                const Origin &origin) {
    Pair made{decided(decisions, condition, true), std::move(input), index + 1, index + 1, u32(condition.counted) + 1,
              condition.hash(true), u32(condition.site), u32(condition.elsewhere.first),
              u32(condition.elsewhere.first + condition.elsewhere.count)};
    if (!condition.elsewhere.count) made.targets_from = made.targets_to = 0;
    if (condition.loose) {
        made.neg_limit = NEVER, made.place = index, made.predicted = u32(condition.counted);
        made.condition_hash = value(condition.before), made.targets_from = made.targets_to = 0;
        made.decided = decisions;
    }
    made.origin = origin;
    return made;
}

Pair &pair_of(nb::handle object) {
    static PyObject *const type = nb::type<Pair>().ptr();  // a pair's class is final; to look it up takes long
    if (reinterpret_cast<PyObject *>(Py_TYPE(object.ptr())) != type || !nb::inst_ready(object))
        throw std::invalid_argument("a pair is expected");
    return *nb::inst_ptr<Pair>(object);
}

void add_pairs(nb::module_ &m) {
    m.def("pairs_are", [](nb::object left_out, nb::object damaged) {
        classes().left_out = std::move(left_out), classes().damaged = std::move(damaged);
    });

    nb::class_<Origin>(m, "Origin").def("__init__", [](Origin *self, const Origin *parent, u32 common) {
        new (self) Origin(parent ? Origin::of(*parent, common) : Origin::first());
    }, nb::arg("parent") = nb::none(), nb::arg("common") = 0)
        .def("in_common", [](const Origin &self, const Origin &other) { return Origin::in_common(self, other); });

    nb::class_<Pair>(m, "Pair", nb::is_final())
        .def("__init__", [](Pair *self, const PairId &id, nb::bytes input, u32 neg_limit, u32 place, u32 predicted,
                            u64 condition_hash, u32 site, nb::handle targets, nb::object left_out,
                            std::optional<PairId> decided, u8 pending, u8 behind, nb::object route,
                            const Origin *origin) {
            u32 from = nb::cast<u32>(targets.attr("start")), to = nb::cast<u32>(targets.attr("stop"));
            new (self) Pair{id, std::move(input), neg_limit, place, predicted, condition_hash, site, from, to,
                            std::move(left_out), decided, pending, behind, std::move(route),
                            origin ? *origin : Origin()};
        }, nb::arg("id"), nb::arg("input"), nb::arg("neg_limit"), nb::arg("place"), nb::arg("predicted"),
           nb::arg("condition_hash"), nb::arg("site"), nb::arg("targets") = range_of(0, 0),
           nb::arg("left_out") = nb::none(), nb::arg("decided") = nb::none(), nb::arg("pending") = 0,
           nb::arg("behind") = 0, nb::arg("route") = nb::none(), nb::arg("origin") = nb::none())
        .def_ro("id", &Pair::id)
        .def_ro("input", &Pair::input)
        .def_ro("neg_limit", &Pair::neg_limit)
        .def_ro("place", &Pair::place)
        .def_ro("predicted", &Pair::predicted)
        .def_ro("condition_hash", &Pair::condition_hash)
        .def_ro("site", &Pair::site)
        .def_prop_ro("targets", [](const Pair &self) { return range_of(self.targets_from, self.targets_to); })
        .def_ro("left_out", &Pair::left_out)
        .def_ro("decided", &Pair::decided)
        .def_ro("pending", &Pair::pending)
        .def_ro("behind", &Pair::behind)
        .def_ro("route", &Pair::route)
        .def_prop_ro("origin", [](const Pair &self) { return self.origin ? nb::cast(self.origin) : nb::none(); })
        .def_prop_ro("depth", &Pair::depth)
        .def_rw("row", &Pair::row)
        .def("keep", [](Pair &self, nb::object route) { self.route = std::move(route); })
        .def("but", but)
        .def("to_bytes", &Pair::to_bytes)
        .def_static("from_bytes", [](const nb::bytes &data) { return parsed({data.c_str(), data.size()}); })
        .def("__eq__", equal)
        .def("__hash__", [](const Pair &self) { return got<Py_hash_t>(self.id.data()) >> 1; })
        .def("__repr__", [](const Pair &self) { return nb::str("Pair({!r})").attr("format")(fields(self)); });

    m.def("decided", [](const PairId &before, nb::handle condition, bool flipped) {
        return decided(before, *condition_of(condition), flipped);
    }, nb::arg("before"), nb::arg("condition"), nb::arg("flipped") = false);
    m.def("other_side", [](const PairId &decisions, nb::bytes input, u32 index, nb::handle condition,
                           const Origin &origin) {
        return other_side(decisions, std::move(input), index, *condition_of(condition), origin);
    });
    m.def("own_part", own_part);
    m.def("is_serialised", is_serialised);
}

}  // namespace score
