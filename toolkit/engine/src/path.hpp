// What a path is made of: its conditions, the values it used concretely, the inputs it declared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arena.hpp"
#include "hashes.hpp"
#include "site.hpp"

namespace score {

using Leaves = std::vector<Ref>;

// The object that a symbolic address is in, where it may be in others; or the value that a formula has, where others
// have their turn later.
struct Choice {
    Ref address;  // or the formula
    u64 base;     // or its value
    u64 size;     // bytes; 0: any of the constants that a table leads to; with a flag below: the access was wrong there
    unsigned access;  // bytes read or written; 0: it is a value
    bool pointed = false;  // the pointer that the address is computed from is in the object, too
    std::vector<std::pair<u64, u64>> others{};  // base and size of more objects, any of which it may be in
    Ref origin{}, count{};  // of a wrong access: the pointer that it was made from, and how many bytes it is
};
// An access that a symbolic pointer led to, and that its object does not have, or (`FREED`) has no more. `BELOW`: what
// lies below the object is not checked. `AT_END`: the pointer was made from one right behind the object, where another
// one may begin.
constexpr u64 ASTRAY = u64(1) << 63, FREED = u64(1) << 62, BELOW = u64(1) << 61, AT_END = u64(1) << 60;

struct Range {  // of coverage indices
    u64 first = 0, count = 0;
};

// What a branch event says: a link of a switch's chain (-1: a plain condition), its direction and formula.
struct Outcome {
    i64 chain;
    unsigned direction;
    Ref formula;
    Range elsewhere;  // what only the other side leads to
    std::shared_ptr<const Choice> chosen{};
    bool is_fork = false;  // the host's own: the target does not count it
    bool is_assumption = false;
};

// Takes a branch's site, the leaves it compares, and its conditions in order. False: the path was cut there.
struct Branches {
    virtual bool on_branch(const Site &site, const Leaves &operands, const Outcome *outcomes, std::size_t count) = 0;

  protected:
    ~Branches() = default;
};

// A tainted branch, or one link of the chain that a tainted switch stands for.
struct Condition {
    u64 site;
    i64 chain;
    unsigned direction;  // did it hold
    Ref formula;         // true in this run
    Lanes before, after;  // condition hash of what came before, and with it
    Range elsewhere;
    std::shared_ptr<const Choice> chosen;
    Deps forked;  // input bytes of the forks before it
    u64 counted;  // conditions before it that the target counts, too
    u64 start;    // event bytes before its branch
    u64 pins;     // of the path, that stand before it
    bool assumption, is_fork;
    bool settled;  // conditions before it leave it no other side
    bool fixed;    // forks before it have a say in what it compares
    bool loose;    // the target cannot tell the other side from this one

    bool flippable() const { return !(assumption && direction); }  // the false side of an assumption is never asked for
    // The target took it for symbolic, but its formula depends on no input.
    bool concrete() const { return !node(formula).deps && !settled; }
    // The condition hash up to and including this one, or its other side.
    u64 hash(bool flipped) const {
        return value(flipped ? mix_condition(before, site, chain, 1 - direction) : after);
    }
};
using ConditionPtr = std::shared_ptr<const Condition>;  // made once: who goes along several paths finds it again
using Path = std::vector<ConditionPtr>;

// A symbolic value that the program used concretely: `formula` says that it keeps the value it had.
struct Pin {
    u64 site;
    Ref value, formula;
};

// A declared input: `size` bytes of the test's input from `offset` on.
struct SymbolicObject {
    std::string name;
    u64 offset, size, site;
};

// Verify mode: the program stored another value than the formula gives.
struct Disagreement {
    u64 site;
    u128 stored, computed;
};

}  // namespace score
