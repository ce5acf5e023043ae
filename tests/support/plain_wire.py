"""The link in plain, slow, obvious Python: what the engine's frames and messages are compared with.

Frames are `COBS(type | seq << 4, payload, CRC-32) | 00`, messages those of docs/design/wire.md. It also plays the
target's side in tests, and writes what no host would.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cobs import cobs

from score_embed.contract.outcome import Verdict
from score_embed.contract.wire import VERDICTS, WIRE_VERSION, EndFlag, RunFlag, Type

_HELLO = struct.Struct("<H")
READY = struct.Struct("<HHB16sIIHI")
END = struct.Struct("<BBQII")
_SHORT = struct.Struct("<H")
_CRC = struct.Struct("<I")
_BLOCK = 16  # bytes of two inputs that are compared at once
MAX_FRAME = 1 << 17  # encoded bytes; more without a 0 between them is not a frame
CRC = 4  # bytes
INTACT = 0x2144DF1C  # CRC-32 of anything with its own CRC-32 behind it


class DecodeError(Exception):
    """The link delivered something that is not a frame or not a message."""


class FrameTooLong(DecodeError):
    """No end of frame within MAX_FRAME bytes."""


class FrameTooShort(DecodeError):
    """Fewer bytes than head and CRC."""


class BadStuffing(DecodeError):
    """Not valid COBS."""


class BadCrc(DecodeError):
    """The CRC is wrong: bytes were damaged or lost."""


class BadSequence(DecodeError):
    """A frame is missing before this one (which is good)."""


class Frame(NamedTuple):
    """`type` and `sequence`: 4 bits each."""

    type: int
    sequence: int
    payload: bytes


def encode(kind: int, sequence: int, payload: bytes) -> bytes:
    body = bytes((kind | (sequence & 15) << 4,)) + payload
    return b"".join((cobs.encode(body + zlib.crc32(body).to_bytes(CRC, "little")), b"\0"))


class Decoder:
    """Feed it bytes in any portions; it gives frames and errors in order, and counts the errors by name."""

    def __init__(self) -> None:
        self._held = b""
        self._dropping = False  # inside a frame that is too long
        self._expected: int | None = None
        self.errors: dict[str, int] = {}

    def feed(self, data: bytes) -> list[Frame | DecodeError]:
        out: list[Frame | DecodeError] = []
        *whole, rest = (self._held + data).split(b"\0")
        for part in whole:
            if self._dropping:
                self._dropping = False
            elif part:
                self._decode(part, out)
        if self._dropping:
            rest = b""
        elif len(rest) > MAX_FRAME:
            self._fail(FrameTooLong(f"{len(rest)} bytes without an end of frame"), out)
            rest, self._dropping = b"", True
        self._held = rest
        return out

    def _decode(self, part: bytes, out: list[Frame | DecodeError]) -> None:
        if len(part) > MAX_FRAME:
            self._fail(FrameTooLong(f"{len(part)} bytes in one frame"), out)
            return
        try:
            body = cobs.decode(part)
        except cobs.DecodeError as error:
            self._fail(BadStuffing(str(error)), out)
            return
        if len(body) < 1 + CRC:
            self._fail(FrameTooShort(f"{len(body)} bytes"), out)
            return
        if zlib.crc32(body) != INTACT:
            self._fail(BadCrc(f"in a frame of {len(body)} bytes"), out)
            return
        frame = Frame(body[0] & 15, body[0] >> 4, body[1:-CRC])
        if self._expected is not None and frame.sequence != self._expected:
            self._fail(BadSequence(f"expected {self._expected}, found {frame.sequence}"), out)
        self._expected = (frame.sequence + 1) & 15
        out.append(frame)

    def _fail(self, error: DecodeError, out: list[Frame | DecodeError]) -> None:
        name = type(error).__name__
        self.errors[name] = self.errors.get(name, 0) + 1
        out.append(error)


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


class Trace(NamedTuple):
    """Bytes of the event stream of a test, from `offset` on."""

    number: int
    offset: int
    data: bytes


class End(NamedTuple):
    """How a test ended. `tail`: the last bytes of its event stream, from `offset` on; `event_crc` is over all of them.

    `input_used`, `offset`: None stands for the input's size, and for what was left out.
    """

    number: int
    flags: int
    path_hash: int
    operand_hash: int
    event_crc: int
    conditions: int
    branches: int
    input_used: int | None
    offset: int | None
    verdict: Verdict
    code: int
    site: int
    pc: int
    address: int
    stack: tuple[int, ...]
    log_size: int
    coverage_size: int
    link_errors: int
    unchecked: int
    tail: bytes


class Log(NamedTuple):
    number: int
    offset: int
    data: bytes


class Coverage(NamedTuple):
    """Coverage indices of a test that the host has not acknowledged, 4 bytes each, from the `offset`-th on."""

    number: int
    offset: int
    data: bytes


class Passed(NamedTuple):
    """Where a test is that is EAGER: a coverage index that it has just taken, times two, or a site, times two plus
    one."""

    number: int
    what: int


@dataclass(frozen=True, slots=True)
class Damaged:
    """The target could not read what was sent: send it once more."""


@dataclass(frozen=True, slots=True)
class NeedFull:
    """The target cannot make this test's input from what it holds: send all of it."""

    number: int


