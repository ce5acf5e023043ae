// Reading the numbers of an event stream: varints, signed ones, addresses. docs/design/probes.md is its specification.
//
// The bytes come from a board over a wire, so nothing about them is trusted: whatever they are, the result is a number
// or a TraceFault that says at which byte.
#pragma once

#include <exception>
#include <string>

#include "word.hpp"

namespace score {

constexpr i64 MAX_DEPTH = i64(1) << 24;

// The events are not what the image's probes send.
class TraceFault : public std::exception {
  public:
    TraceFault(std::string what, std::string where) : text(std::move(what)), where(std::move(where)) {}
    const char *what() const noexcept override { return text.c_str(); }

    std::string text, where;
};

// A read of what no program can change, where the image has nothing: the program's mistake, not the line's.
class NothingThere : public TraceFault {
  public:
    using TraceFault::TraceFault;
};

std::string decimal(i128 number);
std::string hexadecimal(u128 number);

// A position in a stream, with what numbers are relative to: the last address and the current activation.
class Cursor {
  public:
    explicit Cursor(unsigned pointer_bits) : wrap(mask<u64>(pointer_bits)) {}

    TraceFault fail(const std::string &what) const;

    u128 varint() {  // at most 70 bits
        if (at < size && events[at] < 128) return events[at++];
        return long_varint();
    }
    i128 signed_number() {
        u128 number = varint();
        return i128(number >> 1) ^ -i128(number & 1);
    }
    const u8 *take(u128 count);  // bytes as they are
    u64 next_address() { return address = (address + u64(u128(signed_number()))) & wrap; }
    i64 next_depth();

    u64 wrap;                    // addresses are below or equal
    const u8 *events = nullptr;  // of whoever gave them
    std::size_t size = 0;
    std::size_t at = 0;  // byte to be read next
    u64 address = 0;
    i64 depth = 0;

  private:
    u128 long_varint();
};

}  // namespace score
