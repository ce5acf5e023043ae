#include "arena.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

namespace score {

namespace {

constexpr std::size_t COLUMNS_KEPT = 512;  // two KiB each

u64 mixed(u64 hash, u64 word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

u64 hash_of(Kind kind, unsigned width, const Id *args, unsigned arity, u128 value) {
    u64 hash = mixed(u64(kind) << 8 | width, u64(value));
    hash = mixed(hash, u64(value >> 64));
    for (unsigned i = 0; i < arity; ++i) hash = mixed(hash, args[i]);
    return mixed(hash, arity);
}

u64 hash_of(const Node &node) { return hash_of(node.kind, node.width, node.args.data(), node.arity, node.value); }

bool same(const Origins &a, const Origins &b) { return a == b || (a && b && *a == *b); }

}  // namespace

Arena &arena() {
    static Arena *const all = new Arena;  // never destroyed: handles may outlive what the linker would destroy
    return *all;
}

Origins origins_of_both(const Origins &a, const Origins &b) {
    if (!b || same(a, b)) return a;
    if (!a) return b;
    auto made = std::make_shared<std::set<i64>>(*a);
    made->insert(b->begin(), b->end());
    return made;
}

Arena::Arena() : buckets_(1 << 10) {}

Ref Arena::intern(Kind kind, unsigned width, const Id *args, unsigned arity, u128 value, const Origins &origins) {
    u64 hash = hash_of(kind, width, args, arity, value);
    if (Id id = find(hash, kind, width, args, arity, value, origins)) return Ref(id);
    return made(hash, kind, width, args, arity, value, origins, nullptr);
}

Ref Arena::intern_table(unsigned width, Id index, u128 name, const u64 *entries, std::size_t count) {
    u64 hash = hash_of(Kind::TABLE, width, &index, 1, name);
    if (Id id = find(hash, Kind::TABLE, width, &index, 1, name, {})) return Ref(id);
    unsigned bits = node(index).width;
    if (bits > 24 || count != std::size_t(1) << bits || width > 64)
        throw std::invalid_argument("a table has as many entries as its index has values, of 64 bits at most");
    auto known = tables_.find(name);
    Table *table = known == tables_.end() ? nullptr : &known->second;
    if (!table) {
        u64 largest = *std::max_element(entries, entries + count);
        std::unordered_set<u64> distinct(entries, entries + count);
        if (largest > mask<u64>(width)) throw std::invalid_argument("an entry of a table is too wide for it");
        std::vector<u64> kept(entries, entries + count);
        auto added = tables_.emplace(name, Table{name, std::move(kept), largest, u32(distinct.size()), 0});
        table = &added.first->second;
    } else if (table->entries.size() != count || table->largest > mask<u64>(width)) {
        throw std::invalid_argument("two tables of one name");
    }
    return made(hash, Kind::TABLE, width, &index, 1, name, {}, table);
}

const Table *Arena::table_named(u128 name) const {
    auto found = tables_.find(name);
    return found == tables_.end() ? nullptr : &found->second;
}

Id Arena::find(u64 hash, Kind kind, unsigned width, const Id *args, unsigned arity, u128 value,
               const Origins &origins) const {
    for (Id id = buckets_[hash & (buckets_.size() - 1)]; id; id = at(id).next) {
        const Node &node = at(id);
        if (node.kind == kind && node.width == width && node.arity == arity && node.value == value &&
            std::equal(args, args + arity, node.args.begin()) && (kind != Kind::CONST || same(node.origins, origins)))
            return id;
    }
    return 0;
}

Ref Arena::made(u64 hash, Kind kind, unsigned width, const Id *args, unsigned arity, u128 value,
                const Origins &origins, Table *table) {
    if (width < 1 || width > WIDEST) throw std::invalid_argument("formulas have 1 to 128 bits");
    Deps deps = kind == Kind::BYTE ? Deps::of_byte(u64(value)) : Deps();
    Origins all = origins;
    bool floats = kind >= Kind::FADD, reads = kind == Kind::TABLE;
    bool products = is_in(kind, QUOTIENTS) || (kind == Kind::MUL && !at(args[1]).is_const());
    bool chooses = kind == Kind::ITE || (is_in(kind, SHIFTS) && !at(args[1]).is_const());
    for (unsigned i = 0; i < arity; ++i) {
        const Node &arg = at(args[i]);
        deps = Deps::both(deps, arg.deps);
        all = origins_of_both(all, arg.origins);
        floats |= arg.floats, reads |= arg.reads, products |= arg.products, chooses |= arg.chooses;
    }
    Id id = new_id();
    Node &node = at(id);
    node.kind = kind, node.arity = u8(arity), node.width = u8(width);
    node.floats = floats, node.reads = reads, node.products = products, node.chooses = chooses;
    node.refs = 0, node.handle = nullptr, node.value = value, node.uid = ++last_uid_, node.table = table;
    node.args = {};
    for (unsigned i = 0; i < arity; ++i) {
        node.args[i] = args[i];
        hold(args[i]);
    }
    if (table) ++table->refs;
    node.deps = std::move(deps), node.origins = std::move(all);
    node.only_byte = node.deps.only();
    Id &bucket = buckets_[hash & (buckets_.size() - 1)];
    node.next = bucket;
    bucket = id;
    Ref made(id);
    if (++alive_ > buckets_.size()) grow();
    return made;
}

Id Arena::new_id() {
    if (!free_.empty()) {
        Id id = free_.back();
        free_.pop_back();
        return id;
    }
    if (fresh_ == ~Id(0)) throw std::length_error("too many formulas");
    if (fresh_ >> CHUNK_BITS >= chunks_.size()) {
        std::size_t room = 2 * (chunks_.size() + 1) * CHUNK;
        if (free_.capacity() < room / 2) {  // so that burying never fails
            free_.reserve(room);
            dying_.reserve(room);
        }
        chunks_.push_back(std::make_unique<Node[]>(CHUNK));
    }
    return fresh_++;
}

void Arena::grow() {
    std::vector<Id> old(2 * buckets_.size());
    old.swap(buckets_);
    for (Id first : old)
        for (Id id = first, next; id; id = next) {
            next = at(id).next;
            Id &bucket = buckets_[hash_of(at(id)) & (buckets_.size() - 1)];
            at(id).next = bucket;
            bucket = id;
        }
}

void Arena::orphaned(Id id) {
    if (void *handle = at(id).handle)
        let_go(handle);
    else
        bury(id);
}

// The node, and whatever only it held, without recursion: formulas are deep. It is found no more from the beginning,
// since the end of a handle may run Python that makes formulas.
void Arena::bury(Id id) {
    unlink(id);
    dying_.push_back(id);
    if (burying_) return;
    burying_ = true;
    while (!dying_.empty()) {
        Id dead = dying_.back();
        dying_.pop_back();
        Node &node = at(dead);
        std::unique_ptr<Found> found = std::move(node.found);
        if (found && found->column) --columns;
        if (found)
            for (Mourner *who : found->mourners) who->died(dead);
        Id integral = found && found->integral != dead ? found->integral : 0;
        std::array<Id, 3> args = node.args;
        unsigned arity = node.arity;
        if (node.table && --node.table->refs == 0) tables_.erase(node.table->name);
        node.deps = Deps();
        node.origins.reset();
        node.uid = 0;
        --alive_;
        free_.push_back(dead);
        for (unsigned i = 0; i < arity; ++i) drop(args[i]);
        if (integral) drop(integral);
    }
    burying_ = false;
}

void Arena::mourn_no_more(Id id, Mourner *who) {
    auto &mourners = found(id).mourners;
    mourners.erase(std::remove(mourners.begin(), mourners.end(), who), mourners.end());
}

void Arena::unlink(Id id) {
    Id *place = &buckets_[hash_of(at(id)) & (buckets_.size() - 1)];
    while (*place != id) place = &at(*place).next;
    *place = at(id).next;
}

void Arena::keep_column(Id id, std::unique_ptr<Column> column) {
    found(id).column = std::move(column);
    column_order_.emplace_back(id, at(id).uid);
    ++columns, ++columns_computed;
}

// A loop that adds to a value makes a formula that grows with every turn: what was computed last is kept.
void Arena::forget_columns() {
    auto is_kept = [&](const std::pair<Id, u64> &entry) {
        const Node &node = at(entry.first);
        return node.uid == entry.second && node.found && node.found->column;
    };
    if (column_order_.size() > 8 * COLUMNS_KEPT || columns > 2 * COLUMNS_KEPT)
        column_order_.erase(std::remove_if(column_order_.begin(), column_order_.end(),
                                           [&](const auto &entry) { return !is_kept(entry); }),
                            column_order_.end());
    if (columns <= 2 * COLUMNS_KEPT) return;
    std::size_t superfluous = column_order_.size() - COLUMNS_KEPT;
    for (std::size_t i = 0; i < superfluous; ++i) {
        at(column_order_[i].first).found->column.reset();
        --columns;
    }
    column_order_.erase(column_order_.begin(), column_order_.begin() + std::ptrdiff_t(superfluous));
}

}  // namespace score
