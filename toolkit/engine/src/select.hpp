// Reads at symbolic addresses as formulas: the object's bytes, selected by the offset into it.
//
// An object of constants is a table, with as many entries as the index has values, so that reading it is one step for
// every layer. The index is what is left of the offset when its fixed low bits (the size of an element, the place of a
// member) are taken off, what it begins at (a row of a matrix), and the high bits that are zero inside of the object.
// Entries that are formulas stand before the table, as a chain of if-then-else; if they are many, all entries are the
// leaves of a tree of decisions. The formula is right where the offset is in the object: `within` says so, as a
// condition of the path.
#pragma once

#include <functional>
#include <optional>

#include "arena.hpp"

namespace score {

constexpr u64 MOST_ENTRIES = 1 << 17;

struct Content {
    const u8 *bytes;
    std::size_t size;
    u64 hash;  // of the bytes
};

// The formula of the element at an offset, or none if its bytes are constant. May throw.
using Cell = std::function<Ref(u64 offset)>;

// offset <= last, if that is not known to be so. `last` below 0 (an object smaller than what is read) is taken modulo
// the offset's width.
Ref within(Id offset, i128 last);

// That `size` bytes from the offset on end within `limit` bytes, all of one width.
Ref ends_within(Id offset, Id size, Id limit);

// The little-endian number of `size` bytes (1 to 16) that lies at `offset` in `content`; none if there are too many
// entries, or they have more than 8 bytes. `cell`: for objects that hold formulas, else empty; their bytes in `content`
// are not looked at.
Ref select(Id offset, const Content &content, unsigned size, const Cell &cell);

// That the offset is `place`, where it is known to be no more than `last`.
Ref changed(Id offset, i64 last, u64 place);

// All values that an address can have, and perhaps others, in order: of what is read from tables, chosen and added.
// None: too many, or nobody can say.
constexpr std::size_t MOST_ADDRESSES = 256;
std::optional<std::vector<u64>> addresses_of(Id address);

// address == value; of an entry of a table, that the index is one of such an entry's.
Ref is_address(Id address, u64 value);

// That the entry of a table which the address is more than (`outs[i] + 1`) is an address in the object of that base and
// size. None: it is no such sum, or all entries are.
Ref points_into(Id address, u64 base, u64 size);

// A read through a table of pointers to constants (`names[i][0]`, `rows[i][j]`): that there is a constant, and its
// value. `read`: the `size` bytes at an address as a number, if they are constants, and within the bounds of the entry.
// None: the address is no entry of a table plus what has few values. A null pointer leads to no constant, whatever lies
// at 0.
using ReadConstant = std::function<std::optional<u64>(u64 entry, u64 address)>;
std::optional<std::pair<Ref, Ref>> follow(Id address, unsigned size, const ReadConstant &read);

}  // namespace score
