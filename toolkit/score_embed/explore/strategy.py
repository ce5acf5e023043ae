"""The orders of the queue. Algorithm 2 reaches the same set of paths in any order; an order decides which come first.

An order gives each pair a *rank* when it becomes known: bytes that sort, the smallest first. So one queue serves all
orders, and pairs that memory has no room for can be kept, sorted, where only bytes are understood.
"""

from __future__ import annotations

import math
import struct
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from score_embed.explore.pair import Pair
from score_embed.explore.prf import number

_RANK = struct.Struct(">QII")
_LAST = 2**32 - 1
_RING = struct.Struct(">Q")
_UNIT = 1 << 40  # of the clocks of `Random`


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pair comes from: the number of the run that it was derived from, and of the flip within that run."""

    run: int
    flip: int  # shallowest first


class Strategy(ABC):
    """An order."""

    @abstractmethod
    def rank(self, pair: Pair, place: Place) -> bytes:
        """The rank of a new pair; no two are equal."""

    def on_top(self, pair: Pair, rank: bytes) -> bytes:
        """The rank of the next pair as it is now. If it is another one than before, the pair goes back."""
        return rank


class DepthFirst(Strategy):
    """The deepest flip of the newest path: the order of the recursive Algorithm 1."""

    def rank(self, pair: Pair, place: Place) -> bytes:
        return _RANK.pack(0, _LAST - place.run, _LAST - place.flip)


class OtherBranchFirst(Strategy):
    """The shallowest flip of the newest path."""

    def rank(self, pair: Pair, place: Place) -> bytes:
        return _RANK.pack(0, _LAST - place.run, place.flip)


class BreadthFirst(Strategy):
    """The shallowest flip of all paths, the oldest of equally deep ones: the execution tree level by level."""

    def rank(self, pair: Pair, place: Place) -> bytes:
        return _RANK.pack(pair.depth, place.run, place.flip)


class Random(Strategy):
    """Each waiting pair is as likely to be the next as any other; the seed decides.

    Each pair has a clock that rings after an exponentially distributed time from now, and *now* is when the last
    one rang. Such clocks have no memory, so which of them rings next does not depend on how long it has waited.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._now = 0

    def rank(self, pair: Pair, place: Place) -> bytes:
        wait = -math.log((number(self._seed, pair.id) + 1) / 2**64)
        return _RANK.pack(self._now + int(wait * _UNIT), place.run, place.flip)

    def on_top(self, pair: Pair, rank: bytes) -> bytes:
        (self._now,) = _RING.unpack_from(rank)
        return rank


class UncoveredFirst(Strategy):
    """Pairs that lead to a branch direction no test has taken; then the directions by turns. The newest pair of each.

    By turns means: the n-th pair that leads to some direction comes before the n + 1-st of any other.
    """

    def __init__(self, covered: AbstractSet[int]) -> None:
        self._covered = covered  # coverage indices; it grows while the campaign goes on
        self._turns: Counter[int] = Counter()  # given to each direction so far

    def rank(self, pair: Pair, place: Place) -> bytes:
        return self._rank(pair, _LAST - place.run, _LAST - place.flip)

    def on_top(self, pair: Pair, rank: bytes) -> bytes:
        turn, run, flip = _RANK.unpack(rank)
        return rank if turn else self._rank(pair, run, flip)

    def _rank(self, pair: Pair, run: int, flip: int) -> bytes:
        if not pair.targets or any(index not in self._covered for index in pair.targets):
            return _RANK.pack(0, run, flip)  # also if nobody knows where it leads
        self._turns[pair.targets.start] += 1
        return _RANK.pack(self._turns[pair.targets.start], run, flip)


STRATEGIES: dict[str, Callable[[int, AbstractSet[int]], Strategy]] = {
    "dfs": lambda seed, covered: DepthFirst(),
    "exe": lambda seed, covered: OtherBranchFirst(),
    "bfs": lambda seed, covered: BreadthFirst(),
    "random": lambda seed, covered: Random(seed),
    "coverage": lambda seed, covered: UncoveredFirst(covered),
}
