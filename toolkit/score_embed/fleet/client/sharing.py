"""How a client answers REQs: it holds them until it has something to give, and keeps what it gave until it is taken.

A REQ that cannot be served at once is held, because a client that has little now may have much after its next test;
one that was held for too long is answered NACK. What was given stays here as a copy until the server says that the
receiver's ACK is in the record; if the receiver is gone, the copies go back into the queue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from score_embed.fleet.client.queue import Queue, split
from score_embed.fleet.messages import Pair, Peer, Receiver, Req
from score_embed.fleet.protocol import Timing

_REMEMBERED = 4096  # answers, so that late copies of a REQ are recognised
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
        if len(self._answered) > _REMEMBERED:
            del self._answered[next(iter(self._answered))]
