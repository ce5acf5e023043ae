"""SCORE's protocol as two tables of states and transitions, one for a client and one for the server.

Both sides are state machines without I/O and without a clock: events go in (a message, the end of a test, a timer, the
end of a commit), effects come out (send, commit, run, wake). `server_side` keeps one state for each client, SCORE's
status table; `client_side` keeps its own. An event is looked up here together with the state, and the entry names the
next state and the action, which is the method of that name. Events that the tables do not foresee are errors of ours;
what may come late from a network is foreseen and ignored. The diagrams in docs/design/fleet.md are made from here.

The statuses IDLE, BUSY and SERVING_REQ and the messages EMPTY, REQ, ACK, NACK and STOP are those of Kim, Kim and
Rothermel (ASE 2011). They decide who works on what, and nothing else: that a campaign is finished follows from the
durable frontier alone (`frontier`), so a wrong entry in the status table costs time and never a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, NamedTuple, TypeVar

from score_embed.fleet.messages import Message, Pair, Peer

State = TypeVar("State")

EPOCH_SHIFT = 32  # the number of a REQ or a hand-over: the epoch of the server that made it, and a count

# Effects --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message to the server (`to` is None) or to a client. `address`: reach that client directly."""

    message: Message
    to: Peer | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """Run this pair on the target; its end is reported by `Client.ran`."""

    pair: Pair


@dataclass(frozen=True, slots=True)
class Wake:
    """Call `tick` at this time, instead of at any that was said before."""

    at: float


@dataclass(frozen=True, slots=True)
class End:
    """A client's last effect. `refused`: what the server had against it, and what to do."""

    refused: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """All durations, in seconds, and sizes of batches."""

    batch_tests: int = 256
    batch_bytes: int = 1 << 20
    batch_seconds: float = 1.0
    backlog_bytes: int = 64 << 20  # of results not acknowledged, until a client waits for the server
    resend: float = 1.0  # the first time; each further pause is twice as long …
    resend_most: float = 8.0  # … up to this
    hold: float = 1.0  # a REQ is held so long before it is answered NACK
    rest: float = 0.1  # a client that answered NACK is not asked for so long; twice as long after the next …
    status: float = 5.0  # a client says at least so often that it is alive
    dead: float = 30.0  # a client not heard of for so long is given up
    least: int = 1  # pairs that a client must have, besides the one it runs, to give some away


# A client --------------------------------------------------------------------------------------------------------


class ClientState(Enum):
    JOINING = auto()  # HELLO was said
    BUSY = auto()  # runs pairs
    FLUSHING = auto()  # has run all; waits until results are acknowledged and gifts are taken
    IDLE = auto()  # EMPTY was said
    LEAVING = auto()  # runs no more pairs; waits as in FLUSHING
    PARTING = auto()  # BYE was said
    STOPPED = auto()


class ClientEvent(Enum):
    # A message came.
    WELCOME = auto()
    REFUSED = auto()
    REJOIN = auto()
    GIVEN_UP = auto()  # REJOIN, and the pairs went to others
    LEAVE = auto()
    GONE = auto()
    MOVED = auto()  # GONE, and other work waits
    STOP = auto()
    NEXT = auto()  # STOP, and other work waits
    STORED = auto()
    REQ = auto()
    PAIRS = auto()
    NOTED = auto()
    SETTLED = auto()
    # Something happened here.
    RAN = auto()  # a test ended
    OUT = auto()  # nothing runs and nothing is left to run
    WORK = auto()  # there is something to run again
    CLEAR = auto()  # results acknowledged, gifts taken, nothing left


class Transition(NamedTuple, Generic[State]):
    state: State
    action: str


IGNORE = "ignore"  # the action of what may come late


