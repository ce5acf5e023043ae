#include "alarm.hpp"

#include <chrono>

namespace nb = nanobind;

namespace score {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool rings(nb::handle stop) {
    Alarm *alarm;
    return nb::try_cast(stop, alarm, false) ? alarm->rings() : nb::cast<bool>(stop());
}

void add_alarms(nb::module_ &m) {
    nb::class_<Alarm>(m, "Alarm")
        .def("__init__", [](Alarm *self, double patience) { (new (self) Alarm)->patience = patience; })
        .def_rw("signalled", &Alarm::signalled)
        .def_rw("deadline", &Alarm::deadline)
        .def("is_over", [](const Alarm &self) { return self.is_over(now()); })
        .def("__call__", &Alarm::rings);
}

}  // namespace score
