// The trail as Python has it: site tables and constants that Python answers for, and objects for what was decoded.
#pragma once

#include <nanobind/nanobind.h>

#include "frame.hpp"
#include "trail.hpp"

namespace score {

// Goes along the path of a trail that it is registered with.
struct Follower {
    virtual void cut(std::size_t count) = 0;  // the path is its first conditions again
    virtual void pass_by(const Condition &condition) = 0;  // it goes on in this condition's direction

  protected:
    ~Follower() = default;
};

// Gets each new condition of a path before later ones are decoded. What it throws ends that.
struct Visitor {
    virtual void reached(std::size_t index, const ConditionPtr &condition) = 0;

  protected:
    ~Visitor() = default;
};

// Python's trail, as far as other parts of the extension need it.
struct TrailSide {
    virtual const Trail &path() const = 0;
    virtual u64 go_back(nanobind::bytes events, nanobind::bytes data, u64 limit) = 0;  // Trail::rewind
    // The events before so many conditions, as long as the path is this one.
    virtual View shared(std::size_t count) const = 0;
    virtual void extend_with(Visitor &visitor) = 0;
    virtual nanobind::object python_condition(const ConditionPtr &condition) const = 0;

  protected:
    ~TrailSide() = default;
};
TrailSide &trail_of(nanobind::handle object);               // of Python's Trail; else std::invalid_argument
ConditionPtr condition_of(nanobind::handle object);         // of Python's Condition; else std::invalid_argument

// Adds Trail, Cursor and Condition to the module.
void add_trails(nanobind::module_ &module);

}  // namespace score
