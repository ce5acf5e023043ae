// The extension: what Python may call of the engine. Arguments are checked here, everything else is done elsewhere.
// The interface, with types and what it raises, is described in score_embed/engine/_core.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "batch.hpp"
#include "build.hpp"
#include "casters.hpp"
#include "chosen.hpp"
#include "columns.hpp"
#include "descent.hpp"
#include "digest.hpp"
#include "evaluate.hpp"
#include "finite.hpp"
#include "floats.hpp"
#include "ieee.hpp"
#include "known.hpp"
#include "operate.hpp"
#include "orders.hpp"
#include "pairs.hpp"
#include "queue.hpp"
#include "rows.hpp"
#include "search.hpp"
#include "select.hpp"
#include "tracing.hpp"
#include "wire.hpp"

#ifndef SCORE_SOURCES
#error "CMakeLists.txt says of which sources this is"
#endif

namespace nb = nanobind;
using namespace score;

namespace {

// --- arguments and results -------------------------------------------------------------------------------------

// An input: bytes as they are, or any sequence of numbers below 256.
class Data {
  public:
    explicit Data(nb::handle source) {
        PyObject *object = source.ptr();
        if (PyBytes_Check(object)) {
            input_ = {reinterpret_cast<const u8 *>(PyBytes_AS_STRING(object)), std::size_t(PyBytes_GET_SIZE(object))};
        } else if (PyByteArray_Check(object)) {
            input_ = {reinterpret_cast<const u8 *>(PyByteArray_AS_STRING(object)),
                      std::size_t(PyByteArray_GET_SIZE(object))};
        } else {
            copy_ = nb::cast<std::vector<u8>>(source);
            input_ = {copy_.data(), copy_.size()};
        }
    }
    Data(const Data &) = delete;
    operator const Input &() const { return input_; }

  private:
    Input input_{};
    std::vector<u8> copy_;
};

nb::object tuple_of(const std::vector<Ref> &refs) {
    nb::object made = owned(PyTuple_New(Py_ssize_t(refs.size())));
    for (std::size_t i = 0; i < refs.size(); ++i)
        PyTuple_SET_ITEM(made.ptr(), Py_ssize_t(i), owned(handle_of(refs[i])).release().ptr());
    return made;
}

std::vector<Ref> held(const std::vector<Id> &ids) {
    std::vector<Ref> refs;
    refs.reserve(ids.size());
    for (Id id : ids) refs.emplace_back(id);
    return refs;
}

Origins origins_from(nb::handle numbers) {
    auto found = std::make_shared<std::set<i64>>();
    for (nb::handle number : nb::borrow<nb::iterable>(numbers)) found->insert(nb::cast<i64>(number));
    return found->empty() ? nullptr : Origins(std::move(found));
}

// Rows that Python holds: an array("H").
class RowsGiven {
  public:
    explicit RowsGiven(nb::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) nb::raise_python_error();
        if (view_.itemsize != 2 || !view_.format || std::strcmp(view_.format, "H")) {
            PyBuffer_Release(&view_);
            throw nb::type_error("rows are an array of type 'H'");
        }
    }
    RowsGiven(const RowsGiven &) = delete;
    ~RowsGiven() { PyBuffer_Release(&view_); }
    const u16 *data() const { return static_cast<const u16 *>(view_.buf); }
    std::size_t size() const { return std::size_t(view_.len) / 2; }

  private:
    Py_buffer view_{};
};

nb::object array_of(const Rows &rows) {
    static nb::object *const type = new nb::object(nb::module_::import_("array").attr("array"));
    return (*type)("H", nb::bytes(rows.data(), 2 * rows.size()));
}

// --- functions that need more than a call ----------------------------------------------------------------------