Reply = Ready | Trace | End | Log | Coverage | Passed | NeedFull | Damaged


def hello() -> bytes:
    return _HELLO.pack(WIRE_VERSION)


def again(number: int) -> bytes:
    return bytes((number & 0xFF,))


def fold(condition_hash: int) -> int:
    """16 bits of a condition hash: the host looks at all of them when it has the events."""
    return (condition_hash ^ condition_hash >> 32) & 0xFFFF


class RunMessage(NamedTuple):
    """RUN: the limits go with the whole input only, since they hardly ever change."""

    number: int
    acknowledged: bool  # the host has all of the test before this one
    data: bytes
    base: bytes | None  # the input the target holds; None sends everything
    predicted: int
    condition_hash: int
    elide: int
    elide_crc: int
    max_branches: int
    watchdog_ms: int
    chunk: int  # bytes that a frame of the answer may carry; 0: as many as the target likes
    tell_from: int | None = None  # EAGER: sites are told after so many event bytes
    bounded: bool = False
    vectors: bool = False

    def encode(self) -> bytes:
        base = self.base if self.base is not None and len(self.base) == len(self.data) else None
        flags = 0 if base is not None else int(RunFlag.FULL)
        flags |= RunFlag.PREDICTED if self.predicted else 0
        flags |= RunFlag.ELIDED if self.elide else 0
        flags |= RunFlag.SHORT if self.chunk else 0
        flags |= RunFlag.ACKNOWLEDGED if self.acknowledged else 0
        flags |= RunFlag.EAGER if self.tell_from is not None else 0
        flags |= RunFlag.BOUNDED if self.bounded else 0
        flags |= RunFlag.VECTORS if self.vectors else 0
        parts = [bytes((self.number & 0xFF, flags)), _CRC.pack(zlib.crc32(self.data))]
        if base is None:
            parts += [varint(len(self.data)), varint(self.max_branches), varint(self.watchdog_ms)]
        if self.predicted:
            parts += [varint(self.predicted), _SHORT.pack(fold(self.condition_hash))]
        if self.elide:
            parts += [varint(self.elide), _SHORT.pack(self.elide_crc & 0xFFFF)]
        if self.tell_from is not None:
            parts.append(varint(self.tell_from))
        if self.chunk:
            parts.append(varint(self.chunk))
        parts.append(difference(base, self.data))
        return b"".join(parts)


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
    for at in _differing(base, data):
        if spans and at - spans[-1][1] <= 2:
            spans[-1][1] = at + 1
        else:
            spans.append([at, at + 1])
    out, position = [], 0
    for first, last in spans:
        out += [varint(first - position), varint(last - first), data[first:last]]
        position = last
    return b"".join(out)


