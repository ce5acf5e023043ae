// The extension, and what Python may call of formulas: to make them, to evaluate them, to read at symbolic addresses.
// Arguments are checked here, everything else is done elsewhere.
// The interface, with types and what it raises, is described in score_embed/engine/_core.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "alarm.hpp"
#include "batch.hpp"
#include "build.hpp"
#include "casters.hpp"
#include "descent.hpp"
#include "digest.hpp"
#include "evaluate.hpp"
#include "floats.hpp"
#include "ieee.hpp"
#include "layers.hpp"
#include "operate.hpp"
#include "orders.hpp"
#include "packs.hpp"
#include "pairs.hpp"
#include "question.hpp"
#include "queue.hpp"
#include "rounds.hpp"
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
    auto found = follow(address, size, [&](u64, u64 at) -> std::optional<u64> {
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

nb::object all_nodes(const std::vector<Given> &exprs) {
    std::vector<Id> ids(exprs.begin(), exprs.end());
    return nb::list(tuple_of(held(nodes(ids))));
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
    m.def("intern", interned, nb::arg("kind"), nb::arg("width"), nb::arg("args") = nb::tuple(),
          nb::arg("value") = Word{}, nb::arg("origins") = nowhere);
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
    m.def(
        "float_unary", [](Kind kind, Given a, unsigned width, u64 value) { return float_unary(kind, a, width, value); },
        nb::arg("kind"), nb::arg("a"), nb::arg("width"), nb::arg("value") = 0);
    m.def("member", [](Given value, Word first, Word last) { return member(value, first.value, last.value); });

    nb::class_<Memo>(m, "Memo").def(nb::init<>()).def("__len__", &Memo::size);
    m.def("evaluate", evaluated, nb::arg("expr"), nb::arg("data"), nb::arg("memo") = nb::none());
    m.def("compute", computed);
    m.def("nodes", all_nodes);
    m.def("bytes_of", [](const Deps &mask) { return mask.indices(); });
    m.def("digest", [](Given expr) {
        const Digest &found = digest(expr);
        return nb::bytes(found.data(), found.size());
    });

    m.def("within", [](Given offset, Word last) { return within(offset, i128(last.value)); });
    m.def("select", selected, nb::arg("offset"), nb::arg("content"), nb::arg("size"), nb::arg("cell") = nb::none());
    m.def("changed", [](Given offset, i64 last, u64 place) { return changed(offset, last, place); });
    m.def("follow", followed);

    m.def("pattern_uses", [](Given expr, bool whole) { return tuple_of(held(pattern_uses(expr, whole))); },
          nb::arg("expr"), nb::kw_only(), nb::arg("whole") = false);
    m.def("may_be_nan", [](Given expr) {
        checked_width(node(expr).width);
        return may_be_nan(expr);
    });
    m.def("decode", [](u64 pattern, unsigned width) { return decode(pattern, checked_width(width)); });
    m.def("encode", [](double number, unsigned width) { return encode(number, checked_width(width)); });
    m.def("is_nan", [](u64 pattern, unsigned width) { return is_nan(pattern, checked_width(width)); });
    add_layers(m);
    add_trails(m);
    add_pairs(m);
    add_packs(m);
    add_questions(m);
    add_alarms(m);
    add_descents(m);
    add_orders(m);
    add_queues(m);
    add_batches(m);
    add_wire(m);
    add_rounds(m);
}