// A node as it stands, without simplification: for tests, and for formulas that come from elsewhere.
Ref interned(Kind kind, unsigned width, const std::vector<Given> &args, Word value, nb::handle origins) {
    std::vector<Id> ids(args.begin(), args.end());
    Origins own = origins_from(origins);
    auto width_of = [&](std::size_t i) { return unsigned(node(ids[i]).width); };
    bool good = false;
    switch (ids.size()) {
    case 0: good = kind == Kind::CONST || (kind == Kind::BYTE && width == 8); break;
    case 1:
        good = (is_in(kind, set_of({Kind::NOT, Kind::NEG, Kind::FNEG, Kind::FABS, Kind::FSQRT, Kind::FROUND})) &&
                width == width_of(0)) ||
               (is_in(kind, set_of({Kind::ZEXT, Kind::SEXT})) && width >= width_of(0)) ||
               (kind == Kind::EXTRACT && value.value < width_of(0) && width <= width_of(0) - unsigned(value.value)) ||
               is_in(kind, set_of({Kind::FCONV, Kind::SITOF, Kind::UITOF, Kind::FTOSI, Kind::FTOUI}));
        break;
    case 2:
        good = kind == Kind::CONCAT ? width == width_of(0) + width_of(1)
                                    : kind >= Kind::ADD && kind != Kind::ITE && kind != Kind::TABLE &&
                                          width_of(0) == width_of(1) &&
                                          width == (is_in(kind, COMPARISONS) ? 1 : width_of(0)) &&
                                          !is_in(kind, set_of({Kind::NOT, Kind::NEG, Kind::ZEXT, Kind::SEXT,
                                                               Kind::EXTRACT, Kind::FNEG, Kind::FABS, Kind::FSQRT,
                                                               Kind::FROUND, Kind::FCONV, Kind::SITOF, Kind::UITOF,
                                                               Kind::FTOSI, Kind::FTOUI}));
        break;
    case 3: good = kind == Kind::ITE && width_of(1) == width_of(2) && width == width_of(1); break;
    default: break;
    }
    bool carries = is_in(kind, set_of({Kind::CONST, Kind::BYTE, Kind::EXTRACT, Kind::FROUND}));
    if (!good || (own && kind != Kind::CONST) || (value.value && !carries))
        throw std::invalid_argument("there is no such formula");
    if (kind == Kind::CONST) return constant(value.value, width, own);
    return arena().intern(kind, width, ids.data(), unsigned(ids.size()), value.value);
}

Ref intern_table(unsigned width, Given index, Word name, nb::handle entries) {
    if (const Table *known = arena().table_named(name.value))
        return arena().intern_table(width, index, name.value, known->entries.data(), known->entries.size());
    auto numbers = nb::cast<std::vector<u64>>(entries);
    return arena().intern_table(width, index, name.value, numbers.data(), numbers.size());
}

Ref from_bytes(const std::vector<Given> &parts) {
    if (parts.empty()) throw std::invalid_argument("a value of no bytes");
    Ref result(parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i) result = concat(parts[i], result);
    return result;
}

nb::object evaluated(Given expr, nb::handle data, Memo *memo) {
    Data input(data);
    return owned(number_of(memo ? evaluate(expr, input, *memo) : evaluate(expr, input)));
}

// What a node computes of these values of its arguments.
Word computed(Given expr, nb::args values) {
    const Node &node = score::node(expr);
    u128 words[3] = {};
    if (values.size() != node.arity || !node.arity) throw std::invalid_argument("another number of arguments");
    for (unsigned i = 0; i < node.arity; ++i) {
        if (!to_word(nb::object(values[i]).ptr(), words[i])) nb::raise_python_error();
        words[i] &= mask<u128>(score::node(node.args[i]).width);
    }
    return {operate(operator_of(node), words)};
}

nb::list table(Given expr) {
    arena().forget_columns();
    const Column &values = column(expr);
    nb::list found;
    for (unsigned v = 0; v < COLUMN; ++v)
        found.append(owned(number_of(u128(values.high ? (*values.high)[v] : 0) << 64 | values.low[v])));
    return found;
}