def _client_table() -> dict[tuple[ClientState, ClientEvent], Transition[ClientState]]:
    s, e = ClientState, ClientEvent
    table: dict[tuple[ClientState, ClientEvent], Transition[ClientState]] = {}

    def on(state: ClientState, *ignored: ClientEvent, **entries: tuple[ClientState, str]) -> None:
        for name, (to, action) in entries.items():
            table[state, e[name]] = Transition(to, action)
        for event in ignored:
            table[state, event] = Transition(state, IGNORE)

    on(
        s.JOINING, e.REJOIN, e.GONE, e.MOVED, e.STORED, e.REQ, e.PAIRS, e.NOTED, e.SETTLED,
        WELCOME=(s.BUSY, "begin"),
        REFUSED=(s.STOPPED, "be_refused"),
        GIVEN_UP=(s.JOINING, "start_anew"),
        LEAVE=(s.LEAVING, "drain"),
        STOP=(s.STOPPED, "stop"),
        NEXT=(s.JOINING, "start_anew"),
        RAN=(s.JOINING, "book"),
    )  # fmt: skip
    on(
        s.BUSY, e.GONE, e.MOVED,
        WELCOME=(s.BUSY, "renew"),
        REFUSED=(s.STOPPED, "be_refused"),
        REJOIN=(s.BUSY, "say_hello"),
        GIVEN_UP=(s.JOINING, "start_anew"),
        LEAVE=(s.LEAVING, "drain"),
        STOP=(s.STOPPED, "stop"),
        NEXT=(s.JOINING, "start_anew"),
        STORED=(s.BUSY, "drop_batch"),
        REQ=(s.BUSY, "hold"),
        PAIRS=(s.BUSY, "take"),
        NOTED=(s.BUSY, "drop_ack"),
        SETTLED=(s.BUSY, "settle"),
        RAN=(s.BUSY, "book"),
        OUT=(s.FLUSHING, "refuse_held"),
    )  # fmt: skip
    on(
        s.FLUSHING, e.GONE, e.MOVED,
        WELCOME=(s.FLUSHING, "renew"),
        REFUSED=(s.STOPPED, "be_refused"),
        REJOIN=(s.FLUSHING, "say_hello"),
        GIVEN_UP=(s.JOINING, "start_anew"),
        LEAVE=(s.LEAVING, "drain"),
        STOP=(s.STOPPED, "stop"),
        NEXT=(s.JOINING, "start_anew"),
        STORED=(s.FLUSHING, "drop_batch"),
        REQ=(s.FLUSHING, "refuse"),
        PAIRS=(s.BUSY, "take"),
        NOTED=(s.FLUSHING, "drop_ack"),
        SETTLED=(s.FLUSHING, "settle"),
        WORK=(s.BUSY, IGNORE),
        CLEAR=(s.IDLE, "say_empty"),
    )  # fmt: skip
    on(
        s.IDLE, e.GONE, e.MOVED, e.STORED, e.NOTED, e.SETTLED,
        WELCOME=(s.IDLE, "renew"),
        REFUSED=(s.STOPPED, "be_refused"),
        REJOIN=(s.IDLE, "say_hello"),
        GIVEN_UP=(s.JOINING, "start_anew"),
        LEAVE=(s.LEAVING, "drain"),
        STOP=(s.STOPPED, "stop"),
        NEXT=(s.JOINING, "start_anew"),
        REQ=(s.IDLE, "refuse"),
        PAIRS=(s.BUSY, "take"),
    )  # fmt: skip
    on(
        s.LEAVING, e.GONE, e.MOVED, e.PAIRS, e.LEAVE,
        WELCOME=(s.LEAVING, "renew"),
        REFUSED=(s.STOPPED, "be_refused"),
        REJOIN=(s.LEAVING, "say_hello"),
        GIVEN_UP=(s.LEAVING, "start_anew"),
        STOP=(s.STOPPED, "stop"),
        NEXT=(s.JOINING, "start_anew"),
        STORED=(s.LEAVING, "drop_batch"),
        REQ=(s.LEAVING, "refuse"),
        NOTED=(s.LEAVING, "drop_ack"),
        SETTLED=(s.LEAVING, "settle"),
        RAN=(s.LEAVING, "book"),
        CLEAR=(s.PARTING, "say_bye"),
    )  # fmt: skip
    on(
        s.PARTING, e.WELCOME, e.REFUSED, e.REJOIN, e.LEAVE, e.STORED, e.REQ, e.PAIRS, e.NOTED, e.SETTLED,
        GIVEN_UP=(s.PARTING, "say_bye"),
        GONE=(s.STOPPED, "end"),
        MOVED=(s.JOINING, "start_anew"),
        STOP=(s.STOPPED, "stop"),
        NEXT=(s.JOINING, "start_anew"),
    )  # fmt: skip
    on(
        s.STOPPED, e.WELCOME, e.REFUSED, e.REJOIN, e.GIVEN_UP, e.LEAVE, e.GONE, e.MOVED, e.NEXT, e.STORED, e.REQ, e.PAIRS,
        e.NOTED, e.SETTLED, e.RAN,
        STOP=(s.STOPPED, "say_bye"),
    )  # fmt: skip
    return table


CLIENT: Mapping[tuple[ClientState, ClientEvent], Transition[ClientState]] = _client_table()


# The server's status table ---------------------------------------------------------------------------------------


class Status(Enum):
    AWAITED = auto()  # known from the record or from its results; has not said HELLO to this server
    IDLE = auto()  # said EMPTY
    BUSY = auto()  # holds pairs
    SERVING_REQ = auto()  # holds pairs, and was asked to share them
    LEAVING = auto()  # was told to leave
    STOPPING = auto()  # was told to stop
    GONE = auto()


