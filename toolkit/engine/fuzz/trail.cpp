// Puts random and damaged event streams to the trail, under the sanitizers (tests/unit/test_engine.py). Each run is
// decoded twice: on a trail that has had other runs before, and on a fresh one. Both must say the same, or find the
// same damage. Decisions, bounds and the solver's scope go along, and jump to paths that were left; what slices they have is
// compared with what a look at all conditions finds. Usage: score_fuzz_trail SEED ROUNDS. Prints how many runs there were, how many were damaged, how many
// conditions the others had, and how many formulas are left at the end, which must be none.
#include "trail.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>

#include "bounds.hpp"
#include "columns.hpp"
#include "decisions.hpp"
#include "lineage.hpp"
#include "scope.hpp"

using namespace score;

namespace {

constexpr unsigned INPUT = 40;  // bytes
constexpr u64 TABLE = 0x4000, TEXT = 0x5000, BUFFER = 0x3000;

void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "score_fuzz_trail: %s\n", what);
    std::abort();
}

// --- the sites -------------------------------------------------------------------------------------------------

Leaf slot(u64 index, u64 bits = 32) { return {Place::SLOT, bits, index}; }
Leaf memory(u64 bits) { return {Place::MEMORY, bits, 0}; }
const Leaf GLOBAL = {Place::GLOBAL, 16, 0x2000}, NOWHERE = {Place::NONE, 0, 0};

Template copy_of(Leaf leaf) { return {{leaf}, {{Op::LEAF, leaf.bits, 0}}, false}; }

Template compare(Op op, Leaf leaf, u64 number) {
    return {{leaf}, {{Op::LEAF, leaf.bits, 0}, {Op::CONST, leaf.bits, number}, {op, leaf.bits, 0}}, op >= Op::FADD};
}

Template scaled(u64 base, u64 stride) {  // base + stride * the number in slot 1
    return {{slot(1, 8)},
            {{Op::LEAF, 8, 0}, {Op::ZEXT, 32, 0}, {Op::CONST, 32, stride}, {Op::MUL, 32, 0}, {Op::CONST, 32, base},
             {Op::ADD, 32, 0}},
            false};
}

std::vector<Site> all_sites() {
    std::vector<Site> sites;
    auto add = [&](SiteKind kind) -> Site & {
        Site site{};
        site.id = 16 + sites.size(), site.kind = kind, site.place = "a.c:1", site.coverage = 10 * site.id;
        sites.push_back(site);
        return sites.back();
    };
    auto with = [&](SiteKind kind, Template formula) -> Site & {
        Site &site = add(kind);
        site.formula = std::move(formula);
        return site;
    };
    Template stored{{slot(6, 16), slot(1)}, {{Op::LEAF, 32, 1}}, false};
    Template sum{{slot(1, 16), GLOBAL, memory(16)},
                 {{Op::LEAF, 16, 0}, {Op::LEAF, 16, 1}, {Op::SDIV, 16, 0}, {Op::LEAF, 16, 2}, {Op::SHL, 16, 0}},
                 false};
    // Elements lie a stride apart: which of an object's places they are does not depend on the input.
    Template element{{slot(6, 16), slot(1)}, {{Op::LEAF, 32, 1}, {Op::CONST, 32, 4}, {Op::MUL, 32, 0}}, false};
    Site *site = &add(SiteKind::SYMBOLIC);
    site->dest = slot(1), site->size = 4, site->name = "x";
    site = &add(SiteKind::SYMBOLIC), site->dest = memory(8), site->name = "buffer";
    site = &add(SiteKind::SYMBOLIC), site->dest = GLOBAL, site->size = 2;
    with(SiteKind::ASSIGN, copy_of(slot(1))).dest = slot(2);
    with(SiteKind::ASSIGN, copy_of(slot(1))).dest = slot(5);
    with(SiteKind::ASSIGN, copy_of(slot(1))).dest = slot(6, 16);
    with(SiteKind::ASSIGN, copy_of(memory(32))).dest = memory(32);
    with(SiteKind::ASSIGN, sum).dest = GLOBAL;
    with(SiteKind::COND, compare(Op::SLT, slot(1), 5));
    with(SiteKind::COND, compare(Op::NE, memory(8), 65)).is_assumption = true;
    site = &add(SiteKind::SWITCH), site->leaves = {slot(1, 8)}, site->labels = {{1, 1}, {5, 9}, {250, 3}};
    add(SiteKind::CALL).leaves = {slot(1), NOWHERE, slot(2)};
    add(SiteKind::RESULT).dest = slot(3);
    add(SiteKind::OPAQUE).dest = slot(4);
    add(SiteKind::COPY);
    with(SiteKind::PIN, copy_of(slot(1, 8))).name = "address";
    with(SiteKind::PIN, copy_of(slot(2))).name = "argument";
    add(SiteKind::ENTER);
    with(SiteKind::SELECT, copy_of(slot(1))).dest = slot(5), sites.back().size = 8;
    with(SiteKind::SELECT, scaled(TABLE, 4)).dest = slot(5);
    with(SiteKind::SELECT, scaled(TABLE, 1)).dest = slot(6, 8), sites.back().size = 16;
    sites.back().flags = SELECT_CONSTANT;
    with(SiteKind::SELECT, copy_of(slot(5))).dest = slot(1, 8);
    with(SiteKind::STORE, element).dest = memory(16), sites.back().size = 8, sites.back().stride = 2;
    with(SiteKind::STORE, element).dest = memory(16), sites.back().stride = 4;
    with(SiteKind::STORE, stored).dest = memory(16);
    with(SiteKind::BOUNDS, copy_of(slot(1))).size = 2;
    with(SiteKind::SPAN, stored);
    with(SiteKind::CHECK, compare(Op::NE, slot(2), 0));
    with(SiteKind::RANGE, compare(Op::FLT, slot(1), 0x4F000000));
    with(SiteKind::COND, compare(Op::EQ, slot(1, 8), 3));
    add(SiteKind::VARIADIC);
    with(SiteKind::SIZED, copy_of(slot(1)));
    return sites;
}

