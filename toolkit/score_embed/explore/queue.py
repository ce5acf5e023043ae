"""The pairs that wait to be run, in the order of a strategy. Memory holds the first ones, the backlog all.

The backlog is the campaign's record, which knows every waiting pair with its rank anyway. So to spill is to forget:
all pairs ranked above `_end` wait in the backlog only, and are fetched when memory has run out of better ones.

What was put off (a flip that was too hard before, the rest of a long path) waits behind all others, whatever the strategy
says: a byte before the strategy's rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Protocol

from score_embed.explore.pair import Pair
from score_embed.explore.strategy import Place, Strategy

MEMORY = 64 << 20  # bytes of pairs, about
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


class Queue:
    """A priority queue of bounded size. Without a backlog its size is not bounded."""

    def __init__(self, strategy: Strategy, backlog: Backlog | None = None, memory: int = MEMORY) -> None:
        self._strategy, self._backlog, self._memory = strategy, backlog, memory
        self._heap: list[tuple[bytes, bytes, Pair]] = []  # rank, id, pair
        self._bytes = 0  # of pairs in memory, about
        self._end: bytes | None = None  # the pairs ranked above it are in the backlog only; None: all are in memory
        self._away = 0  # how many these are
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
        while self._heap or self._fetch():
            rank, _, pair = heappop(self._heap)
            self._bytes -= _size(pair)
            now = rank[:1] + self._strategy.on_top(pair, rank[1:])
            if now == rank:
                self.taken = rank
                return pair
            if self._backlog is not None:
                self._backlog.rerank(pair.id, now)
            self._push(now, pair)
        return None

    def put_back(self, pair: Pair) -> None:
        """The pair that was taken last was not run."""
        self._push(self.taken, pair)

    def __len__(self) -> int:
        return len(self._heap) + self._away

    def __iter__(self) -> Iterator[tuple[bytes, Pair]]:
        """Rank and pair of those in memory."""
        return ((rank, pair) for rank, _, pair in self._heap)

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
        self._heap.clear()
        self._bytes, self._end, self._away = 0, b"", self._backlog.waiting()

    # How ----------------------------------------------------------------------------------------------------

    def _push(self, rank: bytes, pair: Pair) -> None:
        if self._end is not None and rank > self._end:
            self._away += 1
            return
        heappush(self._heap, (rank, pair.id, pair))
        self._bytes += _size(pair)

    def _spill(self) -> None:
        """Forget those that the order wants last, so that half of the memory stays in use."""
        self._heap.sort()
        while self._bytes > self._memory // 2 and len(self._heap) > 1:
            self._bytes -= _size(self._heap.pop()[2])
            self._away += 1
        self._end = self._heap[-1][0]

    def _fetch(self) -> bool:
        """Half of the memory full of what comes next from the backlog; False if nothing waits there."""
        if self._backlog is None or self._end is None:
            return False
        for rank, data in self._backlog.waiting_after(self._end):
            pair = Pair.from_bytes(data)
            self._heap.append((rank, pair.id, pair))  # in order, so it is a heap
            self._bytes += _size(pair)
            if self._bytes > self._memory // 2:
                self._end = rank
                self._away = max(0, self._away - len(self._heap))
                return True
        self._end, self._away = None, 0
        return bool(self._heap)


def _size(pair: Pair) -> int:
    return _OVERHEAD + (len(pair.input) if pair.route is None else 0)  # flips of a run share its input


def ranked(strategy: Strategy, pair: Pair, place: Place) -> bytes:
    """The pair's rank in this order, after how often it was put off."""
    return bytes([pair.behind]) + strategy.rank(pair, place)
