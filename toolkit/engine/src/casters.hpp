// How formulas, numbers, sets, inputs and names go between Python and C++.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string_view>

#include "decisions.hpp"
#include "evaluate.hpp"
#include "handle.hpp"

namespace score {

struct Given {  // a formula that the caller holds
    Id id = 0;
    operator Id() const { return id; }
};
struct Word {
    u128 value = 0;
};

inline nanobind::object owned(PyObject *made) {
    if (!made) nanobind::raise_python_error();
    return nanobind::steal(made);
}

inline std::string_view view_of(const nanobind::bytes &data) { return {data.c_str(), data.size()}; }

// An input: bytes as they are, or any sequence of numbers below 256.
class Data {
  public:
    explicit Data(nanobind::handle source) {
        PyObject *object = source.ptr();
        if (PyBytes_Check(object)) {
            input_ = {reinterpret_cast<const u8 *>(PyBytes_AS_STRING(object)), std::size_t(PyBytes_GET_SIZE(object))};
        } else if (PyByteArray_Check(object)) {
            input_ = {reinterpret_cast<const u8 *>(PyByteArray_AS_STRING(object)),
                      std::size_t(PyByteArray_GET_SIZE(object))};
        } else {
            copy_ = nanobind::cast<std::vector<u8>>(source);
            input_ = {copy_.data(), copy_.size()};
        }
    }
    Data(const Data &) = delete;
    operator const Input &() const { return input_; }

  private:
    Input input_{};
    std::vector<u8> copy_;
};

inline nanobind::object tuple_of(const std::vector<Ref> &refs) {
    nanobind::object made = owned(PyTuple_New(Py_ssize_t(refs.size())));
    for (std::size_t i = 0; i < refs.size(); ++i)
        PyTuple_SET_ITEM(made.ptr(), Py_ssize_t(i), owned(handle_of(refs[i])).release().ptr());
    return made;
}

inline u128 word(nanobind::handle number) {
    u128 value;
    if (!to_word(number.ptr(), value)) nanobind::raise_python_error();
    return value;
}

}  // namespace score

namespace nanobind::detail {

template <> struct type_caster<score::Given> {
    NB_TYPE_CASTER(score::Given, const_name("Expr"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        return (value.id = score::id_of(source.ptr())) != 0;
    }
};

template <> struct type_caster<score::Ref> {
    NB_TYPE_CASTER(score::Ref, const_name("Expr"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        value = score::Ref(score::id_of(source.ptr()));
        return value != 0;
    }
    static handle from_cpp(const score::Ref &ref, rv_policy, cleanup_list *) noexcept { return score::handle_of(ref); }
};

template <> struct type_caster<score::Kind> {
    NB_TYPE_CASTER(score::Kind, const_name("Kind"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        long number = PyLong_Check(source.ptr()) ? PyLong_AsLong(source.ptr()) : -1;
        if (number < 0 || number >= long(score::KINDS)) {
            PyErr_Clear();
            return false;
        }
        value = score::Kind(number);
        return true;
    }
};

template <> struct type_caster<score::Word> {
    NB_TYPE_CASTER(score::Word, const_name("int"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        bool good = score::to_word(source.ptr(), value.value);
        if (!good) PyErr_Clear();
        return good;
    }
    static handle from_cpp(score::Word word, rv_policy, cleanup_list *) noexcept {
        return score::number_of(word.value);
    }
};

template <> struct type_caster<score::ByteSet> {
    NB_TYPE_CASTER(score::ByteSet, const_name("int"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        bool good = score::to_byte_set(source.ptr(), value);
        if (!good) PyErr_Clear();
        return good;
    }
    static handle from_cpp(const score::ByteSet &set, rv_policy, cleanup_list *) noexcept {
        return score::number_of(set);
    }
};

template <> struct type_caster<score::Deps> {
    NB_TYPE_CASTER(score::Deps, const_name("int"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        bool good = score::to_deps(source.ptr(), value);
        if (!good) PyErr_Clear();
        return good;
    }
    static handle from_cpp(const score::Deps &deps, rv_policy, cleanup_list *) noexcept {
        return score::number_of(deps);
    }
};

template <> struct type_caster<score::PairId> {
    NB_TYPE_CASTER(score::PairId, const_name("bytes"))
    bool from_python(handle source, score::u8, cleanup_list *) noexcept {
        if (!PyBytes_Check(source.ptr()) || std::size_t(PyBytes_GET_SIZE(source.ptr())) != value.size()) return false;
        std::memcpy(value.data(), PyBytes_AS_STRING(source.ptr()), value.size());
        return true;
    }
    static handle from_cpp(const score::PairId &id, rv_policy, cleanup_list *) noexcept {
        return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(id.data()), Py_ssize_t(id.size()));
    }
};

}  // namespace nanobind::detail
