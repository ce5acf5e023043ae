// The conditions of a path, cut down to the slice of a flip; with undo, so that it follows the trail.
//
// The slice is made of the conditions that share input bytes, transitively, with the one being flipped; the rest of the
// path stays true because its bytes keep their values. Conditions on a single byte connect nothing: they are kept as
// one set of values a byte. The others are kept in groups that share bytes, found by byte and merged as conditions
// come, never computed anew.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arena.hpp"

namespace score {

// What a question has to keep true beside its target.
struct Slice {
    std::vector<std::pair<u32, ByteSet>> sets;  // by input byte, rising: the values that conditions on it alone leave
    std::vector<Id> several;                    // conditions over two bytes or more; of the slicer's path

    bool operator==(const Slice &other) const;  // of two slicers of one path, the second with pins, for one target
};

class Slicer {
  public:
    Slicer() = default;
    Slicer(const Slicer &) = delete;

    // A mark names a state; `undo` goes back to it.
    std::size_t mark() const { return changes_.size(); }
    void undo(std::size_t mark);
    // A condition that holds on the path. What is constant, or already known, says nothing new.
    void add(Id condition);

    std::size_t weight(Id target) const;  // conditions over two bytes or more that the target's slice has
    Deps reach(Id target) const;          // the input bytes of the target's slice
    Slice slice(Id target) const;
    const ByteSet *values(u32 index) const;  // that conditions on this byte alone leave; null: there is none
    bool binds(u32 index) const { return group_of_.count(index); }  // whether a condition is on this byte and others
    // Whether no input satisfies a target over two bytes or more and those conditions that share its first byte, as
    // far as that is seen at once (excluded.hpp). Of more than `most` conditions only the target's opposite is.
    bool excludes(Id target, std::size_t most) const;

    const std::vector<Ref> &path() const { return path_; }  // what was added and said something new

  private:
    struct Group {  // conditions over two bytes or more, connected by shared bytes
        Deps deps;
        std::vector<Id> conditions;
        mutable u64 seen = 0;
    };
    using GroupPtr = std::shared_ptr<Group>;

    struct Merge {  // what adding a condition to a group changed
        GroupPtr group;
        Deps deps;
        std::size_t size;
        std::vector<std::pair<u32, GroupPtr>> moved;  // input bytes that came to it, and from where
    };
    struct Change {  // a merge, or what a condition on one byte changed: the values it had left
        std::unique_ptr<Merge> merge;
        u32 index = 0;
        bool had = false;
        ByteSet before{};
    };

    void join(Id condition);
    std::vector<GroupPtr> touched(const Deps &deps) const;  // the groups of these input bytes, each once

    std::unordered_map<u32, ByteSet> sets_;
    std::unordered_map<u32, GroupPtr> group_of_;
    std::unordered_set<Id> known_;
    std::vector<Ref> path_;  // a condition a change
    std::vector<Change> changes_;
    mutable u64 turn_ = 0;
};

}  // namespace score
