// The constraints of a question that are left, and on which variables they are: which variable is eliminated next.
#pragma once

#include <set>

#include "effort.hpp"
#include "relation.hpp"

namespace score {

// The order of variables: as they come in the input, or always the one whose constraints are on the fewest combinations
// of values.
enum class Elimination { BY_INPUT, CHEAPEST };

class Network {
  public:
    Network(const Variables &variables, Elimination order, Effort &effort);

    void add(const RelationPtr &relation);

    // The variable that is eliminated next; from here on it is none of the network's.
    const VariablePtr &next();

    // All that are on this variable, which are no more; and those that say nothing of other variables than these do:
    // with them the join is smaller.
    std::vector<RelationPtr> take(const VariablePtr &variable);

  private:
    void weigh(std::size_t at);
    Variables variables_of(const std::vector<RelationPtr> &relations);
    bool is_on(const Relation &relation, const VariablePtr &variable);
    bool is_among(const Variables &some, const Variables &all);

    static constexpr u64 OVERHEAD_STEPS = 32;  // of a variable, however little is on it

    const Variables &variables_;
    std::unordered_map<u64, std::size_t> place_;  // of a variable, by its number
    std::vector<std::vector<RelationPtr>> on_;    // each variable
    bool is_weighed_;
    std::vector<double> weights_;
    std::set<std::pair<double, std::size_t>> order_;
    std::set<std::size_t> changed_;  // whose weight is another now
    Effort &effort_;
};

}  // namespace score
