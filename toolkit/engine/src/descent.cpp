#include "descent.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <map>

#include "alarm.hpp"
#include "bounds.hpp"
#include "build.hpp"
#include "casters.hpp"
#include "columns.hpp"
#include "evaluate.hpp"
#include "pairs.hpp"
#include "question.hpp"

namespace nb = nanobind;

namespace score {

namespace {

constexpr std::size_t LOOK_UP = 1024;  // conditions between two looks at whether the end has come
constexpr std::size_t AT_ONCE = 16384;  // conditions of a path that are followed before others have a turn
constexpr std::size_t HEAVY = 256;     // conditions of a question: for cheap layers, too, it is not cheap then

// Python's words for why there is no flip. They live as long as the process.
std::array<nb::object, 3> &reasons() {
    static auto *const known = new std::array<nb::object, 3>;
    return *known;
}

struct Enough {};  // the rest of a long path is left to a pair of its own
struct InVain {};  // the end of the campaign came

int smallest(const ByteSet &values) {  // -1: there is none
    for (unsigned i = 0; i < 4; ++i)
        if (values[i]) return int(64 * i) + __builtin_ctzll(values[i]);
    return -1;
}

// How an explorer derives flips, see _core.pyi.
struct Asked {
    using Room = std::pair<u64, u64>;  // children, and bytes of their inputs

    nb::object stop;
    std::optional<Room> room;
    bool decides = false, may_wait = false, is_checked = false;
};

class Descent final : public Follower, public DescentSide, Visitor {
  public:
    Descent(nb::object bounded) : bounded_(std::move(bounded)), bounds_(nb::cast<BoundedPath &>(bounded_)) {}
    Descent(const Descent &) = delete;

    void cut(std::size_t count) override {
        decisions_.cut(count);
        bounds_.cut(count);
    }
    void pass_by(const Condition &condition) override {
        decisions_.pass_by(condition);
        bounds_.pass_by(condition);
    }

    // How many of the trail's conditions the pair's run will repeat, as far as that is known.
    std::size_t shared(const Trail &trail, const Pair &pair) const override {
        const Path &path = trail.conditions;
        if (pair.place && pair.place <= path.size()) {
            const Condition &condition = *path[pair.place - 1];
            // The hash knows nothing of forks: a path of other values has other events.
            if (condition.hash(true) == pair.condition_hash &&
                decided(decisions_.before(pair.place - 1), condition, true) == pair.decisions())
                return pair.place - 1;
        }
        if (!pair.origin) return 0;
        std::optional<u32> common = Origin::in_common(pair.origin, origin);
        return common ? *common : path.size();
    }

    // Whether the run went where its pair was meant to, where the host can see that far: not only by the hash that the
    // target compared. A run that found another object at an address than its pair was derived with is not the pair's.
    bool went_as_predicted(const Trail &path, const Pair &pair) const override {
        if (path.diverged || !pair.place) return true;
        if (path.conditions.size() < pair.place ||
            path.conditions[pair.place - 1]->hash(false) != pair.condition_hash)
            return false;
        return decisions_.before(pair.place) == pair.decisions();
    }

    PairId decisions(std::size_t index) const { return decisions_.before(index); }

    void go_to(const Route &route, std::size_t index) {
        if (index >= route.conditions.size()) throw std::out_of_range("the path has no such condition");
        scope_.go_to(route.conditions, route.pins, index);
        scope_.reach(*route.conditions[index], route.pins);
    }

