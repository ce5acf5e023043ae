"""A client of the fleet, sans I/O: takes pairs, has them run, reports, shares, says when it has nothing left.

Its driver hands in messages, ends of tests and the time, and carries out the effects that come back. Everything that
has to arrive is said again until it is answered; saying it twice does no harm. What decides is in `protocol.CLIENT`.
"""

from __future__ import annotations

from typing import Any

from score_embed.fleet.client.batches import Batches
from score_embed.fleet.client.trade import Effect, Trade
from score_embed.fleet.messages import (
    SERVER,
    VERSION,
    Alive,
    Bye,
    FromServer,
    Gone,
    Hello,
    Leave,
    Noted,
    Pairs,
    Peer,
    Refused,
    Rejoin,
    Req,
    Result,
    Results,
    Settled,
    Stop,
    Stored,
    Welcome,
)
from score_embed.fleet.protocol import (
    CLIENT,
    EPOCH_SHIFT,
    IGNORE,
    ClientEvent,
    ClientState,
    End,
    Run,
    Wake,
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


class Client(Trade):
    """Call `start`; then `receive`, `ran` and `tick` as things happen. `leave` makes it go when its test has ended."""

    # What happens -------------------------------------------------------------------------------------------

    def start(self, now: float) -> list[Effect]:
        self._now = now
        self._do_say_hello()
        return self._done()

    def receive(self, message: FromServer, now: float) -> list[Effect]:
        """A message for this client, from the server or another client."""
        self._now = now
        if self._concerns_us(message):
            self._event(self._event_of(message), message)
        return self._done()

    def ran(self, result: Result, now: float) -> list[Effect]:
        """The pair that was to be run has been run."""
        self._now = now
        if self._running is not None and self._running.id == result.id:
            self._running = None
            self._event(ClientEvent.RAN, result)
        return self._done()

    def leave(self, now: float, broken: bool = False) -> list[Effect]:
        """Somebody on this side wants it to go. `broken`: what runs will have no end here; others may run it."""
        self._now = now
        if broken:
            self._running = None
        if (self.state, ClientEvent.LEAVE) in CLIENT:
            self._event(ClientEvent.LEAVE, Leave(self.peer, again=False))
        return self._done()

    def tick(self, now: float) -> list[Effect]:
        """Time has passed."""
        self._now = now
        for name in self._timers.due(now):
            getattr(self, f"_due_{name}")()
        return self._done()

    @property
    def waiting(self) -> int:
        """Pairs that it holds, besides the one that runs."""
        return len(self._queue)

    @property
    def sharable(self) -> int:
        """Those of them that others could have."""
        return sum(not self._is_ours_alone(pair.id) for pair in self._queue)

    @property
    def campaign(self) -> int:
        """The campaign it works on, or 0."""
        return self._campaign

    def _concerns_us(self, message: FromServer) -> bool:
        """Not so if it was meant for an earlier life, or comes from an earlier epoch of the server."""
        if message.to != self.peer:
            return False
        if isinstance(message, Pairs):
            late = message.giver == SERVER and message.req >> EPOCH_SHIFT != self._epoch
            return not late and message.campaign == self._campaign
        if isinstance(message, Stop):
            return self._campaign in (0, message.campaign)
        if isinstance(message, Rejoin) and not message.given_up:
            return message.epoch > self._epoch
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

    def _event(self, event: ClientEvent, what: Any = None) -> None:
        """Look up what is to be done, do it, then see what follows from it."""
        self.state, action = CLIENT[self.state, event]
        if action != IGNORE:
            getattr(self, f"_do_{action}")(*(() if what is None else (what,)))
        self._look_around()

    def _look_around(self) -> None:
        """What the new situation makes possible: share, send, run; and the events that are nobody's message."""
        state = self.state
        if state is ClientState.BUSY and self._running is None and not self._batches.overfull:
            if not self._queue:
                self._event(ClientEvent.OUT)
                return
            self._running = self._queue.take()
            self._effects.append(Run(self._running))
        if state is ClientState.BUSY and self._sharing.asked:
            self._give(self._sharing.share(self._queue, self._is_ours_alone, self._now))
        if state in _REPORTING and self._batches.batch is None and self._batches.waits and self._urgent():
            self._send_batch()
        if state is ClientState.FLUSHING and self._queue:
            self._event(ClientEvent.WORK)
        elif state in _CLEARING and self._is_clear():
            self._event(ClientEvent.CLEAR)

    def _is_clear(self) -> bool:
        """Nothing runs, results are acknowledged, gifts are taken."""
        return self._running is None and self._batches.clear and not self._acks and not self._sharing.open

    def _urgent(self) -> bool:
        """Is the batch to be sent before it is full?"""
        if self._batches.full or self.state is not ClientState.BUSY:
            return True
        return self._sharing.asked and self._batches.has_fresh

    # Joining and leaving ------------------------------------------------------------------------------------

    def _do_say_hello(self, _: Rejoin | None = None) -> None:
        self._say(Hello(self.peer, self._epoch, VERSION, self._address, self._where, self._campaign, self._image))
        self._timers.repeat("hello", self._now)

    def _do_begin(self, message: Welcome) -> None:
        self._epoch, self._campaign = message.epoch, message.campaign
        self._batches.whole = message.whole
        self._timers.clear("hello")
        if self._batches.batch is not None:
            self._say_batch()
        if self._batches.waits:
            self._timers.start("flush", self._now + self._timing.batch_seconds)

    def _do_renew(self, message: Welcome) -> None:
        """The server has started again: what it had not put into the record it does not know."""
        if message.epoch < self._epoch:
            return
        if message.campaign != self._campaign:  # the answer to a HELLO from before we had one
            self._do_say_hello()
            return
        self._batches.whole = message.whole
        self._timers.clear("hello")
        if message.epoch == self._epoch:
            return
        self._epoch = message.epoch
        if self._batches.batch is not None:
            self._say_batch()
        self._due_acks()
        if self.state is ClientState.IDLE:
            self._do_say_empty()

    def _do_be_refused(self, message: Refused) -> None:
        self._timers.clear_all()
        self._effects.append(End((message.what, message.hint)))

    def _do_start_anew(self, why: Rejoin | Gone | Stop) -> None:
        """Begin another life. What the server knows is others' now; what it does not know yet stays with us."""
        other_work = not isinstance(why, Rejoin)
        self.peer = Peer(self.peer.client, self.peer.incarnation + 1)
        self._sharing.clear()
        self._acks.clear()
        self._not_noted.clear()
        self._timers.clear_all()
        self._queue.drop([pair.id for pair in self._queue if other_work or not self._batches.is_fresh(pair.id)])
        if other_work:
            self._running, self._batches, self._campaign, self._again = None, Batches(self._timing), 0, False
        self._do_say_hello()
        if self.state is ClientState.LEAVING and self._batches.batch is not None:
            self._say_batch()

    def _do_drain(self, message: Leave) -> None:
        self._again = message.again
        self._do_refuse_held()

    def _do_say_bye(self, _: Any = None) -> None:
        self._say(Bye(self.peer, self._epoch))
        if self.state is ClientState.PARTING:
            self._timers.repeat("bye", self._now)

    def _do_stop(self, _: Stop) -> None:
        self._queue.drop([pair.id for pair in self._queue])
        self._do_say_bye()
        self._do_end()

    def _do_end(self, _: Any = None) -> None:
        self._timers.clear_all()
        self._effects.append(End())

    # Results ------------------------------------------------------------------------------------------------

    def _do_book(self, result: Result) -> None:
        self._queue.add(result.children)
        self._batches.add(result)
        if self.state is ClientState.BUSY:
            self._timers.start("flush", self._now + self._timing.batch_seconds)

    def _due_flush(self) -> None:
        if self.state in _REPORTING and self._batches.batch is None and self._batches.waits:
            self._send_batch()

    def _send_batch(self) -> None:
        self._batches.next()
        self._timers.clear("flush")
        self._say_batch()

    def _say_batch(self) -> None:
        batch = self._batches.batch
        assert batch is not None
        self._say(Results(self.peer, self._epoch, self._campaign, batch.number, len(self._queue), batch.results))
        self._timers.repeat("batch", self._now)

    def _due_batch(self) -> None:
        if self.state in _REPORTING and self._batches.batch is not None:
            self._say_batch()

    def _do_drop_batch(self, message: Stored) -> None:
        if not self._batches.stored(message.batch):
            return
        self._timers.clear("batch")
        self._queue.drop(message.drop)
        if self._batches.waits:
            self._timers.start("flush", self._now + self._timing.batch_seconds)

    def _due_alive(self) -> None:
        if self.state in _REPORTING:
            self._say(Alive(self.peer, self._epoch, len(self._queue)))

    # How ----------------------------------------------------------------------------------------------------

    def _due_hello(self) -> None:
        self._do_say_hello()

    def _due_bye(self) -> None:
        self._do_say_bye()

    def _done(self) -> list[Effect]:
        wake = self._timers.wake()
        if wake is not None:
            self._effects.append(Wake(wake))
        effects, self._effects = self._effects, []
        return effects


_REPORTING = frozenset({ClientState.BUSY, ClientState.FLUSHING, ClientState.LEAVING})
_CLEARING = frozenset({ClientState.FLUSHING, ClientState.LEAVING})
