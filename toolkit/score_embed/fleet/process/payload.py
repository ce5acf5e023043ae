"""What a `Result` of the protocol carries: all that the books take of a test, or of a flip that was answered.

The protocol does not look inside. The server checks every field, because what it reads comes from another process.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
from msgspec import Meta

from score_embed.campaign.describing import Counted, Entry, PathTest
from score_embed.explore.pair import is_pair
from score_embed.fleet.messages import MAX_PAYLOAD, MAX_ROUND, DecodeError, Name, WireRecord, decoded
from score_embed.results.pairs import LostTest
from score_embed.results.testcase import Named

Seconds = Annotated[float, Meta(ge=0, le=1e9)]


class TestPayload(WireRecord, frozen=True, tag="test"):
    __test__ = False  # not a pytest class

    client: Name
    seconds: Seconds  # it took, deriving others from it included
    entry: Entry
    counted: Counted | None  # since it last told; None: what has been counted can wait for a later result


class RoundPayload(WireRecord, frozen=True, tag="round"):
    """Tests that the engine ran, the result's pair first, then others below it. `layouts`: what their inputs consist
    of."""

    client: Name
    seconds: Seconds  # they took together
    tests: Annotated[tuple[PathTest, ...], Meta(min_length=1, max_length=MAX_ROUND)]
    layouts: tuple[tuple[Named, ...], ...]
    unchecked: Annotated[int, Meta(ge=0, le=2**63 - 1)]  # accesses through pointers of which nobody knows the bounds
    retried: Annotated[int, Meta(ge=0, le=2**63 - 1)]  # tests whose target died once
    counted: Counted | None


class AnswerPayload(WireRecord, frozen=True, tag="answer"):
    """A pending flip that was answered."""

    client: Name
    seconds: Seconds
    again: bool  # its path had been forgotten, and was run for it once more
    counted: Counted | None
    lost: LostTest | None = None  # it was not answered, and is to be repeated; or a test that was not run


Payload = TestPayload | RoundPayload | AnswerPayload

_MOST_KEPT = 16 << 20  # bytes of payloads

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Payload] = msgspec.msgpack.Decoder(Payload)


def encode(payload: Payload) -> bytes:
    """As much of it as a message may hold: the program's output goes first, then the names of its inputs, and what it
    took of decisions: its vectors are not known then."""
    if isinstance(payload, AnswerPayload):
        return _encoder.encode(payload)
    if isinstance(payload, RoundPayload):
        data = _encoder.encode(payload)
        if len(data) > MAX_PAYLOAD:
            data = _encoder.encode(msgspec.structs.replace(payload, layouts=((),) * len(payload.layouts)))
        return data
    replace = msgspec.structs.replace
    for smaller in ({}, {"output": b""}, {"output": b"", "objects": ()}, {"output": b"", "objects": (), "taken": None}):
        data = _encoder.encode(replace(payload, entry=replace(payload.entry, **smaller)) if smaller else payload)
        if len(data) <= MAX_PAYLOAD:
            return data
    raise ValueError(f"a test's input of {len(payload.entry.input)} bytes is too large for a fleet")


class Reader:
    """Decodes what is looked at first and entered soon after, once."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Payload] = {}
        self._bytes = 0

    def read(self, data: bytes) -> Payload:
        """Raises DecodeError. What nobody takes is not kept for long."""
        if self._bytes > _MOST_KEPT:
            self._kept, self._bytes = {}, 0
        payload = self._kept[data] = decode(data)
        self._bytes += len(data)
        return payload

    def take(self, data: bytes) -> Payload:
        """The same, for the last time. Raises DecodeError."""
        payload = self._kept.pop(data, None)
        return decode(data) if payload is None else payload


def decode(data: bytes) -> Payload:
    """Raises DecodeError, whatever the data hold."""
    payload = decoded(_decoder, data)
    if payload.counted is not None:
        solver = payload.counted.tally.solver
        if not all(0 <= seconds < math.inf for seconds in (solver.seconds, *solver.seconds_by.values())):
            raise DecodeError("times that are none")
    if isinstance(payload, RoundPayload):
        return payload
    lost = payload.entry.lost if isinstance(payload, TestPayload) else payload.lost
    if lost is not None and not is_pair(lost.pair, lost.id):
        raise DecodeError("a lost test that cannot be repeated")
    return payload
