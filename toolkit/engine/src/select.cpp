#include "select.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <stdexcept>

#include "blake2b.hpp"
#include "build.hpp"
#include "interval.hpp"
#include "offset.hpp"

namespace score {

namespace {

constexpr std::size_t TABLES_KEPT = 256;
constexpr std::size_t BYTES_KEPT = 1 << 26;  // of all of them together, unless one alone has more

// --- tables ----------------------------------------------------------------------------------------------------

struct Entries {
    u128 name;
    std::vector<u64> entries;
    bool all_equal;
};
using EntriesPtr = std::shared_ptr<const Entries>;  // who reads one may read others, and it is forgotten meanwhile

Entries named(std::vector<u64> entries, unsigned size) {
    std::vector<u8> packed(entries.size() * size + 1);
    for (std::size_t i = 0; i < entries.size(); ++i) std::memcpy(&packed[i * size], &entries[i], size);
    packed.back() = u8(size);
    u128 name;
    blake2b(packed.data(), packed.size(), reinterpret_cast<u8 *>(&name), sizeof name);
    bool all_equal = std::all_of(entries.begin(), entries.end(), [&](u64 entry) { return entry == entries[0]; });
    return {name, std::move(entries), all_equal};
}

u128 number_at(const Content &content, u128 at, unsigned size) {  // of what there is
    u128 value = 0;
    if (at < content.size) {
        std::size_t there = content.size - std::size_t(at);
        std::memcpy(&value, content.bytes + std::size_t(at), std::min<std::size_t>(size, there));
    }
    return value;
}

// What lies beyond the end is never read: the path says so.
Entries made(const Content &content, unsigned size, unsigned step, u64 rest, unsigned bits) {
    std::vector<u64> entries(std::size_t(1) << bits);
    for (std::size_t index = 0; index < entries.size(); ++index) {
        u128 start = rest + (u128(index) << step);
        if (start + size <= content.size) entries[index] = u64(number_at(content, start, size));
    }
    return named(std::move(entries), size);
}

// The tables made last, by content and shape.
class Kept {
  public:
    EntriesPtr of(const Content &content, unsigned size, unsigned step, u64 rest, unsigned bits) {
        Key key{content.hash, content.size, size, step, rest, bits};
        auto [first, last] = by_key_.equal_range(key);
        for (auto at = first; at != last; ++at)
            if (!std::memcmp(at->second->content.data(), content.bytes, content.size)) {
                order_.splice(order_.end(), order_, at->second);
                return at->second->entries;
            }
        auto table = std::make_shared<const Entries>(made(content, size, step, rest, bits));
        order_.push_back({key, {content.bytes, content.bytes + content.size}, table});
        by_key_.emplace(key, std::prev(order_.end()));
        bytes_ += order_.back().bytes();
        while (order_.size() > TABLES_KEPT || (bytes_ > BYTES_KEPT && order_.size() > 1)) forget_first();
        return table;
    }

  private:
    using Key = std::array<u64, 6>;
    struct Item {
        Key key;
        std::vector<u8> content;
        EntriesPtr entries;

        std::size_t bytes() const { return content.size() + entries->entries.size() * sizeof(u64); }
    };

    void forget_first() {
        auto [first, last] = by_key_.equal_range(order_.front().key);
        by_key_.erase(std::find_if(first, last, [&](const auto &entry) { return entry.second == order_.begin(); }));
        bytes_ -= order_.front().bytes();
        order_.pop_front();
    }

    std::list<Item> order_;  // the one used last is last
    std::multimap<Key, std::list<Item>::iterator> by_key_;
    std::size_t bytes_ = 0;
};

Kept &kept() {
    static Kept *const all = new Kept;
    return *all;
}

Ref read_of(Id index, const Entries &table, unsigned size) {
    if (table.all_equal) return constant(table.entries[0], 8 * size);
    return arena().intern_table(8 * size, index, table.name, table.entries.data(), table.entries.size());
}

Ref element(Id offset, const Content &content, unsigned size, const Cell &cell) {
    const Node &node = score::node(offset);
    if (cell)
        if (Ref formula = cell(u64(node.value))) return formula;
    return constant(number_at(content, node.value, size), 8 * size, node.origins);
}

// One of these, decided bit by bit: as many decisions as elements, but none compares the index with a number.
Ref tree(Id index, std::vector<Ref> level) {
    for (unsigned bit = 0; bit < node(index).width; ++bit) {
        Ref decision = extract(index, bit, 1);
        std::vector<Ref> above;
        for (std::size_t i = 0; i < level.size(); i += 2) {
            const Ref &odd = i + 1 < level.size() ? level[i + 1] : level.back();
            above.push_back(ite(decision, odd, level[i]));
        }
        level = std::move(above);
    }
    return level[0];
}

// An address as the entry of a table of pointers, what is added to it, and a constant.
struct Sum {
    Id pointer = 0;
    Ref rest;
    u128 moved = 0;

