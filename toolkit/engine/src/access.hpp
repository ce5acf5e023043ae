// Reads and stores at symbolic addresses: from the object there to formulas of whatever lies at the address.
//
// That the address is in the object is a condition of the path (it has no other direction in the program, so it is in
// neither path hash nor coverage); beyond it the formulas would say nothing.
#pragma once

#include <optional>

#include "concrete.hpp"
#include "program.hpp"
#include "select.hpp"

namespace score {

// What the image holds that no program can change. What it says never changes.
struct ConstantSource {
    virtual ~ConstantSource() = default;
    // Address and size of the constant that this is a byte of, or of a piece of what has no name. No two overlap.
    virtual std::optional<std::pair<u64, u64>> object_at(u64 address) = 0;
    // The bytes there, if the image has them all and they are constant, or (`initial`) as the program begins with them.
    virtual SharedBytes read(u64 address, u64 size, bool initial) = 0;
    // Address and size of the object whose bounds hold for what a pointer to there accesses; none if nobody knows.
    virtual std::optional<std::pair<u64, u64>> bounds_at(u64 pointer) = 0;
    virtual bool has_bounds() = 0;  // are they checked at all
};

// How far into the object the address is, and that this is in it.
std::pair<Ref, Ref> inside_of(Id address, u64 base, i128 length, unsigned size);

// Reads through tables of pointers to constants, remembered.
class Pointers {
  public:
    Pointers(ConstantSource &constants, std::size_t kept) : constants_(constants), kept_(kept) {}

    using Read = std::optional<std::pair<Ref, Ref>>;  // that there is a constant, and its value
    Read followed(Id address, unsigned size);
    // That the address is in the object of that base and size, or has that value; with `ASTRAY`, that it should be and
    // is not. False where nobody can tell.
    Ref inside(const Choice &chosen, u64 base, u64 size);
    // That the pointer which the address is computed from leads into the object, too: what is as far behind another one
    // may be beyond the bounds of that. None: there is no such pointer, or bounds are not checked.
    Ref pointed(Id address, u64 base, u64 size) const;
    std::size_t remembered() const { return known_.size(); }

  private:
    Ref astray(const Choice &chosen, u64 base, u64 size);

    ConstantSource &constants_;
    std::size_t kept_;
    Remembered<Read> known_;
};

// Its address, its bytes, and the formulas in it.
struct Object {
    u64 base;
    SharedBytes content;
    Cell cell;   // empty: it holds none
    bool sent;   // the target said so; else it is constant
    bool known;  // it is not the element alone that was read

    Ref element(u64 at, unsigned size) const;
};
using Objects = std::vector<Object>;

class Access {
  public:
    Access(Decoded &decoded, Branches &branches, Concrete &concrete, ConstantSource &constants, Pointers &pointers,
           std::size_t kept)
        : decoded_(decoded), branches_(branches), concrete_(concrete), constants_(constants), pointers_(pointers),
          kept_(kept) {}

    // What is read at the address, in `found`; false: the path was cut. `leaves`: those that it was made of; `said`: as
    // the path lets them be said.
    bool read(const Site &site, const Leaves &leaves, const Leaves &said, Id address, Ref &found);
    void store(const Site &site, const Leaves &leaves, const Leaves &said, Id address);
    // The address is not in the object, or there is none: it is used as it is in this run.
    void outside(const Site &site, const Leaves &leaves, Id address);

    std::size_t remembered() const { return known_.size(); }

    Ref inside(const Choice &chosen) { return pointers_.inside(chosen, chosen.base, chosen.size); }

  private:
    struct Formulas {
        Ref inside, found;  // no formula: too much to say
        bool pointed;       // `inside` says so of the pointer, too
    };

    // `inside`, and that its pointer is in the object, if that is so in this run. `pointed`: it is said.
    Ref with_pointer(Ref inside, Id address, const Object &object, bool &pointed);
    Formulas formulas(const Site &site, const Leaves &said, Id address, const Object &object, unsigned size);
    Object object(const Site &site, u128 address, unsigned size, u128 told);
    // Several objects, any of which the address may be in (several.cpp).
    bool read_any(const Site &site, const Leaves &leaves, Id address, const Objects &objects, unsigned size,
                  Ref &found);
    void store_any(const Site &site, const Leaves &leaves, const Leaves &said, Id address, u128 count);
    Objects several(const Site &site, u128 count, unsigned size);
    bool on_any(const Site &site, const Leaves &leaves, Id address, const Objects &objects, unsigned size,
                Outcome *more);
    Object variable(const Site &site, u128 length, unsigned size);
    template <typename Fault> SharedBytes constant_at(const Site &site, u128 base, u64 length);
    Cell cell_of(std::vector<std::pair<u64, u64>> runs, SharedBytes content, u64 base, unsigned size) const;
    void change(const Site &site, Id offset, Id stored, const Object &found, unsigned size);
    void change_bytes(Id offset, Id stored, const Object &found, unsigned size);

    Decoded &decoded_;
    Branches &branches_;
    Concrete &concrete_;
    ConstantSource &constants_;
    Pointers &pointers_;
    std::size_t kept_;
    Remembered<Formulas> known_;  // by site, leaves, object and its bytes: runs read the same tables again and again
};

}  // namespace score
