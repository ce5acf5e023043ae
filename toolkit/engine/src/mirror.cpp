#include "mirror.hpp"

#include "build.hpp"

namespace score {

Ref Mirror::slot(i64 depth, u128 slot) const {
    auto found = slot >> 64 ? slots_.end() : slots_.find({depth, u64(slot)});
    if (found == slots_.end())
        throw NotMirrored("slot " + decimal(i128(slot)) + " at depth " + std::to_string(depth));
    return found->second;
}

void Mirror::set_slot(i64 depth, u64 slot, Id expr) {
    Ref &place = slots_[{depth, slot}];
    log_.push_back({true, {depth, slot}, {std::move(place), 0}});
    place = Ref(expr);
}

void Mirror::set_cell(u64 address, Cell cell) {
    Cell &place = cells_[address];
    log_.push_back({false, {0, address}, std::move(place)});
    place = std::move(cell);
}

void Mirror::write(u64 address, Id expr) {
    unsigned size = node(expr).width / 8u;
    for (unsigned i = 0; i < size; ++i) set_cell((address + i) & wrap_, {Ref(expr), i});
}

Ref Mirror::read_partly(u64 address, unsigned size, u64 mask, i128 value) const {
    Ref result;
    for (unsigned i = 0, length = 1; i < size; i += length) {
        length = 1;
        Ref part = mask >> i & 1 ? run(address, i, size, mask, length) : constant(u128(value >> (8 * i)), 8);
        result = result ? concat(part, result) : part;
    }
    return result;
}

// The longest run of neighbouring bytes of one formula from `start` on, and that part of the formula.
Ref Mirror::run(u64 address, unsigned start, unsigned size, u64 mask, unsigned &length) const {
    auto missing = [&] { return NotMirrored("memory at " + hexadecimal((address + start) & wrap_)); };
    auto first = cells_.find((address + start) & wrap_);
    if (first == cells_.end()) throw missing();
    const Cell &cell = first->second;
    for (length = 1; start + length < size && mask >> (start + length) & 1; ++length) {
        auto next = cells_.find((address + start + length) & wrap_);
        if (next == cells_.end()) throw missing();
        if (Id(next->second.expr) != Id(cell.expr) || next->second.index != cell.index + length) break;
    }
    return extract(cell.expr, 8 * cell.index, 8 * length);
}

// A size from a damaged trace may be astronomic.
std::vector<std::pair<u64, u64>> Mirror::present(u64 address, u128 size) const {
    std::vector<std::pair<u64, u64>> found;
    if (size <= cells_.size()) {
        for (u64 offset = 0; offset < u64(size); ++offset)
            if (u64 at = (address + offset) & wrap_; cells_.count(at)) found.emplace_back(offset, at);
    } else {
        for (const auto &each : cells_)
            if (u64 offset = (each.first - address) & wrap_; offset < size) found.emplace_back(offset, each.first);
    }
    return found;
}

void Mirror::copy(u64 to, u64 source, u128 size) {
    std::vector<std::pair<u64, Cell>> taken;
    for (auto [offset, at] : present(source, size)) taken.emplace_back(offset, cells_.at(at));
    forget(to, size);
    for (auto &[offset, cell] : taken) set_cell((to + offset) & wrap_, std::move(cell));
}

void Mirror::forget(u64 address, u128 size) {
    for (auto [offset, at] : present(address, size)) {
        auto place = cells_.find(at);
        log_.push_back({false, {0, at}, std::move(place->second)});
        cells_.erase(place);
    }
}

void Mirror::undo(std::size_t mark) {
    while (log_.size() > mark) {
        Change change = std::move(log_.back());
        log_.pop_back();
        if (change.is_slot && change.before.expr)
            slots_[change.key] = std::move(change.before.expr);
        else if (change.is_slot)
            slots_.erase(change.key);
        else if (change.before.expr)
            cells_[change.key.slot] = std::move(change.before);
        else
            cells_.erase(change.key.slot);
    }
}

}  // namespace score
