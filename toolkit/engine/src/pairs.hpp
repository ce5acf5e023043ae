// A pair (test case, neg_limit) as Python has it: what queues hold, the record keeps and clients exchange. What its
// parts mean is said in score_embed/engine/_core.pyi, why they are there in score_embed/explore/pair.py.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

#include "decisions.hpp"
#include "lineage.hpp"

namespace score {

constexpr u32 NEVER = 0xFFFFFFFF;  // a limit no path reaches

struct Pair {
    PairId id;
    nanobind::bytes input;
    u32 neg_limit, place, predicted;
    u64 condition_hash;
    u32 site;
    u32 targets_from = 0, targets_to = 0;
    nanobind::object left_out = nanobind::none();
    std::optional<PairId> decided{};
    u8 pending = 0, behind = 0;
    nanobind::object route = nanobind::none();
    Origin origin{};
    u64 row = 0;  // by which the record knows it; 0: it is not there (yet)

    const PairId &decisions() const { return decided ? *decided : id; }
    u64 depth() const { return u64(neg_limit) + (pending ? 1 : 0); }  // conditions of its path that are decided
    void write(std::string &to) const;  // what is kept of it, behind what is there
    nanobind::bytes to_bytes() const;
    std::size_t shared_bytes() const;  // that its serialised form ends with, and those of other flips of its run, too
};

// The other side of condition `index` of the run with this input. Where the target cannot tell that it is, the run is
// for its end only. `decisions`: the id of those before.
Pair other_side(const PairId &decisions, nanobind::bytes input, u32 index, const Condition &condition,
                const Origin &origin);

[[noreturn]] void raise_damaged();  // Python's error for a damaged record
Pair parsed(std::string_view data);  // of what `write` wrote; raises that

Pair &pair_of(nanobind::handle object);  // of Python's Pair; else std::invalid_argument

void add_pairs(nanobind::module_ &module);

}  // namespace score
