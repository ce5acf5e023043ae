#include "rounds.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "ahead.hpp"
#include "alarm.hpp"
#include "batch.hpp"
#include "brought.hpp"
#include "cursor.hpp"
#include "descent.hpp"
#include "hash_set.hpp"
#include "line.hpp"
#include "queue.hpp"

namespace nb = nanobind;

namespace score {

namespace {

constexpr std::size_t LOOK = 12;          // pairs that are looked at, whether to send them along
constexpr std::size_t ALONG = 1 << 14;    // bytes of inputs that are sent at once: less than a pipe holds

enum class Halt { ENOUGH, EMPTY, ASKED, SENT, TOLD, DERIVED };

// A place that a pair's id is written to before it runs, as results/work.py reads it.
class Note {
  public:
    Note(nb::handle place) {
        if (PyObject_GetBuffer(place.ptr(), &view_, PyBUF_WRITABLE) < 0) nb::raise_python_error();
        if (view_.len == SIZE) return;
        PyBuffer_Release(&view_);
        throw std::invalid_argument("a note has 24 bytes");
    }
    Note(const Note &) = delete;
    ~Note() { PyBuffer_Release(&view_); }

    void write(const PairId &id) {
        char entry[SIZE];
        u32 number = 1;
        std::memcpy(entry, id.data(), id.size());
        std::memcpy(entry + id.size(), &number, sizeof number);  // little endian, as the hosts are
        u32 crc = crc32({entry, SIZE - sizeof crc});
        std::memcpy(entry + SIZE - sizeof crc, &crc, sizeof crc);
        std::memcpy(view_.buf, entry, SIZE);
    }

  private:
    static constexpr Py_ssize_t SIZE = 24;
    Py_buffer view_;
};

// For what waits: pairs, and bytes of their inputs.
struct Room {
    u64 pairs, bytes;
};

class Rounds {
  public:
    Rounds(nb::object explorer, nb::object trail, nb::object descent, nb::object queue, nb::object batch,
           nb::object alarm, nb::object paths, nb::object unanswered, nb::set covered, nb::object grow,
           nb::object layout, nb::object ends, nb::object fresh, nb::object redundant,
           std::optional<std::pair<u64, u64>> room)
        : held_{trail, descent, queue, batch, alarm, paths, unanswered}, explorer_(std::move(explorer)),
          trail_(trail_of(trail)), descent_(descent_of(descent)), queue_(queue_of(queue)),
          batch_(batch.is_none() ? nullptr : &batch_of(batch)), alarm_(nb::cast<Alarm &>(alarm)),
          paths_(nb::cast<HashSet &>(paths)), unanswered_(nb::cast<Unanswered &>(unanswered)),
          covered_(std::move(covered)), grow_(std::move(grow)),
          layout_(std::move(layout)), fresh_(std::move(fresh)), redundant_(std::move(redundant)) {
        if (room) room_ = Room{room->first, room->second};
        for (auto [number, word] : nb::cast<nb::dict>(ends)) ends_[nb::cast<unsigned>(number)] = nb::borrow(word);
    }
    Rounds(const Rounds &) = delete;

    // Run this pair, and then what the work list says; `number`: of the first test; `longest`: bytes of input that some
    // test asked for; at most so many tests, and none is begun after `until`.
    Halt go(const Line &line, nb::handle place, nb::object first, u64 number, u64 longest, u64 most, double until) {
        Note note(place);
        pair = std::move(first), number_ = number, longest_ = longest;
        exchange.rest = nb::bytes("", 0), exchange.failure = derived = nb::none();
        is_spent = false;
        u8 behind = pair_of(pair).behind;  // what was put off more often waits for others, perhaps of other lists
        for (; most; --most) {
            note.write(pair_of(pair).id);
            if (!recall(line) && !run(line, std::min(line.ahead, most - 1), behind))
                return is_spent ? Halt::ASKED : Halt::SENT;
            const Result &result = *line.on().result;
            if (!is_ordinary(result)) return Halt::TOLD;
            if (Halt halt = derive(result); halt != Halt::ENOUGH) return halt;
            pair = nb::none();
            double at = now();
            if (PyErr_CheckSignals() < 0) nb::raise_python_error();
            if (most == 1 || is_spent || alarm_.is_over(at) || at >= until) break;
            pair = queue_.next();
            if (pair.is_none()) return Halt::EMPTY;
            if (!is_for_us(pair_of(pair), line, behind)) return Halt::ASKED;
        }
        return Halt::ENOUGH;
    }

