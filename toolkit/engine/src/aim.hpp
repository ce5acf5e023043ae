// Inversion: which input bytes would give a formula the value that is wanted of it, when one operand of each operator
// changes and the others keep their values. A guess, to be evaluated: operands share bytes.
#pragma once

#include <vector>

#include "slots.hpp"

namespace score {

// Numbers that are the same for the same seed, everywhere.
class Dice {
  public:
    explicit Dice(u64 seed) : state_(seed) {}
    u64 roll();
    u64 below(u64 limit) { return roll() % limit; }  // limit: not 0
    bool flip() { return roll() >> 63; }

  private:
    u64 state_;
};

class Aim {
  public:
    // `sets`: by slot of a byte, the values it may have.
    Aim(const Slots &slots, const std::vector<ByteSet> &sets, Dice &dice) : slots_(slots), sets_(sets), dice_(dice) {}

    // What to change for the value; false: this way leads nowhere. Which operands it follows is diced.
    bool at(Slot slot, u64 wanted, std::vector<Change> &changes);

  private:
    bool go(Slot slot, u64 wanted, unsigned depth);
    bool go_byte(Slot slot, u64 wanted);
    bool go_truth(const Part &part, bool wanted, unsigned depth);
    bool go_order(const Part &part, bool wanted, u64 flipped, unsigned depth);
    bool go_table(const Part &part, u64 wanted, unsigned depth);
    bool go_shift(const Part &part, u64 wanted, unsigned depth);
    bool go_quotient(const Part &part, u64 wanted, unsigned side, unsigned depth);
    bool go_product(const Part &part, u64 wanted, unsigned side, unsigned depth);
    unsigned side_of(const Part &part);

    const Slots &slots_;
    const std::vector<ByteSet> &sets_;
    Dice &dice_;
    std::vector<Change> *changes_ = nullptr;
};

}  // namespace score
