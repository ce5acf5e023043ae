#include "descent.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <chrono>

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
constexpr std::size_t HEAVY = 256;     // conditions of a question: for cheap layers, too, it is not cheap then

// Python's words for why there is no flip. They live as long as the process.
struct Reasons {
    nb::object concrete, fixed, unsat;
};
Reasons &reasons() {
    static Reasons *const known = new Reasons;
    return *known;
}

enum class Followed { WHOLE, IN_PART, IN_VAIN };
struct Enough {};  // the rest of a long path is left to a pair of its own
struct InVain {};  // the end of the campaign came

void count(nb::handle counts, nb::object key) {
    PyObject *before = PyDict_GetItemWithError(counts.ptr(), key.ptr());
    if (!before && PyErr_Occurred()) nb::raise_python_error();
    nb::object now = before ? nb::borrow(before) + nb::int_(1) : nb::object(nb::int_(1));
    if (PyDict_SetItem(counts.ptr(), key.ptr(), now.ptr()) < 0) nb::raise_python_error();
}

int smallest(const ByteSet &values) {  // -1: there is none
    for (unsigned i = 0; i < 4; ++i)
        if (values[i]) return int(64 * i) + __builtin_ctzll(values[i]);
    return -1;
}

class Descent final : public Follower, Visitor {
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
    std::size_t shared(nb::handle trail, nb::handle of) const {
        const Path &path = trail_of(trail).path().conditions;
        const Pair &pair = pair_of(of);
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
    bool went_as_predicted(nb::handle trail, nb::handle of) const {
        const Trail &path = trail_of(trail).path();
        const Pair &pair = pair_of(of);
        if (path.diverged || !pair.place) return true;
        if (path.conditions.size() < pair.place ||
            path.conditions[pair.place - 1]->hash(false) != pair.condition_hash)
            return false;
        return decisions_.before(pair.place) == pair.decisions();
    }

    PairId decisions(std::size_t index) const { return decisions_.before(index); }

    void begin(nb::handle trail, std::size_t index) {
        const Trail &path = trail_of(trail).path();
        if (index > path.conditions.size()) throw std::out_of_range("the path has no such condition");
        scope_.go_to(path.conditions, path.decoded().pins, index);
    }

    void go_to(const Route &route, std::size_t index) {
        if (index >= route.conditions.size()) throw std::out_of_range("the path has no such condition");
        scope_.go_to(route.conditions, route.pins, index);
        scope_.reach(*route.conditions[index], route.pins);
    }

    // Decode the rest of the run's events and flip its conditions from neg_limit on; at most those before `last`, and
    // the rest of that event's. `run` does what is not decided here, see _core.pyi.
    Followed follow(nb::handle trail, nb::handle pair, std::size_t last, nb::handle run) {
        Now now{&trail_of(trail), &pair_of(pair), last, run};
        now.children = run.attr("children"), now.unflipped = run.attr("unflipped");
        now.stop = run.attr("stop"), now.room = run.attr("room"), now.checked = run.attr("checked");
        now.decides = nb::cast<bool>(run.attr("decides_bytes")), now.may_wait = nb::cast<bool>(run.attr("may_wait"));
        now.data = nb::cast<nb::bytes>(run.attr("data"));
        now_ = &now;
        first_ = nullptr;
        struct Done {
            Now *&now;
            ~Done() { now = nullptr; }
        } done{now_};
        Followed found = Followed::WHOLE;
        try {
            now.trail->extend_with(*this);
        } catch (const Enough &) {
            found = Followed::IN_PART;
        } catch (const InVain &) {
            found = Followed::IN_VAIN;
        }
        if (now.broken_off) run.attr("break_off")();
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
        nb::tuple found = nb::make_tuple(sat_, unsat_, seconds_);
        sat_ = unsat_ = 0, seconds_ = 0;
        return found;
    }

    Origin origin = Origin::first();  // the run that the trail is of

  private:
    struct Now {  // the run that is followed
        TrailSide *trail;
        const Pair *pair;
        std::size_t last;
        nb::handle run;
        nb::object children{}, unflipped{}, stop{}, room{}, checked{};
        nb::bytes data{"", 0};
        bool decides = false, may_wait = false, broken_off = false;
    };

    void reached(std::size_t index, const ConditionPtr &condition) override {
        Now &now = *now_;
        const Trail &path = now.trail->path();
        std::size_t limit = now.pair->neg_limit;
        if (index == limit)
            first_ = condition, before_first_ = decisions_.before(index);
        else if (index % LOOK_UP == 0 && nb::cast<bool>(now.stop()))
            throw InVain();  // many branches take long, also without questions
        // A switch has several conditions at a place.
        if (index > now.last && condition->start != path.conditions.back()->start) {
            if (!now.broken_off && !now.pair->pending) leave(index, condition, true);
            throw Enough();
        }
        scope_.reach(*condition, path.decoded().pins);
        if (now.pair->pending) {
            if (index == limit) answer(condition);
        } else if (index >= limit && condition->flippable() && !now.broken_off && !flip(index, condition)) {
            now.broken_off = true;
            leave(index, condition, false);
        }
        scope_.pass_by(condition);
    }

    nb::object seen(const ConditionPtr &condition) const { return now_->trail->python_condition(condition); }

    // The path once more, to be flipped from there. `later`: it waits behind others.
    void leave(std::size_t index, const ConditionPtr &condition, bool later) {
        now_->run.attr("leave")(decisions_.before(index), index, seen(condition), later);
    }

    void answer(const ConditionPtr &condition) {
        try {
            now_->run.attr("answer")(seen(condition));
        } catch (nb::python_error &error) {
            if (error.matches(questions().stopped)) throw InVain();
            throw;
        }
    }

    // Flip the condition, or say why not; false if no more answers are wanted, or there is no room for more.
    bool flip(std::size_t index, const ConditionPtr &of) {
        Now &now = *now_;
        const Condition &condition = *of;
        try {
            if (!now.room.is_none() && !nb::cast<bool>(now.room(nb::len(now.children), now.run.attr("size"))))
                return false;
            if (condition.concrete()) {
                unflip(condition, reasons().concrete);
            } else if (condition.settled) {
                unflip(condition, condition.fixed ? reasons().fixed : reasons().unsat);
            } else {
                Ref target = bit_not(condition.formula);
                if (!decide(index, condition, target))
                    now.run.attr("flip")(decisions_.before(index), index, seen(of));
            }
            return true;
        } catch (nb::python_error &error) {
            if (error.matches(questions().stopped)) return false;
            throw;
        }
    }

    // Byte sets, as solve/chain.py's DomainLayer asks them of a question: most flips of parsers need nothing else.
    // False: the flip needs more than that.
    bool decide(std::size_t index, const Condition &condition, Id target) {
        Now &now = *now_;
        if (!now.decides || condition.chosen || condition.is_fork || condition.loose || scope_.strict() ||
            bounds_.forbids(condition) != Bound::NONE)
            return false;
        auto began = std::chrono::steady_clock::now();
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
        if (byte < 0 ? !slicer.knows(bit_not(target)) : is_bound && value >= 0) return false;
        if (is_bound && now.may_wait && slicer.weight(target) > HEAVY) return false;
        if (nb::cast<bool>(now.stop())) {
            PyErr_SetNone(questions().stopped.ptr());
            nb::raise_python_error();
        }
        if (!now.checked.is_none()) now.checked(owned(handle_of(target)), value);
        if (value < 0) {
            bool is_fixed = condition.fixed || (condition.forked && slicer.reach(target).meets(condition.forked));
            unflip(condition, is_fixed ? reasons().fixed : reasons().unsat);
            ++unsat_;
        } else {
            bring(index, condition, target, u32(byte), u8(value));
            ++sat_;
        }
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
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
        if (!now.room.is_none()) now.run.attr("size") = now.run.attr("size") + nb::int_(data.size());
        nb::object child = nb::cast(other_side(decisions_.before(index), std::move(data), u32(index), condition,
                                               Origin::of(origin, u32(index))));
        if (PyList_Append(now.children.ptr(), child.ptr()) < 0) nb::raise_python_error();
    }

    void unflip(const Condition &condition, nb::handle reason) {
        for (u64 i = 0; i < condition.elsewhere.count; ++i)
            count(now_->unflipped, nb::make_tuple(condition.elsewhere.first + i, reason));
    }

    Decisions decisions_;
    nb::object bounded_;
    BoundedPath &bounds_;
    Scope scope_;
    ConditionPtr first_;
    PairId before_first_{};
    Now *now_ = nullptr;
    u64 sat_ = 0, unsat_ = 0;
    double seconds_ = 0;
};

}  // namespace

Follower *follower_of(nb::handle object) {
    return nb::isinstance<Descent>(object) ? &nb::cast<Descent &>(object) : nullptr;
}

void add_descents(nb::module_ &m) {
    m.def("reasons_are", [](nb::object concrete, nb::object fixed, nb::object unsat) {
        reasons().concrete = std::move(concrete), reasons().fixed = std::move(fixed),
        reasons().unsat = std::move(unsat);
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
    nb::class_<Descent>(m, "Descent")
        .def(nb::init<nb::object>())
        .def_rw("origin", &Descent::origin)
        .def("shared", &Descent::shared)
        .def("went_as_predicted", &Descent::went_as_predicted)
        .def("decisions", &Descent::decisions)
        .def("begin", &Descent::begin)
        .def("go_to", &Descent::go_to)
        .def("follow", &Descent::follow)
        .def("first", &Descent::first)
        .def("weight", &Descent::weight)
        .def("slice_of", &Descent::reach)
        .def("queries", &Descent::queries)
        .def("take_counts", &Descent::take_counts);
}

}  // namespace score
