#include "line.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "alarm.hpp"
#include "wire.hpp"

namespace nb = nanobind;

namespace score {

bool Exchange::send(const Line &line, View run) {
    is_closed = false;
    ssize_t done = write(line.out, run.data(), run.size());
    if (done < 0 && errno != EAGAIN && errno != EINTR) return true;
    if (done > 0) bytes_out += u64(done), run.remove_prefix(std::size_t(done));
    rest = nb::bytes(run.data(), run.size());
    return run.empty();
}

bool Exchange::wait(const Line &line) {
    Session &on = line.on();
    is_closed = false;
    if (!hear(on, {})) return false;  // what has come with the answer before
    if (on.result) return true;
    double end = now() + line.patience;
    for (double left = line.patience; !on.result; left = end - now()) {
        pollfd fds[2] = {{line.in, POLLIN, 0}, {line.beside, POLLIN, 0}};
        int ready = 0;
        if (left > 0) {
            nb::gil_scoped_release released;
            ready = poll(fds, line.beside < 0 ? 1 : 2, int(std::ceil(left * 1000)));
        }
        if (ready < 0 && errno == EINTR) {
            if (PyErr_CheckSignals() < 0) nb::raise_python_error();
            continue;
        }
        is_closed = ready > 0 && fds[0].revents & POLLHUP;
        if (ready <= 0 || fds[1].revents) return false;
        ssize_t size = read(line.in, arrived_.data(), arrived_.size());
        is_closed = size == 0;
        if (size <= 0) return false;
        bytes_in += u64(size);
        if (!hear(on, {arrived_.data(), std::size_t(size)})) return false;
    }
    return true;
}

bool Exchange::hear(Session &on, View arrived) {
    try {
        Bytes answer = on.receive(arrived);
        rest = nb::bytes(answer.data(), answer.size());
    } catch (const LinkFailure &found) {
        failure = error_of(found);
        return false;
    }
    return !rest.size() && !on.restarted;
}

}  // namespace score
