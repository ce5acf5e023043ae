#include "alarm.hpp"

#include <chrono>
#include <utility>

namespace nb = nanobind;

namespace score {

namespace {

constexpr unsigned YIELD = 16;  // every so many times other threads may run

}  // namespace

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool Glance::rings() {
    double at = now();
    if (at < next_) return false;
    if (nb::cast<bool>(wants_end_())) return true;
    next_ = at + pause_;
    return false;
}

bool rings(nb::handle stop) {
    Alarm *alarm;
    if (nb::try_cast(stop, alarm, false)) return alarm->rings();
    Glance *glance;
    return nb::try_cast(stop, glance, false) ? glance->rings() : nb::cast<bool>(stop());
}

void Terminator::begin(nb::object stop) {
    stop_ = std::move(stop);
    left_ = 0, seen_ = interrupts, raised_ = nullptr;
}

bool Terminator::wants_end() {
    if (raised_ || !left_ || !stop_) return true;
    if (--left_ % YIELD == 0) nb::gil_scoped_release yield;
    try {
        if (PyErr_CheckSignals() < 0) nb::raise_python_error();
        return seen_ != interrupts || rings(stop_);
    } catch (...) {
        raised_ = std::current_exception();
        return true;
    }
}

void Terminator::end() {
    stop_.reset();
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

void add_alarms(nb::module_ &m) {
    nb::class_<Alarm>(m, "Alarm")
        .def("__init__", [](Alarm *self, double patience) { (new (self) Alarm)->patience = patience; })
        .def_rw("signalled", &Alarm::signalled)
        .def_rw("deadline", &Alarm::deadline)
        .def("is_over", [](const Alarm &self) { return self.is_over(now()); })
        .def("__call__", &Alarm::rings);
    nb::class_<Glance>(m, "Glance")
        .def(nb::init<nb::object, double>(), nb::arg("wants_end"), nb::arg("pause"))
        .def("__call__", &Glance::rings);
    nb::class_<Terminator>(m, "Terminator")
        .def(nb::init<>())
        .def_static("interrupt", &Terminator::interrupt)
        .def("begin", &Terminator::begin, nb::arg("stop"))
        .def("allow", &Terminator::allow, nb::arg("most"))
        .def("__call__", &Terminator::wants_end)
        .def("end", &Terminator::end);
}

}  // namespace score
