// Puts random and damaged event streams to the trail, under the sanitizers (tests/property/test_sanitized.py). Each run
// is decoded twice: on a trail that has had other runs before, and on a fresh one. Both must say the same, or find the
// same damage. Decisions, bounds and the solver's scope go along, and jump to paths that were left; what slices they
// have is compared with what a look at all conditions finds. Usage: score_fuzz_trail SEED ROUNDS. Prints how many runs
// there were, how many were damaged, how many conditions the others had, and how many formulas are left at the end,
// which must be none.
#include "trail.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "bounds.hpp"
#include "columns.hpp"
#include "decisions.hpp"
#include "lineage.hpp"
#include "scope.hpp"
#include "streams.hpp"

using namespace score;

namespace {

void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "score_fuzz_trail: %s\n", what);
    std::abort();
}

// --- trails ----------------------------------------------------------------------------------------------------

struct Stopped {};

// What conditions before a target say of its bytes, found by looking at all of them again and again.
void compare_slices(const Slicer &slicer, const std::vector<Id> &path, Id target) {
    Slice found = slicer.slice(target);
    Deps reach = node(target).deps;
    std::set<Id> several;
    for (std::size_t before = ~std::size_t(0); before != several.size();) {
        before = several.size();
        for (Id each : path)
            if (node(each).deps && node(each).only_byte < 0 && node(each).deps.meets(reach))
                several.insert(each), reach = Deps::both(reach, node(each).deps);
    }
    require(std::set<Id>(found.several.begin(), found.several.end()) == several, "a slice has other conditions");
    require(found.several.size() == several.size() && slicer.weight(target) == several.size(), "a slice is heavier");
    require(slicer.reach(target).compare(reach) == 0, "a slice has other bytes");
    std::size_t next = 0;
    for (u32 index : reach.indices()) {
        ByteSet left = EVERY_BYTE;
        bool is_said = false, is_bound = false;
        for (Id each : path) {
            is_bound = is_bound || (node(each).only_byte < 0 && node(each).deps.has(index));
            if (node(each).only_byte != int(index)) continue;
            is_said = true;
            for (unsigned i = 0; i < 4; ++i) left[i] &= byte_set(each)[i];
        }
        require(slicer.binds(index) == is_bound && !slicer.values(index) == !is_said, "a byte is bound otherwise");
        if (is_said) require(found.sets.at(next++) == std::pair(index, left), "a byte has other values left");
    }
    require(next == found.sets.size(), "a slice has sets of other bytes");
}

class Followed final : Listener {
  public:
    Followed(bool verify, Forks forks)
        : pointers_(image_, 50), trail({32, verify, forks, 50}, find_site, image_, pointers_, *this) {}

    // What came of the run: nothing, damage, or another error.
    std::string follow(const std::vector<u8> &events, const std::vector<u8> &data, u64 limit) {
        trail.rewind({events.data(), events.size()}, {data.data(), data.size()}, limit);
        require(known_ == trail.conditions.size(), "who follows the path is at another place");
        scope.go_to(trail.conditions, trail.decoded().pins, known_);
        try {
            trail.extend();
        } catch (const TraceFault &fault) {
            require(trail.conditions.empty() && !trail.decoded().notes.size(), "a damaged trail is not empty");
            return fault.text + fault.where;
        } catch (const std::exception &error) {
            return error.what();
        }
        return "";
    }

    u64 stop_at = ~u64(0);  // the condition at which who follows has enough

  private:
    void reached(std::size_t index, const ConditionPtr &condition) override {
        require(index == known_ && node(condition->formula).width == 1, "conditions come in order");
        scope.reach(*condition, trail.decoded().pins);
        if (index >= stop_at) throw Stopped();
        if (index % 4 == 0) look(condition->formula);
        scope.pass_by(condition);
        decisions.pass_by(*condition);
        bounds.pass_by(*condition);
        ++known_;
    }
    void cut(std::size_t conditions, std::size_t, std::size_t) override {
        known_ = conditions;
        decisions.cut(conditions);
        bounds.cut(conditions);
    }

    void look(Id target) const {
        std::vector<Id> path;
        for (const ConditionPtr &each : trail.conditions) path.push_back(each->formula);
        compare_slices(*scope.loose(), path, target);
        std::size_t pins = trail.decoded().pins.size();
        require(!scope.strict() == !pins, "pins are asked for as long as there are any");
        for (std::size_t i = 0; i < pins; ++i) path.push_back(trail.decoded().pins[i].formula);
        if (pins) compare_slices(*scope.strict(), path, target);
    }
    void tick() override {}

    Image image_;
    Pointers pointers_;
    std::size_t known_ = 0;

  public:
    Scope scope;
    Decisions decisions;
    BoundedPath bounds{std::nullopt, 2};
    Trail trail;
};

// Those who go along come to the same, whatever they had before; and go to other paths and back.
void compare_followers(Followed &a, Followed &b) {
    const Path &path = a.trail.conditions;
    const std::vector<Pin> &pins = a.trail.decoded().pins;
    require(a.decisions.before(path.size()) == b.decisions.before(path.size()), "other decisions");
    for (const ConditionPtr &each : path)
        require(a.bounds.forbids(*each) == b.bounds.forbids(*each), "another bound");
    std::size_t half = path.size() / 2;
    a.scope.go_to(path, pins, half), b.scope.go_to(path, pins, half);
    for (const ConditionPtr &each : path)
        require(a.scope.loose()->slice(each->formula) == b.scope.loose()->slice(each->formula), "another slice");
    a.scope.go_to(b.trail.conditions, pins, half);
    Origin run = Origin::first(), child = Origin::of(run, u32(half)), other = Origin::of(child, u32(path.size()));
    require(*Origin::in_common(run, other) == half && !Origin::in_common(child, child), "another line of ancestors");
}