    void add(Id part) { rest = rest ? binary(Kind::ADD, rest, part) : Ref(part); }
};

// False: the sum has a part that nobody can say a formula of.
bool add_parts(Id expr, unsigned depth, Sum &sum) {
    const Node &node = score::node(expr);
    if (node.is_const()) {
        sum.moved += node.value;
        return !node.origins;
    }
    if (depth && node.kind == Kind::ADD)
        return add_parts(node.args[0], depth - 1, sum) && add_parts(node.args[1], depth - 1, sum);
    if (!node.table) {
        sum.add(expr);
    } else if (sum.pointer && score::node(sum.pointer).table->largest >= node.table->largest) {
        sum.add(expr);
    } else {  // of several tables the one with the largest entries: the others are indices
        if (sum.pointer) sum.add(sum.pointer);
        sum.pointer = expr;
    }
    return true;
}

using Addresses = std::optional<std::vector<u64>>;

Addresses in_order(std::vector<u64> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() > MOST_ADDRESSES) return std::nullopt;
    return values;
}

// Of what is no table: an index, scaled.
Addresses scaled(Id expr) {
    u128 last = upper(expr);
    Stride stride = stride_of(expr);
    if (stride.rest > last || (last - stride.rest) >> stride.step >= MOST_ADDRESSES) return std::nullopt;
    std::vector<u64> values;
    for (u128 at = stride.rest; at <= last; at += u128(1) << stride.step) values.push_back(u64(at));
    return values;
}

Addresses addresses(Id expr, unsigned depth);

Addresses added(const Addresses &a, const Addresses &b, unsigned width) {
    if (!a || !b || a->size() * b->size() > MOST_ADDRESSES) return std::nullopt;
    std::vector<u64> values;
    for (u64 x : *a)
        for (u64 y : *b) values.push_back((x + y) & mask<u64>(width));
    return in_order(std::move(values));
}

Addresses either(Addresses a, const Addresses &b) {
    if (!a || !b) return std::nullopt;
    a->insert(a->end(), b->begin(), b->end());
    return in_order(std::move(*a));
}

Addresses addresses(Id expr, unsigned depth) {
    const Node &node = score::node(expr);
    if (node.is_const()) return std::vector<u64>{u64(node.value)};
    if (node.table) return in_order(std::vector<u64>(node.table->entries));
    if (!depth) return std::nullopt;
    if (node.kind == Kind::ITE) return either(addresses(node.args[1], depth - 1), addresses(node.args[2], depth - 1));
    if (node.kind == Kind::ADD)
        return added(addresses(node.args[0], depth - 1), addresses(node.args[1], depth - 1), node.width);
    return scaled(expr);
}

}  // namespace

Addresses addresses_of(Id address) {
    if (node(address).width > 64 || node(address).origins) return std::nullopt;
    return addresses(address, DEEP);
}

Ref is_address(Id address, u64 value) {
    Sum sum;
    const Node &whole = node(address);
    bool is_entry = add_parts(address, 1, sum) && sum.pointer && !sum.rest;
    if (!is_entry) return binary(Kind::EQ, address, constant(value, whole.width));
    const Node &entry = node(sum.pointer);
    std::vector<u64> is_it;
    std::size_t found = 0, times = 0;
    for (u64 each : entry.table->entries) {
        is_it.push_back(((u128(each) + sum.moved) & mask<u128>(whole.width)) == value);
        if (is_it.back()) ++times, found = is_it.size() - 1;
    }
    Ref index(entry.args[0]);
    if (times == 1) return binary(Kind::EQ, index, constant(found, node(index).width));
    return binary(Kind::EQ, read_of(index, named(std::move(is_it), 1), 1), constant(1, 8));
}

Ref within(Id offset, i128 last) {
    Ref limit = constant(u128(last), node(offset).width);
    // What opaque code said may be another number in other runs, whatever it is in this one.
    bool sure = last >= 0 && !node(offset).origins && upper(offset) <= u128(last);
    return sure ? truth(true) : less_equal(Kind::ULT, offset, limit);
}

Ref ends_within(Id offset, Id size, Id limit) {
    auto is_known = [](Id number) { return node(number).is_const() && !node(number).origins; };
    if (is_known(size) && is_known(limit)) {
        i128 last = i128(node(limit).value) - i128(node(size).value);
        return last >= 0 ? within(offset, last) : truth(false);
    }
    Ref room = binary(Kind::SUB, limit, offset);
    Ref starts = is_known(limit) ? within(offset, i128(node(limit).value)) : less_equal(Kind::ULT, offset, limit);
    Ref ends = is_known(room) ? within(size, i128(node(room).value)) : less_equal(Kind::ULT, size, room);
    return binary(Kind::AND, starts, ends);
}

