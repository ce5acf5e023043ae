// What exploration does along a path, as Python has it: bounds, and the descent, which flips each new condition of a
// run while its path is decoded.
#pragma once

#include <nanobind/nanobind.h>

#include "lineage.hpp"
#include "pairs.hpp"
#include "tracing.hpp"

namespace score {

Follower *follower_of(nanobind::handle object);  // null: it is Python's own

enum class Followed { WHOLE, IN_PART, IN_VAIN };
enum class Reason : u8 { CONCRETE, FIXED, UNSAT };  // why a condition has no flip

// What came of a run's conditions.
struct Derived {
    Followed followed = Followed::WHOLE;
    bool broken_off = false;            // no more flips were derived; the last child stands for them
    nanobind::list children{};          // pairs, the shallowest flip first
    nanobind::object run = nanobind::none();  // Python's, if it was asked; what else came of them is there
    std::vector<std::pair<u64, Reason>> unflipped{};  // coverage indices
};

// Python's descent, as far as other parts of the extension need it.
struct DescentSide {
    virtual std::size_t shared(const Trail &trail, const Pair &pair) const = 0;
    virtual bool went_as_predicted(const Trail &trail, const Pair &pair) const = 0;
    virtual void follow(TrailSide &trail, nanobind::handle pair, nanobind::bytes data, u64 kept,
                        nanobind::handle explorer, Derived &found) = 0;

    Origin origin = Origin::first();  // the run that the trail is of

  protected:
    ~DescentSide() = default;
};
nanobind::object word_of(Reason reason);  // Python's

DescentSide &descent_of(nanobind::handle object);  // of Python's Descent; else std::invalid_argument

// Adds BoundedPath and Descent to the module.
void add_descents(nanobind::module_ &module);

}  // namespace score
