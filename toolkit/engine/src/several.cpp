// Reads and stores at an address that may be in several objects: `*outs[i]`, where outs[] holds pointers to separate
// variables. The target says what all of these hold (runtime/pointed.c). So a read is a choice among them, and a store
// changes, as a formula, the one that the address is in.
#include <algorithm>

#include "access.hpp"
#include "build.hpp"
#include "contract.hpp"

namespace score {

namespace {

using Values = std::optional<std::vector<u64>>;

// Those of the values at which an access of `size` bytes is in the object.
std::vector<u64> values_in(const std::vector<u64> &values, const Object &object, unsigned size) {
    auto first = std::lower_bound(values.begin(), values.end(), object.base);
    auto end = first;
    while (end != values.end() && *end - object.base <= object.content->size() - size) ++end;
    return {first, end};
}

// An element, of an object whose bytes are looked at one by one.
Ref whole(const Object &object, u64 at, unsigned size) {
    Ref found = object.element(at, 1);
    for (unsigned k = 1; k < size; ++k) found = concat(object.element(at + k, 1), found);
    return found;
}

bool overlap(const std::vector<u64> &places, unsigned size) {
    for (std::size_t i = 1; i < places.size(); ++i)
        if (places[i] - places[i - 1] < size) return true;
    return false;
}

}  // namespace

Objects Access::several(const Site &site, u128 count, unsigned size) {
    Objects objects;
    for (u128 i = 0; i < count; ++i) objects.push_back(variable(site, decoded_.cursor.varint(), size));
    if (objects.size() < 2) throw TraceFault(name_of(site) + " has no objects", site.place);
    return objects;
}

// That the address is in one of them is a condition, with another side where it may also be in others. `more`: another
// condition that follows, if it has a formula.
bool Access::on_any(const Site &site, const Leaves &leaves, Id address, const Objects &objects, unsigned size,
                     Outcome *more) {
    Values values = addresses_of(address);
    std::size_t known = 0;
    for (const Object &object : objects)
        if (values) known += values_in(*values, object, size).size();
    Outcome outcomes[2] = {{-1, 1, truth(true), {}}, {-1, 1, Ref(), {}}};
    if (!values || known < values->size()) {
        auto choice = std::make_shared<Choice>(
            Choice{Ref(address), objects[0].base, objects[0].content->size(), size, false, {}});
        outcomes[0].formula = truth(false);
        for (const Object &object : objects) {
            Ref inside = inside_of(address, object.base, i128(object.content->size()), size).second;
            outcomes[0].formula = binary(Kind::OR, outcomes[0].formula, inside);
            if (&object != &objects[0]) choice->others.emplace_back(object.base, object.content->size());
        }
        outcomes[0].chosen = std::move(choice);
    }
    bool forks = more && more->formula;
    if (forks) outcomes[1] = std::move(*more);
    if (!branches_.on_branch(site, leaves, outcomes, 1 + forks)) return false;
    for (const Object &object : objects) decoded_.keep_content(object.base, object.content);
    if (node(address).origins && !node(address).deps) decoded_.note(notes::OPAQUE_ADDRESS, site.id);
    return true;
}

bool Access::read_any(const Site &site, const Leaves &leaves, Id address, const Objects &objects, unsigned size,
                       Ref &found) {
    Values values = addresses_of(address);
    bool has_formula = true;
    for (const Object &object : objects) {
        std::vector<u64> there = values ? values_in(*values, object, size) : std::vector<u64>();
        if (values && there.empty()) continue;
        Ref inside, value;
        if (there.size() == 1) {
            inside = is_address(address, there[0]);
            value = object.element(there[0] - object.base, size);
        } else {
            auto [offset, is_inside] = inside_of(address, object.base, i128(object.content->size()), size);
            const ObjectBytes &bytes = *object.content;
            inside = std::move(is_inside);
            value = select(offset, {bytes.data(), bytes.size(), bytes.hash()}, size, object.cell);
        }
        if (!value)
            has_formula = false;
        else
            found = found ? ite(inside, value, found) : value;
    }
    if (has_formula && found) return on_any(site, leaves, address, objects, size, nullptr);
    Outcome fork = concrete_.fork(site, address);
    bool forks = fork.formula;
    if (!on_any(site, leaves, address, objects, size, &fork)) return false;
    if (!forks) concrete_.address(site, address, notes::SYMBOLIC_ADDRESS);
    u64 now = u64(decoded_.value(address));
    for (const Object &object : objects)
        if (now - object.base <= object.content->size() - size) found = object.element(now - object.base, size);
    return true;
}

void Access::store_any(const Site &site, const Leaves &leaves, const Leaves &said, Id address, u128 count) {
    unsigned size = unsigned(site.dest->bits / 8);
    Objects objects = several(site, count, 1);
    for (const Object &object : objects)
        if (object.content->size() < size)
            throw TraceFault(name_of(site) + " stores more than its object has", site.place);
    if (!on_any(site, leaves, address, objects, size, nullptr)) return;
    Ref stored = fit(said.at(0), site.dest->bits);
    Values values = addresses_of(address);
    std::vector<std::pair<u64, Ref>> after;  // all are as before until the last is made
    for (const Object &object : objects) {
        std::vector<u64> places = values ? values_in(*values, object, size) : std::vector<u64>();
        bool is_whole = values && !overlap(places, size);
        std::vector<Ref> parts;
        for (unsigned k = 0; k < size; ++k) parts.push_back(extract(stored, 8 * k, 8));
        // Where an element is stored it stays one formula.
        for (u64 at = 0, end = object.content->size(); at < end;) {
            u64 here = object.base + at;
            if (is_whole && std::binary_search(places.begin(), places.end(), here)) {
                after.emplace_back(here, ite(is_address(address, here), stored, whole(object, at, size)));
                at += size;
                continue;
            }
            Ref byte = object.element(at, 1);
            for (u64 k = 0; k < size && k <= at && !is_whole; ++k) {
                bool may_be =
                    values ? std::binary_search(places.begin(), places.end(), here - k) : at - k + size <= end;
                if (may_be) byte = ite(is_address(address, here - k), parts[k], byte);
            }
            after.emplace_back(here, std::move(byte));
            ++at;
        }
    }
    for (const auto &[at, formula] : after) decoded_.mirror.write(at, formula);
    decoded_.check_stored(site.id, stored);
}

}  // namespace score
