"""The order of the queue. Algorithm 2 reaches the same set of paths in any order; an order decides which come first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from score_embed.explore.pair import Pair


class Strategy(Protocol):
    """A queue of pairs. `add` gets all children of one run at once, shallowest flip first."""

    def add(self, children: Sequence[Pair]) -> None: ...

    def restore(self, pairs: Iterable[Pair]) -> None:
        """Fill from a record, which keeps no order."""

    def take(self) -> Pair | None: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Pair]: ...


class DepthFirst:
    """The deepest flip of the newest path first: the order of the recursive Algorithm 1."""

    def __init__(self) -> None:
        self._stack: list[Pair] = []

    def add(self, children: Sequence[Pair]) -> None:
        self._stack += children

    def restore(self, pairs: Iterable[Pair]) -> None:
        self._stack += sorted(pairs, key=lambda pair: (pair.predicted, pair.id))

    def take(self) -> Pair | None:
        return self._stack.pop() if self._stack else None

    def __len__(self) -> int:
        return len(self._stack)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._stack)