    Brought take() {
        brought_.end_rows();
        Brought taken = std::move(brought_);
        brought_ = Brought();
        taken.bytes_in = std::exchange(exchange.bytes_in, 0) + std::exchange(behind_.bytes_in, 0);
        taken.bytes_out = std::exchange(exchange.bytes_out, 0);
        return taken;
    }

    nb::object pair = nb::none();     // that is in work, or to be run next
    nb::bytes data{"", 0};            // of its run: the input,
    Bytes prefix;                     // and the events it was told to leave out
    Exchange exchange{};
    Ahead ahead{};
    nb::object derived = nb::none();  // what came of the run's conditions
    bool is_spent = false;            // tests were sent along, and the target is of no use after them, or may not be

  private:
    struct Along {
        PairId id;
        u8 lane;
        Request request;
    };

    static bool is_for_us(const Pair &next, const Line &line, u8 behind) {
        return !next.pending && next.behind <= behind && next.input.size() <= line.capacity;
    }

    nb::bytes data_of(const Pair &of) const {
        return of.input.size() < longest_ ? nb::cast<nb::bytes>(grow_(of.input)) : of.input;
    }

    View prefix_of(const Pair &of) { return trail_.shared(descent_.shared(trail_.path(), of)); }

    static Request request(const Line &line, const Pair &of, View data, View prefix) {
        return {Bytes(data), of.predicted, of.condition_hash, line.max_branches,
                line.watchdog_ms, Bytes(prefix), std::nullopt, false, false};
    }

    // The pair was run before its turn, and that is its result.
    bool recall(const Line &line) {
        const Pair &of = pair_of(pair);
        if (!ahead.has(of.id)) return false;
        data = data_of(of);
        std::shared_ptr<Result> result = ahead.take(of.id, request(line, of, {}, {}), view_of(data));
        if (!result) return false;
        prefix.assign(result->events, 0, result->left_out);
        line.on().result = std::move(result);
        return true;
    }

    // False: Python has to send the rest, if there is any, and to wait for the answer; if the target is spent, to run
    // the test alone.
    bool run(const Line &line, u64 along, u8 behind) {
        const Pair &of = pair_of(pair);
        data = data_of(of), prefix = prefix_of(of);
        Bytes runs = line.on().start(request(line, of, view_of(data), prefix));
        std::vector<Along> others = chosen(line, along, behind);
        for (Along &other : others) {
            Bytes left_out = std::exchange(other.request.prefix, {});  // what it brings begins with it
            Request sent = other.request;
            sent.prefix = std::move(left_out);
            runs += line.on().follow(std::move(sent));
        }
        is_spent = !others.empty();
        double begun = is_spent ? now() : 0;
        if (!exchange.send(line, runs) || !exchange.wait(line)) {
            if (is_spent) ahead.went_wrong();
            if (is_spent && exchange.is_closed) unanswered_.add(ids_of(others, 0, &of.id));
            return false;
        }
        if (is_spent) collect(line, std::move(others), begun);
        return true;
    }

    // Of those that are likely to be next, the ones that are sent along.
    std::vector<Along> chosen(const Line &line, u64 most, u8 behind) {
        std::vector<Along> found;
        u8 lane = queue_.lane();
        if (!most || !ahead.may_send(lane)) return found;
        found.reserve(most);
        std::size_t bytes = data.size();
        for (const nb::object &next : queue_.likely(LOOK)) {
            const Pair &of = pair_of(next);
            if (!is_for_us(of, line, behind) || ahead.has(of.id)) continue;
            nb::bytes input = data_of(of);
            bytes += input.size();
            if (bytes > ALONG) break;
            found.push_back({of.id, lane, request(line, of, view_of(input), prefix_of(of))});
            if (found.size() == most) break;
        }
        return found;
    }

    // What those brought that were sent along.
    void collect(const Line &line, std::vector<Along> others, double begun) {
        Session &on = line.on();
        std::shared_ptr<Result> first = on.result;
        bool is_sound = is_good(*first), has_told = !first->coverage.empty();
        std::size_t seen = 0;
        for (auto &[id, lane, request] : others) {
            if (!on.advance() || !behind_.wait(line)) {
                if (behind_.is_closed) unanswered_.add(ids_of(others, seen));
                break;
            }
            const std::shared_ptr<Result> &result = on.result;
            has_told |= !result->coverage.empty();
            if (!is_good(*result)) break;
            if (is_sound && is_told(*result)) ahead.keep(id, lane, std::move(request), result);
            ++seen;
        }
        on.result = std::move(first);
        is_spent = seen < others.size();
        if (!is_spent) return ahead.went_well(has_told, now() - begun);
        ahead.went_wrong();
    }

