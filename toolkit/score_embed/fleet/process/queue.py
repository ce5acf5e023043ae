"""The pairs that a client of the fleet holds, in the order of the campaign's strategy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from score_embed.explore.pair import Pair
from score_embed.explore.queue import lane_of, next_lane, ranked
from score_embed.explore.strategy import Order
from score_embed.fleet import messages
from score_embed.fleet.client.queue import Queue, Stack


class _Held(NamedTuple):
    rank: bytes
    given: messages.Pair  # as it is said to others
    pair: Pair


class StrategyQueue:
    """The `Queue` of the protocol. A pair derived here keeps its lineage, which tells what its run will repeat."""

    def __init__(self, strategy: Order) -> None:
        self._strategy = strategy
        self._held: dict[bytes, _Held] = {}
        self._lanes: dict[bytes, list[tuple[bytes, bytes]]] = {}  # heaps: rank, id; what is not in `_held` so has gone
        self._derived: dict[bytes, tuple[Pair, bytes | None]] = {}
        self.runs = 0  # that have brought pairs
        self.taken: Pair | None = None  # the last one
        self.rank = b""  # its rank

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[messages.Pair]:
        return (held.given for held in self._held.values())

    def derived(self, pairs: Sequence[Pair], ranks: Sequence[bytes] = ()) -> tuple[messages.Pair, ...]:
        """Pairs that runs here have brought, as others may have them. The protocol will add those that stay. `ranks`:
        theirs, if they have some already."""
        for number, pair in enumerate(pairs):
            self._derived[pair.id] = pair, ranks[number] if ranks else None
        return tuple(messages.Pair(pair.id, pair.depth, pair.to_bytes()) for pair in pairs)

    def add(self, pairs: Iterable[messages.Pair]) -> None:
        for flip, given in enumerate(pairs):
            if given.id not in self._held:
                pair, rank = self._derived.get(given.id) or (Pair.from_bytes(given.data), None)
                self._push(_Held(rank or ranked(self._strategy, pair, self.runs, flip), given, pair))
        self.runs += 1

    def take(self) -> messages.Pair:
        self._derived.clear()  # what was not added is another's
        while True:
            self._forget()
            lane = next_lane(self._strategy, self._lanes)
            rank, ident = heappop(self._lanes[lane])
            held = self._held.pop(ident)
            now = rank[:1] + self._strategy.on_top(held.pair, rank[1:])
            if now == rank:
                self.taken, self.rank = held.pair, rank
                return held.given
            self._push(held._replace(rank=now))

    def drop(self, ids: Iterable[bytes]) -> None:
        for ident in ids:
            self._held.pop(ident, None)
        if sum(map(len, self._lanes.values())) > 2 * len(self._held) + 1024:
            self._lanes = {}
            for held in self._held.values():
                self._push(held)

    def _push(self, held: _Held) -> None:
        self._held[held.pair.id] = held
        heappush(self._lanes.setdefault(lane_of(held.rank), []), (held.rank, held.pair.id))

    def _forget(self) -> None:
        """Each lane has a pair that is held on top."""
        for lane, heap in list(self._lanes.items()):
            while heap and not self._holds(*heap[0]):
                heappop(heap)
            if not heap:
                del self._lanes[lane]

    def _holds(self, rank: bytes, ident: bytes) -> bool:
        held = self._held.get(ident)
        return held is not None and held.rank == rank


class SwitchedQueue:
    """The queue of whatever campaign a client works on; before the first, an empty one."""

    def __init__(self) -> None:
        self.inner: Queue = Stack()

    def __len__(self) -> int:
        return len(self.inner)

    def __iter__(self) -> Iterator[messages.Pair]:
        return iter(self.inner)

    def add(self, pairs: Iterable[messages.Pair]) -> None:
        self.inner.add(pairs)

    def take(self) -> messages.Pair:
        return self.inner.take()

    def drop(self, ids: Iterable[bytes]) -> None:
        self.inner.drop(ids)
