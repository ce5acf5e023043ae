#include "cursor.hpp"

#include <algorithm>

namespace score {

std::string decimal(i128 number) {
    std::string text;
    u128 rest = number < 0 ? -u128(number) : u128(number);
    do text += char('0' + unsigned(rest % 10));
    while (rest /= 10);
    if (number < 0) text += '-';
    std::reverse(text.begin(), text.end());
    return text;
}

std::string hexadecimal(u128 number) {
    std::string text;
    do text += "0123456789abcdef"[unsigned(number & 15)];
    while (number >>= 4);
    text += "x0";
    std::reverse(text.begin(), text.end());
    return text;
}

TraceFault Cursor::fail(const std::string &what) const {
    return TraceFault(what, "event byte " + std::to_string(at) + " of " + std::to_string(size));
}

u128 Cursor::long_varint() {
    u128 number = 0;
    std::size_t here = at;
    for (unsigned shift = 0;; shift += 7) {
        if (shift == 70) throw fail("a number has more than 10 bytes");
        if (here >= size) throw fail("it ends within an event");
        u8 byte = events[here++];
        number |= u128(byte & 127) << shift;
        if (byte < 128) break;
    }
    at = here;
    return number;
}

const u8 *Cursor::take(u128 count) {
    if (count > size - at) throw fail("it ends within an event");
    const u8 *found = events + at;
    at += std::size_t(count);
    return found;
}

i64 Cursor::next_depth() {
    i128 next = i128(depth) + signed_number();
    if (next < 0 || next > MAX_DEPTH) throw fail("an activation at depth " + decimal(next));
    return depth = i64(next);
}

}  // namespace score