    // Decode the rest of the run's events and flip its conditions from neg_limit on; of a long path some, and the rest
    // of the last one's event. `data`: the input that children are made of; `kept`: conditions that the trail has kept;
    // `explorer` does what is not decided here, see _core.pyi.
    void follow(TrailSide &trail, nb::handle of, nb::bytes data, u64 kept, nb::handle explorer,
                Derived &found) override {
        const Trail &path = trail.path();
        const Pair &pair = pair_of(of);
        if (kept > path.conditions.size()) throw std::out_of_range("the path has no such condition");
        scope_.go_to(path.conditions, path.decoded().pins, kept);
        origin = pair.origin ? pair.origin : Origin::first();
        std::size_t last = pair.neg_limit + (pair.pending ? 0 : std::max<std::size_t>(AT_ONCE, pair.neg_limit));
        Now now{trail, of, pair, last, std::move(data), explorer, found};
        now_ = &now;
        first_ = nullptr;
        struct Done {
            Now *&now;
            ~Done() { now = nullptr; }
        } done{now_};
        try {
            trail.extend_with(*this);
        } catch (const Enough &) {
            found.followed = Followed::IN_PART;
        } catch (const InVain &) {
            found.followed = Followed::IN_VAIN;
        }
    }

    // From the trail's beginning on, for a run that Python judges.
    Derived followed(nb::handle trail, nb::handle pair, nb::bytes data, u64 kept, nb::handle explorer) {
        Derived found;
        follow(trail_of(trail), pair, std::move(data), kept, explorer, found);
        return found;
    }

    // What is left of a run whose path was followed in vain: the condition at neg_limit, and the decisions before it.
    // None: it was not followed so far.
    nb::object first(nb::handle trail) const {
        if (!first_) return nb::none();
        return nb::make_tuple(before_first_, trail_of(trail).python_condition(first_));
    }

    std::size_t weight(Given target) const { return scope_.loose()->weight(target); }
    Deps reach(Given target) const { return scope_.loose()->reach(target); }

    // The question with the pins, and without them if they matter to it.
    nb::object queries(Given target, nb::bytes data) const {
        Slice loose = scope_.loose()->slice(target);
        nb::object asked = question(scope_.loose(), loose, target, data);
        if (!scope_.strict()) return nb::make_tuple(asked, nb::none());
        Slice strict = scope_.strict()->slice(target);
        if (strict == loose) return nb::make_tuple(asked, nb::none());
        return nb::make_tuple(question(scope_.strict(), strict, target, data), asked);
    }

    // Flips that were answered here since this was last asked, sat and unsat, and the seconds that took.
    nb::tuple take_counts() {
        nb::tuple found = nb::make_tuple(sat_, unsat_, watch_.seconds);
        sat_ = unsat_ = 0, watch_.seconds = 0;
        return found;
    }

    Asked asked;

  private:
    struct Now {  // the run that is followed
        TrailSide &trail;
        nb::handle python_pair;
        const Pair &pair;
        std::size_t last;
        nb::bytes data;
        nb::handle explorer;
        Derived &found;
        std::size_t bytes = 0, counted = 0;  // of the inputs of so many children
    };

    // Python's object for the run that is followed.
    nb::object &run() {
        Now &now = *now_;
        Derived &found = now.found;
        if (found.run.is_none()) found.run = now.explorer.attr("begin_run")(now.python_pair, now.data, found.children);
        return found.run;
    }

    bool is_over() const { return rings(asked.stop); }

    // May there be one child more?
    bool has_room() {
        if (!asked.room) return true;
        Now &now = *now_;
        for (; now.counted < now.found.children.size(); ++now.counted)
            now.bytes += pair_of(now.found.children[now.counted]).input.size();
        return now.counted < asked.room->first && now.bytes < asked.room->second;
    }

    void reached(std::size_t index, const ConditionPtr &condition) override {
        Now &now = *now_;
        const Trail &path = now.trail.path();
        std::size_t limit = now.pair.neg_limit;
        if (index == limit)
            first_ = condition, before_first_ = decisions_.before(index);
        else if (index % LOOK_UP == 0 && is_over())
            throw InVain();  // many branches take long, also without questions
        // A switch has several conditions at a place.
        if (index > now.last && condition->start != path.conditions.back()->start) {
            if (!now.found.broken_off && !now.pair.pending) leave(index, condition, true);
            throw Enough();
        }
        scope_.reach(*condition, path.decoded().pins);
        if (now.pair.pending) {
            if (index == limit) answer(condition);
        } else if (index >= limit && condition->flippable() && !now.found.broken_off && !flip(index, condition)) {
            now.found.broken_off = true;
            leave(index, condition, false);
        }
        scope_.pass_by(condition);
    }

