"""SCORE's protocol as two tables of states and transitions, one for a client and one for the server.

Both sides are state machines without I/O and without a clock: events go in (a message, the end of a test, a timer, the
end of a commit), effects come out (send, commit, run, wake). The server keeps one state for each client, SCORE's
status table; a client keeps its own. An event is looked up here together with the state, and the entry names the next
state and the action; which method carries an action out is said in `client/client.py` and `server/server.py`, for all
actions. Events that the tables do not foresee are errors of ours; what may come late from a network is foreseen and
ignored. The diagrams in docs/design/fleet.md are made from here.

The statuses IDLE, BUSY and SERVING_REQ and the messages EMPTY, REQ, ACK, NACK and STOP are those of Kim, Kim and
Rothermel (ASE 2011). They decide who works on what, and nothing else: that a campaign is finished follows from the
durable frontier alone (`frontier`), so a wrong entry in the status table costs time and never a path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, NamedTuple, TypeVar

from score_embed.fleet.messages import Message, Pair, Peer

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)
Action = TypeVar("Action", bound=Enum)

REMEMBERED = 4096  # hand-overs and answers to REQs that a client knows, so that it recognises copies of them
EPOCH_SHIFT = 32  # the number of a REQ or a hand-over: the epoch of the server that made it, and a count

# Effects --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message to the server (`to` is None) or to a client. `address`: reach that client directly, there."""

    message: Message
    to: Peer | None = None
    address: str = ""
    key: str = ""  # the public key of who listens there


@dataclass(frozen=True, slots=True)
class Run:
    """Run this pair on the target, and others below it if that is wanted; the end is reported by `Client.ran`."""

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
    stall: float = 600.0  # … and one that holds pairs and brings nothing for so long, while others wait
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


class ClientAction(Enum):
    """What a client does at an event: `client.Client.actions`."""

    BEGIN = auto()
    BE_REFUSED = auto()
    START_ANEW = auto()
    DRAIN = auto()
    STOP = auto()
    BOOK = auto()
    RENEW = auto()
    SAY_HELLO = auto()
    DROP_BATCH = auto()
    HOLD = auto()
    TAKE = auto()
    DROP_ACK = auto()
    SETTLE = auto()
    REFUSE_HELD = auto()
    REFUSE = auto()
    SAY_EMPTY = auto()
    SAY_BYE = auto()
    END = auto()


class Transition(NamedTuple, Generic[State, Action]):
    state: State
    action: Action | None  # None: nothing is to be done


def _row(
    state: State, entries: Mapping[Event, tuple[State, Action | None]], late: Iterable[Event] = ()
) -> dict[tuple[State, Event], Transition[State, Action]]:
    """What a state makes of events. `late`: those that may come late, and are ignored."""
    row: dict[tuple[State, Event], Transition[State, Action]] = {
        (state, event): Transition(to, action) for event, (to, action) in entries.items()
    }
    row.update({(state, event): Transition(state, None) for event in late})
    return row


