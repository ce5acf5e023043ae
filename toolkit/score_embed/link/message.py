"""The messages between host and target, and the single source of their constants.

`python -m score_embed.link.message > runtime/wire.h` writes the C side of them; a test checks that the committed
header is current. All numbers are little endian. Payloads are parsed strictly: what has the wrong length or an
impossible value is a MessageError, never a half-filled message. No I/O here.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from score_embed.link.frame import DecodeError

WIRE_VERSION = 3
MAX_RUN_HEAD = 5 + 5 + 1 + 4 + 4 + 5 + 5 + 5 + 5 + 8 + 5 + 4 + 5 + 8  # the last 8: one (skip, count)
MAX_OUTPUT = 65536  # bytes of the program's own output that are kept of one test


class Type(IntEnum):
    """Message types; those above 0x80 come from the target."""

    HELLO = 0x01
    RUN = 0x02
    AGAIN = 0x03  # send the END of this test again
    RESET = 0x04
    READY = 0x81
    TRACE = 0x82
    END = 0x83
    LOG = 0x84
    NEED_FULL = 0x85
    COVERAGE = 0x86
    DAMAGED = 0x87  # a frame came to the target that was none


class RunFlag(IntEnum):
    FULL = 1  # the input is a difference against nothing
    PREDICTED = 2  # the number of predicted conditions and their hash follow
    ELIDED = 4  # the number of event bytes the host holds and their CRC follow
    SHORT = 8  # the most bytes that a TRACE, LOG or COVERAGE may carry follow


class EndFlag(IntEnum):
    MATCHED = 1  # the condition hash was as predicted
    ELISION_FAILED = 2  # the events left out were not those the host holds
    INTACT = 4  # the runtime's canaries are alive
    DETAILS = 8  # code, pc and address follow: they are not all zero


class Capability(IntEnum):
    VERIFY = 1
    RESET = 2
    BOOTED = 0x8000  # this READY was not asked for: the target has just started


# How a test ended, by number on the wire; the names are those of target.base.Verdict.
VERDICTS: tuple[str, ...] = (
    "return",
    "exit",
    "assumption",
    "assertion",
    "abort",
    "null-dereference",
    "invalid-memory-access",
    "division-by-zero",
    "illegal-instruction",
    "stack-overflow",
    "hang",
    "watchdog",
)

_HELLO = struct.Struct("<H")
_READY = struct.Struct("<HHB16sIIHI")
_END = struct.Struct("<IBBBIQIQIIIIIIII")
_DETAILS = struct.Struct("<iQQ")
_CHUNK = struct.Struct("<II")
_NUMBER = struct.Struct("<I")
_HASH = struct.Struct("<Q")


class MessageError(DecodeError):
    """A frame whose CRC is right but whose payload is not a message."""


@dataclass(frozen=True, slots=True)
class Ready:
    version: int
    capabilities: int
    pointer_bytes: int
    build_id: bytes
    input_capacity: int
    free_ram: int
    chunk: int
    coverage_total: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Bytes of the event stream of a test, from `offset` on."""

    number: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class End:
    number: int
    verdict: str
    flags: int
    site: int
    path_hash: int
    conditions: int
    operand_hash: int
    event_count: int
    event_crc: int
    input_crc: int
    input_used: int
    branches: int
    log_size: int
    coverage_size: int
    link_errors: int
    code: int
    pc: int
    address: int
    stack: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Log:
    number: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage indices of a test that the host has not acknowledged, 4 bytes each, from the `offset`-th on."""

    number: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Damaged:
    """The target could not read what was sent: send it once more."""


@dataclass(frozen=True, slots=True)
class NeedFull:
    """The target cannot make this test's input from what it holds: send all of it."""

    number: int


Reply = Ready | Trace | End | Log | Coverage | NeedFull | Damaged


def hello() -> bytes:
    return _HELLO.pack(WIRE_VERSION)


def again(number: int) -> bytes:
    return _NUMBER.pack(number)


@dataclass(frozen=True, slots=True)
class RunMessage:
    """RUN: `acknowledged` is the last test whose END, and so coverage, the host has in full."""

    number: int
    acknowledged: int
    data: bytes
    base: bytes | None  # the input the target holds; None sends everything
    predicted: int
    condition_hash: int
    elide: int
    elide_crc: int
    max_branches: int
    watchdog_ms: int
    chunk: int  # bytes that a frame of the answer may carry; 0: as many as the target likes

    def encode(self) -> bytes:
        """As short as can be: a slow line carries one of these for every test."""
        base = self.base if self.base is not None and len(self.base) == len(self.data) else None
        flags = 0 if base is not None else int(RunFlag.FULL)
        flags |= RunFlag.PREDICTED if self.predicted else 0
        flags |= RunFlag.ELIDED if self.elide else 0
        flags |= RunFlag.SHORT if self.chunk else 0
        parts = [varint(self.number), varint(self.number - self.acknowledged & 0xFFFFFFFF), bytes((flags,))]
        parts.append(_NUMBER.pack(zlib.crc32(self.data)))
        if base is not None:
            parts.append(_NUMBER.pack(zlib.crc32(base)))
        parts += [varint(len(self.data)), varint(self.max_branches), varint(self.watchdog_ms)]
        if self.predicted:
            parts += [varint(self.predicted), _HASH.pack(self.condition_hash)]
        if self.elide:
            parts += [varint(self.elide), _NUMBER.pack(self.elide_crc)]
        if self.chunk:
            parts.append(varint(self.chunk))
        return b"".join(parts) + difference(base, self.data)


