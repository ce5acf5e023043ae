// Values of formulas under an input that changes a little at a time, as local search changes it: what does not depend
// on a changed byte is not computed again, and a change can be taken back.
#pragma once

#include <vector>

#include "evaluate.hpp"
#include "operate.hpp"

namespace score {

using Slot = u32;  // a node of the formulas, arguments before what uses them

struct Part {
    Operator op;
    unsigned arity;
    std::array<Slot, 3> args{};
};

struct Change {
    Slot byte;  // a BYTE's
    u8 value;
};

class Slots {
  public:
    // The formulas are held by the caller, and have 64 bits at most in all their parts (`fit`).
    Slots(const std::vector<Id> &formulas, const Input &data);

    static bool fit(const std::vector<Id> &formulas, std::size_t most);  // also: no more than so many nodes

    u64 operator[](Slot slot) const { return values_[slot]; }
    const Part &part(Slot slot) const { return parts_[slot]; }
    Slot root(std::size_t formula) const { return roots_[formula]; }
    const std::vector<Slot> &bytes() const { return bytes_; }
    u32 index(Slot byte) const { return u32(parts_[byte].op.value); }  // in the input
    std::size_t size() const { return parts_.size(); }

    void change(const std::vector<Change> &changes);
    void keep() { before_.clear(); }  // no way back from here
    void undo();

    u64 computed = 0;  // parts

  private:
    const std::vector<Slot> &users(Slot byte);
    void set(Slot slot, u64 value);

    std::vector<Id> ids_;
    std::vector<Part> parts_;
    std::vector<u64> values_;
    std::vector<Slot> roots_, bytes_;
    std::vector<std::vector<Slot>> users_;  // by byte: what depends on it, found when it is asked for first
    std::vector<u32> changed_;              // by slot: in which change
    u32 now_ = 0;
    std::vector<std::pair<Slot, u64>> before_;
    std::vector<Slot> due_, merged_;
};

}  // namespace score
