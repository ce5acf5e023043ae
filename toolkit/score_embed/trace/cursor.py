"""Reading the numbers of an event stream: varints, signed ones, addresses. docs/design/probes.md is its specification.

The bytes come from a board over a wire, so nothing about them is trusted: whatever they are, the result is a number
or a TraceError that says at which byte.
"""

from __future__ import annotations

from score_embed.errors import TargetError

MAX_DEPTH = 1 << 24


class TraceError(TargetError):
    """The events are not what the image's probes send."""

    def __init__(self, what: str, where: str = "") -> None:
        hint = "The link damages data in a way its checksums miss, or the program overwrote the probe runtime."
        super().__init__(f"the trace is damaged: {what}", where, hint)


class Cursor:
    """A position in a stream, with what numbers are relative to: the last address and the current activation."""

    def __init__(self, pointer_bits: int) -> None:
        self._pointer_mask = (1 << pointer_bits) - 1
        self.events = b""
        self.at = 0  # byte to be read next
        self.address = 0
        self.depth = 0

    def fail(self, what: str) -> TraceError:
        return TraceError(what, f"event byte {self.at} of {len(self.events)}")

    def varint(self) -> int:
        """An unsigned number, LEB128."""
        at = self.at
        try:
            byte = self.events[at]
            if byte < 128:
                self.at = at + 1
                return byte
            number = byte & 127
            shift = 7
            while byte > 127:
                if shift == 70:
                    raise self.fail("a number has more than 10 bytes")
                at += 1
                byte = self.events[at]
                number |= (byte & 127) << shift
                shift += 7
        except IndexError:
            raise self.fail("it ends within an event") from None
        self.at = at + 1
        return number

    def signed(self) -> int:
        """A zigzag varint."""
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def take(self, count: int) -> bytes:
        """Bytes as they are."""
        found = self.events[self.at : self.at + count]
        if len(found) < count:
            raise self.fail("it ends within an event")
        self.at += count
        return found

    def next_address(self) -> int:
        """An address, sent as the difference from the one before."""
        self.address = found = (self.address + self.signed()) & self._pointer_mask
        return found

    def next_depth(self) -> int:
        """The activation that the following events belong to."""
        self.depth = depth = self.depth + self.signed()
        if not 0 <= depth <= MAX_DEPTH:
            raise self.fail(f"an activation at depth {depth}")
        return depth