bool same(const Condition &a, const Condition &b) {
    return a.site == b.site && a.chain == b.chain && a.direction == b.direction && Id(a.formula) == Id(b.formula) &&
           value(a.before) == value(b.before) && value(a.after) == value(b.after) &&
           a.elsewhere.first == b.elsewhere.first && a.elsewhere.count == b.elsewhere.count &&
           !a.chosen == !b.chosen && a.forked.compare(b.forked) == 0 && a.counted == b.counted && a.start == b.start &&
           a.pins == b.pins && a.is_fork == b.is_fork && a.settled == b.settled && a.fixed == b.fixed &&
           a.loose == b.loose;
}

void compare_trails(const Trail &a, const Trail &b) {
    require(a.conditions.size() == b.conditions.size(), "another number of conditions");
    for (std::size_t i = 0; i < a.conditions.size(); ++i)
        require(same(*a.conditions[i], *b.conditions[i]), "another condition");
    const Decoded &x = a.decoded(), &y = b.decoded();
    require(a.operand_hash() == b.operand_hash() && a.counted == b.counted, "other operands");
    require(a.diverged == b.diverged && x.consumed == y.consumed, "it ended elsewhere");
    require(x.pins.size() == y.pins.size() && x.objects.size() == y.objects.size(), "other pins or inputs");
    for (std::size_t i = 0; i < x.pins.size(); ++i)
        require(Id(x.pins[i].formula) == Id(y.pins[i].formula), "another pin");
    require(x.notes.size() == y.notes.size(), "other notes");
    for (std::size_t i = 0; i < x.notes.size(); ++i)
        require(x.notes[i].what == y.notes[i].what && x.notes[i].times == y.notes[i].times, "another note");
    require(x.disagreements.size() == y.disagreements.size(), "other values stored");
}

// --- runs ---------------------------------------------------------------------------------------------------

class Round {
  public:
    explicit Round(u64 seed) : streams_(seed) {}

    void run(u64 &runs, u64 &damaged, u64 &conditions) {
        bool verify = below(8) == 0;
        Forks forks{below(2) ? u128(256) : u128(below(3)), below(2) == 0};
        Followed trail(verify, forks);
        std::vector<Event> sent_last;
        std::vector<std::vector<u8>> kept;  // the trail looks at the last run's once more
        kept.reserve(16);
        for (unsigned turn = 0; turn < 8; ++turn) {
            if (below(4)) sent_last.resize(below(sent_last.size() + 1));  // else the whole of it once more
            if (below(3)) streams_.add_events(sent_last);
            std::vector<u8> data = streams_.input(), events;
            for (const Event &event : sent_last) events.insert(events.end(), event.bytes.begin(), event.bytes.end());
            for (u64 i = below(3) ? 0 : 1 + below(3); i; --i) streams_.damage(events);
            kept.push_back(events), kept.push_back(data);
            const std::vector<u8> &sent = kept[kept.size() - 2], &given = kept.back();
            if (below(10) == 0) stopped(trail, sent, given);
            std::string found = trail.follow(sent, given, below(2) ? ~u64(0) : below(6));
            Followed fresh(verify, forks);
            std::string expected = fresh.follow(sent, given, 0);
            ++runs, damaged += !found.empty();
            require(found == expected, "other damage than on a fresh trail");
            compare_trails(trail.trail, fresh.trail);
            compare_followers(trail, fresh);
            conditions += trail.trail.conditions.size();
            Followed broken(verify, forks);
            std::size_t sound = broken.trail.sound({sent.data(), sent.size()}, {given.data(), given.size()});
            bool is_part = sound < sent.size() || sent.empty();
            require(sound <= sent.size() && (found.empty() || is_part), "what is sound is in it");
        }
    }

  private:
    u64 below(u64 limit) { return streams_.below(limit); }

    // Whoever follows has enough before the end: then the trail is before that branch.
    void stopped(Followed &trail, const std::vector<u8> &events, const std::vector<u8> &data) {
        trail.stop_at = below(4);
        try {
            trail.follow(events, data, trail.stop_at);
        } catch (const Stopped &) {
            require(trail.trail.conditions.size() <= trail.stop_at, "more conditions than were wanted");
        }
        trail.stop_at = ~u64(0);
    }

    Streams streams_;
};

}  // namespace

int main(int count, char **words) {
    if (count != 3) return std::fprintf(stderr, "usage: score_fuzz_trail SEED ROUNDS\n"), 2;
    u64 seed = std::strtoull(words[1], nullptr, 10), rounds = std::strtoull(words[2], nullptr, 10);
    u64 runs = 0, damaged = 0, conditions = 0;
    for (u64 i = 0; i < rounds; ++i) Round(seed + i).run(runs, damaged, conditions);
    std::printf("%llu runs, %llu damaged, %llu conditions, %zu left\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(damaged), static_cast<unsigned long long>(conditions), arena().size());
    return arena().size() ? 1 : 0;
}
