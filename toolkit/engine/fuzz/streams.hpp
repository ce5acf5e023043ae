// Random event streams, as probes send them, over a table of sites with every kind in it; and what damages them.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "access.hpp"

namespace score {

constexpr unsigned INPUT = 40;  // bytes
constexpr u64 TABLE = 0x4000, TEXT = 0x5000, BUFFER = 0x3000;

// --- the sites -------------------------------------------------------------------------------------------------

inline Leaf slot(u64 index, u64 bits = 32) { return {Place::SLOT, bits, index}; }
inline Leaf memory(u64 bits) { return {Place::MEMORY, bits, 0}; }
inline const Leaf GLOBAL = {Place::GLOBAL, 16, 0x2000}, NOWHERE = {Place::NONE, 0, 0};

inline Template copy_of(Leaf leaf) { return {{leaf}, {{Op::LEAF, leaf.bits, 0}}, false}; }

inline Template compare(Op op, Leaf leaf, u64 number) {
    return {{leaf}, {{Op::LEAF, leaf.bits, 0}, {Op::CONST, leaf.bits, number}, {op, leaf.bits, 0}}, op >= Op::FADD};
}

inline Template scaled(u64 base, u64 stride) {  // base + stride * the number in slot 1
    return {{slot(1, 8)},
            {{Op::LEAF, 8, 0}, {Op::ZEXT, 32, 0}, {Op::CONST, 32, stride}, {Op::MUL, 32, 0}, {Op::CONST, 32, base},
             {Op::ADD, 32, 0}},
            false};
}

inline std::vector<Site> all_sites() {
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
    sites.back().flags = select_flag::CONSTANT;
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

inline const std::vector<Site> SITES = all_sites();

inline const Site *find_site(u64 id) { return id >= 16 && id - 16 < SITES.size() ? &SITES[id - 16] : nullptr; }

struct Image final : ConstantSource {
    std::optional<std::pair<u64, u64>> object_at(u64 address) override {
        if (address >= TABLE && address < TABLE + 16) return std::pair(TABLE, u64(16));
        return std::nullopt;
    }
    SharedBytes read(u64 address, u64 size, bool) override {
        std::vector<u8> bytes(16);
        if (address >= TABLE && address + size <= TABLE + 16 && size <= 16) {
            for (unsigned i = 0; i < 16; i += 4) bytes[i] = u8(i), bytes[i + 1] = TEXT >> 8;
            return std::make_shared<const ObjectBytes>(bytes.data() + (address - TABLE), size);
        }
        if (address < TEXT || address + size > TEXT + 10 || size > 10) return nullptr;
        return std::make_shared<const ObjectBytes>(bytes.data(), size);
    }
    std::optional<std::pair<u64, u64>> bounds_at(u64 pointer) override {
        if (pointer >= TEXT && pointer < TEXT + 7) return std::pair(TEXT, u64(7));
        return std::nullopt;
    }
    bool has_bounds() override { return true; }
};

// --- streams ---------------------------------------------------------------------------------------------------

struct Event {
    std::vector<u8> bytes;
    u64 last;  // address that was sent in it or before it
};

class Streams {
  public:
    explicit Streams(u64 seed) : random_(seed) {}

    u64 below(u64 limit) { return random_() % limit; }

    std::vector<u8> input() {
        std::vector<u8> data(below(8) ? INPUT : below(INPUT));
        bool is_small = below(5);  // then most directions are as they are sent
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = u8(!is_small ? random_() : i % 4 == 0 ? below(6) : 0);
        return data;
    }

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
            if (below(20) == 0) varint(events, (2 + below(8)) << 1), varint(events, 16 + below(20));
            if (below(30) == 0) varint(events, 0), varint(events, 2 * below(3));
            if (site.kind == SiteKind::ENTER) continue;
            // There is no more
            if ((site.kind == SiteKind::SYMBOLIC || site.kind == SiteKind::RESULT) && below(8)) continue;
            bool either = site.kind == SiteKind::COND || site.kind == SiteKind::CHECK || site.kind == SiteKind::RANGE ||
                          site.kind >= SiteKind::BOUNDS || site.kind == SiteKind::SELECT ||
                          site.kind == SiteKind::OPAQUE;
            unsigned direction = either && site.kind != SiteKind::VARIADIC ? unsigned(below(10) != 0) : 0;
            varint(events, site.id << 1 | direction);
            if (site.formula) leaves(events, last, site.formula->leaves);
            body(events, last, site, direction);
            stream.push_back({events, last});
        }
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

  private:
    static void varint(std::vector<u8> &events, u64 number) {
        for (; number > 127; number >>= 7) events.push_back(u8(number | 128));
        events.push_back(u8(number));
    }
    static void address(std::vector<u8> &events, u64 &last, u64 to) {
        i64 far = i64(i64(to) - i64(last));
        last = to;
        varint(events, far < 0 ? 2 * u64(-far) - 1 : 2 * u64(far));
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
            if (direction && !site.flags && !site.size && below(3) == 0) {
                several(events, last);
            } else {
                if (direction && !site.flags && !site.size) varint(events, below(3) ? 0 : 8 << 1);
                if (direction && !site.flags && (site.size || events.back())) object(events, last, 8);
            }
            break;
        case SiteKind::STORE:
            if (!direction && site.size) address(events, last, below(8));
            if (direction && !site.size && below(3) == 0) {
                several(events, last);
            } else {
                if (direction && !site.size) varint(events, 8 << 2 | below(2) << 1);
                if (direction) object(events, last, 8);
            }
            break;
        default: break;
        }
    }

    // Objects, any of which an address may be in.
    void several(std::vector<u8> &events, u64 &last) {
        u64 count = 1 + below(3);
        varint(events, count << 1 | 1);
        for (; count; --count) varint(events, 8), object(events, last, 8);
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

    std::mt19937_64 random_;
};

}  // namespace score
