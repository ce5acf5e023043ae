"""Pairs from client to client, as a client sees it: those that it gives, and those that it takes.

A client holds REQs until it has something to give: one that cannot be served at once is held, because a client that has
little now may have much after its next test; one that was held for too long is answered NACK. What was given stays here
as a copy until the server says that the receiver's ACK is in the record; if the receiver is gone, the copies go back
into the queue.

A client takes each hand-over once, and acknowledges it until the server has noted that. Nothing of it is run before:
whoever gave it may have given what is not its own, or not what the record has. What NOTED leaves of a hand-over is the
client's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from score_embed.fleet import tickets
from score_embed.fleet.client.conversation import ClientTimer, Conversation
from score_embed.fleet.client.queue import Queue, split
from score_embed.fleet.messages import Ack, Ask, Empty, Nack, Noted, Pair, Pairs, Peer, Receiver, Req, Settled
from score_embed.fleet.protocol import REMEMBERED, Send, Timing

_Key = tuple[int, Peer]  # REQ, receiver


@dataclass(slots=True)
class _Held:
    receiver: Receiver
    until: float


@dataclass(slots=True)
class Gift:
    """Pairs that were given and perhaps not taken yet."""

    req: int
    receiver: Receiver
    pairs: tuple[Pair, ...]
    due: float  # when to ask what became of it
    pause: float


class Sharing:
    """The REQs that are held, and the gifts that were not taken yet."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._held: dict[_Key, _Held] = {}  # the oldest first
        self._gifts: dict[_Key, Gift] = {}
        self._answered: dict[_Key, bool] = {}  # was it a gift?

    @property
    def asked(self) -> bool:
        """Somebody waits for pairs."""
        return bool(self._held)

    @property
    def open(self) -> bool:
        """Something was given that may come back."""
        return bool(self._gifts)

    @property
    def due(self) -> float | None:
        """When the next held REQ or gift needs attention."""
        times = [held.until for held in self._held.values()] + [gift.due for gift in self._gifts.values()]
        return min(times, default=None)

    def clear(self) -> None:
        self._held.clear()
        self._gifts.clear()

    def hold(self, req: Req, now: float) -> tuple[list[Gift], list[Peer]]:
        """Take a REQ; returns the gifts to send once more and the peers to refuse once more."""
        again: list[Gift] = []
        refused: list[Peer] = []
        for receiver in req.receivers:
            key = req.req, receiver.peer
            if key in self._gifts:
                again.append(self._gifts[key])
            elif key in self._answered:
                if not self._answered[key]:
                    refused.append(receiver.peer)
            elif key not in self._held:
                self._held[key] = _Held(receiver, now + self._timing.hold)
        return again, refused

    def share(self, queue: Queue, kept: Callable[[bytes], bool], now: float) -> list[Gift]:
        """Split the queue among those who wait, as far as it goes, but for pairs to be `kept`."""
        if not self._held:
            return []
        pairs = [pair for pair in queue if not kept(pair.id)]
        if len(pairs) < self._timing.least:
            return []
        keys = list(self._held)[: max(1, len(pairs) - 1)]
        shares = split(pairs, len(keys) + 1) if len(pairs) > 1 else [tuple(pairs)]
        gifts = []
        for key, share in zip(keys, shares, strict=True):
            queue.drop(pair.id for pair in share)
            receiver = self._held.pop(key).receiver
            pause = self._timing.resend
            gift = self._gifts[key] = Gift(key[0], receiver, share, now + pause, pause)
            self._answer(key, gave=True)
            gifts.append(gift)
        return gifts

    def refuse(self, now: float | None = None) -> dict[int, list[Peer]]:
        """Let go of what was held for too long (without `now`: of all); returns the peers by REQ."""
        refused: dict[int, list[Peer]] = {}
        for key, held in list(self._held.items()):
            if now is None or held.until <= now:
                del self._held[key]
                self._answer(key, gave=False)
                refused.setdefault(key[0], []).append(key[1])
        return refused

    def overdue(self, now: float) -> list[Gift]:
        """Gifts of which nothing was heard for long, to be sent once more; each time after a longer pause."""
        late = [gift for gift in self._gifts.values() if gift.due <= now]
        for gift in late:
            gift.pause = min(2 * gift.pause, self._timing.resend_most)
            gift.due = now + gift.pause
        return late

    def settle(self, req: int, receiver: Peer, taken: bool) -> tuple[Pair, ...]:
        """A gift was taken, or its receiver is gone; returns the pairs that come back."""
        gift = self._gifts.pop((req, receiver), None)
        return () if gift is None or taken else gift.pairs

    def _answer(self, key: _Key, gave: bool) -> None:
        self._answered[key] = gave
        if len(self._answered) > REMEMBERED:
            del self._answered[next(iter(self._answered))]


