#include "trail.hpp"

#include <algorithm>

#include "chosen.hpp"
#include "contract.hpp"
#include "difference.hpp"
#include "floats.hpp"
#include "pooled.hpp"

namespace score {

namespace {

constexpr unsigned TICK = 1024;  // events

std::size_t common_length(Input a, Input b) {  // bytes before the first difference
    return first_difference(a.bytes, b.bytes, std::min(a.size, b.size));
}

bool compares_floats(const Site &site) { return site.formula && site.formula->floats; }

}  // namespace

Trail::Trail(const Settings &settings, SiteSource sites, ConstantSource &constants, Pointers &pointers,
             Listener &listener)
    : sites_(std::move(sites)), listener_(listener), decoded_(settings.pointer_bits, settings.verify),
      concrete_(decoded_, *this, settings.forks), programs_(settings.kept), pointers_(pointers),
      access_(decoded_, *this, concrete_, constants, pointers_, settings.kept),
      steps_(sites_, decoded_, *this, concrete_, access_, programs_, settings.kept) {}

std::size_t Trail::remembered() const {
    return std::max({steps_.remembered(), programs_.remembered(), access_.remembered(), pointers_.remembered()});
}

void Trail::clear() {
    decoded_.clear();
    conditions.clear();
    diverged = 0, diverged_elsewhere = {};
    operands_.cut(0);
    branches_.clear();
    lanes_ = {}, counted = 0;
    listener_.cut(0, 0, 0);
}

// --- going back ------------------------------------------------------------------------------------------------

std::size_t Trail::rewind(Input events, Input data, u64 limit) {
    std::ptrdiff_t kept = decoded_.verify ? -1 : shared_branches(events, limit);
    if (kept >= 0 && branches_[std::size_t(kept)].point.consumed > data.size) kept = -1;
    Deps changed;
    if (kept >= 0) changed = changed_bytes(decoded_.data.bytes, decoded_.data.size, data.bytes, data.size);
    decoded_.take_input(data);
    if (changed) kept = still_true(kept, changed);
    if (kept < 0) {
        clear();
        decoded_.take_input(data);
    } else {
        return_to(std::size_t(kept));
    }
    if (changed) operands_.recompute(changed, decoded_);
    decoded_.cursor.events = events.bytes;
    decoded_.cursor.size = events.size;
    return conditions.size();
}

// The last branch event that begins within the common bytes and `limit` conditions; -1 if there is none.
std::ptrdiff_t Trail::shared_branches(Input events, u64 limit) const {
    std::size_t common = common_length({decoded_.cursor.events, decoded_.cursor.size}, events);
    auto end = std::partition_point(branches_.begin(), branches_.end(), [&](const Branch &branch) {
        return branch.start <= common && branch.first <= limit;
    });
    return end - branches_.begin() - 1;
}

// How many of these branches also say the truth when these input bytes have changed.
std::ptrdiff_t Trail::still_true(std::ptrdiff_t kept, const Deps &changed) {
    std::size_t pins = branches_[std::size_t(kept)].point.pins;
    for (std::size_t i = 0; i < pins; ++i) {
        const Pin &pin = decoded_.pins[i];
        if (!node(pin.value).deps.meets(changed) || decoded_.holds(pin.formula)) continue;
        kept = std::partition_point(branches_.begin(), branches_.end(),
                                    [&](const Branch &branch) { return branch.point.pins <= i; }) -
               branches_.begin() - 1;
        break;
    }
    for (std::size_t branch = operands_.first_reached(changed); std::ptrdiff_t(branch) < kept; ++branch)
        for (std::size_t i = branches_[branch].first; i < branches_[branch + 1].first; ++i) {
            const Ref &formula = conditions[i]->formula;
            if (node(formula).deps.meets(changed) && !decoded_.holds(formula)) return std::ptrdiff_t(branch);
        }
    return kept;
}

// The state before a branch event.
void Trail::return_to(std::size_t branch) {
    const Branch &to = branches_[branch];
    decoded_.return_to(to.point);
    lanes_ = to.lanes, counted = to.counted;
    operands_.cut(branch);
    std::size_t kept = to.first;
    conditions.erase(conditions.begin() + std::ptrdiff_t(kept), conditions.end());
    branches_.erase(branches_.begin() + std::ptrdiff_t(branch), branches_.end());
    diverged = 0, diverged_elsewhere = {};
    listener_.cut(kept, decoded_.pins.size(), decoded_.objects.size());
}

// --- going on --------------------------------------------------------------------------------------------------

void Trail::extend() {
    std::size_t before = branches_.size();
    try {
        decode(decoded_.cursor.size);
    } catch (const TraceFault &) {
        throw;
    } catch (...) {
        if (branches_.size() > before) return_to(branches_.size() - 1);
        throw;
    }
}

u64 Trail::site_at(Input events, Input data, u64 offset) {
    rewind({}, {}, 0);  // the byte may come before what the trail would keep
    rewind(events, data, 0);
    return decode(offset + 1);
}

std::size_t Trail::sound(Input events, Input data) {
    nothing_there = false;
    rewind(events, data, 0);
    try {
        decode(events.size);
    } catch (const NothingThere &) {
        nothing_there = true;
        return event_;
    } catch (const TraceFault &) {
        return event_;
    }
    return decoded_.cursor.at;
}

// All events that begin before byte `end`; returns the site of the last.
u64 Trail::decode(u64 end) {
    Cursor &cursor = decoded_.cursor;
    u128 head = 0;
    unsigned events = 0;
    try {
        while (cursor.at < end && !diverged) {
            event_ = cursor.at, address_ = cursor.address;
            head = cursor.varint();
            steps_.run(head);
            if (++events % TICK == 0) listener_.tick();
        }
    } catch (const NotMirrored &error) {
        const Site *site = sites_(u64(head >> 1));
        std::string name = site ? std::to_string(site->id) : "0", where = site ? site->place : "";
        clear();
        throw TraceFault("site " + name + " reads " + error.text + ", which was never symbolic", where);
    } catch (const TraceFault &) {
        clear();
        throw;
    }
    return last_site = u64(head >> 1);
}

// Add the conditions of a branch event.
bool Trail::on_branch(const Site &site, const Leaves &operands, const Outcome *outcomes, std::size_t count) {
    branches_.push_back({decoded_.checkpoint(event_, address_), lanes_, counted, event_, conditions.size()});
    Deps forked;
    for (std::size_t i = 0; i < count; ++i)
        if (outcomes[i].is_fork) forked = Deps::both(forked, node(outcomes[i].formula).deps);
    Deps compared;
    for (const Ref &operand : operands) compared = Deps::both(compared, node(operand).deps);
    // What was assigned may be a constant already.
    bool compares = compared || decoded_.forked.meets(decoded_.vanished);
    bool is_fixed = !compared && compares;
    operands_.add(operands, compares_floats(site), std::move(forked), decoded_);
    bool found = (site.kind == SiteKind::SELECT || site.kind == SiteKind::STORE) && !site.size;
    for (std::size_t i = 0; i < count; ++i) {
        const Outcome &outcome = outcomes[i];
        const Ref &held = outcome.formula;
        bool says_numbers = !node(held).floats || this->says_numbers(site, held);
        if (!says_numbers || !decoded_.holds(held)) {
            diverged = site.id, diverged_elsewhere = outcome.elsewhere;
            if (says_numbers) decoded_.note(notes::DIVERGENCE, site.id);
            return false;
        }
        if (node(held).origins) decoded_.note(notes::OPAQUE_CONDITION, site.id);
        Lanes before = lanes_;
        u64 number = counted;
        if (!outcome.is_fork) {
            lanes_ = mix_condition(before, site.id, outcome.chain, outcome.direction);
            ++counted;
        }
        Condition made{site.id, outcome.chain, outcome.direction, held, before, lanes_, outcome.elsewhere,
                       outcome.chosen, decoded_.forked, number, event_, decoded_.pins.size(),
                       site.is_assumption || outcome.is_assumption, outcome.is_fork,
                       !node(held).deps && !node(held).origins && compares,
                       is_fixed || decoded_.forked.meets(compared), found && !outcome.chosen};
        auto condition = std::allocate_shared<const Condition>(Pooled<Condition>(), std::move(made));
        listener_.reached(conditions.size(), condition);
        conditions.push_back(std::move(condition));
        decoded_.learn(held);
        if (outcome.is_fork && outcome.chosen) decoded_.fork(outcome.chosen->address);
    }
    return true;
}

// False if the condition looks at the pattern of what is no number, which differs among machines.
bool Trail::says_numbers(const Site &site, Id held) {
    std::vector<Id> patterns;
    for (Id expr : pattern_uses(held, false))
        if (may_be_nan(expr)) patterns.push_back(expr);
    if (patterns.empty()) return true;
    decoded_.note(notes::FLOAT_PATTERN, site.id);
    if (!decoded_.are_numbers(patterns)) return false;
    for (Id pattern : patterns) decoded_.pin_number(site.id, pattern);
    return true;
}

}  // namespace score
