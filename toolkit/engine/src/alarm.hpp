// When a campaign has to end: what is asked between and within tests, without a call of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <limits>

namespace score {

double now();  // seconds, as time.monotonic says

class Alarm {
  public:
    double signalled = std::numeric_limits<double>::infinity();  // somebody wants the end, since when
    double deadline = std::numeric_limits<double>::infinity();   // the time of the campaign is over
    double patience = 0;  // seconds that the test in work may go on

    bool is_over(double at) const { return at >= std::min(signalled, deadline); }  // no test is to begin
    bool rings() const {  // the test in work is to be broken off
        double first = std::min(signalled, deadline);
        return first < std::numeric_limits<double>::infinity() && now() >= first + patience;
    }
};

bool rings(nanobind::handle stop);  // an alarm, or what Python calls

// Adds Alarm to the module.
void add_alarms(nanobind::module_ &module);

}  // namespace score
