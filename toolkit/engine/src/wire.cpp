#include "wire.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cstring>

#include "casters.hpp"
#include "session.hpp"

namespace nb = nanobind;

namespace score {

namespace {

nb::object *target_error, *wrong_image;  // Python's

nb::bytes bytes_of(View data) { return nb::bytes(data.data(), data.size()); }

const char *name_of(Damage damage) {
    switch (damage) {
    case Damage::TOO_LONG: return "too-long";
    case Damage::TOO_SHORT: return "too-short";
    case Damage::STUFFING: return "stuffing";
    case Damage::CRC: return "crc";
    default: return "sequence";
    }
}

nb::list decoded(Decoder &decoder, const nb::bytes &data) {
    nb::list found;
    decoder.feed(view_of(data));
    while (auto frame = decoder.next()) {
        if (frame->damage == Damage::NONE)
            found.append(nb::make_tuple(frame->type, frame->sequence, bytes_of(frame->payload)));
        else
            found.append(name_of(frame->damage));
    }
    return found;
}

template <class Numbers> nb::object tuple_of(const Numbers &numbers) {
    nb::object made = owned(PyTuple_New(Py_ssize_t(numbers.size())));
    Py_ssize_t at = 0;
    for (u64 number : numbers) PyTuple_SET_ITEM(made.ptr(), at++, PyLong_FromUnsignedLongLong(number));
    return made;
}

// All of the test under way that has arrived.
nb::tuple known(const Session &session) {
    std::vector<u64> covered;
    nb::list sites;
    for (auto [what, before] : session.passed()) {
        if (what & 1)
            sites.append(nb::make_tuple(what >> 1, before));
        else if (std::find(covered.begin(), covered.end(), what >> 1) == covered.end())
            covered.push_back(what >> 1);
    }
    return nb::make_tuple(bytes_of(session.events()), tuple_of(covered), bytes_of(session.output()), nb::tuple(sites));
}

}  // namespace

nb::object error_of(const LinkFailure &failure) {
    nb::object &kind = failure.is_wrong_image ? *wrong_image : *target_error;
    return kind(nb::str(failure.what.c_str()), nb::arg("hint") = nb::str(failure.hint.c_str()));
}

namespace {

void translate(const std::exception_ptr &thrown, void *) {
    try {
        std::rethrow_exception(thrown);
    } catch (const LinkFailure &failure) {
        nb::object error = error_of(failure);
        PyErr_SetObject(error.type().ptr(), error.ptr());
    }
}

void add_results(nb::module_ &m) {
    nb::class_<Ready>(m, "Ready")
        .def_prop_ro("build_id", [](const Ready &self) {
            return nb::bytes(self.build_id.data(), self.build_id.size());
        })
        .def_ro("input_capacity", &Ready::input_capacity)
        .def_ro("free_ram", &Ready::free_ram);
    nb::class_<Result>(m, "Result")
        .def_prop_ro("flags", [](const Result &self) { return self.end.flags; })
        .def_prop_ro("verdict", [](const Result &self) { return self.end.verdict; })
        .def_prop_ro("code", [](const Result &self) { return self.end.code; })
        .def_prop_ro("site", [](const Result &self) { return self.end.site; })
        .def_prop_ro("pc", [](const Result &self) { return self.end.pc; })
        .def_prop_ro("address", [](const Result &self) { return self.end.address; })
        .def_prop_ro("stack", [](const Result &self) { return tuple_of(self.end.stack); })
        .def_prop_ro("path_hash", [](const Result &self) { return self.end.path_hash; })
        .def_prop_ro("operand_hash", [](const Result &self) { return self.end.operand_hash; })
        .def_prop_ro("conditions", [](const Result &self) { return self.end.conditions; })
        .def_prop_ro("branches", [](const Result &self) { return self.end.branches; })
        .def_prop_ro("unchecked", [](const Result &self) { return self.end.unchecked; })
        .def_ro("input_used", &Result::input_used)
        .def_prop_ro("events", [](const Result &self) { return bytes_of(self.events); })
        .def_prop_ro("coverage", [](const Result &self) { return tuple_of(self.coverage); })
        .def_prop_ro("output", [](const Result &self) { return bytes_of(self.output); });
}

}  // namespace

void add_wire(nb::module_ &m) {
    nb::register_exception_translator(translate);
    m.def("link_failures_are", [](nb::object lost, nb::object wrong) {
        target_error = new nb::object(std::move(lost)), wrong_image = new nb::object(std::move(wrong));
    });
    m.attr("MAX_FRAME") = MAX_FRAME;
    m.attr("MAX_ATTEMPTS") = MAX_ATTEMPTS;
    m.attr("MAX_REFUSALS") = MAX_REFUSALS;
    m.def("encode_frame", [](unsigned type, unsigned sequence, const nb::bytes &payload) {
        return bytes_of(encode_frame(type, sequence, view_of(payload)));
    });
    nb::class_<Decoder>(m, "Decoder")
        .def(nb::init<>())
        .def("feed", &decoded)
        .def_prop_ro("held", &Decoder::held);
    add_results(m);
    nb::class_<Session>(m, "Session")
        .def("__init__", [](Session *self, const nb::bytes &build_id) {
            std::array<u8, 16> name;
            if (build_id.size() != name.size()) throw std::invalid_argument("a build has a name of 16 bytes");
            std::memcpy(name.data(), build_id.data(), name.size());
            new (self) Session(name);
        })
        .def("hello", [](Session &self) { return bytes_of(self.hello()); })
        .def("reset", [](Session &self) { return bytes_of(self.reset()); })
        .def("start", [](Session &self, const nb::bytes &data, u64 predicted, u64 condition_hash, u64 max_branches,
                         u64 watchdog_ms, const nb::bytes &prefix, std::optional<u64> tell_from, bool bounded,
                         bool vectors) {
            return bytes_of(self.start({Bytes(view_of(data)), predicted, condition_hash, max_branches, watchdog_ms,
                                        Bytes(view_of(prefix)), tell_from, bounded, vectors}));
        }, nb::arg("data"), nb::arg("predicted") = 0, nb::arg("condition_hash") = 0,
           nb::arg("max_branches") = 1'000'000, nb::arg("watchdog_ms") = 10'000, nb::arg("prefix") = nb::bytes("", 0),
           nb::arg("tell_from") = nb::none(), nb::arg("bounded") = false, nb::arg("vectors") = false)
        .def("receive", [](Session &self, const nb::bytes &data) { return bytes_of(self.receive(view_of(data))); })
        .def("nudge", [](Session &self) { return bytes_of(self.nudge()); })
        .def_prop_ro("ready", [](const Session &self) { return self.ready; })
        .def_ro("result", &Session::result)
        .def_prop_ro("known", &known)
        .def_prop_ro("held", &Session::held)
        .def_prop_ro("doubtful", &Session::doubtful)
        .def_ro("booted", &Session::booted)
        .def_ro("restarted", &Session::restarted)
        .def_rw("late", &Session::late)
        .def_ro("bad_frames", &Session::bad_frames)
        .def_ro("reruns", &Session::reruns);
}

}  // namespace score
