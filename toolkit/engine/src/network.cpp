#include "network.hpp"

#include <algorithm>

namespace score {

Network::Network(const Variables &variables, Elimination order, Effort &effort)
    : variables_(variables), on_(variables.size()), is_weighed_(order == Elimination::CHEAPEST), effort_(effort) {
    for (std::size_t at = 0; at < variables.size(); ++at) {
        place_[variables[at]->number] = at;
        weights_.push_back(0);
        order_.emplace(0, at);
    }
}

void Network::add(const RelationPtr &relation) {
    for (const VariablePtr &variable : relation->variables) {
        std::size_t at = place_.at(variable->number);
        on_[at].push_back(relation);
        changed_.insert(at);
    }
}

const VariablePtr &Network::next() {
    for (std::size_t at : changed_) weigh(at);
    changed_.clear();
    std::size_t first = order_.begin()->second;
    order_.erase(order_.begin());
    effort_.spend(OVERHEAD_STEPS);
    return variables_[first];
}

std::vector<RelationPtr> Network::take(const VariablePtr &variable) {
    std::vector<RelationPtr> taken = std::move(on_[place_.at(variable->number)]);
    Variables all = variables_of(taken);
    for (const VariablePtr &other : all) {
        if (other == variable) continue;
        std::size_t at = place_.at(other->number);
        auto is_taken = [&](const RelationPtr &relation) { return is_on(*relation, variable); };
        on_[at].erase(std::remove_if(on_[at].begin(), on_[at].end(), is_taken), on_[at].end());
        changed_.insert(at);
        for (const RelationPtr &relation : on_[at])
            if (relation->variables[0] == other && is_among(relation->variables, all)) taken.push_back(relation);
    }
    return taken;
}

// By how many combinations of values the constraints on it are; or by the input's order, where that goes first
// which is on one constraint beside what is on nothing else: without it no constraint has more rows.
void Network::weigh(std::size_t at) {
    double weight = 1;
    if (is_weighed_) {
        for (const VariablePtr &variable : variables_of(on_[at])) weight *= variable->count;
    } else {
        auto binds = [](const RelationPtr &relation) { return relation->variables.size() > 1; };
        effort_.spend(on_[at].size());
        bool is_last = std::count_if(on_[at].begin(), on_[at].end(), binds) <= 1;
        weight = 2.0 * std::get<0>(variables_[at]->rank) + !is_last;
    }
    order_.erase({weights_[at], at});
    order_.emplace(weights_[at] = weight, at);
}

Variables Network::variables_of(const std::vector<RelationPtr> &relations) {
    Variables all;
    for (const RelationPtr &relation : relations) {
        effort_.spend(relation->variables.size());
        all.insert(all.end(), relation->variables.begin(), relation->variables.end());
    }
    std::sort(all.begin(), all.end(), ranks_below);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

bool Network::is_on(const Relation &relation, const VariablePtr &variable) {
    effort_.spend(relation.variables.size());
    return std::find(relation.variables.begin(), relation.variables.end(), variable) != relation.variables.end();
}

bool Network::is_among(const Variables &some, const Variables &all) {
    effort_.spend(some.size() + all.size());
    return std::includes(all.begin(), all.end(), some.begin(), some.end(), ranks_below);
}

}  // namespace score
