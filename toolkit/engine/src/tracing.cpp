#include "tracing.hpp"

#include <nanobind/stl/string.h>

#include "build.hpp"
#include "casters.hpp"
#include "descent.hpp"
#include "image.hpp"

namespace nb = nanobind;

namespace score {

namespace {

nb::object formula(Id id) { return owned(handle_of(id)); }

Input input_of(const nb::bytes &bytes) { return {static_cast<const u8 *>(bytes.data()), bytes.size()}; }

// Python's classes for what is told of paths, and for damage. They live as long as the process.
struct Classes {
    nb::object damage, chosen, pin, object, disagreement;
};
Classes &classes() {
    static Classes *const known = new Classes;
    return *known;
}

// That the address of a condition is in the object of a base and size, or that its formula has a value.
struct Inside {
    std::shared_ptr<Image> image;
    std::shared_ptr<const Choice> choice;
};

// Python's form of a condition. It stays when the trail goes back, for pending flips that remember their path.
struct Seen {
    ConditionPtr of;
    std::shared_ptr<Image> image;

    nb::object chosen() const {
        const auto &choice = of->chosen;
        if (!choice) return nb::none();
        nb::list others;
        for (const auto &[base, size] : choice->others) others.append(nb::make_tuple(base, size));
        return classes().chosen(formula(choice->address), choice->base, choice->size, Inside{image, choice},
                                nb::tuple(others));
    }
    nb::tuple elsewhere() const {
        nb::list found;
        for (u64 i = 0; i < of->elsewhere.count; ++i) found.append(of->elsewhere.first + i);
        return nb::tuple(found);
    }
};

nb::tuple lanes(Lanes lanes) { return nb::make_tuple(lanes.a, lanes.b); }

// --- trails ----------------------------------------------------------------------------------------------------

class PythonTrail final : public TrailSide, Listener {
  public:
    PythonTrail(nb::object table, bool verify, nb::object constants, nb::handle forks, std::size_t kept)
        : table(std::move(table)), image_(std::make_shared<Image>(std::move(constants), kept)),
          trail_({nb::cast<unsigned>(this->table.attr("pointer_bits")), verify,
                  {word(forks.attr("values")), nb::cast<bool>(forks.attr("arguments"))}, kept},
                 Sites(this->table), *image_, image_->pointers, *this) {}

    PythonTrail(const PythonTrail &) = delete;

    void enlist(nb::object follower) {
        if (Follower *native = follower_of(follower))
            natives_.push_back({std::move(follower), native});
        else
            followers_.push_back({follower.attr("cut"), follower.attr("pass_by")});
    }

    u64 go_back(nb::bytes events, nb::bytes data, u64 limit) override {
        return with_run(std::move(events), std::move(data), [&](Input sent, Input input) {
            return trail_.rewind(sent, input, limit);
        });
    }

    void extend(nb::object visit) {
        visit_ = std::move(visit);
        struct Done {
            nb::object &visit;
            ~Done() { visit = nb::none(); }
        } done{visit_};
        trail_.extend();
    }

    void extend_with(Visitor &visitor) override {
        visitor_ = &visitor;
        struct Done {
            Visitor *&visitor;
            ~Done() { visitor = nullptr; }
        } done{visitor_};
        trail_.extend();
    }

    const Trail &path() const override { return trail_; }
    nb::object python_condition(const ConditionPtr &condition) const override {
        return nb::cast(Seen{condition, image_});
    }

    u64 site_at(nb::bytes events, nb::bytes data, u64 offset) {
        return with_run(std::move(events), std::move(data), [&](Input sent, Input input) {
            return trail_.site_at(sent, input, offset);
        });
    }

    std::size_t sound(nb::bytes events, nb::bytes data) {
        return with_run(std::move(events), std::move(data), [&](Input sent, Input input) {
            return trail_.sound(sent, input);
        });
    }

    nb::bytes events() const { return trail_.decoded().cursor.events ? events_ : nb::bytes("", 0); }
    nb::bytes data() const { return trail_.decoded().data.bytes ? data_ : nb::bytes("", 0); }

    nb::list conditions() {
        for (std::size_t i = conditions_.size(); i < trail_.conditions.size(); ++i)
            conditions_.append(python_condition(trail_.conditions[i]));
        return conditions_;
    }