    static std::vector<PairId> ids_of(const std::vector<Along> &all, std::size_t from, const PairId *first = nullptr) {
        std::vector<PairId> found;
        if (first) found.push_back(*first);
        for (std::size_t i = from; i < all.size(); ++i) found.push_back(all[i].id);
        return found;
    }

    // The target is as good as it was before.
    bool is_good(const Result &result) const {
        return ends_[result.end.verdict].is_valid() && result.end.flags & end_flag::INTACT;
    }

    static bool is_told(const Result &result) { return result.end.flags & end_flag::MATCHED && !result.events.empty(); }

    bool is_ordinary(const Result &result) const {
        return is_good(result) && is_told(result) && is_known(result.coverage) &&
               result.input_used <= std::min<u64>(data.size(), longest_);
    }

    bool is_known(const std::vector<u32> &coverage) const {
        return std::all_of(coverage.begin(), coverage.end(),
                           [&](u32 index) { return covered_.contains(nb::int_(index)); });
    }

    // Follow the run's path and put down what came of it. ENOUGH: that is done.
    Halt derive(const Result &result) {
        const Pair &of = pair_of(pair);
        nb::bytes used = result.input_used ? nb::bytes(data.c_str(), result.input_used) : data;
        Derived found;
        try {
            nb::bytes events(result.events.data(), result.events.size());
            u64 kept = trail_.go_back(std::move(events), data, of.neg_limit);
            descent_.follow(trail_, pair, used, kept, explorer_, found);
        } catch (const TraceFault &) {
            return Halt::TOLD;  // Python will come to the same
        }
        const Trail &path = trail_.path();
        bool is_told = path.counted == result.end.conditions && path.operand_hash() == result.end.operand_hash;
        if (found.followed != Followed::WHOLE || path.diverged || !path.decoded().notes.empty() ||
            !path.decoded().disagreements.empty() || !is_told || !descent_.went_as_predicted(path, of) ||
            !has_room(found.children.size())) {
            derived = nb::cast(std::move(found));
            return Halt::DERIVED;
        }
        nb::list children = found.children;
        if (found.run.is_none())
            for (auto [index, reason] : found.unflipped) ++brought_.unflipped[index * 4 + u64(reason)];
        if (!found.run.is_none()) explorer_.attr("settle")(nb::cast(std::move(found)));
        std::vector<Rank> ranks = queue_.keep(children);
        if (batch_) {
            batch_->done(pair);
            for (std::size_t i = 0; i < ranks.size(); ++i) batch_->add(children[i], ranks[i]);
        }
        enter(result, used);
        return Halt::ENOUGH;
    }

    // Is there room for so many more beside what waits already? No input is longer than this run's.
    bool has_room(std::size_t children) const {
        if (!room_) return true;
        u64 all = queue_.size() + children;
        return all <= room_->pairs && all * data.size() <= room_->bytes;
    }

    void enter(const Result &result, const nb::bytes &used) {
        const End &end = result.end;
        bool is_new = paths_.add(end.path_hash);
        brought_.add_path(end.path_hash, end.conditions, is_new);
        brought_.unchecked += end.unchecked;
        brought_.retried += unanswered_.was_answered(pair_of(pair).id);
        View input = result.input_used ? view_of(used) : View();
        Brought::Common common{ends_[end.verdict], end.code, is_new, is_new ? fresh_ : redundant_, layout()};
        brought_.add_row(number_++, common, input, end.path_hash, result.output);
    }

    // The number by which the record knows what the test's input consists of.
    nb::object layout() {
        const auto &objects = trail_.path().decoded().objects;
        bool is_same = known_.is_valid() && objects.size() == objects_.size();
        for (std::size_t i = 0; is_same && i < objects.size(); ++i)
            is_same = objects[i].site == objects_[i].site && objects[i].offset == objects_[i].offset &&
                      objects[i].size == objects_[i].size && objects[i].name == objects_[i].name;
        if (!is_same) {
            known_.reset();
            known_ = layout_();
            objects_ = objects;
        }
        return known_;
    }

