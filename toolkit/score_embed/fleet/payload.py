"""What else a test brought, in a `Result`: all that the record, the coverage and the totals need of it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from score_embed.contract.words import Layer, Unflipped
from score_embed.fleet.messages import MAX_PAYLOAD, Name, Number, WireRecord, decoded

Index = Annotated[int, Meta(ge=0, le=2**32 - 1)]


class Tallied(WireRecord, frozen=True):
    """What a client's explorer has counted since its last test."""

    notes: tuple[tuple[str, Index, Number], ...]  # what, site, how often
    unflipped: tuple[tuple[Index, Unflipped, Number], ...]  # coverage index, reason, how often
    divergences: Number
    concretized: Number
    answers: tuple[Number, Number, Number]  # sat, unsat, unknown
    seconds: float  # of the solver
    by: dict[Layer, Number]
    seconds_by: dict[Layer, float]
    forks: tuple[tuple[Index, Number], ...] = ()  # site, tests for another value of it


class Where(WireRecord, frozen=True):
    """Where a bug is."""

    file: str
    line: Index
    function: str
    stack: tuple[str, ...]


class TestPayload(WireRecord, frozen=True, tag="test"):
    __test__ = False  # not a pytest class

    client: Name
    seconds: float  # it took, deriving others from it included
    input: bytes
    verdict: str
    code: int
    conditions: Number
    is_path: bool
    mispredicted: bool
    objects: tuple[tuple[str, Index, Index, str], ...]  # name, offset, size, kind
    place: Where | None
    confirmed: bool
    output: bytes
    coverage: tuple[Index, ...]  # indices that were new to the client
    tally: Tallied
    link: tuple[Number, Number, Number, Number]  # since its last test: bytes in, out, errors, tests run again for them
    memory: tuple[Number, Number]  # resident bytes of the client, free bytes of its target
    unchecked: Number  # accesses through pointers of which nobody knows the bounds


class AnswerPayload(WireRecord, frozen=True, tag="answer"):
    """A pending flip that was answered."""

    client: Name
    seconds: float
    again: bool  # its path had been forgotten, and was run for it once more
    tally: Tallied


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[TestPayload | AnswerPayload] = msgspec.msgpack.Decoder(TestPayload | AnswerPayload)


def encode(payload: TestPayload | AnswerPayload) -> bytes:
    """As much of it as a message may hold: the program's output goes first, then the names of its inputs."""
    if isinstance(payload, AnswerPayload):
        return _encoder.encode(payload)
    for smaller in ({}, {"output": b""}, {"output": b"", "objects": ()}):
        data = _encoder.encode(msgspec.structs.replace(payload, **smaller) if smaller else payload)
        if len(data) <= MAX_PAYLOAD:
            return data
    raise ValueError(f"a test's input of {len(payload.input)} bytes is too large for a fleet")


def decode(data: bytes) -> TestPayload | AnswerPayload:
    """Raises DecodeError, whatever the data hold."""
    return decoded(_decoder, data)