const std::vector<Site> SITES = all_sites();

const Site *find_site(u64 id) { return id >= 16 && id - 16 < SITES.size() ? &SITES[id - 16] : nullptr; }

struct Image final : ConstantSource {
    std::optional<std::pair<u64, u64>> object_at(u64 address) override {
        if (address >= TABLE && address < TABLE + 16) return std::pair(TABLE, u64(16));
        return std::nullopt;
    }
    SharedBytes read(u64 address, u64 size, bool) override {
        std::vector<u8> bytes(16);
        if (address >= TABLE && address + size <= TABLE + 16 && size <= 16) {
            for (unsigned i = 0; i < 16; i += 4) bytes[i] = u8(i), bytes[i + 1] = TEXT >> 8;
            return std::make_shared<const Bytes>(bytes.data() + (address - TABLE), size);
        }
        if (address < TEXT || address + size > TEXT + 10 || size > 10) return nullptr;
        return std::make_shared<const Bytes>(bytes.data(), size);
    }
};

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

// --- streams ---------------------------------------------------------------------------------------------------

class Round {
  public:
    explicit Round(u64 seed) : random_(seed) {}

    void run(u64 &runs, u64 &damaged, u64 &conditions) {
        bool verify = below(8) == 0;
        Forks forks{below(2) ? u128(256) : u128(below(3)), below(2) == 0};
        Followed trail(verify, forks);
        std::vector<Event> sent_last;
        std::vector<std::vector<u8>> kept;  // the trail looks at the last run's once more
        kept.reserve(16);
        for (unsigned turn = 0; turn < 8; ++turn) {
            if (below(4)) sent_last.resize(below(sent_last.size() + 1));  // else the whole of it once more
            if (below(3)) add_events(sent_last);
            std::vector<u8> data = input(), events;
            for (const Event &event : sent_last) events.insert(events.end(), event.bytes.begin(), event.bytes.end());
            for (u64 i = below(3) ? 0 : 1 + below(3); i; --i) damage(events);
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
    u64 below(u64 limit) { return random_() % limit; }

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

    std::vector<u8> input() {
        std::vector<u8> data(below(8) ? INPUT : below(INPUT));
        bool is_small = below(5);  // then most directions are as they are sent
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = u8(!is_small ? random_() : i % 4 == 0 ? below(6) : 0);
        return data;
    }

    static void varint(std::vector<u8> &events, u64 number) {
        for (; number > 127; number >>= 7) events.push_back(u8(number | 128));
        events.push_back(u8(number));
    }
    static void address(std::vector<u8> &events, u64 &last, u64 to) {
        i64 far = i64(i64(to) - i64(last));
        last = to;
        varint(events, far < 0 ? 2 * u64(-far) - 1 : 2 * u64(far));
    }

    struct Event {
        std::vector<u8> bytes;
        u64 last;  // address that was sent in it or before it
    };

    // Begins with inputs; then events as probes send them, of values that are often there.
    void add_events(std::vector<Event> &stream) {
        u64 last = stream.empty() ? 0 : stream.back().last;
        if (stream.empty()) {
            std::vector<u8> events;
            varint(events, 16 << 1);
            varint(events, 17 << 1), address(events, last, BUFFER), varint(events, 8);
            varint(events, 18 << 1);
            for (u64 site = 19; site < 22; ++site) varint(events, site << 1);
            stream.push_back({events, last});
        }
        for (u64 left = below(14); left; --left) {
            std::vector<u8> events;
            const Site &site = SITES[below(SITES.size())];
            if (below(20) == 0) varint(events, (2 + below(7)) << 1), varint(events, 16 + below(20));
            if (below(30) == 0) varint(events, 0), varint(events, 2 * below(3));
            if (site.kind == SiteKind::ENTER) continue;
            // There is no more
            if ((site.kind == SiteKind::SYMBOLIC || site.kind == SiteKind::RESULT) && below(8)) continue;
            bool either = site.kind == SiteKind::COND || site.kind == SiteKind::CHECK || site.kind == SiteKind::RANGE ||
                          site.kind >= SiteKind::BOUNDS || site.kind == SiteKind::SELECT;
            unsigned direction = either && site.kind != SiteKind::VARIADIC ? unsigned(below(10) != 0) : 0;
            varint(events, site.id << 1 | direction);
            if (site.formula) leaves(events, last, site.formula->leaves);
            body(events, last, site, direction);
            stream.push_back({events, last});
        }
    }

    void leaves(std::vector<u8> &events, u64 &last, const std::vector<Leaf> &leaves) {
        auto in_memory = [](const Leaf &leaf) { return leaf.place == Place::MEMORY || leaf.place == Place::GLOBAL; };
        std::vector<u64> taints;
        u64 mask = 0;
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            bool is_sure = leaves.size() == 1 && !(in_memory(leaves[i]) && leaves[i].bits > 8);
            taints.push_back(is_sure || below(4) ? 1 : 0);
            mask |= taints.back() << (2 * i);
        }
        if (leaves.size() > 1 || (in_memory(leaves[0]) && leaves[0].bits > 8)) varint(events, mask);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            if (!taints[i]) varint(events, below(200));
            if (taints[i] && leaves[i].place == Place::MEMORY) address(events, last, BUFFER + below(5));
        }
    }