    std::array<nb::object, 7> held_;
    nb::object explorer_;
    TrailSide &trail_;
    DescentSide &descent_;
    QueueSide &queue_;
    BatchSide *batch_;  // null: nobody keeps a record of what waits
    Alarm &alarm_;
    HashSet &paths_;
    Unanswered &unanswered_;
    nb::set covered_;
    nb::object grow_, layout_, fresh_, redundant_;
    std::array<nb::object, VERDICTS> ends_{};  // the words of ordinary ends
    Exchange behind_;  // with those that are sent along: what is wrong there is not of the pair in work
    u64 number_ = 0, longest_ = 0;
    std::optional<Room> room_{};  // none: for any number
    Brought brought_;
    std::vector<SymbolicObject> objects_;  // of the test before
    nb::object known_;
};

}  // namespace

void add_rounds(nb::module_ &m) {
    m.def("shown_output", [](const nb::bytes &output) { return shown_output({output.c_str(), output.size()}); });

    nb::class_<HashSet>(m, "HashSet")
        .def("__init__", [](HashSet *self, nb::handle known) {
            new (self) HashSet;
            for (nb::handle hash : nb::borrow<nb::iterable>(known)) self->know(nb::cast<u64>(hash));
        }, nb::arg("known") = nb::make_tuple())
        .def("add", &HashSet::add);

    nb::class_<Unanswered>(m, "Unanswered")
        .def(nb::init<>())
        .def("was_answered", [](Unanswered &self, nb::handle pair) { return self.was_answered(pair_of(pair).id); });

    nb::enum_<Halt>(m, "Halt")
        .value("ENOUGH", Halt::ENOUGH)
        .value("EMPTY", Halt::EMPTY)
        .value("ASKED", Halt::ASKED)
        .value("SENT", Halt::SENT)
        .value("TOLD", Halt::TOLD)
        .value("DERIVED", Halt::DERIVED);
    nb::class_<Line>(m, "Lent").def("__init__", [](Line *self, nb::object session, int in, int beside, int out,
                                                   double patience, u64 watchdog_ms, u64 max_branches, u64 capacity,
                                                   u64 ahead) {
        if (!nb::isinstance<Session>(session)) throw std::invalid_argument("a session is expected");
        new (self) Line{std::move(session), in, beside, out, patience, watchdog_ms, max_branches, capacity,
                        ahead};
    });
    nb::class_<Brought>(m, "Brought")
        .def_ro("rows", &Brought::rows)
        .def_ro("hashes", &Brought::hashes)
        .def_ro("lengths", &Brought::lengths)
        .def_ro("fresh", &Brought::fresh)
        .def_ro("unchecked", &Brought::unchecked)
        .def_ro("retried", &Brought::retried)
        .def_ro("bytes_in", &Brought::bytes_in)
        .def_ro("bytes_out", &Brought::bytes_out)
        .def_prop_ro("unflipped", [](const Brought &self) {
            nb::dict found;
            for (auto [what, times] : self.unflipped)
                found[nb::make_tuple(what / 4, word_of(Reason(what % 4)))] = times;
            return found;
        });
    nb::class_<Rounds>(m, "Rounds")
        .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object, nb::object,
                      nb::set, nb::object, nb::object, nb::object, nb::object, nb::object,
                      std::optional<std::pair<u64, u64>>>(),
             nb::kw_only(), nb::arg("explorer"), nb::arg("trail"), nb::arg("descent"), nb::arg("queue"),
             nb::arg("batch").none(), nb::arg("alarm"), nb::arg("paths"), nb::arg("unanswered"), nb::arg("covered"),
             nb::arg("grow"), nb::arg("layout"), nb::arg("ends"), nb::arg("new"), nb::arg("redundant"),
             nb::arg("room").none())
        .def("go", &Rounds::go)
        .def("take", &Rounds::take)
        .def_ro("pair", &Rounds::pair)
        .def_ro("data", &Rounds::data)
        .def_prop_ro("prefix", [](const Rounds &self) { return nb::bytes(self.prefix.data(), self.prefix.size()); })
        .def_prop_ro("rest", [](const Rounds &self) { return self.exchange.rest; })
        .def_prop_ro("failure", [](const Rounds &self) { return self.exchange.failure; })
        .def_ro("is_spent", &Rounds::is_spent)
        .def_prop_ro("recalled", [](const Rounds &self) { return self.ahead.taken; })
        .def_ro("derived", &Rounds::derived);
}

}  // namespace score
