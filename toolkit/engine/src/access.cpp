#include "access.hpp"

#include <algorithm>

#include "build.hpp"
#include "contract.hpp"

namespace score {

namespace {

// little endian; what the object does not have is 0
u128 number_in(const ObjectBytes &content, u64 at, unsigned size) {
    u128 number = 0;
    for (unsigned i = 0; i < size && at + i < content.size(); ++i) number |= u128(content.data()[at + i]) << (8 * i);
    return number;
}

}  // namespace

std::pair<Ref, Ref> inside_of(Id address, u64 base, i128 length, unsigned size) {
    Ref start = constant(base, node(address).width);
    Ref offset = binary(Kind::SUB, address, start);
    Ref inside = within(offset, length - size);
    return {std::move(offset), std::move(inside)};
}

// --- tables of pointers ----------------------------------------------------------------------------------------

Pointers::Read Pointers::followed(Id address, unsigned size) {
    Ref key(address);
    if (Read *found = known_.find(size, 0, &key, 1)) return *found;
    if (known_.size() >= kept_) known_.clear();
    Read made = follow(address, size, [&](u64 pointer, u64 at) -> std::optional<u64> {
        if (auto bounds = constants_.bounds_at(pointer))
            if (bounds->second < size || at - bounds->first > bounds->second - size) return std::nullopt;
        SharedBytes there = constants_.read(at, size, false);
        if (!there) return std::nullopt;
        return u64(number_in(*there, 0, size));
    });
    return known_.add(size, 0, &key, 1, std::move(made));
}

Ref Pointers::astray(const Choice &chosen, u64 base, u64 size) {
    Id address = chosen.address;
    unsigned width = node(address).width;
    u64 length = size & ~(ASTRAY | FREED | BELOW | AT_END);
    Ref start = constant(base, width), limit = constant(length, width);
    Ref leads;
    if (chosen.origin) {
        Ref origin = fit(chosen.origin, width), moved = binary(Kind::SUB, origin, start);
        leads = binary(size & AT_END ? Kind::EQ : Kind::ULT, moved, limit);
    } else {
        leads = pointed(address, base, length);
    }
    if (!leads) return truth(false);
    if (size & FREED) return leads;
    Ref offset = binary(Kind::SUB, address, start);
    Ref count = chosen.count ? fit(chosen.count, width) : constant(chosen.access, width);
    Ref outside = bit_not(ends_within(offset, count, limit));
    if (size & BELOW) {
        Ref above = less_equal(Kind::ULT, start, address);
        outside = binary(Kind::AND, outside, above);
    }
    return binary(Kind::AND, leads, outside);
}

Ref Pointers::inside(const Choice &chosen, u64 base, u64 size) {
    if (size & ASTRAY) return astray(chosen, base, size);
    if (!chosen.access) {
        Ref number = constant(base, node(chosen.address).width);
        return binary(Kind::EQ, chosen.address, number);
    }
    if (size) {
        Ref inside = inside_of(chosen.address, base, i128(size), chosen.access).second;
        Ref pointer = chosen.pointed ? pointed(chosen.address, base, size) : Ref();
        return pointer ? binary(Kind::AND, inside, pointer) : inside;
    }
    Read found = followed(chosen.address, chosen.access);
    return found ? found->first : truth(false);
}

Ref Pointers::pointed(Id address, u64 base, u64 size) const {
    return constants_.has_bounds() ? points_into(address, base, size) : Ref();
}

// --- reads -----------------------------------------------------------------------------------------------------

bool Access::read(const Site &site, const Leaves &leaves, const Leaves &said, Id address, Ref &found) {
    unsigned size = unsigned(site.dest->bits / 8);
    u128 told = site.size ? 0 : decoded_.cursor.varint();
    if (told & 1) return read_any(site, leaves, address, several(site, told >> 1, size), size, found);
    Object object = this->object(site, decoded_.value(address), size, told >> 1);
    bool known = object.known || concrete_.is_few(address);  // then each place is an object
    // Which constants a table leads to says the formula alone: all runs of a path must agree on the object.
    Pointers::Read followed = site.size || object.sent ? std::nullopt : pointers_.followed(address, size);
    Formulas there =
        followed ? Formulas{followed->first, followed->second, false} : formulas(site, said, address, object, size);
    if (!followed && object.sent) there.inside = with_pointer(there.inside, address, object, there.pointed);
    Outcome outcomes[2] = {{-1, 1, there.inside, {}}, {-1, 1, Ref(), {}}};
    if (followed)
        outcomes[0].chosen = std::make_shared<const Choice>(Choice{Ref(address), 0, 0, size, false, {}});
    else if (known && !site.size)
        outcomes[0].chosen =
            std::make_shared<const Choice>(
                Choice{Ref(address), object.base, object.content->size(), size, there.pointed, {}});
    bool is_sure = known || followed;
    if (!there.found || !is_sure) outcomes[1] = concrete_.fork(site, address);
    bool forks = outcomes[1].formula;
    if (!branches_.on_branch(site, leaves, outcomes, 1 + forks)) return false;
    if (object.sent) decoded_.keep_content(object.base, object.content);
    if (node(address).origins && !node(address).deps) decoded_.note(notes::OPAQUE_ADDRESS, site.id);
    found = there.found;
    if (!found || !is_sure) {
        if (!forks) concrete_.address(site, address, notes::SYMBOLIC_ADDRESS);
        Ref at = constant(decoded_.value(address) - object.base, node(address).width);
        const ObjectBytes &bytes = *object.content;
        found = select(at, {bytes.data(), bytes.size(), bytes.hash()}, size, object.cell);
    }
    return true;
}

void Access::outside(const Site &site, const Leaves &leaves, Id address) {
    if (!site.size) return concrete_.address(site, address, notes::SYMBOLIC_ADDRESS);
    u64 base = decoded_.cursor.next_address();
    auto [offset, inside] = inside_of(address, base, i128(site.size), unsigned(site.dest->bits / 8));
    Outcome outcomes[2] = {{-1, 0, bit_not(inside), {}}, {-1, 1, Ref(), {}}};
    outcomes[1] = concrete_.fork(site, address);
    bool forks = outcomes[1].formula;
    if (branches_.on_branch(site, leaves, outcomes, 1 + forks) && !forks)
        concrete_.address(site, address, notes::OUTSIDE);
}

// That the address is in the object, and what lies there.
Access::Formulas Access::formulas(const Site &site, const Leaves &said, Id address, const Object &object,
                                    unsigned size) {
    const ObjectBytes &bytes = *object.content;
    if (!object.cell)
        if (Formulas *found = known_.find(site.id, object.base, said.data(), said.size(), &bytes)) return *found;
    auto [offset, inside] = inside_of(address, object.base, i128(bytes.size()), size);
    Ref found = select(offset, {bytes.data(), bytes.size(), bytes.hash()}, size, object.cell);
    Formulas made{std::move(inside), std::move(found), false};
    if (known_.size() >= kept_) known_.clear();
    if (!object.cell) known_.add(site.id, object.base, said.data(), said.size(), made, object.content);
    return made;
}

Ref Access::with_pointer(Ref inside, Id address, const Object &object, bool &pointed) {
    Ref pointer = pointers_.pointed(address, object.base, object.content->size());
    pointed = pointer && decoded_.value(pointer);
    return pointed ? binary(Kind::AND, inside, pointer) : inside;
}

// --- objects ---------------------------------------------------------------------------------------------------

template <typename Fault> SharedBytes Access::constant_at(const Site &site, u128 base, u64 length) {
    SharedBytes content = base >> 64 ? nullptr : constants_.read(u64(base), length, site.size != 0);
    if (!content)
        throw Fault(name_of(site) + " reads a constant at " + hexadecimal(base) + ", where the image has none",
                    site.place);
    return content;
}

// The object that the address is in. Where nobody knows it, it is the element alone.
Object Access::object(const Site &site, u128 address, unsigned size, u128 told) {
    if (site.size && site.flags & select_flag::CONSTANT) {
        u64 base = decoded_.cursor.next_address();
        if (site.size < size) throw TraceFault(name_of(site) + " reads more than its object has", site.place);
        return {base, constant_at<TraceFault>(site, base, site.size), {}, false, true};
    }
    u128 length = site.size ? site.size : told;
    if (length) return variable(site, length, size);
    auto there = address >> 64 ? std::nullopt : constants_.object_at(u64(address));
    bool known = there && address - there->first + size <= there->second;
    if (!known) return {u64(address), constant_at<NothingThere>(site, address, size), {}, false, false};
    return {there->first, constant_at<TraceFault>(site, there->first, there->second), {}, false, true};
}

// What the target says of an object of `length` bytes that can change; `size`: bytes of the access.
Object Access::variable(const Site &site, u128 length, unsigned size) {
    Cursor &cursor = decoded_.cursor;
    u64 base = cursor.next_address();
    if (length < size) throw TraceFault(name_of(site) + " reads more than its object has", site.place);
    if (length - 1 > cursor.wrap - base) throw cursor.fail("an object that memory has no room for");
    SharedBytes content;
    if (*cursor.take(1) == 1) {
        if (!(length >> 64)) content = decoded_.content(base, u64(length));
        if (!content) throw cursor.fail("the object at " + hexadecimal(base) + " was never sent");
    } else {
        const u8 *bytes = cursor.take(length);
        content = std::make_shared<const ObjectBytes>(bytes, std::size_t(length));
    }
    std::vector<std::pair<u64, u64>> runs;
    i128 at = 0;
    while (u128 gap = cursor.varint()) {
        at += i128(gap) - 1;
        i128 count = i128(cursor.varint());
        if (count < 1 || count > i128(length) - at) throw cursor.fail("a part of an object that it does not have");
        runs.emplace_back(u64(at), u64(count));
        at += count;
    }
    Cell cell = runs.empty() ? Cell() : cell_of(std::move(runs), content, base, size);
    return {base, std::move(content), std::move(cell), true, true};
}

Cell Access::cell_of(std::vector<std::pair<u64, u64>> runs, SharedBytes content, u64 base, unsigned size) const {
    return [this, runs = std::move(runs), content = std::move(content), base, size](u64 offset) {
        u64 tainted = 0;
        auto run = std::upper_bound(runs.begin(), runs.end(), std::pair(offset, ~u64(0)));
        if (run != runs.begin()) --run;
        for (; run != runs.end() && run->first < offset + size; ++run)
            for (unsigned i = 0; i < size; ++i)
                if (offset + i >= run->first && offset + i - run->first < run->second) tainted |= u64(1) << i;
        if (!tainted) return Ref();
        return decoded_.mirror.read_partly(base + offset, size, tainted, i128(number_in(*content, offset, size)));
    };
}

Ref Object::element(u64 at, unsigned size) const {
    Ref formula = cell ? cell(at) : Ref();
    return formula ? formula : constant(number_in(*content, at, size), 8 * size);
}

// --- stores ----------------------------------------------------------------------------------------------------

// Each element of the object becomes the value, if the address is its own, else what it was.
void Access::store(const Site &site, const Leaves &leaves, const Leaves &said, Id address) {
    unsigned size = unsigned(site.dest->bits / 8);
    u128 length = site.size;
    bool anywhere = false;
    if (!length) {
        u128 told = decoded_.cursor.varint();
        if (told & 1) return store_any(site, leaves, said, address, told >> 1);
        length = told >> 2, anywhere = told >> 1 & 1;
    }
    if (!site.stride && !anywhere)
        throw TraceFault("store " + std::to_string(site.id) + " knows no elements", site.place);
    Object found = variable(site, length, anywhere ? 1 : size);
    auto [offset, inside] = inside_of(address, found.base, i128(found.content->size()), size);
    bool pointed = false;
    if (!site.size) inside = with_pointer(inside, address, found, pointed);
    Outcome outcome{-1, 1, inside, {}};
    if (!site.size)
        outcome.chosen = std::make_shared<const Choice>(
            Choice{Ref(address), found.base, found.content->size(), size, pointed, {}});
    if (!branches_.on_branch(site, leaves, &outcome, 1)) return;
    decoded_.keep_content(found.base, found.content);
    if (node(address).origins && !node(address).deps) decoded_.note(notes::OPAQUE_ADDRESS, site.id);
    Ref stored = fit(said.at(0), site.dest->bits);
    if (anywhere)
        change_bytes(offset, stored, found, size);
    else
        change(site, offset, stored, found, size);
    decoded_.check_stored(site.id, stored);
}

// The target calls all these places symbolic now.
void Access::change(const Site &site, Id offset, Id stored, const Object &found, unsigned size) {
    i64 last = i64(found.content->size()) - i64(size);
    std::vector<std::pair<u64, Ref>> elements;
    for (u128 at = decoded_.value(offset) % site.stride; i128(at) <= last; at += site.stride)
        elements.emplace_back(u64(at), found.element(u64(at), size));
    for (const auto &[at, before] : elements) {
        Ref is_there = changed(offset, last, at);
        Ref after = ite(is_there, stored, before);
        decoded_.mirror.write(found.base + at, after);
    }
}

// Where nobody knows how far apart the places are: each byte may become any byte of the value.
void Access::change_bytes(Id offset, Id stored, const Object &found, unsigned size) {
    i64 whole = i64(found.content->size()), last = whole - i64(size);
    std::vector<Ref> parts, after;
    for (unsigned k = 0; k < size; ++k) parts.push_back(extract(stored, 8 * k, 8));
    for (i64 at = 0; at < whole; ++at) {
        Ref byte = found.element(u64(at), 1);
        for (i64 k = std::max<i64>(0, at - last); k < std::min<i64>(size, at + 1); ++k) {
            Ref is_there = changed(offset, last, u64(at - k));
            byte = ite(is_there, parts[std::size_t(k)], byte);
        }
        after.push_back(std::move(byte));
    }
    for (i64 at = 0; at < whole; ++at) decoded_.mirror.write(found.base + u64(at), after[std::size_t(at)]);
}

}  // namespace score