def varint(n: int) -> bytes:
    """LEB128."""
    if n < 128:
        return bytes((n,))
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def difference(base: bytes | None, data: bytes) -> bytes:
    """`data` as (skip, count, bytes)* against `base`; up to 2 equal bytes between changes are cheaper sent."""
    if base is None:
        return varint(0) + varint(len(data)) + data
    if base == data:
        return b""
    spans: list[list[int]] = []
    for at in range(len(data)):
        if base[at] != data[at]:
            if spans and at - spans[-1][1] <= 2:
                spans[-1][1] = at + 1
            else:
                spans.append([at, at + 1])
    out, position = [], 0
    for first, last in spans:
        out += [varint(first - position), varint(last - first), data[first:last]]
        position = last
    return b"".join(out)


def parse(kind: int, payload: bytes) -> Reply:
    """A message of the target. Raises MessageError."""
    try:
        return _PARSERS[kind](payload)
    except KeyError:
        raise MessageError(f"unknown message type 0x{kind:02x}") from None
    except (struct.error, ValueError, IndexError) as error:
        raise MessageError(f"damaged message of type 0x{kind:02x}: {error}") from None


def _ready(payload: bytes) -> Ready:
    return Ready(*_READY.unpack(payload))


def _trace(payload: bytes) -> Trace:
    number, offset = _CHUNK.unpack_from(payload)
    return Trace(number, offset, payload[_CHUNK.size :])


def _log(payload: bytes) -> Log:
    number, offset = _CHUNK.unpack_from(payload)
    return Log(number, offset, payload[_CHUNK.size :])


def _coverage(payload: bytes) -> Coverage:
    number, offset = _CHUNK.unpack_from(payload)
    body = payload[_CHUNK.size :]
    if len(body) % 4:
        raise ValueError(f"{len(body)} bytes of indices")
    return Coverage(number, offset, body)


def _end(payload: bytes) -> End:
    number, verdict, flags, depth, *rest = _END.unpack_from(payload)
    at, details = _END.size, (0, 0, 0)
    if flags & EndFlag.DETAILS:
        details = _DETAILS.unpack_from(payload, at)
        at += _DETAILS.size
    stack = struct.unpack(f"<{depth}I", payload[at:])
    if verdict >= len(VERDICTS):
        raise ValueError(f"verdict {verdict}")
    values: list[Any] = [number, VERDICTS[verdict], flags, *rest, *details, stack]
    return End(*values)


def _need_full(payload: bytes) -> NeedFull:
    return NeedFull(*_NUMBER.unpack(payload))


def _damaged(payload: bytes) -> Damaged:
    if payload:
        raise ValueError("it has a payload")
    return Damaged()


_PARSERS: dict[int, Callable[[bytes], Reply]] = {
    Type.READY: _ready,
    Type.TRACE: _trace,
    Type.END: _end,
    Type.LOG: _log,
    Type.NEED_FULL: _need_full,
    Type.COVERAGE: _coverage,
    Type.DAMAGED: _damaged,
}


def wire_header() -> str:
    """runtime/wire.h: the same constants for C."""
    lines = [
        "/* The wire's constants. Generated: python -m score_embed.link.message > runtime/wire.h */",
        "#ifndef SC_WIRE_H",
        "#define SC_WIRE_H",
        "",
        f"#define SC_WIRE_VERSION {WIRE_VERSION}u",
        f"#define SC_MAX_OUTPUT {MAX_OUTPUT}u",
        f"#define SC_RUN_SIZE {MAX_RUN_HEAD}u /* most bytes of a RUN before the input */",
        "",
    ]
    groups: list[tuple[str, list[tuple[str, int]]]] = [
        ("TYPE", [(t.name, t.value) for t in Type]),
        ("RUN", [(f.name, f.value) for f in RunFlag]),
        ("END", [(f.name, f.value) for f in EndFlag]),
        ("CAN", [(c.name, c.value) for c in Capability]),
        ("VERDICT", [(v.upper().replace("-", "_"), i) for i, v in enumerate(VERDICTS)]),
    ]
    for prefix, names in groups:
        lines.append("enum {")
        lines += [f"    SC_{prefix}_{name} = {value}," for name, value in names]
        lines += ["};", ""]
    lines.append("#endif")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(wire_header())
