// The line to a target that Python has lent: runs are sent and answers are read without Python, as long as the target
// answers soon and there is nothing else to be done.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "session.hpp"

namespace score {

// `beside`: Python is to look when there is something; -1: there is nothing. `patience`: seconds for an answer, after
// which Python goes on waiting. The last four: what the target is told with each test, the bytes of input that it can
// hold, and how many tests may be sent behind the one that is waited for.
struct Line {
    nanobind::object session;
    int in, beside, out;
    double patience;
    u64 watchdog_ms, max_branches, capacity, ahead;

    Session &on() const { return nanobind::cast<Session &>(session); }
};

class Exchange {
  public:
    // All of it was written; else Python has to send the rest. A line that is closed is found so by who reads.
    bool send(const Line &line, View run);
    // The test under way has a result; else Python goes on, with what there is to be said, or a failure.
    bool wait(const Line &line);

    nanobind::bytes rest{"", 0};
    nanobind::object failure = nanobind::none();
    bool is_closed = false;  // nobody is at the other end any more
    u64 bytes_in = 0, bytes_out = 0;

  private:
    bool hear(Session &on, View arrived);

    std::vector<char> arrived_ = std::vector<char>(1 << 16);
};

}  // namespace score
