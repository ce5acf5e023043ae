// What the tests of some rounds brought, for the books: rows of the record's table of tests, and sums.
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

struct Brought {
    nanobind::list values{};     // of rows, one behind the other
    std::vector<u64> hashes{};   // of new paths
    std::vector<u64> lengths{};  // of each row's path, in conditions
    u64 redundant = 0, unchecked = 0;
    u64 retried = 0;                  // tests under which a target had ended, and that came to an end on another
    u64 bytes_in = 0, bytes_out = 0;  // over the line
    std::unordered_map<u64, u64> unflipped{};  // by coverage index times four and reason

    // The columns of `results/test_rows.py`. An input is a bytearray: for each `bytes` Python's module for SQLite looks
    // whether somebody adapts it, which takes as long as half of its row.
    void add_row(u64 number, View input, const nanobind::object &verdict, i64 code, u64 path_hash, bool is_new,
                 const nanobind::object &outcome, const nanobind::object &layout, View output) {
        values.append(number);
        values.append(owned(PyByteArray_FromStringAndSize(input.data(), Py_ssize_t(input.size()))));
        values.append(verdict);
        values.append(code);
        values.append(i64(path_hash));
        values.append(int(is_new));
        values.append(outcome);
        values.append("");
        values.append(layout);
        values.append(shown_output(output));
    }
};

}  // namespace score
