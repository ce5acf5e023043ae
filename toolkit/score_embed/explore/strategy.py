"""The orders of the queue. Algorithm 2 reaches the same set of paths in any order; an order decides which come first.

An order gives each pair a *rank* when it becomes known: bytes that sort, the smallest first. So one queue serves all
orders, and pairs that memory has no room for can be kept, sorted, where only bytes are understood.
"""

from __future__ import annotations

import math
import struct
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from score_embed.explore.pair import Pair
from score_embed.explore.prf import number

_RANK = struct.Struct(">QII")
_LAST = 2**32 - 1
_RING = struct.Struct(">Q")
# Of `Mixed`, whose orders are coverage, dfs and random; measured with bench/orders.py.
_SHARES = (2, 1, 1)  # of the turns
_FRESH = (0, 0, 0, 0, 0, 0, 1, 2)  # whose a pair is while tests cover something new: by chance one of these
_STALE = (0, 1, 1, 1, 1, 1, 1, 2)  # and when they have not for long
_TURN = 8  # pairs
_PATIENCE = 256  # pairs without anything new; later a quarter of all
_UNIT = 1 << 40  # of the clocks of `Random`
_QUARTER = 4  # of `Deciding`: so many pairs that may show something have the turn of one that does not


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

    def turn(self, lanes: Sequence[int]) -> int:
        """Whose turn it is, of the first bytes of the ranks of pairs that wait (in order, at least one)."""
        return lanes[0]


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

    def leads_on(self, pair: Pair) -> bool:
        """To a direction that no test has taken; or nobody knows where."""
        return not pair.targets or any(index not in self._covered for index in pair.targets)

    def place(self, rank: bytes) -> Place:
        """That of the pair with this rank."""
        _, run, flip = _RANK.unpack(rank)
        return Place(_LAST - run, _LAST - flip)

    def _rank(self, pair: Pair, run: int, flip: int) -> bytes:
        if self.leads_on(pair):
            return _RANK.pack(0, run, flip)
        self._turns[pair.targets.start] += 1
        return _RANK.pack(self._turns[pair.targets.start], run, flip)


class Deciding(Strategy):
    """For MC/DC: `coverage`, but a pair that may complete a vector which shows something new takes a quarter of a turn.

    How the earlier conditions of the decision came out is known of a pair, the later ones are not: these are found by turns,
    too. What a decision cannot show takes turns as long as nobody knows.
    """

    def __init__(self, covered: AbstractSet[int], may_show: Callable[[Pair], bool]) -> None:
        """`may_show`: is asked once, of a pair that is new."""
        self._covered = covered  # coverage indices; it grows while the campaign goes on
        self._may_show = may_show
        self._turns: Counter[int] = Counter()  # given to each direction so far

    def rank(self, pair: Pair, place: Place) -> bytes:
        return self._rank(pair, self._may_show(pair), _LAST - place.run, _LAST - place.flip)

    def on_top(self, pair: Pair, rank: bytes) -> bytes:
        turn, run, flip = _RANK.unpack(rank)
        return rank if turn else self._rank(pair, False, run, flip)

    def _rank(self, pair: Pair, may_show: bool, run: int, flip: int) -> bytes:
        if not pair.targets or any(index not in self._covered for index in pair.targets):
            return _RANK.pack(0, run, flip)
        self._turns[pair.targets.start] += 1
        turn = self._turns[pair.targets.start]
        return _RANK.pack(1 + (turn // _QUARTER if may_show else turn), run, flip)


class Mixed(Strategy):
    """Orders that take turns, each with pairs of its own: no order stays in its corner for longer than the others' turns.

    While tests still cover something new, nearly all pairs are those of `coverage`. When that has not happened for a while, they
    go to `dfs`, which runs them fastest; but for those that lead to a direction that no test has taken. A turn lasts for
    several pairs: neighbours in an order have more of their paths in common.
    """

    def __init__(self, seed: int, covered: AbstractSet[int]) -> None:
        self._seed, self._covered = seed, covered
        self._uncovered = UncoveredFirst(covered)
        self._orders = [self._uncovered, DepthFirst(), Random(seed)]
        self._had = [0.0] * len(self._orders)  # turns of each by its share
        self._lane = self._left = 0  # whose turn it is, and for how many pairs more
        self._taken = 0  # pairs
        self._grown = 0  # when something new was covered: `_taken` then
        self._known = -1  # covered directions

    def rank(self, pair: Pair, place: Place) -> bytes:
        lane = self._owner(pair)
        return bytes([lane]) + self._orders[lane].rank(pair, place)

    def on_top(self, pair: Pair, rank: bytes) -> bytes:
        lane, now = rank[0], rank[1:]
        if not lane and self._owner(pair):
            return self.rank(pair, self._uncovered.place(now))
        if pair.pending:  # its question may take longer than many tests
            self._had[lane] += (_TURN - 1) / _SHARES[lane]
            self._left = 0
        return bytes([lane]) + self._orders[lane].on_top(pair, now)

    def turn(self, lanes: Sequence[int]) -> int:
        self._look()
        if not self._left or self._lane not in lanes:
            self._lane, self._left = self._next(lanes), _TURN
        self._left -= 1
        self._had[self._lane] += 1 / _SHARES[self._lane]
        return self._lane

    def _look(self) -> None:
        """Whether something new was covered."""
        self._taken += 1
        if len(self._covered) > self._known:
            self._known, self._grown = len(self._covered), self._taken

    def _next(self, lanes: Sequence[int]) -> int:
        now = self._had[self._lane]
        for lane in range(len(self._orders)):
            if lane not in lanes:
                self._had[lane] = max(self._had[lane], now)  # who has nothing to run saves no turns up
        return min(lanes, key=lambda lane: self._had[lane])

    def _owner(self, pair: Pair) -> int:
        if self._uncovered.leads_on(pair):
            return 0
        owners = _STALE if self._taken - self._grown > max(_PATIENCE, self._taken // 4) else _FRESH
        return owners[(pair.id[0] + self._seed) % len(owners)]


STRATEGIES: dict[str, Callable[[int, AbstractSet[int]], Strategy]] = {
    "mixed": Mixed,
    "dfs": lambda seed, covered: DepthFirst(),
    "exe": lambda seed, covered: OtherBranchFirst(),
    "bfs": lambda seed, covered: BreadthFirst(),
    "random": lambda seed, covered: Random(seed),
    "coverage": lambda seed, covered: UncoveredFirst(covered),
    "mcdc": lambda seed, covered: Deciding(covered, lambda pair: False),  # where nobody knows what is missing
}