    nb::object seen(const ConditionPtr &condition) const { return now_->trail.python_condition(condition); }

    // The path once more, to be flipped from there. `later`: it waits behind others.
    void leave(std::size_t index, const ConditionPtr &condition, bool later) {
        run().attr("leave")(decisions_.before(index), index, seen(condition), later);
    }

    void answer(const ConditionPtr &condition) {
        try {
            run().attr("answer")(seen(condition));
        } catch (nb::python_error &error) {
            if (error.matches(questions().stopped)) throw InVain();
            throw;
        }
    }

    // Flip the condition, or say why not; false if no more answers are wanted, or there is no room for more.
    bool flip(std::size_t index, const ConditionPtr &of) {
        const Condition &condition = *of;
        try {
            if (!has_room()) return false;
            if (condition.concrete()) {
                unflip(condition, Reason::CONCRETE);
            } else if (condition.settled) {
                unflip(condition, condition.fixed ? Reason::FIXED : Reason::UNSAT);
            } else {
                Ref target = bit_not(condition.formula);
                if (!decide(index, condition, target))
                    run().attr("flip")(decisions_.before(index), index, seen(of));
            }
            return true;
        } catch (nb::python_error &error) {
            if (error.matches(questions().stopped)) return false;
            throw;
        }
    }

    // Byte sets and intervals, as solve/chain.py's DomainLayer asks them of a question: most flips of parsers need
    // nothing else. False: the flip needs more than that.
    bool decide(std::size_t index, const Condition &condition, Id target) {
        if (!asked.decides || condition.chosen || condition.is_fork || condition.loose || scope_.strict() ||
            bounds_.forbids(condition) != Bound::NONE)
            return false;
        watch_.start();
        const Slicer &slicer = *scope_.loose();
        int byte = node(target).only_byte;
        ByteSet left{};
        if (byte >= 0) {
            left = byte_set(target);
            if (const ByteSet *values = slicer.values(u32(byte)))
                for (unsigned i = 0; i < 4; ++i) left[i] &= (*values)[i];
        }
        int value = smallest(left);
        bool is_bound = byte < 0 || slicer.binds(u32(byte));
        if (byte < 0 ? !slicer.excludes(target, HEAVY) : is_bound && value >= 0) return false;
        if (is_bound && asked.may_wait && slicer.weight(target) > HEAVY) return false;
        if (is_over()) {
            PyErr_SetNone(questions().stopped.ptr());
            nb::raise_python_error();
        }
        if (asked.is_checked) now_->explorer.attr("check_byte")(owned(handle_of(target)), value, now_->data);
        if (value < 0) {
            bool is_fixed = condition.fixed || (condition.forked && slicer.reach(target).meets(condition.forked));
            unflip(condition, is_fixed ? Reason::FIXED : Reason::UNSAT);
            ++unsat_;
        } else {
            bring(index, condition, target, u32(byte), u8(value));
            ++sat_;
        }
        watch_.stop();
        return true;
    }

    // The pair to be run for the run's input with this byte changed.
    void bring(std::size_t index, const Condition &condition, Id target, u32 byte, u8 value) {
        Now &now = *now_;
        std::size_t size = now.data.size();
        if (byte >= size) throw std::out_of_range("an input byte that the run does not have");
        // Python shares its bytes of one element: these are new.
        nb::bytes data = nb::steal<nb::bytes>(owned(PyBytes_FromStringAndSize(nullptr, Py_ssize_t(size))).release());
        auto *bytes = reinterpret_cast<u8 *>(PyBytes_AS_STRING(data.ptr()));
        std::memcpy(bytes, now.data.c_str(), size);
        bytes[byte] = value;
        if (evaluate(target, Input{bytes, size}) != 1) throw std::logic_error("a byte set is wrong");
        nb::object child = nb::cast(other_side(decisions_.before(index), std::move(data), u32(index), condition,
                                               Origin::of(origin, u32(index))));
        if (PyList_Append(now.found.children.ptr(), child.ptr()) < 0) nb::raise_python_error();
    }

