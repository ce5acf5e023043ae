#include "condition.hpp"

#include <structmember.h>

#include <cstddef>
#include <new>

#include "handle.hpp"

namespace score {

namespace {

// Attributes that exploration looks at for every condition are objects from the first; the others are made when asked
// for.
struct Object {
    PyObject_HEAD
    PyObject *site, *chain, *direction, *formula, *assumption, *elsewhere, *chosen, *is_fork, *settled, *fixed;
    PyObject *counted, *loose, *start, *pins, *flippable, *concrete;
    Lanes before, after, other_side;
    Deps forked;
};

PyTypeObject *type;

Object *as_object(PyObject *self) { return reinterpret_cast<Object *>(self); }

void dealloc(PyObject *self) {
    Object *object = as_object(self);
    for (PyObject *held : {object->site, object->chain, object->direction, object->formula, object->assumption,
                           object->elsewhere, object->chosen, object->is_fork, object->settled, object->fixed,
                           object->counted, object->loose, object->start, object->pins, object->flippable,
                           object->concrete})
        Py_XDECREF(held);
    object->forked.~Deps();
    PyTypeObject *own = Py_TYPE(self);
    own->tp_free(self);
    Py_DECREF(own);
}

PyObject *pair_of(Lanes lanes) { return Py_BuildValue("(II)", lanes.a, lanes.b); }
PyObject *get_before(PyObject *self, void *) { return pair_of(as_object(self)->before); }
PyObject *get_after(PyObject *self, void *) { return pair_of(as_object(self)->after); }
PyObject *get_forked(PyObject *self, void *) { return number_of(as_object(self)->forked); }

PyObject *hash(PyObject *self, PyObject *args, PyObject *names) {
    static const char *const keywords[] = {"flipped", nullptr};
    int flipped = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|p", const_cast<char **>(keywords), &flipped)) return nullptr;
    return PyLong_FromUnsignedLongLong(value(flipped ? as_object(self)->other_side : as_object(self)->after));
}

PyObject *repr(PyObject *self) {
    const Object *object = as_object(self);
    return PyUnicode_FromFormat("Condition(site=%S, chain=%S, direction=%S, formula=%R)", object->site, object->chain,
                                object->direction, object->formula);
}

#define MEMBER(name, about) {#name, T_OBJECT_EX, offsetof(Object, name), READONLY, about}
PyMemberDef members[] = {
    MEMBER(site, nullptr),
    MEMBER(chain, "a switch's label; -1 for a plain condition"),
    MEMBER(direction, "did it hold"),
    MEMBER(formula, "true in this run"),
    MEMBER(assumption, nullptr),
    MEMBER(elsewhere, "coverage indices that only the other side leads to"),
    MEMBER(chosen, "of many objects or values: to be flipped on to the next one"),
    MEMBER(is_fork, "the host's own: the target does not count it"),
    MEMBER(settled, "conditions before it leave it no other side"),
    MEMBER(fixed, "forks before it have a say in what it compares"),
    MEMBER(counted, "conditions before it that the target counts, too"),
    MEMBER(loose, "the target cannot tell the other side from this one"),
    MEMBER(start, "event bytes before its branch"),
    MEMBER(pins, "of the path, that stand before it"),
    MEMBER(flippable, "the false side of an assumption is never asked for"),
    MEMBER(concrete, "the target took it for symbolic, but its formula depends on no input"),
    {nullptr, 0, 0, 0, nullptr},
};
#undef MEMBER

PyGetSetDef attributes[] = {
    {"before", get_before, nullptr, "condition hash of what came before", nullptr},
    {"after", get_after, nullptr, "and with it", nullptr},
    {"forked", get_forked, nullptr, "input bytes of the forks before it", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"hash", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(hash)), METH_VARARGS | METH_KEYWORDS,
     "The condition hash up to and including this one, or its other side."},
    {nullptr, nullptr, 0, nullptr},
};

char DOC[] = "A tainted branch, or one link of the chain that a tainted switch stands for.";
PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)}, {Py_tp_repr, reinterpret_cast<void *>(repr)},
    {Py_tp_members, members}, {Py_tp_getset, attributes}, {Py_tp_methods, methods}, {Py_tp_doc, DOC}, {0, nullptr},
};
PyType_Spec spec = {"score_embed.engine._core.Condition", sizeof(Object), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

PyObject *number(u64 value) { return PyLong_FromUnsignedLongLong(value); }

PyObject *range_of(Range range) {
    PyObject *made = PyTuple_New(Py_ssize_t(range.count));
    for (u64 i = 0; made && i < range.count; ++i) {
        PyObject *index = number(range.first + i);
        if (index)
            PyTuple_SET_ITEM(made, Py_ssize_t(i), index);
        else
            Py_CLEAR(made);
    }
    return made;
}

}  // namespace

bool add_conditions(PyObject *module) {
    PyObject *made = PyType_FromSpec(&spec);
    type = reinterpret_cast<PyTypeObject *>(made);
    return made && PyModule_AddObjectRef(module, "Condition", made) == 0;
}

PyObject *python_condition(const Condition &condition, PyObject *chosen) {
    PyObject *self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    Object *object = as_object(self);
    new (&object->forked) Deps(condition.forked);
    object->before = condition.before, object->after = condition.after;
    object->other_side = mix_condition(condition.before, condition.site, condition.chain, 1 - condition.direction);
    object->site = number(condition.site), object->chain = PyLong_FromLongLong(condition.chain);
    object->direction = number(condition.direction), object->formula = handle_of(condition.formula);
    object->elsewhere = range_of(condition.elsewhere), object->chosen = Py_NewRef(chosen);
    object->counted = number(condition.counted), object->start = number(condition.start);
    object->pins = number(condition.pins);
    object->assumption = PyBool_FromLong(condition.assumption), object->is_fork = PyBool_FromLong(condition.is_fork);
    object->settled = PyBool_FromLong(condition.settled), object->fixed = PyBool_FromLong(condition.fixed);
    object->loose = PyBool_FromLong(condition.loose);
    object->flippable = PyBool_FromLong(!(condition.assumption && condition.direction));
    object->concrete = PyBool_FromLong(!node(condition.formula).deps && !condition.settled);
    if (PyErr_Occurred()) Py_CLEAR(self);
    return self;
}

}  // namespace score
