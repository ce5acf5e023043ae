// Templates compiled for replay: given the formulas of its leaves, a site's formula. A template is checked once, when
// it is compiled.
#pragma once

#include "remembered.hpp"

namespace score {

// The value in a place of another width, as an unsigned value is converted.
Ref fit(Id expr, u64 bits);

class Program {
  public:
    explicit Program(const Site &site);  // TraceFault if its template makes no sense

    Ref value(const Leaves &leaves) const;
    bool has_leaves() const { return has_leaves_; }
    u64 site() const { return site_; }

  private:
    struct Step {
        Op op;
        unsigned bits;
        std::size_t leaf;
        Ref constant;
    };

    void check_unary(Op op, u64 before, u64 after) const;
    u64 compile(const TemplateStep &step, std::vector<u64> &widths, const std::vector<Leaf> &leaves);

    u64 site_;
    bool has_leaves_;
    std::vector<Step> steps_;
};

// The templates of one table, compiled when first used, with the results of earlier runs.
class Programs {
  public:
    explicit Programs(std::size_t kept) : kept_(kept) {}

    const Program &get(const Site &site);
    Ref value(const Program &program, const Leaves &leaves);
    std::size_t remembered() const { return values_.size(); }

  private:
    std::size_t kept_;
    std::unordered_map<u64, std::unique_ptr<const Program>> compiled_;
    Remembered<Ref> values_;
};

}  // namespace score