    void body(std::vector<u8> &events, u64 &last, const Site &site, unsigned direction) {
        switch (site.kind) {
        case SiteKind::SWITCH: varint(events, below(4)); break;
        case SiteKind::CALL: varint(events, below(2) ? 1 : 4); break;
        case SiteKind::OPAQUE: varint(events, below(200)); break;
        case SiteKind::COPY:
            address(events, last, BUFFER + below(8)), address(events, last, BUFFER + below(8));
            varint(events, below(9));
            break;
        case SiteKind::VARIADIC: varint(events, 1 + below(2)), address(events, last, BUFFER + below(8)); break;
        case SiteKind::ASSIGN:
            if (site.dest->place == Place::MEMORY) address(events, last, BUFFER + below(8));
            break;
        case SiteKind::SYMBOLIC:
            if (site.dest->place == Place::MEMORY) address(events, last, BUFFER + below(8)), varint(events, below(5));
            break;
        case SiteKind::BOUNDS:
        case SiteKind::SPAN: address(events, last, below(6) ? 0 : below(8)), varint(events, 8 + below(100)); break;
        case SiteKind::SIZED:
            varint(events, below(2) * below(4));
            if (!events.back()) address(events, last, below(8));
            break;
        case SiteKind::SELECT:
            if (!direction && site.size) address(events, last, below(8));
            if (direction && site.flags) address(events, last, TABLE);
            if (direction && !site.flags && !site.size) varint(events, below(3) ? 0 : 8);
            if (direction && !site.flags && (site.size || events.back())) object(events, last, 8);
            break;
        case SiteKind::STORE:
            if (!direction && site.size) address(events, last, below(8));
            if (direction && !site.size) varint(events, 8 << 1 | below(2));
            if (direction) object(events, last, 8);
            break;
        default: break;
        }
    }

    // An object of variables, as a target describes it.
    void object(std::vector<u8> &events, u64 &last, unsigned size) {
        address(events, last, below(8) ? 0 : below(2) ? BUFFER : below(8));
        bool is_known = below(4) == 0;
        events.push_back(is_known);
        for (unsigned i = 0; !is_known && i < size; ++i) events.push_back(u8(below(4)));
        if (below(3) == 0) varint(events, 1 + below(4)), varint(events, 1 + below(4));
        events.push_back(0);
    }

    void damage(std::vector<u8> &events) {
        std::size_t at = std::size_t(below(events.size() + 1));
        u8 byte = below(2) ? u8(random_()) : u8(below(2) ? 0xFF : 0x80);
        if (at == events.size() || below(3) == 0)
            events.insert(events.begin() + std::ptrdiff_t(at), byte);
        else if (below(2))
            events[at] = byte;
        else
            events.resize(at);
    }

    std::mt19937_64 random_;
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
