"""What is said beside the protocol, in the same frames: what a client needs to run tests, and what people order.

A client without the campaign's image asks for its *job* and then for the image, part by part. None of it changes what
is explored, so nothing here is repeated or recorded: who gets no answer asks again.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from score_embed.fleet.messages import (
    MAX_INPUT,
    MAX_PAIRS,
    Campaign,
    FromClient,
    Message,
    Name,
    Number,
    Text,
    WireRecord,
    decoded,
)

MAX_PART = 1 << 20  # bytes of an image in one frame
MAX_IMAGE = 1 << 30
MAX_CLIENTS = 4096
MARK_BYTES = 8  # of a pair that follows from a run
MAX_MISSING = 64

Digest = Annotated[bytes, Meta(min_length=32, max_length=32)]
Long = Annotated[str, Meta(max_length=1 << 20)]


class JobWanted(WireRecord, frozen=True, tag=64):
    """What must I know to run tests of this campaign? `version`: of score-embed."""

    campaign: Campaign
    version: Text


class Job(WireRecord, frozen=True, tag=65):
    campaign: Campaign
    settings: Long  # JSON
    board: Text  # the name of its profile …
    profile: Text  # … and where it lies at the server
    build_id: Annotated[bytes, Meta(max_length=32)]
    size: Annotated[int, Meta(ge=0, le=MAX_IMAGE)]  # of the image
    digest: Digest  # of the image: BLAKE2b


class ImagePartWanted(WireRecord, frozen=True, tag=66):
    campaign: Campaign
    offset: Annotated[int, Meta(ge=0, le=MAX_IMAGE)]


class ImagePart(WireRecord, frozen=True, tag=67):
    campaign: Campaign
    offset: Annotated[int, Meta(ge=0, le=MAX_IMAGE)]
    data: Annotated[bytes, Meta(max_length=MAX_PART)]


class Order(WireRecord, frozen=True, tag=68):
    """What somebody wants of the server. Empty texts and no number: not said."""

    what: Literal["status", "add", "remove", "stop", "assign"]
    number: Number | None = None
    where: Text = ""
    client: Text = ""
    campaign: Text = ""


class Done(WireRecord, frozen=True, tag=69):
    """The order was carried out."""

    text: Text


class Problem(WireRecord, frozen=True, tag=70):
    """It was not, or the question cannot be answered."""

    what: Text
    hint: Text


class CampaignRow(WireRecord, frozen=True):
    name: Text
    program: Text
    tests: Number
    paths: Number
    waiting: Number
    covered: Number
    directions: Number
    bugs: Number
    finished: bool


class ClientRow(WireRecord, frozen=True):
    name: Name
    campaign: Text
    status: Text
    where: Text
    queue: Number
    tests: Number
    seconds: float  # since it joined
    waiting: float  # seconds


class Overview(WireRecord, frozen=True, tag=71):
    """The answer to `status`."""

    campaigns: Annotated[tuple[CampaignRow, ...], Meta(max_length=MAX_CLIENTS)]
    clients: Annotated[tuple[ClientRow, ...], Meta(max_length=MAX_CLIENTS)]


class Check(WireRecord, frozen=True, tag=72):
    """To a client: run this, and say how it ends. Somebody else says that it has. `fresh`: on a target that was started
    for it. `pair`: serialised, with the input that it was run with; what follows from it is wanted, too. Empty: only
    how it ends. `told`, `until`, `given_up`: what the other says to follow (`explore/checking.py`)."""

    number: Number
    campaign: Campaign
    input: Annotated[bytes, Meta(max_length=MAX_INPUT)]
    fresh: bool
    pair: Annotated[bytes, Meta(max_length=MAX_INPUT + MAX_INPUT)] = b""
    told: Annotated[bytes, Meta(max_length=MARK_BYTES * MAX_PAIRS)] = b""
    until: Annotated[int, Meta(ge=0, le=2**32 - 1)] | None = None
    given_up: Annotated[tuple[Number, ...], Meta(max_length=MAX_PAIRS)] = ()


class Checked(FromClient, frozen=True, tag=73):
    """It ended so."""

    number: Number
    verdict: Annotated[str, Meta(max_length=32)]
    code: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    path_hash: Annotated[int, Meta(ge=0)]  # the encoding allows no more than 64 bits
    mispredicted: bool = False  # it did not go where the pair says
    missing: Annotated[bytes, Meta(max_length=MARK_BYTES * MAX_MISSING)] = b""  # marks of what was not told


Service = Check | Checked | JobWanted | Job | ImagePartWanted | ImagePart | Order | Done | Problem | Overview
Frame = Message | Service
_decoder: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)
_encoder = msgspec.msgpack.Encoder()


def encode(frame: Frame) -> bytes:
    return _encoder.encode(frame)


def decode(frame: bytes) -> Frame:
    """Raises DecodeError, whatever the frame holds."""
    return decoded(_decoder, frame)