    void unflip(const Condition &condition, Reason reason) {
        for (u64 i = 0; i < condition.elsewhere.count; ++i)
            now_->found.unflipped.emplace_back(condition.elsewhere.first + i, reason);
    }

    Decisions decisions_;
    nb::object bounded_;
    BoundedPath &bounds_;
    Scope scope_;
    ConditionPtr first_;
    PairId before_first_{};
    Now *now_ = nullptr;
    u64 sat_ = 0, unsat_ = 0;
    Stopwatch watch_;
};

}  // namespace

Follower *follower_of(nb::handle object) {
    return nb::isinstance<Descent>(object) ? &nb::cast<Descent &>(object) : nullptr;
}

nb::object word_of(Reason reason) { return reasons()[unsigned(reason)]; }

DescentSide &descent_of(nb::handle object) {
    if (!nb::isinstance<Descent>(object)) throw std::invalid_argument("a descent is expected");
    return nb::cast<Descent &>(object);
}

void add_descents(nb::module_ &m) {
    m.def("reasons_are", [](nb::object concrete, nb::object fixed, nb::object unsat) {
        reasons() = {std::move(concrete), std::move(fixed), std::move(unsat)};
    });

    nb::enum_<Bound>(m, "Bound").value("NONE", Bound::NONE).value("DEPTH", Bound::DEPTH).value("LOOP", Bound::LOOP);
    nb::class_<BoundedPath>(m, "BoundedPath")
        .def(nb::init<std::optional<u64>, std::optional<u64>>(), nb::arg("depth").none(), nb::arg("loop").none())
        .def("cut", &BoundedPath::cut)
        .def("pass_by", [](BoundedPath &self, nb::handle condition) { self.pass_by(*condition_of(condition)); })
        .def("forbids", [](const BoundedPath &self, nb::handle condition) {
            return self.forbids(*condition_of(condition));
        });

    nb::enum_<Followed>(m, "Followed")
        .value("WHOLE", Followed::WHOLE)
        .value("IN_PART", Followed::IN_PART)
        .value("IN_VAIN", Followed::IN_VAIN);
    nb::class_<Derived>(m, "Derived")
        .def_ro("followed", &Derived::followed)
        .def_ro("broken_off", &Derived::broken_off)
        .def_ro("children", &Derived::children)
        .def_ro("run", &Derived::run)
        .def_prop_ro("unflipped", [](const Derived &self) {
            std::map<std::pair<u64, Reason>, u64> counts;
            for (const auto &each : self.unflipped) ++counts[each];
            nb::dict found;
            for (const auto &[of, times] : counts)
                found[nb::make_tuple(of.first, reasons()[unsigned(of.second)])] = times;
            return found;
        });
    nb::class_<Descent>(m, "Descent")
        .def(nb::init<nb::object>())
        .def("heed", [](Descent &self, nb::object stop, std::optional<Asked::Room> room, bool decides_bytes,
                        bool may_wait, bool checked) {
            self.asked = {std::move(stop), room, decides_bytes, may_wait, checked};
        }, nb::kw_only(), nb::arg("stop"), nb::arg("room").none(), nb::arg("decides_bytes"), nb::arg("may_wait"),
           nb::arg("checked"))
        .def_prop_rw("origin", [](const Descent &self) { return self.origin; },
                     [](Descent &self, const Origin &origin) { self.origin = origin; })
        .def("shared", [](const Descent &self, nb::handle trail, nb::handle pair) {
            return self.shared(trail_of(trail).path(), pair_of(pair));
        })
        .def("went_as_predicted", [](const Descent &self, nb::handle trail, nb::handle pair) {
            return self.went_as_predicted(trail_of(trail).path(), pair_of(pair));
        })
        .def("decisions", &Descent::decisions)
        .def("go_to", &Descent::go_to)
        .def("follow", &Descent::followed)
        .def("first", &Descent::first)
        .def("weight", &Descent::weight)
        .def("slice_of", &Descent::reach)
        .def("queries", &Descent::queries)
        .def("take_counts", &Descent::take_counts);
}

}  // namespace score
