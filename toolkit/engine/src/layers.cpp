#include "layers.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <deque>

#include "casters.hpp"
#include "chosen.hpp"
#include "columns.hpp"
#include "equality.hpp"
#include "excluded.hpp"
#include "finite.hpp"
#include "interval.hpp"
#include "known.hpp"
#include "proved.hpp"
#include "rows.hpp"
#include "search.hpp"

namespace nb = nanobind;

namespace score {

namespace {

// Rows that Python holds: an array("Q").
class RowsGiven {
  public:
    explicit RowsGiven(nb::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) nb::raise_python_error();
        if (view_.itemsize != sizeof(Row) || !view_.format || std::strcmp(view_.format, "Q")) {
            PyBuffer_Release(&view_);
            throw nb::type_error("rows are an array of type 'Q'");
        }
    }
    RowsGiven(const RowsGiven &) = delete;
    ~RowsGiven() { PyBuffer_Release(&view_); }
    const Row *data() const { return static_cast<const Row *>(view_.buf); }
    std::size_t size() const { return std::size_t(view_.len) / sizeof(Row); }

  private:
    Py_buffer view_{};
};

nb::object array_of(const Rows &rows) {
    static nb::object *const type = new nb::object(nb::module_::import_("array").attr("array"));
    return (*type)("Q", nb::bytes(rows.data(), sizeof(Row) * rows.size()));
}

nb::list table(Given expr) {
    arena().forget_columns();
    const Column &values = column(expr);
    nb::list found;
    for (unsigned v = 0; v < COLUMN; ++v)
        found.append(owned(number_of(u128(values.high ? (*values.high)[v] : 0) << 64 | values.low[v])));
    return found;
}

std::vector<int> members(const ByteSet &values) {
    std::vector<int> found;
    for (unsigned i = 0; i < 4; ++i)
        for (u64 left = values[i]; left; left &= left - 1) found.push_back(int(64 * i) + __builtin_ctzll(left));
    return found;
}

std::vector<std::pair<int, int>> intervals(const ByteSet &values) {
    std::vector<std::pair<int, int>> runs;
    for (int value : members(values)) {
        if (!runs.empty() && runs.back().second == value - 1)
            runs.back().second = value;
        else
            runs.emplace_back(value, value);
    }
    return runs;
}

// What Python keeps by formulas; a formula without a handle is in no dictionary.
PyObject *looked_up(nb::dict known, Id id) {
    void *handle = node(id).handle;
    PyObject *found = handle ? PyDict_GetItemWithError(known.ptr(), static_cast<PyObject *>(handle)) : nullptr;
    if (!found && PyErr_Occurred()) nb::raise_python_error();
    return found;
}

nb::object most_values_of(Given expr, nb::dict limits) {
    u128 limit;
    u128 most = most_values(expr, [&](Id id) -> const u128 * {
        PyObject *found = looked_up(limits, id);
        if (!found) return nullptr;
        if (!to_word(found, limit)) nb::raise_python_error();
        return &limit;
    });
    if (most == ALL_128) return nb::int_(1) << nb::int_(128);
    return owned(number_of(most));
}

nb::object limit(Given condition) {
    auto [formula, most] = limit_of(condition);
    if (!formula) return nb::none();
    return nb::make_tuple(owned(handle_of(formula)), owned(number_of(most)));
}

Ref replaced_by(Given expr, nb::dict known, const Deps &reach) {
    return replaced(
        expr,
        [&](Id id) {
            PyObject *found = looked_up(known, id);
            return found ? id_of(found) : 0;
        },
        reach);
}

Ref substituted_by(Given expr, nb::dict others) {
    return substituted(expr, [&](Id id) {
        PyObject *found = looked_up(others, id);
        return found ? id_of(found) : 0;
    });
}

void check_count(std::size_t bytes) {
    if (!bytes || bytes > MOST_ROW_BYTES) throw std::invalid_argument("rows are of one byte to eight");
}

nb::object product_of(const std::vector<std::pair<nb::object, std::vector<std::size_t>>> &given) {
    std::deque<RowsGiven> held;  // while they are read
    std::vector<RowsPart> parts;
    std::vector<bool> taken(MOST_ROW_BYTES);
    std::size_t bytes = 0;
    for (const auto &[rows, places] : given) bytes += places.size();
    check_count(bytes);
    for (const auto &[rows, places] : given) {
        const RowsGiven &mine = held.emplace_back(rows);
        for (std::size_t place : places) {
            if (place >= bytes || taken[place])
                throw std::invalid_argument("each byte of a row has a place of its own");
            taken[place] = true;
        }
        parts.push_back({mine.data(), mine.size(), places});
    }
    return array_of(product(parts));
}

nb::object split_by(Given condition, const std::vector<int> &indices, nb::handle rows) {
    check_count(indices.size());
    RowsGiven given(rows);
    auto [hits, misses] = split(condition, indices, given.data(), given.size());
    return nb::make_tuple(array_of(hits), array_of(misses));
}

nb::object searched(Given target, const std::vector<Given> &several, const ByteSets &sets, nb::handle data,
                    u32 most) {
    std::vector<Id> conditions(several.begin(), several.end());
    Data input(data);
    Searched found = search(target, conditions, sets, input, most);
    nb::object values = nb::none();
    if (found.found) {
        nb::dict changed;
        for (auto [index, value] : found.values) changed[nb::int_(index)] = nb::int_(value);
        values = changed;
    }
    return nb::make_tuple(values, found.evaluations);
}

nb::object said(const Decided &found) {
    nb::dict values;
    for (auto [index, value] : found.values) values[nb::int_(index)] = nb::int_(value);
    return nb::make_tuple(found.result, values);
}

nb::object decided_by(Finite &finite, Given target, const std::vector<Given> &several, const ByteSets &sets,
                      nb::handle data) {
    Data input(data);
    return said(finite.solve(target, std::vector<Id>(several.begin(), several.end()), sets, input));
}

ByteSets sets_of(nb::dict given) {
    ByteSets sets;
    sets.reserve(given.size());
    for (auto [index, values] : given) sets.emplace_back(nb::cast<u32>(index), nb::cast<ByteSet>(values));
    return sets;
}

nb::object equal_by(Equality &equality, Given target, const std::vector<Given> &several, nb::dict sets,
                    nb::handle data) {
    Comparisons slice;
    if (!slice.take(target, std::vector<Id>(several.begin(), several.end()))) return said({Decided::LEFT, {}});
    Data input(data);
    return said(equality.solve(slice, target, sets_of(sets), input));
}

template <class Said> nb::tuple kept_in(const ProvedTable<Said> &table) {
    return nb::make_tuple(table.entries(), table.size(), table.names());
}

// A layer's look at whether the campaign has to end; Ctrl-C is heard, too.
std::function<void()> looking(nb::object look) {
    return [look = std::move(look)] {
        if (PyErr_CheckSignals() < 0) nb::raise_python_error();
        look();
    };
}

}  // namespace

