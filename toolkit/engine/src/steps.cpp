#include "steps.hpp"

#include <algorithm>

#include "build.hpp"
#include "contract.hpp"

namespace score {

namespace {

constexpr const char *ARGUMENT = "argument";  // the reason of a pin: opaque code is given the value
constexpr u64 WENT_ASTRAY = ~u64(0);  // runtime/bounds.c: in the place of an object's size, which stands behind it
constexpr const char *ORIGIN = "origin";  // the name of an assignment: what a pointer was made from

// Empties it in the end, whatever happens: what keeps formulas alive longer changes their order.
template <class Values> struct Emptied {
    Values &values;
    ~Emptied() { values.clear(); }
};
template <class Values> Emptied(Values &) -> Emptied<Values>;

bool goes_nowhere(const Site &site) { return !site.dest || site.dest->place == Place::NONE; }

}  // namespace

void Steps::run(u128 head) {
    auto found = head >> 64 ? compiled_.end() : compiled_.find(u64(head));
    if (found == compiled_.end()) {
        Step made = compile(head);
        found = compiled_.emplace(u64(head), made).first;
    }
    const Step &step = found->second;
    (this->*step.run)(step);
}

// --- compiling -------------------------------------------------------------------------------------------------

Steps::Step Steps::compile(u128 head) {
    const Site *site = head >> 64 ? nullptr : sites_(u64(head >> 1));
    return site ? compiled(*site, unsigned(head & 1)) : reserved(head);
}

Steps::Step Steps::reserved(u128 head) const {
    Step step{&Steps::loss, nullptr, 0, nullptr, Mask::NONE, "", ""};
    u128 number = head & 1 || head > 127 ? 127 : head >> 1;  // no such event
    switch (Reserved(u8(number))) {
    case Reserved::FRAME: step.run = &Steps::frame; break;
    case Reserved::UNTAINT: step.run = &Steps::untaint; break;
    case Reserved::OPAQUE_ARGUMENTS: step.symbolic = notes::OPAQUE_ARGUMENTS; break;
    case Reserved::CALLBACK_RETURN: step.symbolic = notes::CALLBACK_RETURN; break;
    case Reserved::LOST: step.symbolic = notes::OUT_OF_REACH; break;
    case Reserved::SEEN: step.symbolic = notes::IN_HANDLER; break;
    case Reserved::FOUND: step.symbolic = notes::OPAQUE_FINDS; break;
    case Reserved::SHARED: step.symbolic = notes::HANDLER_READS; break;
    case Reserved::OPAQUE_NUMBERS: step.run = &Steps::numbers; break;
    default: throw cursor_.fail("there is no site " + decimal(i128(head >> 1)));
    }
    return step;
}

Steps::Step Steps::compiled(const Site &site, unsigned direction) {
    Step step{nullptr, &site, direction, nullptr, Mask::NONE, "", ""};
    switch (site.kind) {
    case SiteKind::COND:
    case SiteKind::CHECK:
    case SiteKind::RANGE:
        step.run = site.kind == SiteKind::RANGE ? &Steps::range : &Steps::condition;
        step.program = &programs_.get(site);
        compile_leaves(step);
        return step;
    case SiteKind::BOUNDS:
    case SiteKind::SPAN:
    case SiteKind::SIZED:
        step.run = site.kind == SiteKind::SIZED ? &Steps::sized : &Steps::bounds;
        compile_leaves(step);
        step.program = &programs_.get(site);
        return step;
    case SiteKind::STORE:
    case SiteKind::SELECT: {
        bool is_store = site.kind == SiteKind::STORE;
        step.run = is_store ? &Steps::store : &Steps::select;
        compile_leaves(step);
        step.program = &programs_.get(site);
        u64 bits = site.dest ? site.dest->bits : 0;
        if (bits < 8 || bits / 8 > WIDEST / 8)
            throw TraceFault(name_of(site) + (is_store ? " stores" : " reads") + " a number of " +
                                 std::to_string(bits) + " bits",
                             site.place);
        return step;
    }
    default: break;
    }
    if (direction && site.kind != SiteKind::OPAQUE) throw cursor_.fail(name_of(site) + " has no direction");
    switch (site.kind) {
    case SiteKind::ASSIGN:
        step.run = &Steps::assign;
        step.program = &programs_.get(site);
        compile_leaves(step);
        break;
    case SiteKind::SWITCH: step.run = &Steps::switched; break;
    case SiteKind::CALL: step.run = &Steps::call; break;
    case SiteKind::RESULT: step.run = &Steps::result; break;
    case SiteKind::OPAQUE: step.run = &Steps::opaque; break;
    case SiteKind::COPY: step.run = &Steps::copy; break;
    case SiteKind::VARIADIC: step.run = &Steps::variadic; break;
    case SiteKind::PIN: {
        step.program = &programs_.get(site);
        compile_leaves(step);
        step.run = step.program->has_leaves() ? &Steps::pin : &Steps::pin_of_nothing;
        step.symbolic = step.opaque = site.name.empty() ? notes::CONCRETIZED : site.name.c_str();
        if (step.program->has_leaves() && site.name == ARGUMENT) step.symbolic = step.opaque = "";
        if (step.program->has_leaves() && site.name == "address")
            step.symbolic = notes::SYMBOLIC_ADDRESS, step.opaque = notes::OPAQUE_ADDRESS;
        break;
    }
    case SiteKind::SYMBOLIC:
        if (goes_nowhere(site)) throw cursor_.fail(name_of(site) + " puts its input nowhere");
        step.run = &Steps::symbolic;
        break;
    default: throw cursor_.fail(name_of(site) + " sends no events");
    }
    return step;
}

void Steps::compile_leaves(Step &step) const {
    if (!step.site->formula) throw cursor_.fail(name_of(*step.site) + " has no template");
    step.mask = mask_of(step.site->formula->leaves);
}

Leaves Steps::leaves(const Step &step) { return leaves(*step.site, step.mask); }

Leaves Steps::leaves(const Site &site, Mask mask) {
    Leaves found;
    leaves_.read(site, mask, found);
    return found;
}

// --- values ----------------------------------------------------------------------------------------------------

// Puts a value where the site says; the address of memory comes from the stream.
void Steps::put(const Site &site, Ref value) {
    if (goes_nowhere(site)) return;
    const Leaf &dest = *site.dest;
    if (node(value).width != dest.bits) value = fit(value, dest.bits);
    if (dest.place == Place::SLOT)
        mirror_.set_slot(cursor_.depth, dest.where, value);
    else
        mirror_.write(dest.place == Place::MEMORY ? cursor_.next_address() : dest.where, value);
    // Of an origin that was recalled its pointer's formula says that it is symbolic, and nothing else.
    if (site.name == ORIGIN)
        decoded_.pass_stored();
    else
        decoded_.check_stored(site.id, value);
}

void Steps::frame(const Step &) { cursor_.next_depth(); }

u64 Steps::told_site() {
    u128 site = cursor_.varint();
    if (site >> 64 || !sites_(u64(site))) throw cursor_.fail("there is no site " + decimal(i128(site)));
    return u64(site);
}

void Steps::untaint(const Step &) {
    u64 site = told_site(), address = cursor_.next_address();
    mirror_.forget(address, cursor_.varint());
    decoded_.note(notes::OPAQUE_CHANGED, site);
}

void Steps::loss(const Step &step) { decoded_.note(step.symbolic, told_site()); }

void Steps::assign(const Step &step) {
    Leaves said = leaves(step);
    decoded_.say_of_value(said);
    put(*step.site, programs_.value(*step.program, said));
}

void Steps::call(const Step &step) {
    const std::vector<Leaf> &arguments = step.site->leaves;
    u128 mask = cursor_.varint();
    if (arguments.size() < 128 && mask >> arguments.size())
        throw TraceFault("call " + std::to_string(step.site->id) + " has fewer arguments", step.site->place);
    i64 depth = cursor_.depth;
    for (std::size_t i = 0; i < arguments.size() && i < 128; ++i)
        if (mask >> i & 1) {
            Ref value = mirror_.slot(depth, arguments[i].where);
            mirror_.set_slot(depth + 1, i + 1, fit(value, arguments[i].bits));
        }
}

void Steps::result(const Step &step) { put(*step.site, mirror_.slot(cursor_.depth + 1, 0)); }

// Whether an argument of this call of opaque code is used as it is in this run, where it may have other values.
// Arguments have the call's place.
bool Steps::is_open(const Site &call) const {
    return std::any_of(decoded_.pins.begin(), decoded_.pins.end(), [&](const Pin &pin) {
        const Site *site = sites_(pin.site);
        return site && site->kind == SiteKind::PIN && site->name == ARGUMENT && site->place == call.place;
    });
}

// Opaque code was given symbolic numbers. Where the path forks on each, all their values have their turn.
void Steps::numbers(const Step &) {
    u64 site = told_site();
    if (is_open(*sites_(site))) decoded_.note(notes::OPAQUE_ARGUMENTS, site);
}

// Direction 1: it was given symbolic numbers, and nothing else that is symbolic.
void Steps::opaque(const Step &step) {
    i128 value = cursor_.signed_number();
    const Site &site = *step.site;
    if (!site.dest || !site.dest->bits) return;
    Origins origins;
    if (!step.direction || is_open(site)) origins = std::make_shared<const std::set<i64>>(std::set<i64>{i64(site.id)});
    unsigned bits = unsigned(std::min<u64>(site.dest->bits, WIDEST + 1));
    mirror_.set_slot(cursor_.depth, site.dest->where, constant(u128(value), bits, origins));
}

void Steps::copy(const Step &) {
    u64 to = cursor_.next_address(), source = cursor_.next_address();
    mirror_.copy(to, source, cursor_.varint());
}

void Steps::variadic(const Step &) {
    u128 slot = cursor_.varint();
    u64 address = cursor_.next_address();
    mirror_.write(address, mirror_.slot(cursor_.depth, slot));
}

void Steps::pin_of_nothing(const Step &step) { decoded_.note(step.symbolic, step.site->id); }

void Steps::pin(const Step &step) {
    Leaves said = leaves(step);
    decoded_.say(said);
    Ref value = programs_.value(*step.program, said);
    concrete_.use(*step.site, value, step.symbolic, step.opaque);
}

void Steps::symbolic(const Step &step) {
    const Site &site = *step.site;
    const Leaf &dest = *site.dest;
    u64 address = dest.place == Place::MEMORY ? cursor_.next_address() : dest.where;
    u128 wanted = site.size ? site.size : cursor_.varint();
    if (decoded_.consumed + wanted > decoded_.data.size)
        throw TraceFault(name_of(site) + " takes more input than the test has", site.place);
    u64 size = u64(wanted);
    if (!size) return;
    u64 offset = decoded_.declare(site.id, site.name.empty() ? "input" : site.name, size);
    if (dest.place != Place::SLOT) {
        for (u64 i = 0; i < size; ++i) mirror_.write(address + i, input_byte(offset + i));
        return;
    }
    Leaves bytes;
    for (u64 i = 0; i < size; ++i) bytes.push_back(input_byte(offset + i));
    Ref value = bytes[0];
    for (u64 i = 1; i < size; ++i) value = concat(bytes[i], value);
    mirror_.set_slot(cursor_.depth, dest.where, fit(value, dest.bits));
}

// --- branches --------------------------------------------------------------------------------------------------

void Steps::condition(const Step &step) {
    Emptied read{read_};
    leaves_.read(*step.site, step.mask, read_);
    compare(step, read_);
}

bool Steps::compare(const Step &step, const Leaves &leaves) {
    const Site &site = *step.site;
    bool is_check = site.kind != SiteKind::COND;  // then its other side leads to no other place of the program
    Emptied said{said_};
    said_ = leaves;
    decoded_.say(said_);
    u64 head = site.id << 1 | step.direction;
    Ref *found = conditions_.find(head, 0, said_.data(), said_.size());
    if (!found) {
        if (conditions_.size() >= kept_) conditions_.clear();
        Ref holds = programs_.value(*step.program, said_);
        Ref held = step.direction ? holds : bit_not(holds);
        found = &conditions_.add(head, 0, said_.data(), said_.size(), std::move(held));
    }
    Outcome outcome{-1, step.direction, *found, {}};
    if (!is_check) outcome.elsewhere = {site.coverage + 1 - step.direction, 1};
    if (decoded_.verify && !is_check) {
        Ref value = programs_.value(*step.program, said_);
        decoded_.check_stored(site.id, value);
    }
    return branches_.on_branch(site, leaves, &outcome, 1);
}

// Whether a conversion to an integer is defined. If it is not, its operand is used as it is in this run.
void Steps::range(const Step &step) {
    Leaves operands = leaves(step);
    if (!compare(step, operands) || step.direction) return;
    for (const Ref &operand : operands)
        if (node(operand).deps) {
            decoded_.note(notes::CONVERSION, step.site->id);
            decoded_.pin(step.site->id, operand);
        }
}

// That an access is within the object that its pointer was made from. Direction 0: it is not, and the test ends.
void Steps::bounds(const Step &step) {
    const Site &site = *step.site;
    Leaves leaves = this->leaves(step), said = leaves;
    decoded_.say(said);
    Ref address = programs_.value(*step.program, said);
    u64 base = cursor_.next_address();
    u128 told = cursor_.varint();
    unsigned width = node(address).width;
    bool spans = site.kind == SiteKind::SPAN;  // over a size that is computed
    Ref size = spans ? fit(leaves.at(0), width) : constant(site.size, width);
    if (told == WENT_ASTRAY) {
        if (step.direction) throw cursor_.fail("a pointer that went astray where it should");
        return astray(site, address, size, base, cursor_.varint());
    }
    u64 one_of_many = u64(1) << (width - 2);
    Ref start = constant(base, width);
    Ref offset = binary(Kind::SUB, address, start);
    Ref limit = decoded_.size_of(base, told & ~u128(one_of_many), width);
    Ref inside = ends_within(offset, size, limit);
    Outcome outcome{-1, step.direction, step.direction ? inside : bit_not(inside), {}};
    outcome.is_assumption = told & one_of_many;  // nobody knows where the program's own object ends
    branches_.on_branch(site, leaves, &outcome, 1);
}

// The test ends, for a symbolic pointer led astray. Passed, such an access says nothing here, so this is a condition of
// the host's own: whoever is not led there goes on.
void Steps::astray(const Site &site, Id address, Id size, u64 base, u128 length) {
    bool is_freed = *cursor_.take(1);
    u64 flags = is_freed ? ASTRAY | FREED : ASTRAY, top = u64(1) << (node(address).width - 1);
    if (length & top) length ^= top, base = (base + top) & cursor_.wrap, flags |= BELOW;
    if (length >= AT_END) throw cursor_.fail("an object that memory has no room for");
    if (!site.origin) throw cursor_.fail(name_of(site) + " has no pointer that could go astray");
    Leaves origin = leaves(*site.origin, mask_of(site.origin->formula->leaves));
    decoded_.say(origin);
    Ref made_from = programs_.value(programs_.get(*site.origin), origin);
    if (decoded_.value(made_from) - base == length) flags |= AT_END;
    auto chosen = std::make_shared<Choice>(Choice{Ref(address), base, u64(length) | flags, 1});
    if (site.size) chosen->access = unsigned(site.size);
    chosen->origin = std::move(made_from), chosen->count = Ref(size);
    Ref wrong = access_.inside(*chosen);
    if (!decoded_.value(wrong)) return decoded_.note(notes::POINTER_ASTRAY, site.id);
    if (!node(wrong).deps) return;  // the path leaves no other pointer
    Outcome outcome{-1, 1, std::move(wrong), {}, std::move(chosen), true};
    branches_.on_branch(site, {}, &outcome, 1);
}

// What an object's symbolic size is made of, or that it is enough for an access.
void Steps::sized(const Step &step) {
    Leaves leaves = this->leaves(step);
    u128 need = cursor_.varint();
    if (!need) {
        u64 address = cursor_.next_address();
        decoded_.keep_size(address, programs_.value(*step.program, leaves));
        return;
    }
    Leaves said = leaves;
    decoded_.say(said);
    Ref limit = programs_.value(*step.program, said);
    Ref needed = constant(need, node(limit).width);
    Ref enough = less_equal(Kind::ULT, needed, limit);
    Outcome outcome{-1, step.direction, step.direction ? enough : bit_not(enough), {}};
    branches_.on_branch(*step.site, leaves, &outcome, 1);
}

void Steps::switched(const Step &step) {
    const Site &site = *step.site;
    u128 told = cursor_.varint();
    if (told > site.labels.size())
        throw cursor_.fail("switch " + std::to_string(site.id) + " has no label " + decimal(i128(told)));
    auto arm = std::size_t(told);
    const Leaf &leaf = site.leaves.at(0);
    Emptied read{read_}, said{said_};
    read_.push_back(fit(mirror_.slot(cursor_.depth, leaf.where), leaf.bits));
    decoded_.check_stored(site.id, read_[0]);
    said_ = read_;
    decoded_.say(said_);
    const std::vector<Link> &links = chain(site, said_[0]);
    // Not taking an arm leads to any of the later ones; only taking it leads to it.
    Emptied path{path_};
    for (std::size_t k = 0; k < arm; ++k) path_.push_back({i64(k), 0, links[k].passed, {site.coverage + k, 1}});
    if (arm < links.size())
        path_.push_back({i64(arm), 1, links[arm].inside, {site.coverage + arm + 1, links.size() - arm}});
    branches_.on_branch(site, read_, path_.data(), path_.size());
}

const std::vector<Steps::Link> &Steps::chain(const Site &site, const Ref &value) {
    if (auto *found = links_.find(site.id, 0, &value, 1)) return *found;
    if (links_.size() * site.labels.size() >= kept_) links_.clear();
    std::vector<Link> made;
    for (auto [first, last] : site.labels) {
        Ref inside = member(value, first, last);
        Ref passed = bit_not(inside);
        made.push_back({std::move(passed), std::move(inside)});
    }
    return links_.add(site.id, 0, &value, 1, std::move(made));
}

// --- symbolic addresses ----------------------------------------------------------------------------------------

void Steps::select(const Step &step) {
    Leaves leaves = this->leaves(step), said = leaves;
    decoded_.say(said);
    Ref address = programs_.value(*step.program, said), found;
    if (!step.direction) return access_.outside(*step.site, leaves, address);
    if (access_.read(*step.site, leaves, said, address, found)) put(*step.site, std::move(found));
}

void Steps::store(const Step &step) {
    Leaves leaves = this->leaves(step), said = leaves;
    decoded_.say(said);
    Ref address = programs_.value(*step.program, said);
    if (step.direction)
        access_.store(*step.site, leaves, said, address);
    else
        access_.outside(*step.site, leaves, address);
}

}  // namespace score
