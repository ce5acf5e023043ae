// Values of formulas under an input, and the order of their nodes. Without recursion: formulas of long loops are deep.
#pragma once

#include <vector>

#include "arena.hpp"

namespace score {

struct Input {
    const u8 *bytes;
    std::size_t size;

    u8 operator[](u128 index) const;  // std::out_of_range
};

// Values of nodes under one input, kept over calls. It holds its nodes.
class Memo {
  public:
    const u128 *find(Id id) const;
    void set(Id id, u128 value);
    std::size_t size() const { return entries_.size(); }
    void clear();
    void forget(const Deps &changed);  // what depends on these bytes

  private:
    struct Entry {
        Ref node;
        u128 value;
    };

    void index(Id id, u32 place);
    void rebuild(std::size_t size);

    std::vector<Entry> entries_;
    std::vector<u32> places_;  // open addressing: 0, or one more than the entry's place
};

u128 evaluate(Id expr, const Input &data);
u128 evaluate(Id expr, const Input &data, Memo &memo);

// Every node of the formulas once, arguments before what uses them.
std::vector<Id> nodes(const std::vector<Id> &exprs);

// Marks nodes in constant time; one at a time of each purpose.
class Marks {
  public:
    void clear();
    bool has(Id id) const { return id < stamps_.size() && stamps_[id] == stamp_; }
    bool add(Id id);  // whether it is new

  private:
    std::vector<u32> stamps_;
    u32 stamp_ = 0;
};

}  // namespace score
