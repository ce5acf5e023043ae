"""What server and clients say to each other: typed, tagged, limited in size. One frame is one message.

EMPTY, REQ, ACK, NACK and STOP are SCORE's; the others make them reliable and let clients come and go. A frame that is
no message, or too big a one, is a DecodeError and nothing else: the limits are checked before memory is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

VERSION = 9

MAX_FRAME = 4 << 20  # bytes
MAX_INPUT = 1 << 20  # bytes of a pair: an input, and a little about it
MAX_PAYLOAD = 1 << 18  # bytes of what else a test brought: verdict, coverage, output
MAX_RESULTS = 256  # in a batch
MAX_ROUND = 1024  # tests in a result
MAX_PAIRS = 4096  # in one hand-over, and children of one test
MAX_SHARE = 1 << 20  # bytes of pairs in one hand-over of more than one
MAX_RECEIVERS = 64  # of one REQ
MAX_DROP = 1 << 16  # ids of pairs not to run, in one answer

PAIR_ID = 16  # bytes
PairId = Annotated[bytes, Meta(min_length=PAIR_ID, max_length=PAIR_ID)]
Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f-\x9f]+\Z")]
Line = Annotated[str, Meta(max_length=1024, pattern=r"^[^\x00-\x1f\x7f-\x9f]*\Z")]  # may be shown on a terminal
Text = Annotated[str, Meta(max_length=1024)]
Number = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Campaign = Annotated[int, Meta(ge=0, le=2**31 - 1)]


Decoded = TypeVar("Decoded")


class DecodeError(ValueError):
    """A frame that is no message of ours."""


class WireRecord(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Whatever travels: fields in order, none that is not known."""


# What messages are made of --------------------------------------------------------------------------------------


class Peer(WireRecord, frozen=True):
    """A client in one of its lives. It starts a new one, with a higher number, when it has lost what it held."""

    client: Name
    incarnation: Number


SERVER = Peer("server", 0)  # as the giver of pairs


class Pair(WireRecord, frozen=True):
    """A test to run. The image is the campaign's, so the id of the predicted decisions is enough to know it by."""

    id: PairId
    depth: Annotated[int, Meta(ge=0, le=2**32 - 1)]  # neg_limit: how much of its path is not flipped
    data: Annotated[bytes, Meta(max_length=MAX_INPUT)]  # serialised; empty if the pair is done in the same batch


class Result(WireRecord, frozen=True):
    """A pair that is done with: a test that was run, a question that was answered without one, or a round: the test and
    others below it that its client ran at once. What is left of it, its children, becomes known in the transaction in
    which the pair becomes done."""

    id: PairId
    payload: Annotated[bytes, Meta(max_length=MAX_PAYLOAD)]  # what it brought; the protocol does not look inside
    children: Annotated[tuple[Pair, ...], Meta(max_length=MAX_PAIRS)]
    tests: Annotated[int, Meta(ge=0, le=MAX_ROUND)] = 1  # that were run


class Receiver(WireRecord, frozen=True):
    """Who is to get pairs. `ticket`: shows it that the server asked for them (`tickets`)."""

    peer: Peer
    address: Line  # where its pairs are to be sent; empty: by way of the server
    key: Line = ""  # the public key of who listens there
    ticket: Annotated[bytes, Meta(max_length=16)] = b""


class FromClient(WireRecord, frozen=True):
    peer: Peer
    epoch: Number  # of the server that the client knows; each start of the server is an epoch


class ToClient(WireRecord, frozen=True):
    to: Peer


# Joining and leaving --------------------------------------------------------------------------------------------


class Hello(FromClient, frozen=True, tag=1):
    """I am here. Said again until WELCOME comes, and to every new epoch of the server."""

    version: Number
    address: Line  # for direct hand-over
    where: Line  # host and device, for people
    campaign: Campaign  # of the pairs it holds; 0: none
    image: Annotated[bytes, Meta(max_length=32)]  # hash of the image the device is bound to; empty: any


class Welcome(ToClient, frozen=True, tag=2):
    """`whole`: perhaps not all results of a batch are wanted, or some are looked at closely, so pairs that are done in
    it need their data, too, and no result is a round. `secret`: by which the client knows the server's tickets."""

    epoch: Number
    campaign: Campaign
    image: Annotated[bytes, Meta(max_length=32)]
    whole: bool = False
    secret: Annotated[bytes, Meta(max_length=32)] = b""


class Refused(ToClient, frozen=True, tag=3):
    what: Text
    hint: Text


class Rejoin(ToClient, frozen=True, tag=4):
    """The server does not know you: say HELLO. `given_up`: your pairs went to others; start a new incarnation."""

    epoch: Number
    given_up: bool


class Leave(ToClient, frozen=True, tag=5):
    """Finish your test, send what you have, say BYE. `again`: then join once more, for other work."""

    again: bool