Ref select(Id offset, const Content &content, unsigned size, const Cell &cell) {
    if (size < 1 || size > WIDEST / 8) throw std::invalid_argument("an element has 1 to 16 bytes");
    if (node(offset).is_const()) return element(offset, content, size, cell);
    if (content.size < size || size > 8) return Ref();
    Window window = window_of(offset, content.size - size);
    Stride stride = stride_of(window.from);
    if (stride.rest > window.last) return Ref();
    Ref index = index_of(window.from, stride, window.last);
    unsigned width = node(index).width;
    if (width > 63 || u64(1) << width > MOST_ENTRIES) return Ref();
    u64 rest = window.first + u64(stride.rest);
    if (node(index).is_const()) {
        Ref at = constant(rest + (node(index).value << stride.step), 64, node(index).origins);
        return element(at, content, size, cell);
    }
    EntriesPtr table = kept().of(content, size, stride.step, rest, width);
    std::vector<Ref> formulas(cell ? std::size_t((window.last - u64(stride.rest)) >> stride.step) + 1 : 0);
    std::size_t several = 0;
    for (std::size_t n = 0; n < formulas.size(); ++n)
        if ((formulas[n] = cell(rest + (u64(n) << stride.step)))) ++several;
    if (several > width) {
        for (std::size_t n = 0; n < formulas.size(); ++n)
            if (!formulas[n]) formulas[n] = constant(table->entries[n], 8 * size);
        return tree(index, std::move(formulas));
    }
    Ref found = read_of(index, *table, size);
    for (std::size_t n = 0; n < formulas.size(); ++n)
        if (formulas[n]) found = ite(binary(Kind::EQ, index, constant(n, width)), formulas[n], found);
    return found;
}

Ref changed(Id offset, i64 last, u64 place) {
    Stride stride = stride_of(offset);
    if (last < 0 || stride.rest > u64(last) || place < stride.rest ||
        ((place - stride.rest) & mask<u128>(stride.step)))
        return truth(false);
    Ref index = index_of(offset, stride, u64(last));
    return binary(Kind::EQ, index, constant((place - stride.rest) >> stride.step, node(index).width));
}

Ref points_into(Id address, u64 base, u64 size) {
    Sum sum;
    if (!add_parts(address, DEEP, sum) || !sum.pointer || (!sum.rest && !sum.moved)) return Ref();
    const Node &entry = node(sum.pointer);
    std::vector<u64> is_in;
    for (u64 each : entry.table->entries) is_in.push_back(each - base < size);
    if (std::find(is_in.begin(), is_in.end(), u64(0)) == is_in.end()) return Ref();
    return binary(Kind::EQ, read_of(entry.args[0], named(std::move(is_in), 1), 1), constant(1, 8));
}

std::optional<std::pair<Ref, Ref>> follow(Id address, unsigned size, const ReadConstant &read) {
    Sum sum;
    if (!add_parts(address, DEEP, sum) || !sum.pointer) return std::nullopt;
    if (size < 1 || size > 8) throw std::invalid_argument("an element has 1 to 8 bytes");
    const Node &entry = node(sum.pointer);
    u128 last = sum.rest ? upper(sum.rest) : 0;
    Stride stride = sum.rest ? stride_of(sum.rest) : Stride{0, 0};
    unsigned width = sum.rest ? std::max(1u, bits_of(last >> stride.step)) : 0;
    if (width > 63 || u128(entry.table->entries.size()) << width > MOST_ENTRIES) return std::nullopt;
    std::vector<u64> there, values;
    for (u64 each : std::vector<u64>(entry.table->entries))
        for (u64 place = 0; place < u64(1) << width; ++place) {
            u128 at = each + sum.moved + (u128(place) << stride.step);
            bool is_real = u128(place) << stride.step <= last;  // else it is never read, whatever lies there
            std::optional<u64> found;
            if (each && is_real) found = read(each, u64(at & mask<u128>(node(address).width)));
            there.push_back(found || !is_real);
            values.push_back(found.value_or(0));
        }
    Ref index(entry.args[0]);
    if (width) index = concat(index, index_of(sum.rest, stride, u64(last)));
    Ref known = binary(Kind::EQ, read_of(index, named(std::move(there), 1), 1), constant(1, 8));
    Ref value = read_of(index, named(std::move(values), size), size);
    return std::make_pair(std::move(known), std::move(value));
}

}  // namespace score