class Giving:
    """What is said about them."""

    def __init__(self, conversation: Conversation, queue: Queue) -> None:
        self._conversation, self._queue = conversation, queue
        self._sharing = Sharing(conversation.timing)

    @property
    def asked(self) -> bool:
        """Somebody waits for pairs."""
        return self._sharing.asked

    @property
    def open(self) -> bool:
        """Something was given that may come back."""
        return self._sharing.open

    def forget(self) -> None:
        """Neither serve nor take back anything: it was another life that was asked and gave."""
        self._sharing.clear()

    def hold(self, message: Req) -> None:
        again, refused = self._sharing.hold(message, self._conversation.now)
        for gift in again:
            self._say_gift(gift, direct=False)
        if refused:
            self._say_nack(message.req, refused)
        self._watch()

    def refuse(self, message: Req) -> None:
        self.hold(message)
        self.refuse_held()

    def refuse_held(self) -> None:
        self._refuse(self._sharing.refuse())

    def share(self, kept: Callable[[bytes], bool]) -> None:
        """Give to those who wait, as far as it goes, but for pairs to be `kept`."""
        gifts = self._sharing.share(self._queue, kept, self._conversation.now)
        for gift in gifts:
            self._say_gift(gift, direct=True)
        if gifts:  # who got nothing may ask those who got something
            self.refuse_held()
        self._watch()

    def look_after(self) -> None:
        """Refuse what was held for too long; ask what became of gifts."""
        conversation = self._conversation
        self._refuse(self._sharing.refuse(conversation.now))
        for gift in self._sharing.overdue(conversation.now):
            self._say_gift(gift, direct=False)
            conversation.say(Ask(conversation.peer, conversation.epoch, gift.req, gift.receiver.peer, gift.pairs[0].id))
        self._watch()

    def settle(self, message: Settled, take_back: bool) -> None:
        """A gift was taken, or its receiver is gone. `take_back`: then its pairs are to be run here."""
        back = self._sharing.settle(message.req, message.receiver, message.taken)
        if take_back:
            self._queue.add(back)
        self._watch()

    def _refuse(self, refused: dict[int, list[Peer]]) -> None:
        for req, peers in refused.items():
            self._say_nack(req, peers)

    def _say_nack(self, req: int, peers: list[Peer]) -> None:
        self._conversation.say(Nack(self._conversation.peer, self._conversation.epoch, req, tuple(peers)))

    def _say_gift(self, gift: Gift, direct: bool) -> None:
        """From client to client; what does not seem to arrive goes by way of the server."""
        conversation, receiver = self._conversation, gift.receiver
        to = receiver.peer, gift.req, conversation.campaign, conversation.peer, gift.pairs
        if direct and receiver.address:
            conversation.do(Send(Pairs(*to, receiver.ticket), receiver.peer, receiver.address, receiver.key))
        else:
            conversation.do(Send(Pairs(*to)))

    def _watch(self) -> None:
        due = self._sharing.due
        if due is None:
            self._conversation.timers.clear(ClientTimer.SHARES)
        else:
            self._conversation.timers.set(ClientTimer.SHARES, due)


class Receiving:
    def __init__(self, conversation: Conversation, queue: Queue) -> None:
        self._conversation, self._queue = conversation, queue
        self._acks: dict[int, Ack] = {}  # not noted yet, by hand-over
        self._held: dict[int, tuple[Pair, ...]] = {}  # what was handed over, until that is noted
        self._taken: dict[int, Ack] = {}  # hand-overs received, the latest ones
        self._turn = 0  # how many that were

    @property
    def open(self) -> bool:
        """Something was taken of which the server may not know."""
        return bool(self._acks)

    def forget(self) -> None:
        """Acknowledge nothing more: it was another life that took it."""
        self._acks.clear()
        self._held.clear()

    def say_empty(self) -> None:
        conversation = self._conversation
        conversation.say(Empty(conversation.peer, conversation.epoch, self._turn))
        conversation.repeat(ClientTimer.EMPTY)

    def take(self, message: Pairs) -> None:
        """Take pairs over, once; a copy shows that our ACK is not known yet."""
        conversation = self._conversation
        conversation.timers.clear(ClientTimer.EMPTY)
        ack = self._taken.get(message.req)
        if ack is None:
            self._turn += 1
            ids = tuple(pair.id for pair in message.pairs)
            marks = tickets.marks(message.pairs)
            ack = Ack(conversation.peer, conversation.epoch, message.req, message.giver, self._turn, ids, marks)
            self._taken[message.req] = ack
            if len(self._taken) > REMEMBERED:
                del self._taken[next(iter(self._taken))]
            self._held[message.req] = message.pairs
        self._acks[message.req] = ack
        self._say_ack(ack)
        conversation.repeat(ClientTimer.ACKS)

    def repeat_acks(self) -> None:
        for ack in self._acks.values():
            self._say_ack(ack)
        if self._acks:
            self._conversation.repeat(ClientTimer.ACKS)

    def drop_ack(self, message: Noted) -> list[bytes]:
        """Returns the pairs that are ours from now on."""
        self._acks.pop(message.req, None)
        dropped = set(message.drop)
        ours = [pair for pair in self._held.pop(message.req, ()) if pair.id not in dropped]
        self._queue.add(ours)
        self._queue.drop(message.drop)
        if not self._acks:
            self._conversation.timers.clear(ClientTimer.ACKS)
        return [pair.id for pair in ours]

    def _say_ack(self, ack: Ack) -> None:
        conversation = self._conversation
        about = ack.req, ack.giver, self._turn, ack.ids, ack.marks
        conversation.say(Ack(conversation.peer, conversation.epoch, *about))
