"""What the server knows of its clients one by one: a session for each, a way to pick some at random; and their deals.

A deal is that a client was asked to give pairs to another one, and may still do it. A hand-over is valid only under a
deal: so a client can take nothing from another by saying that it got it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from score_embed.fleet.messages import Peer
from score_embed.fleet.origin import OWN, Origin
from score_embed.fleet.protocol import Status

MOST_DEALS = 1024  # of one giver: one that never answers is asked for others again and again
_Deal = tuple[int, Peer]  # REQ, receiver


@dataclass(slots=True, eq=False)
class Session:
    """What the server knows of a client in one of its lives. All of it is hints; the frontier is the truth."""

    peer: Peer
    campaign: int
    heard: float  # when it was last heard of
    joined: float
    origin: Origin = OWN
    useful: float = 0.0  # when it last brought a result, or got pairs
    status: Status = Status.AWAITED
    address: str = ""  # where others reach it directly; empty: they do not
    where: str = ""
    queue: int = 0  # pairs that it holds, as it last said
    refusals: int = 0  # NACKs since it last had pairs
    tests: int = 0
    batch: int = 0  # the last one that was taken in
    turn: int = 0  # hand-overs it has received
    since: float = 0.0  # when its status changed
    again: bool = False  # if it was told to leave: it is to join once more
    due: float = 0.0  # when LEAVE or STOP is to be said once more
    pause: float = 0.0

    def values(self, now: float) -> dict[str, float]:
        """What a `condition` asks for."""
        waiting = now - self.since if self.status is Status.IDLE else 0.0
        return {"queue": self.queue, "tests": self.tests, "time": now - self.joined, "waiting": waiting}


class SessionSet:
    """Sessions to pick from at random, reproducibly."""

    def __init__(self) -> None:
        self._sessions: list[Session] = []
        self._place: dict[Peer, int] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def add(self, session: Session) -> None:
        if session.peer not in self._place:
            self._place[session.peer] = len(self._sessions)
            self._sessions.append(session)

    def discard(self, session: Session) -> None:
        place = self._place.pop(session.peer, None)
        if place is None:
            return
        last = self._sessions.pop()
        if last is not session:
            self._sessions[place] = last
            self._place[last.peer] = place

    def sample(self, rng: random.Random, count: int) -> list[Session]:
        if len(self._sessions) <= count:
            return list(self._sessions)
        return rng.sample(self._sessions, count)


class Deals:
    def __init__(self) -> None:
        self._open: dict[Peer, dict[_Deal, None]] = {}  # by giver, the oldest first

    def open(self, req: int, giver: Peer, receiver: Peer) -> None:
        deals = self._open.setdefault(giver, {})
        deals[req, receiver] = None
        if len(deals) > MOST_DEALS:
            del deals[next(iter(deals))]

    def is_open(self, req: int, giver: Peer, receiver: Peer) -> bool:
        return (req, receiver) in self._open.get(giver, ())

    def close(self, req: int, giver: Peer, receiver: Peer) -> bool:
        """It is done, or off; False if there was none."""
        deals = self._open.get(giver)
        if deals is None or (req, receiver) not in deals:
            return False
        del deals[req, receiver]
        if not deals:
            del self._open[giver]
        return True

    def close_to(self, receiver: Peer) -> list[tuple[int, Peer]]:
        """It takes no more: this life of it is over. Returns the REQs of its deals, each with the giver."""
        off = [(req, giver) for giver, deals in self._open.items() for req, to in deals if to == receiver]
        for req, giver in off:
            self.close(req, giver, receiver)
        return off

    def forget(self, giver: Peer) -> None:
        """It gives no more: this life of it is over."""
        self._open.pop(giver, None)
