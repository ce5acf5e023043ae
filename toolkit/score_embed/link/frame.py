"""Frames: `COBS(type | seq << 4, payload, CRC-32) | 00`, the same on pipes and serial lines.

COBS keeps 0 out of the body, so that a receiver that joins late or loses bytes is in step again at the next 0.
Any byte stream decodes to frames and named errors; nothing raises, hangs or grows without bound. No I/O here.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from cobs import cobs

MAX_FRAME = 1 << 17  # encoded bytes; more without a 0 between them is not a frame
CRC = 4  # bytes
_INTACT = 0x2144DF1C  # CRC-32 of anything with its own CRC-32 behind it


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

    @property
    def holds_part(self) -> bool:
        """A frame has begun to arrive."""
        return bool(self._held) or self._dropping

    def resynchronise(self) -> None:
        """Forget a half-received frame and the sequence: the other side started again."""
        self._held, self._dropping, self._expected = b"", False, None

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
        if zlib.crc32(body) != _INTACT:
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
