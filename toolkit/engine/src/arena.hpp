// The arena: every formula is a node of it, named by an id of 32 bits, and equal formulas are one node.
//
// A node lives as long as somebody counts on it: other nodes, a Ref of C++, or its handle in Python. When the last lets
// go, it dies at once and its id is used again, so an id without a Ref means nothing. `uid` is a number no other node
// ever had. One thread at a time may use the arena: in the extension that is whoever has Python's lock, which is never
// given up.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "deps.hpp"
#include "word.hpp"

namespace score {

// Numbers are part of digests and of the Python interface: append only.
enum class Kind : u8 {
    CONST, BYTE, ADD, SUB, MUL, UDIV, SDIV, UREM, SREM, AND, OR, XOR, SHL, LSHR, ASHR, NOT, NEG, ZEXT, SEXT, EXTRACT,
    CONCAT, EQ, ULT, SLT, ITE, TABLE, FADD, FSUB, FMUL, FDIV, FNEG, FABS, FSQRT, FROUND, FCONV, SITOF, UITOF, FTOSI,
    FTOUI, FEQ, FLT, FLE
};
constexpr unsigned KINDS = unsigned(Kind::FLE) + 1;

constexpr u64 set_of(std::initializer_list<Kind> kinds) {
    u64 found = 0;
    for (Kind kind : kinds) found |= u64(1) << unsigned(kind);
    return found;
}
constexpr bool is_in(Kind kind, u64 kinds) { return kinds >> unsigned(kind) & 1; }

constexpr u64 COMMUTATIVE = set_of({Kind::ADD, Kind::MUL, Kind::AND, Kind::OR, Kind::XOR, Kind::EQ, Kind::FADD,
                                    Kind::FMUL, Kind::FEQ});
constexpr u64 QUOTIENTS = set_of({Kind::UDIV, Kind::SDIV, Kind::UREM, Kind::SREM});
constexpr u64 SHIFTS = set_of({Kind::SHL, Kind::LSHR, Kind::ASHR});
constexpr u64 COMPARISONS = set_of({Kind::EQ, Kind::ULT, Kind::SLT, Kind::FEQ, Kind::FLT, Kind::FLE});

using Id = u32;  // 0: none
using Origins = std::shared_ptr<const std::set<i64>>;  // null: none

// A table of constants that formulas read: `name` stands for the entries.
struct Table {
    u128 name;
    std::vector<u64> entries;
    u64 largest;
    u32 distinct;
    u32 refs;
};

constexpr unsigned COLUMN = 256;
struct Column {  // the value of a formula over one byte, for each value of that
    std::array<u64, COLUMN> low;
    std::unique_ptr<std::array<u64, COLUMN>> high;  // of formulas wider than 64 bits
};
using ByteSet = std::array<u64, 4>;
constexpr ByteSet EVERY_BYTE = {~u64(0), ~u64(0), ~u64(0), ~u64(0)};
using Digest = std::array<u8, 16>;

// Keeps something about nodes, and is told when one dies. It may not make or drop formulas then.
struct Mourner {
    virtual void died(Id id) = 0;

  protected:
    ~Mourner() = default;
};

// What was found out about a node, for as long as it lives.
struct Found {
    std::vector<Mourner *> mourners;
    std::unique_ptr<ByteSet> byte_set;
    std::unique_ptr<Digest> digest;
    std::unique_ptr<Column> column;
    Id integral = 0;  // what solve/integral.py made of it: the node itself (not counted) or another one
};

struct Node {
    Kind kind;
    u8 arity;
    u8 width;  // 1 to 128
    bool floats, products, chooses, reads;
    u32 refs;  // of nodes and Refs
    std::array<Id, 3> args;
    Id next;  // in its bucket
    int only_byte;
    u128 value;  // CONST's, BYTE's index, EXTRACT's lowest bit, FROUND's way, TABLE's name
    u64 uid;
    Table *table;
    Deps deps;
    Origins origins;
    std::unique_ptr<Found> found;
    void *handle;  // Python's, or null

    bool is_const() const { return kind == Kind::CONST; }
};

class Ref;

class Arena {
  public:
    Arena();
    Arena(const Arena &) = delete;

    const Node &operator[](Id id) const { return at(id); }
    Node &at(Id id) const { return chunks_[id >> CHUNK_BITS][id & (CHUNK - 1)]; }
    Found &found(Id id) const {
        Node &node = at(id);
        if (!node.found) node.found = std::make_unique<Found>();
        return *node.found;
    }

    // The one node with these parts. Constants alone have origins of their own; a width that is none is an error
    // (std::invalid_argument).
    Ref intern(Kind kind, unsigned width, const Id *args, unsigned arity, u128 value = 0, const Origins &origins = {});
    Ref intern_table(unsigned width, Id index, u128 name, const u64 *entries, std::size_t count);
    const Table *table_named(u128 name) const;  // null: no node reads it

    void hold(Id id) { ++at(id).refs; }
    void drop(Id id) {
        if (--at(id).refs == 0) orphaned(id);
    }

    // A node with a handle outlives its counts: `let_go` is called when they are gone, and the handle, when it goes,
    // clears itself here and drops a count of its own (handle.cpp).
    void set_handle(Id id, void *handle) { at(id).handle = handle; }
    void (*let_go)(void *handle) = nullptr;

    void mourn(Id id, Mourner *who) { found(id).mourners.push_back(who); }
    void mourn_no_more(Id id, Mourner *who);

    std::size_t size() const { return alive_; }
    Id bound() const { return fresh_; }  // ids are below

    void keep_column(Id id, std::unique_ptr<Column> column);
    void forget_columns();
    std::size_t columns = 0;      // kept
    u64 columns_computed = 0;

  private:
    static constexpr unsigned CHUNK_BITS = 12;
    static constexpr u32 CHUNK = 1u << CHUNK_BITS;

    Ref made(u64 hash, Kind kind, unsigned width, const Id *args, unsigned arity, u128 value, const Origins &origins,
             Table *table);
    Id find(u64 hash, Kind kind, unsigned width, const Id *args, unsigned arity, u128 value,
            const Origins &origins) const;
    void orphaned(Id id);
    void bury(Id id);
    void unlink(Id id);
    void grow();
    Id new_id();

    std::vector<std::unique_ptr<Node[]>> chunks_;
    std::vector<Id> buckets_, free_, dying_;
    std::map<u128, Table> tables_;
    std::vector<std::pair<Id, u64>> column_order_;  // with uids: the oldest first
    std::size_t alive_ = 0;
    Id fresh_ = 1;
    u64 last_uid_ = 0;
    bool burying_ = false;
};

Arena &arena();

inline const Node &node(Id id) { return arena()[id]; }

// Holds a node. Converts to its id, which is good as long as the Ref, or a node above it, is there.
class Ref {
  public:
    Ref() = default;
    explicit Ref(Id id) : id_(id) {
        if (id) arena().hold(id);
    }
    Ref(const Ref &other) : Ref(other.id_) {}
    Ref(Ref &&other) noexcept : id_(std::exchange(other.id_, 0)) {}
    Ref &operator=(Ref other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Ref() {
        if (id_) arena().drop(id_);
    }
    operator Id() const { return id_; }

  private:
    Id id_ = 0;
};

Origins origins_of_both(const Origins &a, const Origins &b);

}  // namespace score
