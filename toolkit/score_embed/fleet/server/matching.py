"""Who gives pairs to whom in a campaign: the pool to whoever waits, then clients that have many, asked by REQ.

Whoever is asked is the best of four picked at random, by the length of queue it last told: nearly as good as the best
of all, and no two victims are the same. One REQ serves several that wait. A client that waits is *promised* to one REQ
or one hand-over from the pool at a time; a NACK makes it wait again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from score_embed.fleet.messages import MAX_PAIRS, MAX_RECEIVERS, Peer
from score_embed.fleet.protocol import Status, Timing
from score_embed.fleet.server.frontier import Frontier
from score_embed.fleet.server.sessions import Session, SessionSet

CHOICE = 4  # clients of which the one with the longest queue is asked
_REFUSALS = 16  # that are counted
POOL_SHARE = 1024  # pairs handed over from the pool at a time


@dataclass(slots=True)
class Request:
    """A REQ that is not answered for all yet."""

    number: int
    giver: Session
    receivers: dict[Peer, Session]
    due: float  # when to say it once more
    pause: float
    tries: int = 1  # times that it was said


@dataclass(slots=True)
class Grant:
    """Pairs from the pool that are not acknowledged yet."""

    number: int
    receiver: Session
    ids: tuple[bytes, ...]
    due: float
    pause: float


class Matcher:
    def __init__(self, frontier: Frontier, timing: Timing, rng: random.Random) -> None:
        self._frontier, self._timing, self._rng = frontier, timing, rng
        self._waiting: dict[Peer, Session] = {}  # IDLE and not promised; who has waited longest first
        self._promised: dict[Peer, int] = {}  # IDLE → REQ or grant
        self._busy = SessionSet()  # who may be asked
        self._resting: dict[Peer, tuple[Session, float]] = {}  # who may be asked again from then on
        self._requests: dict[int, Request] = {}
        self._by_giver: dict[Peer, Request] = {}
        self._grants: dict[int, Grant] = {}

    # Who waits, who can give --------------------------------------------------------------------------------

    def waits(self, session: Session) -> None:
        self._waiting.setdefault(session.peer, session)

    def can_give(self, session: Session) -> None:
        if session.peer not in self._resting:
            self._busy.add(session)

    def rest(self, giver: Session, now: float) -> None:
        """It had too little: ask others for a while, ever longer, until it says that it has more."""
        pause = min(self._timing.rest * 2**giver.refusals, self._timing.resend_most)
        giver.refusals = min(giver.refusals + 1, _REFUSALS)
        self._resting[giver.peer] = giver, now + pause

    def told(self, session: Session) -> None:
        """It said how many pairs it has."""
        if session.queue:
            session.refusals = 0
            self._wake(session.peer)

    @property
    def next_rested(self) -> float | None:
        """When somebody may be asked again, if anybody waits for that."""
        if not self._waiting or not self._resting:
            return None
        return min(until for _, until in self._resting.values())

    def _wake(self, peer: Peer) -> None:
        session, _ = self._resting.pop(peer, (None, 0.0))
        if session is not None and session.status is Status.BUSY:
            self._busy.add(session)

    def leaves(self, session: Session) -> Session | None:
        """It neither waits nor gives any more; those it was to serve wait again. Returns a giver that is free now."""
        self.release(session)
        self._waiting.pop(session.peer, None)
        self._grants = {number: grant for number, grant in self._grants.items() if grant.receiver is not session}
        promise = self._promised.pop(session.peer, None)
        return None if promise is None else self._take_off(promise, session.peer)

    def release(self, giver: Session) -> None:
        """It can give nothing; its REQ is void."""
        self._busy.discard(giver)
        self._resting.pop(giver.peer, None)
        request = self._by_giver.get(giver.peer)
        if request is not None:
            self._wait_again(request, list(request.receivers))

    # Matches --------------------------------------------------------------------------------------------------

    def grants(self, new_number: Iterator[int], now: float) -> Iterator[Grant]:
        """Hand the pool out, in equal shares, to those who wait; the pairs have new owners from now on."""
        while self._waiting and self._frontier.pool:
            share = -(-self._frontier.pool // len(self._waiting))
            ids = tuple(self._frontier.first_of_pool(min(share, POOL_SHARE, MAX_PAIRS)))
            session = self._waiting.pop(next(iter(self._waiting)))
            for ident in ids:
                self._frontier.move(ident, session.peer)
            pause = self._timing.resend
            grant = Grant(next(new_number), session, ids, now + pause, pause)
            self._grants[grant.number] = grant
            self._promised[session.peer] = grant.number
            yield grant

    def requests(self, new_number: Iterator[int], now: float) -> Iterator[Request]:
        """Choose who is to share with those who wait."""
        for peer in [peer for peer, (_, until) in self._resting.items() if until <= now]:
            self._wake(peer)
        while self._waiting and len(self._busy):
            giver = max(self._busy.sample(self._rng, CHOICE), key=lambda session: session.queue)
            share = min(-(-len(self._waiting) // len(self._busy)), MAX_RECEIVERS)
            receivers = {peer: self._waiting[peer] for peer, _ in zip(self._waiting, range(share), strict=False)}
            pause = self._timing.hold + self._timing.resend
            request = Request(next(new_number), giver, receivers, now + pause, pause)
            for peer in receivers:
                del self._waiting[peer]
                self._promised[peer] = request.number
            self._busy.discard(giver)
            self._requests[request.number] = self._by_giver[giver.peer] = request
            yield request

    # What became of them ------------------------------------------------------------------------------------

    def arrived(self, number: int, receiver: Session) -> list[Session]:
        """An ACK came. Returns the givers that are free now: of this REQ, and of another that it was promised to. It
        has pairs, from wherever: nobody else need serve it."""
        self._waiting.pop(receiver.peer, None)
        promise = self._promised.pop(receiver.peer, number)
        self._grants.pop(number, None)
        served = (self._take_off(each, receiver.peer) for each in dict.fromkeys((number, promise)))
        return [giver for giver in served if giver is not None]

    def refused(self, number: int, giver: Session, receivers: tuple[Peer, ...]) -> Session | None:
        """A NACK came: these wait again. Returns the giver if it is free now."""
        request = self._requests.get(number)
        return self._wait_again(request, receivers) if request is not None and request.giver is giver else None

    def open_grant_of(self, receiver: Session) -> Grant | None:
        for grant in self._grants.values():
            if grant.receiver is receiver:
                return grant
        return None

    def void(self, grant: Grant) -> bool:
        """Nothing of it is left to be handed over. Says whether its receiver waits again."""
        peer = grant.receiver.peer
        if self._grants.pop(grant.number, None) is None or self._promised.get(peer) != grant.number:
            return False
        del self._promised[peer]
        self._waiting[peer] = grant.receiver
        return True

    def overdue(self, now: float) -> Iterator[Request | Grant]:
        """What was not answered for long; each time after a longer pause."""
        open_: list[Request | Grant] = [*self._requests.values(), *self._grants.values()]
        for match in open_:
            if match.due <= now:
                match.pause = min(2 * match.pause, self._timing.resend_most)
                match.due = now + match.pause
                if isinstance(match, Request):
                    match.tries += 1
                yield match

    # How ----------------------------------------------------------------------------------------------------

    def _take_off(self, number: int, receiver: Peer) -> Session | None:
        request = self._requests.get(number)
        if request is None or request.receivers.pop(receiver, None) is None:
            return None
        return self._close_if_answered(request)

    def _wait_again(self, request: Request, receivers: tuple[Peer, ...] | list[Peer]) -> Session | None:
        for peer in receivers:
            session = request.receivers.pop(peer, None)
            if session is not None and self._promised.get(peer) == request.number:
                del self._promised[peer]
                self._waiting[peer] = session
        return self._close_if_answered(request)

    def _close_if_answered(self, request: Request) -> Session | None:
        if request.receivers or self._requests.pop(request.number, None) is None:
            return None
        del self._by_giver[request.giver.peer]
        return request.giver
