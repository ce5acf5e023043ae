// When a campaign has to end, or a question: what is asked between and within tests, without a call of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>

namespace score {

double now();  // seconds, as time.monotonic says

// The seconds of what is done often, and is so short that a look at the clock would be a part of it. The first ones
// are measured, and then each sixteenth.
class Stopwatch {
  public:
    void start() {
        weight_ = ++count_ <= MEASURED ? 1 : count_ % EACH ? 0 : EACH;
        if (weight_) began_ = now();
    }
    void stop() {
        if (weight_) seconds += weight_ * (now() - began_);
    }

    double seconds = 0;

  private:
    static constexpr std::uint64_t MEASURED = 256, EACH = 16;

    std::uint64_t count_ = 0;
    unsigned weight_ = 0;
    double began_ = 0;
};

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

// What Python says of the end, asked so seldom that it may be asked between any two conditions.
class Glance {
  public:
    Glance(nanobind::object wants_end, double pause) : wants_end_(std::move(wants_end)), pause_(pause) {}
    bool rings();

  private:
    nanobind::object wants_end_;
    double pause_, next_ = 0;  // seconds; when it is asked again, unless it wanted the end
};

bool rings(nanobind::handle stop);  // an alarm, a glance, or what Python calls

// What a solver asks now and then whether it is to end. A handler of signals may raise, and then the solver's own
// binding would lose what was raised and go on. So handlers are called here, and what they raise is kept until the
// question is over.
class Terminator {
  public:
    static void interrupt() { ++interrupts; }  // each question that runs

    void begin(nanobind::object stop);  // a question
    void allow(std::uint64_t most) { left_ = most; }  // it may ask so often
    bool wants_end();
    void end();  // throws what was raised meanwhile

  private:
    static inline std::uint64_t interrupts = 0;  // the interpreter's lock is held wherever it is used

    nanobind::object stop_;
    std::uint64_t left_ = 0, seen_ = 0;
    std::exception_ptr raised_;
};

// Adds Alarm and Terminator to the module.
void add_alarms(nanobind::module_ &module);

}  // namespace score