def _client_table() -> dict[tuple[ClientState, ClientEvent], Transition[ClientState, ClientAction]]:
    s, e, a = ClientState, ClientEvent, ClientAction
    ending: dict[ClientEvent, tuple[ClientState, ClientAction | None]] = {
        e.REFUSED: (s.STOPPED, a.BE_REFUSED),
        e.STOP: (s.STOPPED, a.STOP),
        e.NEXT: (s.JOINING, a.START_ANEW),
    }
    working = {**ending, e.GIVEN_UP: (s.JOINING, a.START_ANEW), e.LEAVE: (s.LEAVING, a.DRAIN)}
    return {
        **_row(
            s.JOINING,
            {
                e.WELCOME: (s.BUSY, a.BEGIN),
                e.RAN: (s.JOINING, a.BOOK),
                **working,
            },
            late=(e.REJOIN, e.GONE, e.MOVED, e.STORED, e.REQ, e.PAIRS, e.NOTED, e.SETTLED),
        ),
        **_row(
            s.BUSY,
            {
                e.WELCOME: (s.BUSY, a.RENEW),
                e.REJOIN: (s.BUSY, a.SAY_HELLO),
                e.STORED: (s.BUSY, a.DROP_BATCH),
                e.REQ: (s.BUSY, a.HOLD),
                e.PAIRS: (s.BUSY, a.TAKE),
                e.NOTED: (s.BUSY, a.DROP_ACK),
                e.SETTLED: (s.BUSY, a.SETTLE),
                e.RAN: (s.BUSY, a.BOOK),
                e.OUT: (s.FLUSHING, a.REFUSE_HELD),
                **working,
            },
            late=(e.GONE, e.MOVED),
        ),
        **_row(
            s.FLUSHING,
            {
                e.WELCOME: (s.FLUSHING, a.RENEW),
                e.REJOIN: (s.FLUSHING, a.SAY_HELLO),
                e.STORED: (s.FLUSHING, a.DROP_BATCH),
                e.REQ: (s.FLUSHING, a.REFUSE),
                e.PAIRS: (s.BUSY, a.TAKE),
                e.NOTED: (s.FLUSHING, a.DROP_ACK),
                e.SETTLED: (s.FLUSHING, a.SETTLE),
                e.WORK: (s.BUSY, None),
                e.CLEAR: (s.IDLE, a.SAY_EMPTY),
                **working,
            },
            late=(e.GONE, e.MOVED),
        ),
        **_row(
            s.IDLE,
            {
                e.WELCOME: (s.IDLE, a.RENEW),
                e.REJOIN: (s.IDLE, a.SAY_HELLO),
                e.REQ: (s.IDLE, a.REFUSE),
                e.PAIRS: (s.BUSY, a.TAKE),
                **working,
            },
            late=(e.GONE, e.MOVED, e.STORED, e.NOTED, e.SETTLED),
        ),
        **_row(
            s.LEAVING,
            {
                e.WELCOME: (s.LEAVING, a.RENEW),
                e.REJOIN: (s.LEAVING, a.SAY_HELLO),
                e.GIVEN_UP: (s.LEAVING, a.START_ANEW),
                e.STORED: (s.LEAVING, a.DROP_BATCH),
                e.REQ: (s.LEAVING, a.REFUSE),
                e.NOTED: (s.LEAVING, a.DROP_ACK),
                e.SETTLED: (s.LEAVING, a.SETTLE),
                e.RAN: (s.LEAVING, a.BOOK),
                e.CLEAR: (s.PARTING, a.SAY_BYE),
                **ending,
            },
            late=(e.GONE, e.MOVED, e.PAIRS, e.LEAVE),
        ),
        **_row(
            s.PARTING,
            {
                e.GIVEN_UP: (s.PARTING, a.SAY_BYE),
                e.GONE: (s.STOPPED, a.END),
                e.MOVED: (s.JOINING, a.START_ANEW),
                e.STOP: (s.STOPPED, a.STOP),
                e.NEXT: (s.JOINING, a.START_ANEW),
            },
            late=(e.WELCOME, e.REFUSED, e.REJOIN, e.LEAVE, e.STORED, e.REQ, e.PAIRS, e.NOTED, e.SETTLED),
        ),
        **_row(
            s.STOPPED,
            {e.STOP: (s.STOPPED, a.SAY_BYE)},
            late=[event for event in e if event not in (e.STOP, e.OUT, e.WORK, e.CLEAR)],
        ),
    }


CLIENT: Mapping[tuple[ClientState, ClientEvent], Transition[ClientState, ClientAction]] = _client_table()


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


class ServerAction(Enum):
    """What the server does at an event of a client: `server.Server.actions`."""

    WELCOME = auto()
    RECORD_AND_ASK_TO_JOIN = auto()
    ASK_TO_JOIN = auto()
    PART = auto()
    STOP = auto()
    GIVE_UP = auto()
    RECORD = auto()
    REMIND = auto()
    ASSIGN = auto()
    ANSWER = auto()
    DISMISS = auto()
    NOTE_QUEUE = auto()
    FREE = auto()
    REQUEST = auto()
    ASK_OTHERS = auto()


