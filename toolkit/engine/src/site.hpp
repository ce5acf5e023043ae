// The site table as the trail reads it: what each probe means (score_embed/contract/sites.py reads it from the image).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contract.hpp"

namespace score {

struct Leaf {  // an operand of a template, or a destination
    Place place;
    u64 bits;
    u64 where;  // a slot, or a global's address
};

struct TemplateStep {  // one postfix step
    Op op;
    u64 bits;    // the result's width
    u128 value;  // a constant, or a leaf's place
};

struct Template {
    std::vector<Leaf> leaves;
    std::vector<TemplateStep> steps;
    bool floats;  // it has operators of floating point
};

struct Site {
    u64 id;
    SiteKind kind;
    std::string place;  // `file:line`, for messages
    std::string name;
    std::optional<Leaf> dest;
    std::optional<Template> formula;
    std::vector<Leaf> leaves;                  // of a call or a switch
    std::vector<std::pair<u128, u128>> labels;  // of a switch: first and last value
    u64 coverage, flags, size, stride;
    bool is_assumption;
    std::shared_ptr<const Site> origin;  // of bounds: its template is what the pointer was made from
};

inline std::string name_of(const Site &site) { return "site " + std::to_string(site.id); }

// The site of this number, or null. What it gives stays where it is.
using SiteSource = std::function<const Site *(u64)>;

}  // namespace score
