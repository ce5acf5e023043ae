#include "aim.hpp"

namespace score {

namespace {

constexpr unsigned DEEPEST = 200;  // operators on one way
constexpr unsigned ENTRIES_LOOKED_AT = 4096;

u64 inverse(u64 odd) {  // modulo 2 to the power of 64
    u64 x = odd;
    for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
    return x;
}

}  // namespace

u64 Dice::roll() {
    u64 x = state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

bool Aim::at(Slot slot, u64 wanted, std::vector<Change> &changes) {
    changes_ = &changes;
    changes.clear();
    return go(slot, wanted, 0) && !changes.empty();
}

bool Aim::go_byte(Slot slot, u64 wanted) {
    if (!(sets_[slot][wanted / 64] >> wanted % 64 & 1)) return false;
    for (const Change &change : *changes_)
        if (change.byte == slot) return change.value == wanted;
    changes_->push_back({slot, u8(wanted)});
    return true;
}

// Which of two operands is to change: none that is constant.
unsigned Aim::side_of(const Part &part) {
    if (slots_.part(part.args[0]).op.kind == Kind::CONST) return 1;
    if (slots_.part(part.args[1]).op.kind == Kind::CONST) return 0;
    return dice_.flip();
}

bool Aim::go(Slot slot, u64 wanted, unsigned depth) {
    if (slots_[slot] == wanted) return true;
    const Part &part = slots_.part(slot);
    const Operator &op = part.op;
    if (++depth > DEEPEST || op.kind == Kind::CONST) return false;
    if (op.kind == Kind::BYTE) return go_byte(slot, wanted);
    const u64 all = mask<u64>(op.width), from = mask<u64>(op.widths[0]);
    const Slot first = part.args[0];
    switch (op.kind) {
    case Kind::NOT: return go(first, wanted ^ all, depth);
    case Kind::NEG: return go(first, (0 - wanted) & all, depth);
    case Kind::ZEXT: return wanted <= from && go(first, wanted, depth);
    case Kind::SEXT: {
        u64 low = wanted & from, sign = sign_bit<u64>(op.widths[0]);
        return (((low ^ sign) - sign) & all) == wanted && go(first, low, depth);
    }
    case Kind::EXTRACT: return go(first, (slots_[first] & ~(all << op.value)) | wanted << op.value, depth);
    case Kind::CONCAT: {
        u64 low = mask<u64>(op.widths[1]);
        return go(first, wanted >> op.widths[1], depth) && go(part.args[1], wanted & low, depth);
    }
    case Kind::ITE: {
        bool taken = slots_[first];
        Slot here = part.args[taken ? 1 : 2], there = part.args[taken ? 2 : 1];
        if (slots_[there] == wanted && (dice_.flip() || slots_.part(here).op.kind == Kind::CONST))
            return go(first, !taken, depth);
        if (slots_.part(here).op.kind == Kind::CONST || dice_.below(8) == 0)
            return go(first, !taken, depth) && go(there, wanted, depth);
        return go(here, wanted, depth);
    }
    case Kind::TABLE: return go_table(part, wanted, depth);
    case Kind::EQ:
    case Kind::ULT:
    case Kind::SLT: return go_truth(part, wanted, depth);
    case Kind::SHL:
    case Kind::LSHR:
    case Kind::ASHR: return go_shift(part, wanted, depth);
    default: break;
    }
    if (op.kind > Kind::XOR) return false;  // floating point
    unsigned side = side_of(part);
    Slot mine = part.args[side];
    u64 own = slots_[mine], other = slots_[part.args[1 - side]];
    switch (op.kind) {
    case Kind::ADD: return go(mine, (wanted - other) & all, depth);
    case Kind::SUB: return go(mine, (side ? other - wanted : wanted + other) & all, depth);
    case Kind::XOR: return go(mine, wanted ^ other, depth);
    case Kind::AND:
        if (wanted & ~other)  // both have to
            return go(first, slots_[first] | wanted, depth) && go(part.args[1], slots_[part.args[1]] | wanted, depth);
        return go(mine, (own & ~other) | wanted, depth);
    case Kind::OR:
        if (other & ~wanted)
            return go(first, slots_[first] & wanted, depth) && go(part.args[1], slots_[part.args[1]] & wanted, depth);
        return go(mine, (own & other) | (wanted & ~other), depth);
    case Kind::MUL: return go_product(part, wanted, side, depth);
    default: return go_quotient(part, wanted, side, depth);
    }
}

bool Aim::go_truth(const Part &part, bool wanted, unsigned depth) {
    u64 sign = part.op.kind == Kind::SLT ? sign_bit<u64>(part.op.widths[0]) : 0;
    if (part.op.kind != Kind::EQ) return go_order(part, wanted, sign, depth);
    unsigned side = side_of(part);
    u64 other = slots_[part.args[1 - side]], all = mask<u64>(part.op.widths[0]);
    if (wanted) return go(part.args[side], other, depth);
    u64 changed = dice_.flip()   ? other + 1
                  : dice_.flip() ? other - 1
                                 : other ^ u64(1) << dice_.below(part.op.widths[0]);
    return go(part.args[side], changed & all, depth);
}

// a < b, or not. `flipped`: the bits that make the order an unsigned one.
bool Aim::go_order(const Part &part, bool wanted, u64 flipped, unsigned depth) {
    unsigned side = side_of(part);
    u64 other = slots_[part.args[1 - side]] ^ flipped, most = mask<u64>(part.op.widths[0]);
    bool below = wanted == (side == 0);  // where this operand has to go: the border is in it if the order is not strict
    if (wanted && other == (below ? 0 : most)) return false;
    u64 border = !wanted ? other : below ? other - 1 : other + 1, room = below ? border : most - border;
    if (room && dice_.below(4) == 0) {
        u64 step = dice_.roll() >> dice_.below(64);
        step = room == ~u64(0) ? step : step % (room + 1);
        border = below ? border - step : border + step;
    }
    return go(part.args[side], border ^ flipped, depth);
}

bool Aim::go_table(const Part &part, u64 wanted, unsigned depth) {
    const std::vector<u64> &entries = part.op.table->entries;
    u64 start = dice_.below(entries.size());
    for (u64 i = 0; i < entries.size() && i < ENTRIES_LOOKED_AT; ++i) {
        u64 at = (start + i) % entries.size();
        if (entries[at] == wanted) return go(part.args[0], at, depth);
    }
    return false;
}

bool Aim::go_shift(const Part &part, u64 wanted, unsigned depth) {
    const u64 width = part.op.width, shift = slots_[part.args[1]], own = slots_[part.args[0]];
    const u64 all = mask<u64>(part.op.width);
    bool is_fixed = slots_.part(part.args[1]).op.kind == Kind::CONST;
    if (!is_fixed && dice_.below(4) == 0) return go(part.args[1], dice_.below(width), depth);
    if (shift >= width) return !is_fixed && go(part.args[1], dice_.below(width), depth);
    if (part.op.kind == Kind::SHL) {
        u64 lost = ~(all >> shift) & all;
        return (wanted >> shift << shift) == wanted && go(part.args[0], wanted >> shift | (own & lost), depth);
    }
    u64 lost = (u64(1) << shift) - 1;
    return go(part.args[0], (wanted << shift & all) | (own & lost), depth);
}

bool Aim::go_product(const Part &part, u64 wanted, unsigned side, unsigned depth) {
    u64 all = mask<u64>(part.op.width), own = slots_[part.args[side]], other = slots_[part.args[1 - side]];
    if (!other) return !slots_.part(part.args[1 - side]).arity ? false : go(part.args[1 - side], 1, depth);
    unsigned even = zeros_of(other);
    if (wanted & ((u64(1) << even) - 1)) return false;
    u64 kept = all >> even, found = (wanted >> even) * inverse(other >> even) & kept;
    u64 small = wanted / other;  // what a product that does not overflow needs
    if (small * other == wanted && dice_.flip()) return go(part.args[side], small, depth);
    return go(part.args[side], found | (own & all & ~kept), depth);
}

bool Aim::go_quotient(const Part &part, u64 wanted, unsigned side, unsigned depth) {
    const Operator &op = part.op;
    u64 all = mask<u64>(op.width), a = slots_[part.args[0]], b = slots_[part.args[1]];
    bool is_rest = op.kind == Kind::UREM || op.kind == Kind::SREM;
    if (side == 1) {
        if (is_rest) return go(part.args[1], (a - wanted) & all, depth);
        return wanted ? go(part.args[1], a / wanted, depth) : a != all && go(part.args[1], a + 1, depth);
    }
    if (!b) return slots_.part(part.args[1]).arity && go(part.args[1], 1 + dice_.below(2), depth);
    Operator other = op;
    other.kind = op.kind == Kind::UDIV ? Kind::UREM : op.kind == Kind::SDIV ? Kind::SREM : op.kind;
    u128 values[3] = {a, b, 0};
    u64 rest = u64(operate(other, values));
    if (is_rest) return go(part.args[0], (a - rest + wanted) & all, depth);
    u64 base = wanted * b & all;  // the rest is kept, or is none
    return go(part.args[0], dice_.flip() ? (base + rest) & all : base, depth);
}

}  // namespace score