    nb::list pins() {
        const auto &pins = trail_.decoded().pins;
        for (std::size_t i = pins_.size(); i < pins.size(); ++i)
            pins_.append(classes().pin(pins[i].site, formula(pins[i].value), formula(pins[i].formula)));
        return pins_;
    }

    nb::list objects() {
        const auto &objects = trail_.decoded().objects;
        for (std::size_t i = objects_.size(); i < objects.size(); ++i)
            objects_.append(classes().object(objects[i].name, objects[i].offset, objects[i].size, objects[i].site));
        return objects_;
    }

    nb::list disagreements() const {
        nb::list found;
        for (const Disagreement &each : trail_.decoded().disagreements)
            found.append(
                classes().disagreement(each.site, owned(number_of(each.stored)), owned(number_of(each.computed))));
        return found;
    }

    nb::dict notes() const {
        nb::dict found;
        for (const NoteCount &note : trail_.decoded().notes)
            found[nb::make_tuple(nb::str(note.what.c_str(), note.what.size()), note.site)] = note.times;
        return found;
    }

    u64 condition_hash(std::size_t count) const {
        if (count > trail_.conditions.size()) throw std::out_of_range("the path has no such condition");
        return value(count ? trail_.conditions[count - 1]->after : Lanes());
    }

    View shared(std::size_t count) const override {
        const auto &conditions = trail_.conditions;
        // Stored values change with the input
        if (trail_.decoded().verify || conditions.empty()) return {};
        return {events_.c_str(), conditions[std::min(count, conditions.size() - 1)]->start};
    }

    nb::tuple diverged_elsewhere() const {
        nb::list found;
        for (u64 i = 0; i < trail_.diverged_elsewhere.count; ++i) found.append(trail_.diverged_elsewhere.first + i);
        return nb::tuple(found);
    }

    nb::object table;

  private:
    struct PythonFollower {
        nb::object cut, pass_by;
    };
    struct NativeFollower {
        nb::object held;
        Follower *follower;
    };

    // What was given last is kept meanwhile: the trail looks at it once more.
    template <class Call> u64 with_run(nb::bytes events, nb::bytes data, Call call) {
        std::swap(events_, events), std::swap(data_, data);
        try {
            return call(input_of(events_), input_of(data_));
        } catch (const TraceFault &) {
            throw;
        } catch (...) {  // of what was given before nothing may be left
            trail_.clear();
            throw;
        }
    }

    void reached(std::size_t index, const ConditionPtr &condition) override {
        if (visitor_) visitor_->reached(index, condition);
        if (!visit_.is_none() || !followers_.empty()) {
            conditions();
            nb::object object = python_condition(condition);
            if (!visit_.is_none()) visit_(index, object);
            conditions_.append(object);
            for (const PythonFollower &follower : followers_) follower.pass_by(object);
        }
        for (const NativeFollower &native : natives_) native.follower->pass_by(*condition);
    }

    void cut(std::size_t conditions, std::size_t pins, std::size_t objects) override {
        shorten(conditions_, conditions);
        shorten(pins_, pins);
        shorten(objects_, objects);
        for (const NativeFollower &native : natives_) native.follower->cut(conditions);
        for (const PythonFollower &follower : followers_) follower.cut(conditions);
    }

    static void shorten(nb::list &list, std::size_t count) {
        if (count < list.size() && PyList_SetSlice(list.ptr(), Py_ssize_t(count), PY_SSIZE_T_MAX, nullptr) < 0)
            nb::raise_python_error();
    }

    void tick() override {
        if (PyErr_CheckSignals() < 0) nb::raise_python_error();
    }

    std::shared_ptr<Image> image_;
    nb::bytes events_{"", 0}, data_{"", 0};
    nb::list conditions_, pins_, objects_;  // as far as Python has seen them
    std::vector<PythonFollower> followers_;
    std::vector<NativeFollower> natives_;
    nb::object visit_ = nb::none();
    Visitor *visitor_ = nullptr;
    Trail trail_;
};

// --- numbers of a stream, for their tests ----------------------------------------------------------------------

class Reader {
  public:
    Reader(unsigned pointer_bits) : cursor(pointer_bits) {}

