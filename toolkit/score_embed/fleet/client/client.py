"""A client of the fleet, sans I/O: takes pairs, has them run, reports, shares, says when it has nothing left.

Its driver hands in messages, ends of tests and the time, and carries out the effects that come back. Everything that
has to arrive is said again until it is answered; saying it twice does no harm. What decides is in `protocol.CLIENT`.

Its parts: `reporting` has the results on their way, `sharing` the pairs from and for others. All speak in one
`conversation`, and share the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from score_embed.fleet import tickets
from score_embed.fleet.client.conversation import ClientTimer, Conversation, Effect
from score_embed.fleet.client.queue import Queue
from score_embed.fleet.client.reporting import Reporting
from score_embed.fleet.client.sharing import Giving, Receiving
from score_embed.fleet.messages import (
    SERVER,
    VERSION,
    Bye,
    FromServer,
    Gone,
    Hello,
    Leave,
    Noted,
    Pair,
    Pairs,
    Peer,
    Refused,
    Rejoin,
    Req,
    Result,
    Settled,
    Stop,
    Stored,
    Welcome,
)
from score_embed.fleet.protocol import (
    CLIENT,
    EPOCH_SHIFT,
    ClientAction,
    ClientEvent,
    ClientState,
    End,
    Run,
    Timing,
)

_EVENTS: dict[type, ClientEvent] = {
    Welcome: ClientEvent.WELCOME,
    Refused: ClientEvent.REFUSED,
    Rejoin: ClientEvent.REJOIN,
    Leave: ClientEvent.LEAVE,
    Gone: ClientEvent.GONE,
    Stop: ClientEvent.STOP,
    Stored: ClientEvent.STORED,
    Req: ClientEvent.REQ,
    Pairs: ClientEvent.PAIRS,
    Noted: ClientEvent.NOTED,
    Settled: ClientEvent.SETTLED,
}


class Client:
    """Call `start`; then `receive`, `ran` and `tick` as things happen. `leave` makes it go when its test has ended."""

    def __init__(
        self, peer: Peer, queue: Queue, timing: Timing, address: str = "", where: str = "", image: bytes = b""
    ) -> None:
        self.state = ClientState.JOINING
        self._conversation = Conversation(peer, timing)
        self._queue = queue
        self._address, self._where, self._image = address, where, image
        self._running: Pair | None = None
        self._reporting = Reporting(self._conversation, queue)
        self._receiving = Receiving(self._conversation, queue)
        self._giving = Giving(self._conversation, queue)
        self._failed = b""  # the pair that its target was lost with
        self._again = False  # told to leave, and to join once more
        # What carries an action out takes the message (or the result) of the event.
        self.actions: dict[ClientAction, Callable[[Any], None]] = {
            ClientAction.SAY_HELLO: lambda _: self._say_hello(),
            ClientAction.BEGIN: self._begin,
            ClientAction.RENEW: self._renew,
            ClientAction.BE_REFUSED: self._be_refused,
            ClientAction.START_ANEW: self._start_anew,
            ClientAction.DRAIN: self._drain,
            ClientAction.SAY_BYE: lambda _: self._say_bye(),
            ClientAction.STOP: lambda _: self._stop(),
            ClientAction.END: lambda _: self._end(),
            ClientAction.BOOK: self._book,
            ClientAction.DROP_BATCH: self._reporting.drop_batch,
            ClientAction.SAY_EMPTY: lambda _: self._receiving.say_empty(),
            ClientAction.TAKE: self._receiving.take,
            ClientAction.DROP_ACK: self._drop_ack,
            ClientAction.HOLD: self._giving.hold,
            ClientAction.REFUSE: self._giving.refuse,
            ClientAction.REFUSE_HELD: lambda _: self._giving.refuse_held(),
            ClientAction.SETTLE: self._settle,
        }
        self.timers: dict[ClientTimer, Callable[[], None]] = {
            ClientTimer.HELLO: self._say_hello,
            ClientTimer.BYE: self._say_bye,
            ClientTimer.EMPTY: self._say_empty_again,
            ClientTimer.BATCH: lambda: self._while_reporting(self._reporting.send_again),
            ClientTimer.FLUSH: lambda: self._while_reporting(self._reporting.send_next),
            ClientTimer.ACKS: self._receiving.repeat_acks,
            ClientTimer.SHARES: self._giving.look_after,
            ClientTimer.ALIVE: lambda: self._while_reporting(self._reporting.say_alive),
        }

    # What happens -------------------------------------------------------------------------------------------

    def start(self, now: float) -> list[Effect]:
        self._conversation.now = now
        self._say_hello()
        return self._conversation.take_effects()

    def receive(self, message: FromServer, now: float, direct: bool = False) -> list[Effect]:
        """A message for this client. `direct`: not from the server, but from who says to be another client."""
        self._conversation.now = now
        if self._concerns_us(message) and (not direct or self.is_welcome(message)):
            self._event(self._event_of(message), message)
        return self._conversation.take_effects()

    def ran(self, results: Sequence[Result], now: float) -> list[Effect]:
        """The pair that was to be run has been run: its result, and those of children of it that were done with at
        once."""
        self._conversation.now = now
        if self._running is not None and self._running.id == results[0].id:
            self._running = None
            self._event(ClientEvent.RAN, results)
        return self._conversation.take_effects()

    def leave(self, now: float, broken: bool = False, failed: bytes = b"") -> list[Effect]:
        """Somebody on this side wants it to go. `broken`: what runs will have no end here; others may run it. `failed`:
        the pair that the target was lost with."""
        self._conversation.now = now
        if broken:
            self._failed, self._running = failed, None
        if (self.state, ClientEvent.LEAVE) in CLIENT:
            self._event(ClientEvent.LEAVE, Leave(self.peer, again=False))
        return self._conversation.take_effects()

    def tick(self, now: float) -> list[Effect]:
        """Time has passed."""
        self._conversation.now = now
        for timer in self._conversation.timers.due(now):
            self.timers[timer]()
        return self._conversation.take_effects()

    def is_welcome(self, message: FromServer) -> bool:
        """May this have been said by another client? Only pairs, and only with a ticket of the server's."""
        return isinstance(message, Pairs) and tickets.is_good(self._conversation.secret, message)

    @property
    def peer(self) -> Peer:
        """Who it is, in its present life."""
        return self._conversation.peer

    @property
    def campaign(self) -> int:
        """The campaign it works on, or 0."""
        return self._conversation.campaign

    @property
    def may_round(self) -> bool:
        """A result may be of several tests."""
        return not self._reporting.batches.whole

    @property
    def waiting(self) -> int:
        """Pairs that it holds, besides the one that runs."""
        return len(self._queue)

    @property
    def sharable(self) -> int:
        """Those of them that others could have."""
        return sum(not self._is_ours_alone(pair.id) for pair in self._queue)

    def _concerns_us(self, message: FromServer) -> bool:
        """Not so if it was meant for an earlier life, or comes from an earlier epoch of the server."""
        if message.to != self.peer:
            return False
        if isinstance(message, Pairs):
            late = message.giver == SERVER and message.req >> EPOCH_SHIFT != self._conversation.epoch
            return not late and message.campaign == self._conversation.campaign
        if isinstance(message, Stop):
            return self._conversation.campaign in (0, message.campaign)
        if isinstance(message, Rejoin) and not message.given_up:
            return message.epoch > self._conversation.epoch
        return True

    def _event_of(self, message: FromServer) -> ClientEvent:
        match message:
            case Rejoin(given_up=True):
                return ClientEvent.GIVEN_UP
            case Stop(again=True):
                return ClientEvent.NEXT
            case Gone() if self._again:
                return ClientEvent.MOVED
        return _EVENTS[type(message)]

    def _event(self, event: ClientEvent, what: FromServer | Sequence[Result] | None = None) -> None:
        """Look up what is to be done, do it, then see what follows from it."""
        self.state, action = CLIENT[self.state, event]
        if action is not None:
            self.actions[action](what)
        self._look_around()

    def _look_around(self) -> None:
        """What the new situation makes possible: share, send, run; and the events that are nobody's message."""
        state = self.state
        if state is ClientState.BUSY and self._running is None and not self._reporting.batches.overfull:
            if not self._queue:
                self._event(ClientEvent.OUT)
                return
            self._running = self._queue.take()
            self._conversation.do(Run(self._running))
        if state is ClientState.BUSY and self._giving.asked:
            self._giving.share(self._is_ours_alone)
        if state in _REPORTING and self._urgent():
            self._reporting.send_next()
        if state is ClientState.FLUSHING and self._queue:
            self._event(ClientEvent.WORK)
        elif state in _CLEARING and self._is_clear():
            self._event(ClientEvent.CLEAR)

    def _is_clear(self) -> bool:
        """Nothing runs, results are acknowledged, gifts are taken."""
        open_ = not self._reporting.batches.clear or self._receiving.open or self._giving.open
        return self._running is None and not open_

    def _urgent(self) -> bool:
        """Is the batch to be sent before it is full?"""
        if self._reporting.batches.full or self.state is not ClientState.BUSY:
            return True
        return self._giving.asked and self._reporting.batches.has_fresh

    # Joining and leaving ------------------------------------------------------------------------------------

    def _say_hello(self) -> None:
        conversation = self._conversation
        about = conversation.campaign, self._image
        conversation.say(Hello(self.peer, conversation.epoch, VERSION, self._address, self._where, *about))
        conversation.repeat(ClientTimer.HELLO)

    def _begin(self, message: Welcome) -> None:
        conversation = self._conversation
        conversation.epoch, conversation.campaign = message.epoch, message.campaign
        conversation.secret = message.secret
        self._reporting.batches.whole = message.whole
        conversation.timers.clear(ClientTimer.HELLO)
        self._reporting.send_again()
        self._reporting.wait_for_more()

    def _renew(self, message: Welcome) -> None:
        """The server has started again: what it had not put into the record it does not know."""
        conversation = self._conversation
        if message.epoch < conversation.epoch:
            return
        if message.campaign != conversation.campaign:  # the answer to a HELLO from before we had one
            self._say_hello()
            return
        self._reporting.batches.whole = message.whole
        conversation.secret = message.secret
        conversation.timers.clear(ClientTimer.HELLO)
        if message.epoch == conversation.epoch:
            return
        conversation.epoch = message.epoch
        self._reporting.send_again()
        self._receiving.repeat_acks()
        if self.state is ClientState.IDLE:
            self._receiving.say_empty()

    def _be_refused(self, message: Refused) -> None:
        self._conversation.timers.clear_all()
        self._conversation.do(End((message.what, message.hint)))

    def _start_anew(self, why: Rejoin | Gone | Stop) -> None:
        """Begin another life. What the server knows is others' now; what it does not know yet stays with us."""
        other_work = not isinstance(why, Rejoin)
        self._conversation.peer = Peer(self.peer.client, self.peer.incarnation + 1)
        self._conversation.secret = b""
        self._giving.forget()
        self._receiving.forget()
        self._conversation.timers.clear_all()
        is_fresh = self._reporting.batches.is_fresh
        self._queue.drop([pair.id for pair in self._queue if other_work or not is_fresh(pair.id)])
        if other_work:
            self._running, self._again, self._conversation.campaign = None, False, 0
            self._reporting.forget()
        self._say_hello()
        if self.state is ClientState.LEAVING:
            self._reporting.send_again()

    def _drain(self, message: Leave) -> None:
        self._again = message.again
        self._giving.refuse_held()

    def _say_bye(self) -> None:
        self._conversation.say(Bye(self.peer, self._conversation.epoch, self._failed))
        if self.state is ClientState.PARTING:
            self._conversation.repeat(ClientTimer.BYE)

    def _stop(self) -> None:
        self._queue.drop([pair.id for pair in self._queue])
        self._say_bye()
        self._end()

    def _end(self) -> None:
        self._conversation.timers.clear_all()
        self._conversation.do(End())

    # Results ------------------------------------------------------------------------------------------------

    def _book(self, results: Sequence[Result]) -> None:
        done = {result.id for result in results}
        for result in results:
            if self._reporting.batches.add(result):
                self._queue.add([child for child in result.children if child.id not in done])
        if self.state is ClientState.BUSY:
            self._reporting.wait_for_more()

    def _while_reporting(self, say: Callable[[], None]) -> None:
        if self.state in _REPORTING:
            say()

    # Pairs from and for others ------------------------------------------------------------------------------

    def _say_empty_again(self) -> None:
        if self.state is ClientState.IDLE:
            self._receiving.say_empty()

    def _drop_ack(self, message: Noted) -> None:
        self._reporting.batches.own(self._receiving.drop_ack(message))

    def _settle(self, message: Settled) -> None:
        self._giving.settle(message, take_back=self.state is not ClientState.LEAVING)

    def _is_ours_alone(self, ident: bytes) -> bool:
        """The server does not know yet that this pair is here: so nobody else can get it from us."""
        return self._reporting.batches.is_fresh(ident)


_REPORTING = frozenset({ClientState.BUSY, ClientState.FLUSHING, ClientState.LEAVING})
_CLEARING = frozenset({ClientState.FLUSHING, ClientState.LEAVING})
