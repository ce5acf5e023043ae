// The messages between host and target (docs/design/wire.md). All numbers are little endian.
//
// Payloads are parsed strictly: what has the wrong length or an impossible value is no message, never a half-filled
// one. A slow line carries one RUN and one END for every test, so these are as short as can be. No I/O here.
#pragma once

#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "contract.hpp"
#include "frame.hpp"

namespace score {

struct Ready {
    unsigned version, capabilities, pointer_bytes;
    std::array<u8, 16> build_id;
    u32 input_capacity, free_ram, chunk, coverage_total;  // the first three in bytes
};

// Bytes of something that comes in pieces, from `offset` on.
struct Piece {
    u8 number;
    u64 offset;
    View data;
};
struct Trace : Piece {};
struct Log : Piece {};
struct Coverage : Piece {};  // `offset` in indices, of 4 bytes each

// Where a test is that is EAGER: a coverage index that it has just taken, times two, or a site, times two plus one.
struct Passed {
    u8 number;
    u64 what;
};

// How a test ended. `tail`: the last bytes of its event stream, from `offset` on; `event_crc` is over all of them.
struct End {
    u8 number, flags;
    u64 path_hash;
    u32 operand_hash, event_crc;
    u64 conditions, branches;
    std::optional<u64> input_used, offset;  // without: the input's size, and what was left out
    unsigned verdict;
    i64 code;
    u64 site, pc, address;
    std::vector<u64> stack;
    u64 log_size, coverage_size, link_errors, unchecked;
    View tail;
};

struct NeedFull {  // the target cannot make this test's input from what it holds: send all of it
    u8 number;
};
struct Damaged {};  // the target could not read what was sent: send it once more
struct NoMessage {};  // a frame whose CRC is right but whose payload is not a message

using Reply = std::variant<NoMessage, Ready, Trace, End, Log, Coverage, Passed, NeedFull, Damaged>;

// A message of the target. Its bytes are those of the payload.
Reply parse(unsigned type, View payload);

// RUN: the limits go with the whole input only, since they hardly ever change.
struct RunMessage {
    u8 number;
    bool acknowledged;  // the host has all of the test before this one
    View data;
    const Bytes *base;  // the input that the target holds; null sends everything
    u64 predicted, condition_hash;
    View elided;  // the event bytes that the host holds
    u32 elided_crc;
    u64 max_branches, watchdog_ms;
    u64 chunk;                      // bytes that a frame of the answer may carry; 0: as many as the target likes
    std::optional<u64> tell_from;  // EAGER: sites are told after so many event bytes
    bool bounded, vectors;
};

Bytes encode(const RunMessage &run);
Bytes hello();

}  // namespace score