    void set_events(nb::bytes events) {
        events_ = std::move(events);
        cursor.events = input_of(events_).bytes, cursor.size = events_.size(), cursor.at = 0;
    }
    nb::bytes events() const { return events_; }
    nb::object signed_number() {
        i128 number = cursor.signed_number();
        u128 size = number < 0 ? -u128(number) : u128(number);
        nb::object found = owned(number_of(size));
        return number < 0 ? -found : found;
    }
    nb::bytes take(std::size_t count) { return nb::bytes(cursor.take(count), count); }

    Cursor cursor;

  private:
    nb::bytes events_{"", 0};
};

void translate(const std::exception_ptr &thrown, void *) {
    try {
        std::rethrow_exception(thrown);
    } catch (const TraceFault &fault) {
        nb::object error = classes().damage(fault.text, fault.where);
        PyErr_SetObject(classes().damage.ptr(), error.ptr());
    }
}

void add_conditions(nb::module_ &m) {
    nb::class_<Seen>(m, "Condition")
        .def_prop_ro("site", [](const Seen &self) { return self.of->site; })
        .def_prop_ro("chain", [](const Seen &self) { return self.of->chain; })
        .def_prop_ro("direction", [](const Seen &self) { return self.of->direction; })
        .def_prop_ro("formula", [](const Seen &self) { return formula(self.of->formula); })
        .def_prop_ro("assumption", [](const Seen &self) { return self.of->assumption; })
        .def_prop_ro("before", [](const Seen &self) { return lanes(self.of->before); })
        .def_prop_ro("after", [](const Seen &self) { return lanes(self.of->after); })
        .def_prop_ro("elsewhere", &Seen::elsewhere)
        .def_prop_ro("chosen", &Seen::chosen)
        .def_prop_ro("is_fork", [](const Seen &self) { return self.of->is_fork; })
        .def_prop_ro("settled", [](const Seen &self) { return self.of->settled; })
        .def_prop_ro("forked", [](const Seen &self) { return owned(number_of(self.of->forked)); })
        .def_prop_ro("fixed", [](const Seen &self) { return self.of->fixed; })
        .def_prop_ro("counted", [](const Seen &self) { return self.of->counted; })
        .def_prop_ro("loose", [](const Seen &self) { return self.of->loose; })
        .def_prop_ro("start", [](const Seen &self) { return self.of->start; })
        .def_prop_ro("pins", [](const Seen &self) { return self.of->pins; })
        .def_prop_ro("flippable", [](const Seen &self) { return self.of->flippable(); })
        .def_prop_ro("concrete", [](const Seen &self) { return self.of->concrete(); })
        .def("hash", [](const Seen &self, bool flipped) { return self.of->hash(flipped); }, nb::arg("flipped") = false)
        .def("__eq__", [](const Seen &self, nb::handle other) {
            return nb::isinstance<Seen>(other) && nb::cast<Seen &>(other).of == self.of;
        })
        .def("__hash__", [](const Seen &self) { return std::hash<ConditionPtr>()(self.of); })
        .def("__repr__", [](const Seen &self) {
            return nb::str("Condition(site={}, chain={}, direction={}, formula={!r})")
                .attr("format")(self.of->site, self.of->chain, self.of->direction, formula(self.of->formula));
        });
}

}  // namespace

TrailSide &trail_of(nb::handle object) {
    if (!nb::isinstance<PythonTrail>(object)) throw std::invalid_argument("a trail is expected");
    return nb::cast<PythonTrail &>(object);
}

ConditionPtr condition_of(nb::handle object) {
    if (!nb::isinstance<Seen>(object)) throw std::invalid_argument("a condition is expected");
    return nb::cast<Seen &>(object).of;
}

void add_trails(nb::module_ &m) {
    add_conditions(m);
    nb::register_exception_translator(translate);
    m.attr("MAX_DEPTH") = MAX_DEPTH;
    m.attr("ASTRAY") = ASTRAY;
    m.def("damage_is", [](nb::object error) { classes().damage = std::move(error); });
    m.def("parts_are", [](nb::object chosen, nb::object pin, nb::object object, nb::object disagreement) {
        classes().chosen = std::move(chosen), classes().pin = std::move(pin);
        classes().object = std::move(object), classes().disagreement = std::move(disagreement);
    });

    nb::class_<Inside>(m, "Inside")
        .def("__call__", [](const Inside &self, u64 base, u64 size) {
            Ref found = self.image->pointers.inside(*self.choice, base, size);
            return formula(found);
        })
        // One chain for all whose beginning is the same, so that what is known of its parts stays known.
        .def("none_of", [](const Inside &self, nb::handle objects) {
            Ref found = truth(true);
            for (nb::handle object : nb::borrow<nb::iterable>(objects)) {
                u64 base = nb::cast<u64>(object[0]), size = nb::cast<u64>(object[1]);
                Ref outside = bit_not(self.image->pointers.inside(*self.choice, base, size));
                found = binary(Kind::AND, found, outside);
            }
            return formula(found);
        });

    nb::class_<PythonTrail>(m, "Trail")
        .def(nb::init<nb::object, bool, nb::object, nb::handle, std::size_t>(), nb::arg("table"), nb::arg("verify"),
             nb::arg("constants").none(), nb::arg("forks"), nb::arg("kept"))
        .def("register", &PythonTrail::enlist)
        .def("rewind", &PythonTrail::go_back, nb::arg("events"), nb::arg("data"), nb::arg("limit"))
        .def("extend", &PythonTrail::extend, nb::arg("visit").none())
        .def("follow", [](PythonTrail &self, nb::bytes events, nb::bytes data, u64 limit, nb::object visit) {
            self.go_back(std::move(events), std::move(data), limit);
            self.extend(std::move(visit));
        }, nb::arg("events"), nb::arg("data"), nb::arg("limit") = 0, nb::arg("visit") = nb::none())
        .def("site_at", &PythonTrail::site_at, nb::arg("events"), nb::arg("data"), nb::arg("offset"))
        .def("sound", &PythonTrail::sound, nb::arg("events"), nb::arg("data"))
        .def("condition_hash", &PythonTrail::condition_hash)
        .def("shared", [](const PythonTrail &self, std::size_t count) {
            View events = self.shared(count);
            return nb::bytes(events.data(), events.size());
        })
        .def_ro("table", &PythonTrail::table)
        .def_prop_ro("data", &PythonTrail::data)
        .def_prop_ro("events", &PythonTrail::events)
        .def_prop_ro("conditions", &PythonTrail::conditions)
        .def_prop_ro("length", [](const PythonTrail &self) { return self.path().conditions.size(); })
        .def_prop_ro("pins", &PythonTrail::pins)
        .def_prop_ro("objects", &PythonTrail::objects)
        .def_prop_ro("notes", &PythonTrail::notes)
        .def_prop_ro("disagreements", &PythonTrail::disagreements)
        .def_prop_ro("diverged", [](const PythonTrail &self) { return self.path().diverged; })
        .def_prop_ro("diverged_elsewhere", &PythonTrail::diverged_elsewhere)
        .def_prop_ro("consumed", [](const PythonTrail &self) { return self.path().decoded().consumed; })
        .def_prop_ro("counted", [](const PythonTrail &self) { return self.path().counted; })
        .def_prop_ro("nothing_there", [](const PythonTrail &self) { return self.path().nothing_there; })
        .def_prop_ro("last_site", [](const PythonTrail &self) { return self.path().last_site; })
        .def_prop_ro("operand_hash", [](const PythonTrail &self) { return self.path().operand_hash(); })
        .def_prop_ro("remembered", [](const PythonTrail &self) { return self.path().remembered(); });

    nb::class_<Reader>(m, "Cursor")
        .def(nb::init<unsigned>())
        .def_prop_rw("events", &Reader::events, &Reader::set_events)
        .def_prop_ro("at", [](const Reader &self) { return self.cursor.at; })
        .def_prop_ro("address", [](const Reader &self) { return self.cursor.address; })
        .def("varint", [](Reader &self) { return owned(number_of(self.cursor.varint())); })
        .def("signed", &Reader::signed_number)
        .def("take", &Reader::take)
        .def("next_address", [](Reader &self) { return self.cursor.next_address(); })
        .def("next_depth", [](Reader &self) { return self.cursor.next_depth(); });
}

}  // namespace score
