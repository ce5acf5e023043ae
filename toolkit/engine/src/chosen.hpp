// Formulas as they are where every choice in them is made as in one run: of what a formula chooses from (an
// if-then-else, or a tree of them that stands for a read at a symbolic place) one part is left, and that it is chosen
// is a condition. How far a number is shifted is a choice, too: so are bits read from a stream. What is left is a
// stronger statement with far smaller formulas.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "arena.hpp"
#include "evaluate.hpp"

namespace score {

// Formulas, each once, in the order in which they came.
class Conditions {
  public:
    void add(Id id) {
        if (known_.insert(id).second) order_.emplace_back(id);
    }
    void add(const Conditions &others) {
        for (const Ref &each : others.order_) add(each);
    }
    const std::vector<Ref> &order() const { return order_; }

  private:
    std::vector<Ref> order_;
    std::unordered_set<Id> known_;
};

// Of the run with the input that was taken last.
class Chosen {
  public:
    struct Simple {
        Ref formula;
        Conditions conditions;  // under which the choices are made so
    };

    // What no changed byte reaches stays as it is.
    void take(const u8 *data, std::size_t size);

    // Good until the next call.
    const Simple &of(Id formula);

  private:
    template <class Value> struct Entry {
        Ref key;
        Value value;
    };
    template <class Value> using Known = std::unordered_map<Id, Entry<Value>>;

    Simple simple(Id formula, unsigned depth);
    Id choice(const Node &node, unsigned depth, Conditions &conditions);
    void fix(Id decider, unsigned depth, Conditions &conditions);
    void decide(Id decider, unsigned depth);
    Ref made(Id id, const Id *needed, unsigned count);
    Ref as_used(Id id) const;
    u128 value(Id id) { return evaluate(id, Input{data_.data(), data_.size()}, values_); }

    std::vector<u8> data_;
    Memo values_;
    Known<Ref> plain_;
    Known<Simple> known_;
    // What a choice depends on is a constant for all that comes of it, under the conditions that make it so.
    Known<Ref> fixed_;
    Known<Conditions> because_;
};

// Bit i is set if byte i differs, or only one of them has it.
Deps changed_bytes(const u8 *a, std::size_t size_a, const u8 *b, std::size_t size_b);

}  // namespace score
