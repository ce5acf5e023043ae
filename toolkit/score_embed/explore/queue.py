"""The pairs that wait to be run, in the order of a strategy. Memory holds the first ones, the backlog all.

The backlog is the campaign's record, which knows every waiting pair with its rank anyway. So to spill is to forget:
all pairs of a lane ranked above its `end` wait in the backlog only, and are fetched when memory has run out of better ones.

A strategy may be made of several orders that take turns. Each then has a *lane*, a queue of its own: the pairs whose ranks
begin alike. Which lane is next the strategy says.

What was put off (a flip that was too hard before, the rest of a long path) waits behind all others, whatever the strategy
says: a byte before the strategy's rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Protocol

from score_embed.explore.pair import Pair
from score_embed.explore.strategy import Place, Strategy

MEMORY = 64 << 20  # bytes of pairs, about
_LANE = 2  # bytes of a rank that say its lane: how often it was put off, and the strategy's first
_ABOVE = b"\xff" * 32  # behind a lane's name: above all of its ranks
_OVERHEAD = 512  # bytes that a pair in memory takes besides its input, measured


class Backlog(Protocol):
    """Knows all pairs that wait. What `add` returned must be in it before the next `take`."""

    def waiting(self) -> int: ...

    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Rank and serialised pair of those ranked above `rank`, in order of rank."""

    def unranked(self) -> Iterator[tuple[bytes, bytes]]:
        """Id and serialised pair of those without a rank, the oldest first: the fleet's clients each have an order."""

    def rerank(self, ident: bytes, rank: bytes) -> None:
        """This pair has another rank from now on."""


@dataclass(slots=True)
class _Lane:
    heap: list[tuple[bytes, bytes, Pair]] = field(default_factory=list)  # rank, id, pair
    size: int = 0  # bytes of these, about
    end: bytes | None = None  # the pairs ranked above it are in the backlog only; None: all are in memory