int smallest(const ByteSet &values) {
    for (unsigned i = 0; i < 4; ++i)
        if (values[i]) return int(64 * i) + __builtin_ctzll(values[i]);
    throw std::invalid_argument("the smallest of no values");
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

nb::object selected(Given offset, nb::bytes content, unsigned size, nb::object cell) {
    Cell read;
    if (!cell.is_none())
        read = [&cell](u64 at) {
            nb::object found = cell(at);
            Id id = id_of(found.ptr());
            if (!id && !found.is_none()) throw nb::type_error("an element is a formula or None");
            return Ref(id);
        };
    Py_hash_t hash = PyObject_Hash(content.ptr());
    if (hash == -1) nb::raise_python_error();
    return owned(handle_of(
        select(offset, Content{static_cast<const u8 *>(content.data()), content.size(), u64(hash)}, size, read)));
}

nb::object followed(Given address, unsigned size, nb::callable read) {
    auto found = follow(address, size, [&](u64 at) -> std::optional<u64> {
        nb::object part = read(at);
        if (part.is_none()) return std::nullopt;
        nb::bytes bytes = nb::cast<nb::bytes>(part);
        if (bytes.size() != size) throw nb::value_error("a constant of another size");
        u64 value = 0;
        std::memcpy(&value, bytes.data(), size);
        return value;
    });
    if (!found) return nb::none();
    return nb::make_tuple(nb::cast(found->first), nb::cast(found->second));
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

nb::object all_nodes(const std::vector<Given> &exprs) {
    std::vector<Id> ids(exprs.begin(), exprs.end());
    return nb::list(tuple_of(held(nodes(ids))));
}

nb::object split_by(Given condition, const std::vector<int> &indices, nb::handle rows) {
    if (indices.empty() || indices.size() > 2) throw std::invalid_argument("rows are of one byte or two");
    RowsGiven given(rows);
    auto [hits, misses] = split(condition, indices[0], indices.size() == 2 ? indices[1] : -1, given.data(), given.size());
    return nb::make_tuple(array_of(hits), array_of(misses));
}

nb::object searched(Given target, const std::vector<Given> &several, const std::vector<std::pair<u32, ByteSet>> &sets,
                    nb::handle data, u32 most) {
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

nb::object decided_by(Finite &finite, Given target, const std::vector<Given> &several,
                   const std::vector<std::pair<u32, ByteSet>> &sets, nb::handle data) {
    Data input(data);
    Decided found = finite.solve(target, std::vector<Id>(several.begin(), several.end()), sets, input);
    nb::dict values;
    for (auto [index, value] : found.values) values[nb::int_(index)] = nb::int_(value);
    return nb::make_tuple(int(found.result), values);
}

unsigned checked_width(unsigned width) {
    if (!is_float_width(width)) throw std::invalid_argument("floating-point numbers have 32 or 64 bits");
    return width;
}

}  // namespace

NB_MODULE(_core, m) {
    nb::set_leak_warnings(false);  // formulas live until the interpreter's end, wherever that is
    if (!add_handles(m.ptr())) nb::raise_python_error();
    m.attr("SOURCES") = SCORE_SOURCES;
    m.attr("WIDEST") = WIDEST;
    m.attr("MOST_ENTRIES") = MOST_ENTRIES;
    m.attr("TRUE") = truth(true);
    m.attr("FALSE") = truth(false);

    nb::object nowhere = nb::steal(PyFrozenSet_New(nullptr));
    m.def("intern", interned, nb::arg("kind"), nb::arg("width"), nb::arg("args") = nb::tuple(), nb::arg("value") = Word{},
          nb::arg("origins") = nowhere);
    m.def("intern_table", intern_table, nb::arg("width"), nb::arg("index"), nb::arg("name"), nb::arg("entries"));
    m.def("table_size", [] { return arena().size(); });
    m.def("columns_kept", [] { return arena().columns; });
    m.def("columns_computed", [] { return arena().columns_computed; });

    m.def("const", [](Word value, unsigned width, nb::handle origins) {
        return constant(value.value, width, origins_from(origins));
    }, nb::arg("value"), nb::arg("width"), nb::arg("origins"));
    m.def("const", [](Word value, unsigned width) { return constant(value.value, width); }, nb::arg("value"),
          nb::arg("width"));
    m.def("byte", input_byte, nb::arg("index"));
    m.def("binary", [](Kind kind, Given a, Given b) { return binary(kind, a, b); });
    m.def("less_equal", [](Kind kind, Given a, Given b) { return less_equal(kind, a, b); });
    m.def("bit_not", [](Given a) { return bit_not(a); });
    m.def("neg", [](Given a) { return neg(a); });
    m.def("zext", [](Given a, unsigned width) { return zext(a, width); });
    m.def("sext", [](Given a, unsigned width) { return sext(a, width); });
    m.def("extract", [](Given a, unsigned low, unsigned width) { return extract(a, low, width); });
    m.def("concat", [](Given high, Given low) { return concat(high, low); });
    m.def("from_bytes", from_bytes);
    m.def("ite", [](Given condition, Given then, Given otherwise) { return ite(condition, then, otherwise); });
    m.def("float_binary", [](Kind kind, Given a, Given b) { return float_binary(kind, a, b); });
    m.def("float_unary", [](Kind kind, Given a, unsigned width, u64 value) { return float_unary(kind, a, width, value); },
          nb::arg("kind"), nb::arg("a"), nb::arg("width"), nb::arg("value") = 0);
    m.def("member", [](Given value, Word first, Word last) { return member(value, first.value, last.value); });

    nb::class_<Memo>(m, "Memo").def(nb::init<>()).def("__len__", &Memo::size);
    m.def("evaluate", evaluated, nb::arg("expr"), nb::arg("data"), nb::arg("memo") = nb::none());
    m.def("compute", computed);
    m.def("nodes", all_nodes);
    m.def("bytes_of", [](const Deps &mask) { return mask.indices(); });
    m.def("changed_bytes", [](nb::handle a, nb::handle b) {
        Data one(a), other(b);
        const Input &x = one, &y = other;
        return changed_bytes(x.bytes, x.size, y.bytes, y.size);
    });
    m.def("digest", [](Given expr) {
        const Digest &found = digest(expr);
        return nb::bytes(found.data(), found.size());
    });

    m.def("byte_set", [](Given condition) {
        byte_set(condition);
        return owned(PyObject_GetAttrString(owned(handle_of(condition)).ptr(), "byte_set"));
    });
    m.def("table", table);
    m.def("smallest", smallest);
    m.def("members", members);
    m.def("intervals", intervals);

    m.def("all_rows", [](const ByteSet &first, const ByteSet &second) { return array_of(all_rows(first, second)); });
    m.def("rows_within", [](nb::handle rows, const ByteSet &first, const ByteSet &second) {
        RowsGiven given(rows);
        return array_of(within(given.data(), given.size(), first, second));
    });
    m.def("cost", [](Given condition) { return cost(condition); });
    m.def("split", split_by);

    m.def("search", searched, nb::arg("target"), nb::arg("several"), nb::arg("sets"), nb::arg("data"), nb::arg("most"));

    nb::class_<Finite>(m, "Finite")
        .def("__init__", [](Finite *self, std::size_t kept, u64 most, nb::object look) {
            new (self) Finite(kept, most, [look = std::move(look)] {
                if (PyErr_CheckSignals() < 0) nb::raise_python_error();
                look();
            });
        }, nb::arg("kept"), nb::arg("most"), nb::arg("look"))
        .def_prop_ro("remembered", &Finite::remembered)
        .def_prop_ro("steps", &Finite::steps)
        .def("solve", decided_by, nb::arg("target"), nb::arg("several"), nb::arg("sets"), nb::arg("data"));

    m.def("within", [](Given offset, Word last) { return within(offset, i128(last.value)); });
    m.def("select", selected, nb::arg("offset"), nb::arg("content"), nb::arg("size"), nb::arg("cell") = nb::none());
    m.def("changed", [](Given offset, i64 last, u64 place) { return changed(offset, last, place); });
    m.def("follow", followed);

    m.def("most_values", most_values_of);
    m.def("limit_of", limit);
    m.def("replaced", replaced_by);
    nb::class_<Chosen>(m, "Chosen")
        .def(nb::init<>())
        .def("take", [](Chosen &self, nb::bytes data) {
            self.take(static_cast<const u8 *>(data.data()), data.size());
        })
        .def("of", [](Chosen &self, Given formula) {
            const Chosen::Simple &simple = self.of(formula);
            return nb::make_tuple(owned(handle_of(simple.formula)), tuple_of(simple.conditions.order()));
        });

    m.def("pattern_uses", [](Given expr, bool whole) { return tuple_of(held(pattern_uses(expr, whole))); },
          nb::arg("expr"), nb::kw_only(), nb::arg("whole") = false);
    m.def("may_be_nan", [](Given expr) {
        checked_width(node(expr).width);
        return may_be_nan(expr);
    });
    m.def("decode", [](u64 pattern, unsigned width) { return decode(pattern, checked_width(width)); });
    m.def("encode", [](double number, unsigned width) { return encode(number, checked_width(width)); });
    m.def("is_nan", [](u64 pattern, unsigned width) { return is_nan(pattern, checked_width(width)); });
    add_trails(m);
    add_pairs(m);
    add_descents(m);
    add_orders(m);
    add_queues(m);
    add_batches(m);
    add_wire(m);
}
