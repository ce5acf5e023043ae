"""The queue of pairs that a client holds, and how it is split to be shared: every second one by depth.

A pair at depth k stands for all paths that part from its path below k, so shares alike in depth are alike in work. The
order in which a client runs its pairs is its own affair: `Queue` is what the protocol asks for, `Stack` the order of
the recursive algorithm, deepest flip of the newest path first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from score_embed.fleet.messages import Pair, in_one_message


class Queue(Protocol):
    """Pairs that wait to be run. No two have the same id."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Pair]: ...

    def add(self, pairs: Iterable[Pair]) -> None:
        """Take these in, shallowest flip first; those that are here already stay once."""

    def take(self) -> Pair:
        """The pair to run next; it leaves the queue."""

    def drop(self, ids: Iterable[bytes]) -> None:
        """Forget these, if they are here."""


class Stack:
    """The newest pair first."""

    def __init__(self) -> None:
        self._pairs: dict[bytes, Pair] = {}

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._pairs.values())

    def add(self, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            self._pairs.setdefault(pair.id, pair)

    def take(self) -> Pair:
        return self._pairs.popitem()[1]

    def drop(self, ids: Iterable[bytes]) -> None:
        for ident in ids:
            self._pairs.pop(ident, None)


def split(pairs: Iterable[Pair], count: int) -> list[tuple[Pair, ...]]:
    """All of `count` shares but the first, which is the giver's: by turns, in order of depth."""
    in_order = sorted(pairs, key=lambda pair: (pair.depth, pair.id))
    return [in_one_message(in_order[share::count]) for share in range(1, count)]
