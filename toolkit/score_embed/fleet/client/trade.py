"""A client's pairs from and for others: gifts are taken once and acknowledged, REQs held, answered or refused.

What a client knows stands here, too: the rest of it (`client_side`) is about its own work.
"""

from __future__ import annotations

from score_embed.fleet.client.batches import Batches
from score_embed.fleet.client.queue import Queue
from score_embed.fleet.client.sharing import Gift, Sharing
from score_embed.fleet.messages import (
    Ack,
    Ask,
    Empty,
    Nack,
    Noted,
    Pair,
    Pairs,
    Peer,
    Req,
    Settled,
    ToServer,
)
from score_embed.fleet.protocol import (
    ClientState,
    End,
    Run,
    Send,
    Timing,
    Wake,
)
from score_embed.fleet.timers import Timers

_REMEMBERED = 4096  # hand-overs, so that copies of them are recognised

Effect = Send | Run | Wake | End


class Trade:
    """All that a client knows, and its part in sharing."""

    def __init__(
        self, peer: Peer, queue: Queue, timing: Timing, address: str = "", where: str = "", image: bytes = b""
    ) -> None:
        self.peer, self.state = peer, ClientState.JOINING
        self._queue, self._timing = queue, timing
        self._address, self._where, self._image = address, where, image
        self._epoch = self._campaign = 0
        self._running: Pair | None = None
        self._batches = Batches(timing)
        self._sharing = Sharing(timing)
        self._acks: dict[int, Ack] = {}  # not noted yet, by hand-over
        self._not_noted: set[bytes] = set()  # their pairs, for look-ups only
        self._taken: dict[int, Ack] = {}  # hand-overs received, the latest ones
        self._turn = 0  # how many that were
        self._again = False  # told to leave, and to join once more
        self._now = 0.0
        self._timers = Timers(timing.resend, timing.resend_most)
        self._effects: list[Effect] = []

    # Pairs from others ----------------------------------------------------------------------------------------

    def _do_say_empty(self) -> None:
        self._say(Empty(self.peer, self._epoch, self._turn))
        self._timers.repeat("empty", self._now)

    def _due_empty(self) -> None:
        if self.state is ClientState.IDLE:
            self._do_say_empty()

    def _do_take(self, message: Pairs) -> None:
        """Take pairs over, once; a copy shows that our ACK is not known yet."""
        self._timers.clear("empty")
        ack = self._taken.get(message.req)
        if ack is None:
            self._turn += 1
            ids = tuple(pair.id for pair in message.pairs)
            ack = Ack(self.peer, self._epoch, message.req, message.giver, self._turn, ids)
            self._taken[message.req] = ack
            if len(self._taken) > _REMEMBERED:
                del self._taken[next(iter(self._taken))]
            self._queue.add(message.pairs)
            self._not_noted.update(ids)
        self._acks[message.req] = ack
        self._say_ack(ack)
        self._timers.repeat("acks", self._now)

    def _say_ack(self, ack: Ack) -> None:
        self._say(Ack(self.peer, self._epoch, ack.req, ack.giver, self._turn, ack.ids))

    def _due_acks(self) -> None:
        for ack in self._acks.values():
            self._say_ack(ack)
        if self._acks:
            self._timers.repeat("acks", self._now)

    def _do_drop_ack(self, message: Noted) -> None:
        ack = self._acks.pop(message.req, None)
        if ack is not None:
            self._not_noted.difference_update(ack.ids)
        self._queue.drop(message.drop)
        if not self._acks:
            self._timers.clear("acks")

    # Pairs for others -----------------------------------------------------------------------------------------

    def _do_hold(self, message: Req) -> None:
        again, refused = self._sharing.hold(message, self._now)
        for gift in again:
            self._say_gift(gift, direct=False)
        if refused:
            self._say(Nack(self.peer, self._epoch, message.req, tuple(refused)))
        self._watch_shares()

    def _do_refuse(self, message: Req) -> None:
        self._do_hold(message)
        self._do_refuse_held()

    def _do_refuse_held(self) -> None:
        self._refuse(self._sharing.refuse())

    def _refuse(self, refused: dict[int, list[Peer]]) -> None:
        for req, peers in refused.items():
            self._say(Nack(self.peer, self._epoch, req, tuple(peers)))

    def _give(self, gifts: list[Gift]) -> None:
        for gift in gifts:
            self._say_gift(gift, direct=True)
        if gifts:  # who got nothing may ask those who got something
            self._do_refuse_held()
        self._watch_shares()

    def _say_gift(self, gift: Gift, direct: bool) -> None:
        """From hand to hand; what does not seem to arrive goes by way of the server."""
        receiver = gift.receiver
        pairs = Pairs(receiver.peer, gift.req, self._campaign, self.peer, gift.pairs)
        if direct and receiver.address:
            self._effects.append(Send(pairs, receiver.peer, receiver.address))
        else:
            self._effects.append(Send(pairs))

    def _due_shares(self) -> None:
        self._refuse(self._sharing.refuse(self._now))
        for gift in self._sharing.overdue(self._now):
            self._say_gift(gift, direct=False)
            self._say(Ask(self.peer, self._epoch, gift.req, gift.receiver.peer, gift.pairs[0].id))
        self._watch_shares()

    def _watch_shares(self) -> None:
        due = self._sharing.due
        if due is None:
            self._timers.clear("shares")
        else:
            self._timers.set("shares", due)

    def _do_settle(self, message: Settled) -> None:
        back = self._sharing.settle(message.req, message.receiver, message.taken)
        if self.state is not ClientState.LEAVING:
            self._queue.add(back)
        self._watch_shares()

    def _is_ours_alone(self, ident: bytes) -> bool:
        """The server does not know, or not yet, that this pair is here: so nobody else can get it from us."""
        return self._batches.is_fresh(ident) or ident in self._not_noted

    def _say(self, message: ToServer) -> None:
        self._effects.append(Send(message))
        self._timers.set("alive", self._now + self._timing.status)
