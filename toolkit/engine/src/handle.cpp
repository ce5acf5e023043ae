#include "handle.hpp"

#include <structmember.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "build.hpp"

// Who owns what: a handle without a count in the arena owns its node, which dies with it. A node that is counted owns
// its handle from when Python lets go of that (`kept`), until the counts are gone. So a handle lives as long as its
// node, and there is no cycle.

namespace score {

namespace {

struct Handle {
    PyObject_HEAD
    Id id;
    bool kept;
    char floats, products, chooses, reads;
    PyObject *weak;
    PyObject *kind, *width, *is_const, *only_byte;
    PyObject *args, *value, *deps, *byte_set, *origins, *entries;  // made when asked for
};

PyTypeObject *expr_type, *table_type;
PyObject *kinds[KINDS], *widths[WIDEST + 1], *no_origins, *every_bit;

Handle *as_handle(PyObject *self) { return reinterpret_cast<Handle *>(self); }
const Node &node_of(PyObject *self) { return node(as_handle(self)->id); }

void let_go(void *object) {
    Handle *handle = static_cast<Handle *>(object);
    if (handle->kept) {
        handle->kept = false;
        Py_DECREF(reinterpret_cast<PyObject *>(handle));
    }
}

void dealloc(PyObject *self) {
    Handle *handle = as_handle(self);
    Id id = handle->id;
    if (node(id).refs) {  // the node needs it no more than before, but whoever comes to it again gets this object
        handle->kept = true;
        Py_SET_REFCNT(self, 1);
        return;
    }
    arena().hold(id);  // weak references may run Python, which must find either the whole node or none
    arena().set_handle(id, nullptr);
    if (handle->weak) PyObject_ClearWeakRefs(self);
    for (PyObject *held : {handle->kind, handle->width, handle->is_const, handle->only_byte, handle->args,
                           handle->value, handle->deps, handle->byte_set, handle->origins, handle->entries})
        Py_XDECREF(held);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
    arena().drop(id);
}

PyObject *shared(PyObject *object) {
    Py_XINCREF(object);
    return object;
}

// The attribute, made once.
template <class Make> PyObject *once(PyObject *&place, Make make) {
    if (!place) place = make();
    return shared(place);
}

PyObject *get_args(PyObject *self, void *) {
    return once(as_handle(self)->args, [&]() -> PyObject * {
        const Node &node = node_of(self);
        PyObject *args = PyTuple_New(node.arity);
        for (unsigned i = 0; args && i < node.arity; ++i) {
            PyObject *arg = handle_of(node.args[i]);
            if (arg)
                PyTuple_SET_ITEM(args, i, arg);
            else
                Py_CLEAR(args);
        }
        return args;
    });
}

PyObject *get_value(PyObject *self, void *) {
    return once(as_handle(self)->value, [&] { return number_of(node_of(self).value); });
}

PyObject *get_deps(PyObject *self, void *) {
    return once(as_handle(self)->deps, [&] { return number_of(node_of(self).deps); });
}

PyObject *get_uid(PyObject *self, void *) { return PyLong_FromUnsignedLongLong(node_of(self).uid); }

PyObject *get_byte_set(PyObject *self, void *) {
    const auto &found = node_of(self).found;
    if (!found || !found->byte_set) return PyLong_FromLong(-1);
    return once(as_handle(self)->byte_set, [&] { return number_of(*found->byte_set); });
}

PyObject *get_origins(PyObject *self, void *) {
    const Origins &origins = node_of(self).origins;
    if (!origins) return shared(no_origins);
    return once(as_handle(self)->origins, [&]() -> PyObject * {
        PyObject *list = PyList_New(0), *set = nullptr;
        for (i64 origin : *origins) {
            PyObject *number = list ? PyLong_FromLongLong(origin) : nullptr;
            if (!number || PyList_Append(list, number) < 0) Py_CLEAR(list);
            Py_XDECREF(number);
        }
        if (list) set = PyFrozenSet_New(list);
        Py_XDECREF(list);
        return set;
    });
}

PyObject *get_integral(PyObject *self, void *) {
    const auto &found = node_of(self).found;
    return handle_of(found ? found->integral : 0);
}

int set_integral(PyObject *self, PyObject *value, void *) {
    Id id = as_handle(self)->id, other = value ? id_of(value) : 0;
    if (!other || arena().found(id).integral) {
        PyErr_SetString(PyExc_TypeError, "what a formula is as integers is a formula, and is said once");
        return -1;
    }
    arena().found(id).integral = other;
    if (other != id) arena().hold(other);
    return 0;
}

PyObject *get_entries(PyObject *self, void *) {
    return once(as_handle(self)->entries, [&]() -> PyObject * {
        const std::vector<u64> &entries = node_of(self).table->entries;
        PyObject *tuple = PyTuple_New(Py_ssize_t(entries.size()));
        for (std::size_t i = 0; tuple && i < entries.size(); ++i) {
            PyObject *entry = PyLong_FromUnsignedLongLong(entries[i]);
            if (entry)
                PyTuple_SET_ITEM(tuple, Py_ssize_t(i), entry);
            else
                Py_CLEAR(tuple);
        }
        return tuple;
    });
}

PyObject *get_largest(PyObject *self, void *) { return PyLong_FromUnsignedLongLong(node_of(self).table->largest); }

std::string digits(u128 value) {
    std::string text;
    do text.insert(text.begin(), "0123456789abcdef"[unsigned(value & 15)]);
    while (value >>= 4);
    return "0x" + text;
}

std::string text_of(Id id, bool is_whole) {
    const Node &node = score::node(id);
    if (node.is_const()) return digits(node.value) + ":" + std::to_string(node.width) + (node.origins ? "?" : "");
    if (node.kind == Kind::BYTE) return "in[" + std::to_string(u64(node.value)) + "]";
    if (!is_whole) return "#" + std::to_string(node.uid);  // deep formulas are cut: this is for people
    std::string text;
    for (const char *name = name_of(node.kind); *name; ++name) text += char(*name - 'A' + 'a');
    if (node.kind == Kind::EXTRACT) text += "@" + std::to_string(u64(node.value));
    text += ":" + std::to_string(node.width) + "(";
    for (unsigned i = 0; i < node.arity; ++i) text += (i ? ", " : "") + text_of(node.args[i], false);
    return text + ")";
}

PyObject *repr(PyObject *self) { return PyUnicode_FromString(text_of(as_handle(self)->id, true).c_str()); }

PyMemberDef members[] = {
    {"kind", T_OBJECT_EX, offsetof(Handle, kind), READONLY, nullptr},
    {"width", T_OBJECT_EX, offsetof(Handle, width), READONLY, "bits"},
    {"is_const", T_OBJECT_EX, offsetof(Handle, is_const), READONLY, nullptr},
    {"only_byte", T_OBJECT_EX, offsetof(Handle, only_byte), READONLY,
     "the index of the only input byte that it depends on, else -1"},
    {"floats", T_BOOL, offsetof(Handle, floats), READONLY, "whether there is a floating-point operator in it"},
    {"products", T_BOOL, offsetof(Handle, products), READONLY,
     "whether there is a product of unknowns, a quotient or a remainder in it"},
    {"chooses", T_BOOL, offsetof(Handle, chooses), READONLY,
     "whether there is an if-then-else or a shift by an unknown number in it"},
    {"reads", T_BOOL, offsetof(Handle, reads), READONLY, "whether there is a table in it"},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Handle, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"args", get_args, nullptr, "the formulas that it is made of", nullptr},
    {"value", get_value, nullptr, "a constant's value, the index of an input byte, an extract's lowest bit", nullptr},
    {"deps", get_deps, nullptr, "a bit mask of the input bytes that it depends on", nullptr},
    {"uid", get_uid, nullptr, "a number that no other formula ever had", nullptr},
    {"byte_set", get_byte_set, nullptr, "what `byte_set` found; -1: it was not asked yet", nullptr},
    {"origins", get_origins, nullptr, "the opaque calls whose concrete results are in it", nullptr},
    {"integral", get_integral, set_integral, "what solve/integral.py made of it, or None", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyGetSetDef table_attributes[] = {
    {"entries", get_entries, nullptr, "the values, by index", nullptr},
    {"largest", get_largest, nullptr, "the largest of them", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

char EXPR_DOC[] = "One formula: a node of the engine's arena. Equal formulas are one object.";
char TABLE_DOC[] = "The entry of a table at an index: there are as many entries as the index has values.";

PyType_Slot expr_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)}, {Py_tp_repr, reinterpret_cast<void *>(repr)},
    {Py_tp_members, members},                           {Py_tp_getset, attributes},
    {Py_tp_doc, EXPR_DOC},                              {0, nullptr},
};
PyType_Slot table_slots[] = {{Py_tp_getset, table_attributes}, {Py_tp_doc, TABLE_DOC}, {0, nullptr}};

constexpr unsigned FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
PyType_Spec expr_spec = {"score_embed.engine._core.Expr", sizeof(Handle), 0, FLAGS | Py_TPFLAGS_BASETYPE, expr_slots};
PyType_Spec table_spec = {"score_embed.engine._core.TableRead", sizeof(Handle), 0, FLAGS, table_slots};

bool make_kinds(PyObject *module) {
    PyObject *names = PyDict_New(), *enums = PyImport_ImportModule("enum"), *made = nullptr;
    for (unsigned i = 0; names && i < KINDS; ++i) {
        PyObject *number = PyLong_FromLong(long(i));
        if (!number || PyDict_SetItemString(names, name_of(Kind(i)), number) < 0) Py_CLEAR(names);
        Py_XDECREF(number);
    }
    PyObject *base = enums ? PyObject_GetAttrString(enums, "IntEnum") : nullptr;
    PyObject *args = names && base ? Py_BuildValue("(sO)", "Kind", names) : nullptr;
    PyObject *options = args ? Py_BuildValue("{ss}", "module", "score_embed.engine._core") : nullptr;
    if (options) made = PyObject_Call(base, args, options);
    for (unsigned i = 0; made && i < KINDS; ++i)
        if (!(kinds[i] = PyObject_GetAttrString(made, name_of(Kind(i))))) Py_CLEAR(made);
    Py_XDECREF(options), Py_XDECREF(args), Py_XDECREF(base), Py_XDECREF(enums), Py_XDECREF(names);
    bool added = made && PyModule_AddObjectRef(module, "Kind", made) == 0;
    Py_XDECREF(made);
    return added;
}

}  // namespace

bool add_handles(PyObject *module) {
    arena().let_go = let_go;
    for (unsigned i = 0; i <= WIDEST; ++i)
        if (!(widths[i] = PyLong_FromLong(long(i)))) return false;
    if (!make_kinds(module) || !(no_origins = PyFrozenSet_New(nullptr))) return false;
    PyObject *one = PyLong_FromLong(1), *shift = PyLong_FromLong(128);
    PyObject *above = one && shift ? PyNumber_Lshift(one, shift) : nullptr;
    every_bit = above ? PyNumber_Subtract(above, one) : nullptr;
    Py_XDECREF(one), Py_XDECREF(shift), Py_XDECREF(above);
    PyObject *expr = PyType_FromSpec(&expr_spec);
    PyObject *table = expr ? PyType_FromSpecWithBases(&table_spec, expr) : nullptr;
    expr_type = reinterpret_cast<PyTypeObject *>(expr), table_type = reinterpret_cast<PyTypeObject *>(table);
    return every_bit && table && PyModule_AddObjectRef(module, "Expr", expr) == 0 &&
           PyModule_AddObjectRef(module, "TableRead", table) == 0;
}

PyObject *handle_of(Id id) {
    if (!id) return shared(Py_None);
    const Node &node = score::node(id);
    if (node.handle) return shared(static_cast<PyObject *>(node.handle));
    PyTypeObject *type = node.kind == Kind::TABLE ? table_type : expr_type;
    PyObject *only = PyLong_FromLong(node.only_byte), *made = only ? type->tp_alloc(type, 0) : nullptr;
    if (!made) {
        Py_XDECREF(only);
        return nullptr;
    }
    Handle *handle = as_handle(made);
    handle->id = id;
    handle->floats = node.floats, handle->products = node.products;
    handle->chooses = node.chooses, handle->reads = node.reads;
    handle->kind = shared(kinds[unsigned(node.kind)]), handle->width = shared(widths[node.width]);
    handle->is_const = shared(node.is_const() ? Py_True : Py_False), handle->only_byte = only;
    arena().set_handle(id, made);
    return made;
}

Id id_of(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    return type == expr_type || type == table_type ? as_handle(object)->id : 0;
}

// --- numbers ---------------------------------------------------------------------------------------------------

namespace {

template <class Bytes> PyObject *from_bytes(const Bytes *bytes, std::size_t size) {
    return _PyLong_FromByteArray(reinterpret_cast<const unsigned char *>(bytes), size, 1, 0);
}

bool to_bytes(PyObject *object, void *bytes, std::size_t size) {  // OverflowError if it does not fit
    auto *number = reinterpret_cast<PyLongObject *>(object);
#if PY_VERSION_HEX >= 0x030D0000
    return _PyLong_AsByteArray(number, static_cast<unsigned char *>(bytes), size, 1, 0, 1) == 0;
#else
    return _PyLong_AsByteArray(number, static_cast<unsigned char *>(bytes), size, 1, 0) == 0;
#endif
}

bool check_number(PyObject *object) {
    if (PyLong_Check(object)) return true;
    PyErr_Format(PyExc_TypeError, "a number is expected, not %R", object);
    return false;
}

}  // namespace

PyObject *number_of(u128 value) {
    if (!(value >> 64)) return PyLong_FromUnsignedLongLong(u64(value));
    return from_bytes(&value, sizeof value);
}

PyObject *number_of(const ByteSet &set) { return from_bytes(set.data(), sizeof set); }

PyObject *number_of(const Deps &deps) {
    if (deps.size() <= 1) return PyLong_FromUnsignedLongLong(deps ? *deps.words() : 0);
    return from_bytes(deps.words(), 8 * deps.size());
}

bool to_word(PyObject *object, u128 &value) {
    if (!check_number(object)) return false;
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
    value = u128(i128(small));
    if (!overflow) return small != -1 || !PyErr_Occurred();
    PyObject *low = PyNumber_And(object, every_bit);
    bool fits = low && to_bytes(low, &value, sizeof value);
    Py_XDECREF(low);
    return fits;
}

bool to_byte_set(PyObject *object, ByteSet &set) {
    return check_number(object) && to_bytes(object, set.data(), sizeof set);
}

bool to_deps(PyObject *object, Deps &deps) {
    if (!check_number(object)) return false;
    std::size_t bits = _PyLong_NumBits(object);
    if (bits == std::size_t(-1) && PyErr_Occurred()) return false;
    std::vector<u64> words((bits + 63) / 64);
    if (!to_bytes(object, words.data(), 8 * words.size())) return false;
    deps = Deps::of_words(words.data(), words.size());
    return true;
}

}  // namespace score
