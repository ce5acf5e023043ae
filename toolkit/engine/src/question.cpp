#include "question.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "casters.hpp"
#include "tracing.hpp"

namespace nb = nanobind;

namespace score {

namespace {

struct Passed {  // a slicer's path, as a sequence; good until that changes
    std::shared_ptr<const Slicer> slicer;
};

Route route_of(nb::object trail) {
    const Trail &path = trail_of(trail).path();
    return {path.conditions, path.decoded().pins, std::move(trail)};
}

}  // namespace

Questions &questions() {
    static Questions *const known = new Questions;
    return *known;
}

nb::object question(const std::shared_ptr<Slicer> &slicer, const Slice &slice, Id target, const nb::bytes &data) {
    nb::dict sets;
    for (const auto &[index, values] : slice.sets) sets[nb::int_(index)] = values;
    nb::list several;
    for (Id condition : slice.several) several.append(owned(handle_of(condition)));
    return questions().query(owned(handle_of(target)), sets, several, data, nb::cast(Passed{slicer}));
}

void add_questions(nb::module_ &m) {
    m.def("questions_are", [](nb::object query, nb::object stopped) {
        questions().query = std::move(query), questions().stopped = std::move(stopped);
    });

    nb::class_<Passed>(m, "Passed")
        .def("__len__", [](const Passed &self) { return self.slicer->path().size(); })
        .def("__getitem__", [](const Passed &self, std::size_t index) {
            const std::vector<Ref> &path = self.slicer->path();
            if (index >= path.size()) throw nb::index_error();
            return path[index];
        })
        .def("about", [](const Passed &self, const Deps &deps) {
            nb::list found;
            for (const Ref &condition : self.slicer->path())
                if (node(condition).deps.meets(deps)) found.append(owned(handle_of(condition)));
            return found;
        });

    nb::class_<Slicer>(m, "Slicer")
        .def(nb::init<>())
        .def("mark", &Slicer::mark)
        .def("undo", &Slicer::undo)
        .def("add", [](Slicer &self, Given condition) { self.add(condition); })
        .def("weight", [](const Slicer &self, Given target) { return self.weight(target); })
        .def("slice_of", [](const Slicer &self, Given target) { return self.reach(target); })
        .def("query", [](const std::shared_ptr<Slicer> &self, Given target, nb::bytes data) {
            return question(self, self->slice(target), target, data);
        });

    nb::class_<Route>(m, "Route", nb::is_weak_referenceable())
        .def("__init__", [](Route *self, nb::object trail) { new (self) Route(route_of(std::move(trail))); })
        .def("__len__", [](const Route &self) { return self.conditions.size(); })
        .def("condition", [](const Route &self, std::size_t index) {
            if (index >= self.conditions.size()) throw std::out_of_range("the path has no such condition");
            return trail_of(self.trail).python_condition(self.conditions[index]);
        })
        .def("forget", [](Route &self) { self.conditions.clear(), self.pins.clear(); });
}

}  // namespace score
