"""The order of the queue: nothing else. Uniqueness holds for every order (SCORE, Theorems 1-3).

`dfs` takes the largest j of the newest path first, which visits the tree as the recursive Algorithm 1 does; children
arrive with ascending j, so the end of the queue is the place to take from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from score_embed.explore.pair import Pair


class Strategy(Protocol):
    """A queue of pairs in some order."""

    def add(self, children: Iterable[Pair]) -> None:
        """The pairs derived from one test, by ascending j."""

    def take(self) -> Pair | None:
        """The pair to run next."""

    def __len__(self) -> int: ...

    def pairs(self) -> Iterable[Pair]:
        """All that wait, oldest first."""


class DepthFirst:
    """Largest j of the newest path first."""

    def __init__(self) -> None:
        self._stack: list[Pair] = []

    def add(self, children: Iterable[Pair]) -> None:
        self._stack.extend(children)

    def take(self) -> Pair | None:
        return self._stack.pop() if self._stack else None

    def __len__(self) -> int:
        return len(self._stack)

    def pairs(self) -> Iterable[Pair]:
        return tuple(self._stack)
