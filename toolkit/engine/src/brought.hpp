// What the tests of some rounds brought, for the books: rows of the record's table of tests (those that have most in
// common put together, so that it is handed on and written once), and sums.
#pragma once

#include <unordered_map>
#include <vector>

#include "casters.hpp"
#include "session.hpp"

namespace score {

// The first line of it.
inline nanobind::str shown_output(View output) {
    constexpr std::size_t SHOWN = 80;  // bytes of a test's output in its row
    output = output.substr(0, SHOWN);
    output = output.substr(0, output.find('\n'));
    return nanobind::steal<nanobind::str>(
        owned(PyUnicode_DecodeUTF8(output.data(), Py_ssize_t(output.size()), "backslashreplace")).release());
}

class Brought {
  public:
    struct Common {  // of rows one behind the other; the columns of `results/test_rows.py`
        nanobind::object verdict;
        i64 code;
        bool is_new;
        nanobind::object outcome, layout;

        bool operator==(const Common &other) const {
            return verdict.is(other.verdict) && code == other.code && outcome.is(other.outcome) &&
                   layout.is(other.layout);  // the outcome says whether it is new
        }
    };

    // An input is a bytearray: for each `bytes` Python's module for SQLite looks whether somebody adapts it, which
    // takes as long as half of its row.
    void add_row(u64 number, const Common &common, View input, u64 path_hash, View output) {
        if (own_.size() == WIDE || !(common == common_)) end_rows();
        if (own_.empty()) first_ = number, common_ = common;
        own_.push_back({owned(PyByteArray_FromStringAndSize(input.data(), Py_ssize_t(input.size()))),
                        nanobind::int_(i64(path_hash)), shown_output(output)});
    }

    // Those that are held back, to be put together with the next one.
    void end_rows() {
        if (own_.empty()) return;
        nanobind::object list = owned(PyList_New(Py_ssize_t(COMMON + OWN * own_.size())));
        Py_ssize_t at = 0;
        auto put = [&](nanobind::object value) { PyList_SET_ITEM(list.ptr(), at++, value.release().ptr()); };
        put(nanobind::int_(first_)), put(common_.verdict), put(nanobind::int_(common_.code));
        put(nanobind::int_(int(common_.is_new))), put(common_.outcome), put(nanobind::str("")), put(common_.layout);
        for (auto &[input, path, output] : own_) put(std::move(input)), put(std::move(path)), put(std::move(output));
        own_.clear();
        rows.append(list);
    }

    void add_path(u64 hash, u64 length, bool is_new) {
        lengths.push_back(length);
        if (is_new) hashes.push_back(hash), fresh.push_back(length);
    }

    nanobind::list rows{};       // each of up to eight rows
    std::vector<u64> hashes{};   // of new paths
    std::vector<u64> lengths{};  // of each row's path, in conditions
    std::vector<u64> fresh{};    // the same of new paths
    u64 unchecked = 0;
    u64 retried = 0;                  // tests under which a target had ended, and that came to an end on another
    u64 bytes_in = 0, bytes_out = 0;  // over the line
    std::unordered_map<u64, u64> unflipped{};  // by coverage index times four and reason

  private:
    static constexpr std::size_t WIDE = 8, COMMON = 7, OWN = 3;
    struct Own {
        nanobind::object input, path, output;
    };

    Common common_{};
    u64 first_ = 0;
    std::vector<Own> own_;
};

}  // namespace score
