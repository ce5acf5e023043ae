// What the events so far say: the mirror, the inputs declared, what the path's conditions leave, values used
// concretely, and what was lost. Everything here can be rolled back to a checkpoint, at a cost proportional to what
// came after it.
#pragma once

#include <map>

#include "evaluate.hpp"
#include "mirror.hpp"
#include "remembered.hpp"

namespace score {

struct Checkpoint {  // a state to go back to
    std::size_t at;  // bytes of the stream read
    u64 address;
    i64 depth;
    u64 consumed;
    std::size_t mirror, log, pins, objects;
    Deps settled, reach, forked, vanished;
};

struct NoteCount {
    std::string what;
    u64 site, times;
};

class Decoded {
  public:
    Decoded(unsigned pointer_bits, bool verify);

    void clear();  // the state before the first event
    void take_input(Input data);  // from now on values are those under this input, which the caller keeps
    Checkpoint checkpoint(std::size_t at, u64 address) const;
    void return_to(const Checkpoint &point);

    u128 value(Id expr);  // under the run's input
    bool holds(Id condition);

    void learn(Id condition);  // of the path, which holds from here on
    void fork(Id value);       // from here on the formula is the value that it has in this run
    bool is_fixed(Id value) const { return fixed_.count(value); }
    u128 most_values(Id value) const;  // that the formula can have on this path

    // The leaves as the path lets them be said: those that its conditions leave one value are constants. That is as
    // sound as slices are: a byte with one value left keeps it, whether its conditions are in a question or not.
    void say(Leaves &leaves);
    void say_of_value(Leaves &leaves);  // of what is assigned: what looks at it later sees no input bytes

    void note(const std::string &what, u64 site);
    void pin(u64 site, Id value);         // it was used concretely
    void pin_number(u64 site, Id value);  // the pattern of an operation's result was used: it has to be a number
    bool are_numbers(const std::vector<Id> &patterns);
    SharedBytes content(u64 address, u64 size) const;  // of an object that was read; null: none was
    void keep_content(u64 address, SharedBytes content);
    void keep_size(u64 address, Id size);  // an object's size is a formula
    Ref size_of(u64 address, u128 size, unsigned width);  // the size of the object there: `size`, if it is no formula
    u64 declare(u64 site, const std::string &name, u64 size);  // an input; returns its place in the test's
    void check_stored(u64 site, Id expr);  // verify mode: the value that the program stored follows in the stream
    void pass_stored();                    // it may be another one

    const bool verify;
    Cursor cursor;
    Mirror mirror;
    Input data{};
    u64 consumed = 0;  // input bytes
    Deps forked;       // input bytes of what is fixed because the path has forked
    Deps vanished;     // and of what was assigned as a constant
    std::vector<Pin> pins;
    std::vector<SymbolicObject> objects;
    std::vector<Disagreement> disagreements;
    std::vector<NoteCount> notes;

  private:
    enum class Table : u8 { SET, LIMIT, FIXED, SIZE, CONTENT, NOTE, DECLARED };
    struct Change {  // what was there before
        Table table;
        bool was_there;
        u64 a, b;  // the key; of formulas, see `node`
        Ref node, before;
        u128 number;
    };
    struct Known {
        Ref key, value;
    };
    struct Limit {
        Ref key;
        u128 most;
    };

    void learn_compared(Id condition, const ByteSet &left);
    void fix(Id value, Id constant);
    Ref constant_of(const Ref &leaf);
    bool is_told_of(const Leaves &leaves) const;  // the path says something of one of them
    bool is_open(Id expr, u128 stored, u128 computed);
    void undo(const Change &change);

    Memo values_;
    std::unordered_map<std::string, u64> declared_;  // how often each input was
    std::vector<const std::string *> names_;         // of all inputs, in order
    std::map<std::pair<u64, u64>, SharedBytes> contents_;
    std::map<std::pair<std::string, u64>, std::size_t> noted_;
    std::vector<ByteSet> sets_;  // the values that the path's conditions leave to an input byte
    std::unordered_map<Id, Limit> limits_;    // the largest value of a formula
    std::unordered_map<Id, Known> fixed_;     // formulas that the path makes a constant
    std::unordered_map<u64, Ref> limited_;    // sizes in bytes that are formulas, of objects by address
    std::unordered_map<Id, Known> replaced_;  // formulas with all of these put in
    Deps settled_;  // input bytes that have one value left
    Deps reach_;    // input bytes of formulas that are fixed
    std::vector<Change> log_;
    std::vector<ByteSet> old_sets_;         // by changes of sets, in order
    std::vector<SharedBytes> old_contents_;  // and by those of contents
};

bool is_within(const Deps &some, const Deps &all);  // every byte

}  // namespace score