void add_layers(nb::module_ &m) {
    m.def("byte_set", [](Given condition) {
        byte_set(condition);
        return owned(PyObject_GetAttrString(owned(handle_of(condition)).ptr(), "byte_set"));
    });
    m.def("table", table);
    m.def("smallest", smallest);
    m.def("members", members);
    m.def("intervals", intervals);

    m.def("all_rows", [](const std::vector<ByteSet> &sets) {
        check_count(sets.size());
        return array_of(all_rows(sets));
    });
    m.def("rows_within", [](nb::handle rows, const std::vector<ByteSet> &sets) {
        check_count(sets.size());
        RowsGiven given(rows);
        return array_of(within(given.data(), given.size(), sets));
    });
    m.def("rows_product", product_of);
    m.def("cost", [](Given condition) { return cost(condition); });
    m.def("split", split_by);

    m.def("search", searched, nb::arg("target"), nb::arg("several"), nb::arg("sets"), nb::arg("data"), nb::arg("most"));

    nb::enum_<Decided::Result>(m, "Found")
        .value("LEFT", Decided::LEFT)
        .value("GAVE_UP", Decided::GAVE_UP)
        .value("UNSAT", Decided::UNSAT)
        .value("SAT", Decided::SAT);
    nb::class_<Finite>(m, "Finite")
        .def("__init__", [](Finite *self, std::size_t kept, u64 most, nb::object look) {
            new (self) Finite(kept, most, looking(std::move(look)));
        }, nb::arg("kept"), nb::arg("most"), nb::arg("look"))
        .def_prop_ro("remembered", &Finite::remembered)
        .def_prop_ro("steps", &Finite::steps)
        .def("solve", decided_by, nb::arg("target"), nb::arg("several"), nb::arg("sets"), nb::arg("data"));

    nb::class_<Equality>(m, "Equality")
        .def("__init__", [](Equality *self, u64 steps, std::size_t depth, nb::object look) {
            new (self) Equality(steps, depth, looking(std::move(look)));
        }, nb::arg("steps"), nb::arg("depth"), nb::arg("look"))
        .def("solve", equal_by, nb::arg("target"), nb::arg("several"), nb::arg("sets"), nb::arg("data"));

    nb::class_<Conjunction>(m, "Conjunction")
        .def("__init__", [](Conjunction *self, const std::vector<Given> &conditions, nb::dict sets) {
            new (self) Conjunction(std::vector<Id>(conditions.begin(), conditions.end()), sets_of(sets));
        }, nb::arg("conditions"), nb::arg("sets") = nb::dict());
    nb::class_<Proved>(m, "Proved")
        .def(nb::init<std::size_t>(), nb::arg("most"))
        .def("find", [](Proved &self, const Conjunction &asked, nb::handle data) {
            return said(self.find(asked, Data(data)));
        })
        .def("add_core", &Proved::add_core)
        .def("add_model", [](Proved &self, const Conjunction &satisfied, nb::handle data) {
            self.add_model(satisfied, Data(data));
        })
        .def_prop_ro("cores", [](const Proved &self) { return kept_in(self.cores()); })
        .def_prop_ro("models", [](const Proved &self) { return kept_in(self.models()); });

    m.def("is_refuted", [](Given condition) { return is_refuted(condition); });
    m.def("is_excluded", [](Given target, const std::vector<Given> &several) {
        return is_excluded(target, std::vector<Id>(several.begin(), several.end()));
    });
    m.def("interval_of", [](Given expr) -> nb::object {
        Interval found = Intervals().of(expr);
        return nb::make_tuple(owned(number_of(found.least)), owned(number_of(found.most)));
    });
    m.def("most_values", most_values_of);
    m.def("limit_of", limit);
    m.def("replaced", replaced_by);
    m.def("substituted", substituted_by);
    m.def("changed_bytes", [](nb::handle a, nb::handle b) {
        Data one(a), other(b);
        const Input &x = one, &y = other;
        return changed_bytes(x.bytes, x.size, y.bytes, y.size);
    });
    nb::class_<Chosen>(m, "Chosen")
        .def(nb::init<>())
        .def("take", [](Chosen &self, nb::bytes data) {
            self.take(static_cast<const u8 *>(data.data()), data.size());
        })
        .def("of", [](Chosen &self, Given formula) {
            const Chosen::Simple &simple = self.of(formula);
            return nb::make_tuple(owned(handle_of(simple.formula)), tuple_of(simple.conditions.order()));
        });
}

}  // namespace score
