// The host's mirror of what is symbolic on the target: slots of activations and bytes of memory, as formulas.
//
// The target's taint decides what is symbolic; the mirror only says which formula. So it is never told of bytes that
// became concrete, and may hold stale formulas for them. Each change goes to a log, so that the trail can be rolled
// back.
#pragma once

#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include "arena.hpp"
#include "cursor.hpp"

namespace score {

// The target calls symbolic what it never said to be so.
struct NotMirrored : std::exception {
    explicit NotMirrored(std::string what) : text(std::move(what)) {}
    const char *what() const noexcept override { return text.c_str(); }

    std::string text;
};

// A cell of memory is a formula and which of its bytes, so that a value read as it was stored is the same node.
class Mirror {
  public:
    explicit Mirror(u64 wrap) : wrap_(wrap) {}

    Ref slot(i64 depth, u128 slot) const;
    void set_slot(i64 depth, u64 slot, Id expr);

    // A formula of whole bytes, little endian.
    void write(u64 address, Id expr);

    // The little-endian value of `size` symbolic bytes. Bytes whose bit in `mask` is clear are those of the concrete
    // `value`.
    Ref read(u64 address, unsigned size) const { return read_partly(address, size, mask<u64>(size), 0); }
    Ref read_partly(u64 address, unsigned size, u64 mask, i128 value) const;

    // As memmove: what the source holds is taken first, so overlap does no harm.
    void copy(u64 to, u64 source, u128 size);
    void forget(u64 address, u128 size);

    std::size_t mark() const { return log_.size(); }
    void undo(std::size_t mark);

  private:
    struct Cell {
        Ref expr;
        u32 index = 0;  // of the formula's bytes
    };
    struct SlotKey {
        i64 depth;
        u64 slot;
        bool operator==(const SlotKey &other) const { return depth == other.depth && slot == other.slot; }
    };
    struct SlotHash {
        std::size_t operator()(const SlotKey &key) const {
            return std::size_t(((key.slot << 24) ^ u64(key.depth)) * 0x9E3779B97F4A7C15u >> 16);
        }
    };
    struct Change {  // what was there before; no formula: nothing
        bool is_slot;
        SlotKey key;  // a cell's address is its slot
        Cell before;
    };

    void set_cell(u64 address, Cell cell);
    std::vector<std::pair<u64, u64>> present(u64 address, u128 size) const;  // offset and address of the cells there
    Ref run(u64 address, unsigned start, unsigned size, u64 mask, unsigned &length) const;

    u64 wrap_;
    std::unordered_map<SlotKey, Ref, SlotHash> slots_;
    std::unordered_map<u64, Cell> cells_;
    std::vector<Change> log_;
};

}  // namespace score
