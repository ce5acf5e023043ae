// Slices of code that is driven by tables are decided by their values: each is a network of small tables.
//
// The variables are input bytes and the inner values of the formulas (grid.hpp), the constraints are the conditions and
// what makes an inner value of others. Variables are eliminated one by one, in the input's order: all constraints on
// one are joined, and what is left without it is a constraint on the others (bucket elimination: Dechter, "Bucket
// elimination: A unifying framework for reasoning", 1999). A scanner's slice is a chain, and this is one walk along it.
// Where a join becomes too large so, it is tried once more in another order: the variable goes first whose constraints
// are on the fewest combinations of values. (A scanner of flex has ten variables for a byte, and two bytes unknown.) As
// tables that are dense are too large in any order, what that takes in vain has to be earned by answers.
//
// Before that, values of an input byte that no constraint tells apart become one: letters that a scanner's table treats
// alike.
//
// Questions of a path have most of their conditions in common, and those of neighbouring paths, too. So what came of a
// join is kept, by the constraints that went into it, and while it is asked for (twofold.hpp). What would be too large,
// or takes too many steps, is not decided.
#pragma once

#include "decided.hpp"
#include "effort.hpp"
#include "evaluate.hpp"
#include "network.hpp"
#include "twofold.hpp"

namespace score {

class Finite {
  public:
    // `kept`: cells of all rows that are remembered, about. `most`: steps of a question. `look` is called now and then;
    // what it throws ends the question.
    Finite(std::size_t kept, u64 most, std::function<void()> look, GridSizes sizes = GRID_SIZES)
        : room_(kept), effort_(most, std::move(look)), grids_(sizes, effort_) {}
    Finite(const Finite &) = delete;

    Decided solve(Id target, const std::vector<Id> &several, const std::vector<std::pair<u32, ByteSet>> &sets,
                  const Input &data);
    std::size_t remembered() const { return joins_.size(); }  // joins
    u64 steps() const { return effort_.spent(); }             // of the last question

  private:
    // `others`: what they have together with a variable, rising; in `own` its values with each of these rows, which
    // begin where `begins` says. `left`: what that says of the others; null if nothing.
    struct Eliminated {
        std::size_t taken() const { return Relation::OVERHEAD + 2 * begins.size() + own.size(); }

        RelationPtr others;
        std::vector<u32> begins;  // and where the last ends
        std::vector<u8> own;
        RelationPtr left;
    };
    using EliminatedPtr = std::shared_ptr<const Eliminated>;
    // An input byte's values that all constraints on it treat alike: for each value the `first` of those, and the
    // constraints with that one only.
    struct Merged {
        std::size_t taken() const {
            std::size_t sum = Relation::OVERHEAD + first.size();
            for (const RelationPtr &relation : relations) sum += relation->taken();
            return sum;
        }

        std::vector<u8> first;
        std::vector<RelationPtr> relations;
    };
    using MergedPtr = std::shared_ptr<const Merged>;
    using MergedBytes = std::unordered_map<u64, MergedPtr>;  // by the variable's number
    struct Alike {
        std::size_t taken() const { return Relation::OVERHEAD + first.size(); }

        std::vector<u8> first;
    };
    using Sets = std::map<u32, ByteSet>;

    std::vector<RelationPtr> all_of(const std::vector<Id> &several, Id target);
    RelationPtr condition(Id condition);
    Decided decide(const std::vector<RelationPtr> &conditions, const Sets &sets, const Input &data, Elimination order);
    Decided in_cheapest_order(const std::vector<RelationPtr> &conditions, const Sets &sets, const Input &data);
    MergedBytes merge(const Variables &variables, std::vector<RelationPtr> &relations);
    MergedPtr merged(const VariablePtr &byte, const std::vector<RelationPtr> &relations);
    RelationPtr definition(const VariablePtr &variable);
    RelationPtr set(const VariablePtr &variable, const ByteSet &values);
    EliminatedPtr eliminated(const VariablePtr &variable, const std::vector<RelationPtr> &relations);
    RelationPtr shared(Variables variables, std::vector<u8> cells, std::size_t rows);

    Room room_;  // of all that is remembered
    Effort effort_;
    u64 earned_ = 1 << 26;  // steps that the cheapest order may take in vain
    i64 allowance_ = 1 << 26;  // steps that may go by in vain to look for what conditions exclude
    Grids grids_;
    Twofold<std::unordered_map<u64, RelationPtr>> made_of_{room_};         // by an inner variable's number
    Twofold<std::map<std::pair<u64, ByteSet>, RelationPtr>> sets_{room_};  // by an input byte's number and its set
    Twofold<std::map<std::vector<u64>, RelationPtr>> conditions_{room_};   // by uids: its own, what it is right under
    Twofold<std::map<std::pair<u64, u64>, std::shared_ptr<const Alike>>> alike_{room_};  // by variable and relation
    Twofold<std::map<std::vector<u64>, MergedPtr>> merged_{room_};         // by the variable and the relations
    Twofold<std::map<std::vector<u64>, EliminatedPtr>> joins_{room_};      // by the variable and the relations
    Twofold<std::map<std::pair<std::vector<u64>, std::vector<u8>>, RelationPtr>> left_{room_};  // by variables and rows
};

}  // namespace score