def _server_table() -> dict[tuple[Status, ServerEvent], Transition[Status, ServerAction]]:
    s, e, a = Status, ServerEvent, ServerAction
    ending: dict[ServerEvent, tuple[Status, ServerAction | None]] = {
        e.BYE: (s.GONE, a.PART),
        e.FINISHED: (s.STOPPING, a.STOP),
        e.SILENT: (s.GONE, a.GIVE_UP),
    }
    return {
        **_row(
            s.AWAITED,
            {
                e.HELLO: (s.BUSY, a.WELCOME),
                e.RESULTS: (s.AWAITED, a.RECORD_AND_ASK_TO_JOIN),
                e.ALIVE: (s.AWAITED, a.ASK_TO_JOIN),
                e.EMPTY: (s.AWAITED, a.ASK_TO_JOIN),
                e.ACK: (s.AWAITED, a.ASK_TO_JOIN),
                e.NACK: (s.AWAITED, a.ASK_TO_JOIN),
                e.ASK: (s.AWAITED, a.ASK_TO_JOIN),
                **ending,
            },
        ),
        **_row(
            s.IDLE,
            {
                e.HELLO: (s.IDLE, a.WELCOME),
                e.RESULTS: (s.IDLE, a.RECORD),
                e.EMPTY: (s.IDLE, a.REMIND),
                e.ACK: (s.BUSY, a.ASSIGN),
                e.ASK: (s.IDLE, a.ANSWER),
                e.REMOVED: (s.LEAVING, a.DISMISS),
                **ending,
            },
            late=(e.ALIVE, e.NACK),
        ),
        **_row(
            s.BUSY,
            {
                e.HELLO: (s.BUSY, a.WELCOME),
                e.RESULTS: (s.BUSY, a.RECORD),
                e.ALIVE: (s.BUSY, a.NOTE_QUEUE),
                e.EMPTY: (s.IDLE, a.FREE),
                e.ACK: (s.BUSY, a.ASSIGN),
                e.ASK: (s.BUSY, a.ANSWER),
                e.CHOSEN: (s.SERVING_REQ, a.REQUEST),
                e.REMOVED: (s.LEAVING, a.DISMISS),
                **ending,
            },
            late=(e.NACK,),
        ),
        **_row(
            s.SERVING_REQ,
            {
                e.HELLO: (s.SERVING_REQ, a.WELCOME),
                e.RESULTS: (s.SERVING_REQ, a.RECORD),
                e.ALIVE: (s.SERVING_REQ, a.NOTE_QUEUE),
                e.EMPTY: (s.IDLE, a.FREE),
                e.ACK: (s.SERVING_REQ, a.ASSIGN),
                e.NACK: (s.SERVING_REQ, a.ASK_OTHERS),
                e.ASK: (s.SERVING_REQ, a.ANSWER),
                e.RELIEVED: (s.BUSY, None),
                e.REMOVED: (s.LEAVING, a.DISMISS),
                **ending,
            },
        ),
        **_row(
            s.LEAVING,
            {
                e.HELLO: (s.LEAVING, a.WELCOME),
                e.RESULTS: (s.LEAVING, a.RECORD),
                e.ACK: (s.LEAVING, a.ASSIGN),
                e.ASK: (s.LEAVING, a.ANSWER),
                **ending,
            },
            late=(e.ALIVE, e.EMPTY, e.NACK),
        ),
        **_row(
            s.STOPPING,
            {
                e.HELLO: (s.STOPPING, a.STOP),
                e.BYE: (s.GONE, a.PART),
                e.SILENT: (s.GONE, None),
            },
            late=(e.RESULTS, e.ALIVE, e.EMPTY, e.ACK, e.NACK, e.ASK),
        ),
    }


SERVER: Mapping[tuple[Status, ServerEvent], Transition[Status, ServerAction]] = _server_table()