class Bye(FromClient, frozen=True, tag=6):
    """Everything I had is with you. What is still assigned to me is free. `failed`: the pair that my target was lost
    with."""

    failed: Annotated[bytes, Meta(max_length=16)] = b""


class Gone(ToClient, frozen=True, tag=7):
    """The answer to BYE."""


class Stop(ToClient, frozen=True, tag=8):
    """Nothing is left to do: the durable frontier is empty. `again`: join once more, for another campaign."""

    campaign: Campaign
    again: bool


# Results --------------------------------------------------------------------------------------------------------


class Results(FromClient, frozen=True, tag=16):
    """A batch, sent again until it is acknowledged by STORED. A client has one batch on the way at a time."""

    campaign: Campaign
    batch: Number
    queue: Number  # pairs the client holds: a hint
    results: Annotated[tuple[Result, ...], Meta(max_length=MAX_RESULTS)]

    @property
    def tests(self) -> int:
        """That were run for them."""
        return sum(result.tests for result in self.results)


class Stored(ToClient, frozen=True, tag=17):
    """That batch is in the record. `drop`: children that others know already; do not run them. `refused`: tests that
    are not, since somebody else has their pairs."""

    batch: Number
    drop: Annotated[tuple[PairId, ...], Meta(max_length=MAX_DROP)]
    refused: Annotated[tuple[PairId, ...], Meta(max_length=MAX_RESULTS)] = ()


class Alive(FromClient, frozen=True, tag=18):
    """I am alive. `queue`: pairs the client holds."""

    queue: Number


# Pairs from client to client -------------------------------------------------------------------------------------


class Empty(FromClient, frozen=True, tag=32):
    """EMPTY: my results are acknowledged, I hold nothing. `turn`: hand-overs I have received so far."""

    turn: Number


class Req(ToClient, frozen=True, tag=33):
    """REQ: share your queue with those who wait."""

    req: Number
    receivers: Annotated[tuple[Receiver, ...], Meta(min_length=1, max_length=MAX_RECEIVERS)]


class Pairs(ToClient, frozen=True, tag=34):
    """The pairs themselves: from the giver, with a ticket; from the giver by way of the server; or from its pool."""

    req: Number
    campaign: Campaign
    giver: Peer
    pairs: Annotated[tuple[Pair, ...], Meta(min_length=1, max_length=MAX_PAIRS)]
    ticket: Annotated[bytes, Meta(max_length=16)] = b""


class Ack(FromClient, frozen=True, tag=35):
    """ACK of the receiver: I would take these pairs. Sent again until NOTED; then they are its own. `marks`: of each,
    what it says (`tickets.mark`)."""

    req: Number
    giver: Peer
    turn: Number
    ids: Annotated[tuple[PairId, ...], Meta(min_length=1, max_length=MAX_PAIRS)]
    marks: Annotated[bytes, Meta(max_length=8 * MAX_PAIRS)]


class Noted(ToClient, frozen=True, tag=36):
    """That ACK is in the record. `drop`: pairs that were not the giver's to give, or not what the record has."""

    req: Number
    drop: Annotated[tuple[PairId, ...], Meta(max_length=MAX_PAIRS)]


class Nack(FromClient, frozen=True, tag=37):
    """NACK: I have nothing to give to these."""

    req: Number
    receivers: Annotated[tuple[Peer, ...], Meta(min_length=1, max_length=MAX_RECEIVERS)]


class Ask(FromClient, frozen=True, tag=38):
    """Did this receiver take what I gave it? `id`: one of the pairs. Answered by SETTLED as soon as it is known."""

    req: Number
    receiver: Peer
    id: PairId


class Settled(ToClient, frozen=True, tag=39):
    """To the giver: your copy may go. Or, not `taken`: the receiver is gone, take the pairs back."""

    req: Number
    receiver: Peer
    taken: bool


ToServer = Hello | Bye | Results | Alive | Empty | Ack | Nack | Ask
FromServer = Welcome | Refused | Rejoin | Leave | Gone | Stop | Stored | Req | Pairs | Noted | Settled
Message = ToServer | FromServer

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def in_one_message(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """As many of these, from the first on, as fit in one hand-over; at least one."""
    taken: list[Pair] = []
    size = 0
    for pair in pairs[:MAX_PAIRS]:
        size += len(pair.data)
        if taken and size > MAX_SHARE:
            break
        taken.append(pair)
    return tuple(taken)


def encode(message: Message) -> bytes:
    return _encoder.encode(message)


def decode(frame: bytes) -> Message:
    """The message of a frame. Raises DecodeError, whatever the frame holds."""
    return decoded(_decoder, frame)


def decoded(decoder: msgspec.msgpack.Decoder[Decoded], data: bytes) -> Decoded:
    """What these bytes of somebody else say. Raises DecodeError, whatever they are."""
    if len(data) > MAX_FRAME:
        raise DecodeError(f"a frame of {len(data)} bytes; at most {MAX_FRAME} are allowed")
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DecodeError(str(error)) from None