class Queue:
    """A priority queue of bounded size. Without a backlog its size is not bounded."""

    def __init__(self, strategy: Strategy, backlog: Backlog | None = None, memory: int = MEMORY) -> None:
        self._strategy, self._backlog, self._memory = strategy, backlog, memory
        self._lanes: dict[bytes, _Lane] = {}  # those in which pairs wait
        self._bytes = 0  # of pairs in memory, about
        self._away = 0  # pairs that are in the backlog only
        self._runs = 0  # that brought pairs
        self.taken = b""  # the rank of the pair that was taken last

    def add(self, pairs: Sequence[Pair]) -> tuple[bytes, ...]:
        """Pairs derived from one run, shallowest flip first; returns their ranks, for the backlog."""
        ranks = tuple(ranked(self._strategy, pair, Place(self._runs, flip)) for flip, pair in enumerate(pairs))
        self._runs += bool(pairs)
        for rank, pair in zip(ranks, pairs, strict=True):
            self._push(rank, pair)
        if self._bytes > self._memory and self._backlog is not None:
            self._spill()
        return ranks

    def take(self) -> Pair | None:
        """The next pair, or None if none waits."""
        self._fill()
        while self._lanes:
            rank, pair = self._pop(next_lane(self._strategy, self._lanes))
            now = rank[:1] + self._strategy.on_top(pair, rank[1:])
            if now == rank:
                self.taken = rank
                return pair
            if self._backlog is not None:
                self._backlog.rerank(pair.id, now)
            self._push(now, pair)
            self._fill()
        return None

    def put_back(self, pair: Pair) -> None:
        """The pair that was taken last was not run."""
        self._push(self.taken, pair)

    def __len__(self) -> int:
        return sum(len(lane.heap) for lane in self._lanes.values()) + self._away

    def __iter__(self) -> Iterator[tuple[bytes, Pair]]:
        """Rank and pair of those in memory."""
        return ((rank, pair) for lane in self._lanes.values() for rank, _, pair in lane.heap)

    # Keeping and going on -----------------------------------------------------------------------------------

    def state(self) -> int:
        """What the backlog does not know."""
        return self._runs

    def restore(self, state: int) -> None:
        """Go on with what waits in the backlog."""
        assert self._backlog is not None
        self._runs = state
        for ident, data in self._backlog.unranked():
            self._backlog.rerank(ident, ranked(self._strategy, Pair.from_bytes(data), Place(self._runs, 0)))
            self._runs += 1
        self._lanes = {lane: _Lane(end=lane) for lane in _lanes(self._backlog)}
        self._bytes, self._away = 0, self._backlog.waiting()

    # How ----------------------------------------------------------------------------------------------------

    def _push(self, rank: bytes, pair: Pair) -> None:
        lane = self._lanes.get(lane_of(rank))
        if lane is None:
            lane = self._lanes[lane_of(rank)] = _Lane()
        elif lane.end is not None and rank > lane.end:
            self._away += 1
            return
        heappush(lane.heap, (rank, pair.id, pair))
        lane.size += _size(pair)
        self._bytes += _size(pair)

    def _pop(self, name: bytes) -> tuple[bytes, Pair]:
        lane = self._lanes[name]
        rank, _, pair = heappop(lane.heap)
        lane.size -= _size(pair)
        self._bytes -= _size(pair)
        if not lane.heap and lane.end is None:
            del self._lanes[name]
        return rank, pair

    def _spill(self) -> None:
        """Forget those of each lane that the order wants last, so that half of the memory stays in use."""
        for lane in self._lanes.values():
            lane.heap.sort()
            allowed = lane.size * (self._memory // 2) // self._bytes
            while lane.size > allowed and len(lane.heap) > 1:
                lane.size -= _size(lane.heap.pop()[2])
                self._away += 1
            if lane.heap:
                lane.end = lane.heap[-1][0]
        self._bytes = sum(lane.size for lane in self._lanes.values())

    def _fill(self) -> None:
        """Each lane has a pair in memory; those in which nothing waits any more are gone."""
        for name in [name for name, lane in self._lanes.items() if not lane.heap]:
            if not self._fetch(name, self._lanes[name]):
                del self._lanes[name]

    def _fetch(self, name: bytes, lane: _Lane) -> bool:
        """A share of half of the memory full of what comes next from the backlog; False if nothing waits there."""
        assert self._backlog is not None
        assert lane.end is not None
        most, after = self._memory // 2 // len(self._lanes), lane.end
        lane.end = None
        for rank, data in self._backlog.waiting_after(after):
            if lane_of(rank) != name:
                break
            pair = Pair.from_bytes(data)
            lane.heap.append((rank, pair.id, pair))  # in order, so it is a heap
            lane.size += _size(pair)
            if lane.size > most:
                lane.end = rank
                break
        self._bytes += lane.size
        self._away = max(0, self._away - len(lane.heap))
        return bool(lane.heap)


def _size(pair: Pair) -> int:
    return _OVERHEAD + (len(pair.input) if pair.route is None else 0)  # flips of a run share its input


def ranked(strategy: Strategy, pair: Pair, place: Place) -> bytes:
    """The pair's rank in this order, after how often it was put off."""
    return bytes([pair.behind]) + strategy.rank(pair, place)


def lane_of(rank: bytes) -> bytes:
    return rank[:_LANE]


def next_lane(strategy: Strategy, lanes: Iterable[bytes]) -> bytes:
    """Of these, of which there is at least one: what was put off least, then what the strategy says."""
    names = sorted(lanes)
    behind = names[0][:1]
    return behind + bytes([strategy.turn([name[1] for name in names if name[:1] == behind])])


def _lanes(backlog: Backlog) -> Iterator[bytes]:
    """The lanes of what waits there."""
    found = next(backlog.waiting_after(b""), None)
    while found is not None:
        lane = lane_of(found[0])
        yield lane
        found = next(backlog.waiting_after(lane + _ABOVE), None)