def _differing(base: bytes, data: bytes) -> Iterator[int]:
    """Where two inputs of one length differ: mostly in very few places."""
    for block in range(0, len(data), _BLOCK):
        if base[block : block + _BLOCK] != data[block : block + _BLOCK]:
            for at in range(block, min(block + _BLOCK, len(data))):
                if base[at] != data[at]:
                    yield at


def parse(kind: int, payload: bytes) -> Reply:
    """A message of the target. Raises MessageError."""
    try:
        return _PARSERS[kind](payload)
    except KeyError:
        raise MessageError(f"unknown message type {kind}") from None
    except (struct.error, ValueError, IndexError) as error:
        raise MessageError(f"damaged message of type {kind}: {error}") from None


def _take_varint(data: bytes, at: int) -> tuple[int, int]:
    """Its value, and where it ends."""
    value = data[at]
    if value < 128:
        return value, at + 1
    value, shift = value & 127, 7
    while True:
        at += 1
        byte = data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    if value >> 64:
        raise ValueError("a number of more than 64 bits")
    return value, at + 1


def _ready(payload: bytes) -> Ready:
    return Ready(*READY.unpack(payload))


def _piece(payload: bytes) -> tuple[int, int, bytes]:
    """Number of the test, offset, bytes."""
    offset, at = _take_varint(payload, 1)
    return payload[0], offset, payload[at:]


def _trace(payload: bytes) -> Trace:
    return Trace(*_piece(payload))


def _log(payload: bytes) -> Log:
    return Log(*_piece(payload))


def _coverage(payload: bytes) -> Coverage:
    number, offset, body = _piece(payload)
    if len(body) % 4:
        raise ValueError(f"{len(body)} bytes of indices")
    return Coverage(number, offset, body)


def _passed(payload: bytes) -> Passed:
    number, index, body = _piece(payload)
    if body:
        raise ValueError(f"{len(body)} bytes behind an index")
    return Passed(number, index)


def _end(payload: bytes) -> End:
    number, flags, path_hash, operand_hash, event_crc = END.unpack_from(payload)
    conditions, at = _take_varint(payload, END.size)
    branches, at = _take_varint(payload, at)
    used = offset = None
    verdict = code = site = pc = address = log = coverage = errors = unchecked = 0
    stack: list[int] = []
    if flags & EndFlag.USED:
        used, at = _take_varint(payload, at)
    if flags & EndFlag.CHUNKED:
        offset, at = _take_varint(payload, at)
    if flags & EndFlag.VERDICT:
        verdict, at = payload[at], at + 1
        code, at = _take_varint(payload, at)
        site, at = _take_varint(payload, at)
        pc, at = _take_varint(payload, at)
        address, at = _take_varint(payload, at)
        entered, at = _take_varint(payload, at)
        while entered:
            stack.append(entered)
            entered, at = _take_varint(payload, at)
        code = (code & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)
    if flags & EndFlag.EXTRAS:
        log, at = _take_varint(payload, at)
        coverage, at = _take_varint(payload, at)
        errors, at = _take_varint(payload, at)
    if flags & EndFlag.UNCHECKED:
        unchecked, at = _take_varint(payload, at)
    if verdict >= len(VERDICTS):
        raise ValueError(f"verdict {verdict}")
    return End(
        number,
        flags,
        path_hash,
        operand_hash,
        event_crc,
        conditions,
        branches,
        used,
        offset,
        VERDICTS[verdict],
        code,
        site,
        pc,
        address,
        tuple(stack),
        log,
        coverage,
        errors,
        unchecked,
        tail=payload[at:],
    )


def _need_full(payload: bytes) -> NeedFull:
    (number,) = payload
    return NeedFull(number)


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
    Type.PASSED: _passed,
    Type.DAMAGED: _damaged,
}


class Request(NamedTuple):
    """The arguments of Session.start."""

    data: bytes
    predicted: int = 0
    condition_hash: int = 0
    max_branches: int = 1_000_000
    watchdog_ms: int = 10_000
    prefix: bytes = b""