class ServerEvent(Enum):
    # The client's message came.
    HELLO = auto()
    RESULTS = auto()
    ALIVE = auto()
    EMPTY = auto()
    ACK = auto()
    NACK = auto()
    ASK = auto()
    BYE = auto()
    # Something happened here.
    CHOSEN = auto()  # as the one that is to share
    RELIEVED = auto()  # all for whom it was to share have pairs, or others are asked
    REMOVED = auto()  # somebody wants it to leave
    FINISHED = auto()  # its campaign's durable frontier is empty
    SILENT = auto()  # not heard of for long


def _server_table() -> dict[tuple[Status, ServerEvent], Transition[Status]]:
    s, e = Status, ServerEvent
    table: dict[tuple[Status, ServerEvent], Transition[Status]] = {}

    def on(state: Status, *ignored: ServerEvent, **entries: tuple[Status, str]) -> None:
        for name, (to, action) in entries.items():
            table[state, e[name]] = Transition(to, action)
        for event in ignored:
            table[state, event] = Transition(state, IGNORE)

    on(
        s.AWAITED,
        HELLO=(s.BUSY, "welcome"),
        RESULTS=(s.AWAITED, "record_and_ask_to_join"),
        ALIVE=(s.AWAITED, "ask_to_join"),
        EMPTY=(s.AWAITED, "ask_to_join"),
        ACK=(s.AWAITED, "ask_to_join"),
        NACK=(s.AWAITED, "ask_to_join"),
        ASK=(s.AWAITED, "ask_to_join"),
        BYE=(s.GONE, "part"),
        FINISHED=(s.STOPPING, "stop"),
        SILENT=(s.GONE, "give_up"),
    )
    on(
        s.IDLE, e.ALIVE, e.NACK,
        HELLO=(s.IDLE, "welcome"),
        RESULTS=(s.IDLE, "record"),
        EMPTY=(s.IDLE, "remind"),
        ACK=(s.BUSY, "assign"),
        ASK=(s.IDLE, "answer"),
        BYE=(s.GONE, "part"),
        REMOVED=(s.LEAVING, "dismiss"),
        FINISHED=(s.STOPPING, "stop"),
        SILENT=(s.GONE, "give_up"),
    )  # fmt: skip
    on(
        s.BUSY, e.NACK,
        HELLO=(s.BUSY, "welcome"),
        RESULTS=(s.BUSY, "record"),
        ALIVE=(s.BUSY, "note_queue"),
        EMPTY=(s.IDLE, "free"),
        ACK=(s.BUSY, "assign"),
        ASK=(s.BUSY, "answer"),
        BYE=(s.GONE, "part"),
        CHOSEN=(s.SERVING_REQ, "request"),
        REMOVED=(s.LEAVING, "dismiss"),
        FINISHED=(s.STOPPING, "stop"),
        SILENT=(s.GONE, "give_up"),
    )  # fmt: skip
    on(
        s.SERVING_REQ,
        HELLO=(s.SERVING_REQ, "welcome"),
        RESULTS=(s.SERVING_REQ, "record"),
        ALIVE=(s.SERVING_REQ, "note_queue"),
        EMPTY=(s.IDLE, "free"),
        ACK=(s.SERVING_REQ, "assign"),
        NACK=(s.SERVING_REQ, "ask_others"),
        ASK=(s.SERVING_REQ, "answer"),
        BYE=(s.GONE, "part"),
        RELIEVED=(s.BUSY, IGNORE),
        REMOVED=(s.LEAVING, "dismiss"),
        FINISHED=(s.STOPPING, "stop"),
        SILENT=(s.GONE, "give_up"),
    )
    on(
        s.LEAVING, e.ALIVE, e.EMPTY, e.NACK,
        HELLO=(s.LEAVING, "welcome"),
        RESULTS=(s.LEAVING, "record"),
        ACK=(s.LEAVING, "assign"),
        ASK=(s.LEAVING, "answer"),
        BYE=(s.GONE, "part"),
        FINISHED=(s.STOPPING, "stop"),
        SILENT=(s.GONE, "give_up"),
    )  # fmt: skip
    on(
        s.STOPPING, e.RESULTS, e.ALIVE, e.EMPTY, e.ACK, e.NACK, e.ASK,
        HELLO=(s.STOPPING, "stop"),
        BYE=(s.GONE, "part"),
        SILENT=(s.GONE, "forget"),
    )  # fmt: skip
    return table


SERVER: Mapping[tuple[Status, ServerEvent], Transition[Status]] = _server_table()
