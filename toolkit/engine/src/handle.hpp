// Python's side of a node: one object, made when Python first sees the node, so that `is` tells formulas apart and what
// Python keeps by a formula (dictionaries, weak references) is found again.
#pragma once

#include <Python.h>

#include "arena.hpp"

namespace score {

// Makes the types Expr and TableRead, and `Kind`, and puts them into the module. Raises (false) as Python does.
bool add_handles(PyObject *module);

PyObject *handle_of(Id id);  // a new reference; None for 0; null with an exception if there is no memory
Id id_of(PyObject *object);  // 0: it is no formula

PyObject *number_of(u128 value);
PyObject *number_of(const ByteSet &set);
PyObject *number_of(const Deps &deps);
bool to_word(PyObject *object, u128 &value);  // modulo 2 to the power of 128; false with an exception
bool to_byte_set(PyObject *object, ByteSet &set);
bool to_deps(PyObject *object, Deps &deps);

}  // namespace score
