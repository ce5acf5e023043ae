"""What comes of a run: children, flips that wait, and why others are none.

A flip that waits is asked on its run's path when its turn comes (the engine's `scope.cpp` goes there and back). So
paths are kept in memory, as routes, for as long as their flips wait and there is room.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeVar
from weakref import ReferenceType, ref

from msgspec import Struct, field

from score_embed.contract.words import Unflipped
from score_embed.engine._core import Route
from score_embed.explore.pair import Pair
from score_embed.trace.trail import Condition, SymbolicObject

__all__ = ["Flips", "Notes", "Outcome", "Route", "Routes", "no_notes"]

Notes = defaultdict[tuple[str, int], int]  # a Counter takes a microsecond to be made
_CONDITIONS_KEPT = 200_000  # of all routes together


def no_notes() -> Notes:
    return defaultdict(int)


class Outcome(NamedTuple):
    """What one test, or the answer to a pending flip, brought."""

    children: tuple[Pair, ...]  # shallowest flip first
    objects: tuple[SymbolicObject, ...]  # the inputs the run declared; none if it sent no events
    is_path: bool  # false if an assumption failed, or the run was cut by the watch-dog or lost
    mispredicted: bool
    notes: Mapping[tuple[str, int], int]  # (what, site) → how often: why the campaign's result is incomplete
    set_aside: Pair | None = None  # what is left of a lost run, for whoever wants it repeated


class Flips(Struct):
    """What came of one path's conditions."""

    children: list[Pair] = field(default_factory=list)  # those that the engine derived, too
    waiting: list[Pair] = field(default_factory=list)  # those of the children that are pending
    notes: Notes = field(default_factory=no_notes)
    unflipped: defaultdict[tuple[int, Unflipped], int] = field(default_factory=lambda: defaultdict(int))
    forks: list[int] = field(default_factory=list)  # sites of the children that are there for another value

    def wait(self, flip: Pair) -> None:
        self.children.append(flip)
        self.waiting.append(flip)

    def unflip(self, condition: Condition, reason: Unflipped) -> None:
        for elsewhere in condition.elsewhere:
            self.unflipped[elsewhere, reason] += 1


class _Path(Protocol):
    def __len__(self) -> int: ...
    def forget(self) -> None: ...


_Kept = TypeVar("_Kept", bound=_Path)


class Routes:
    """The routes that waiting flips keep. Beyond a limit the oldest are forgotten: their flips need another run."""

    def __init__(self, limit: int = _CONDITIONS_KEPT) -> None:
        self._limit = limit
        self._kept: deque[tuple[ReferenceType[_Path], int]] = deque()
        self._size = 0  # of the routes in `_kept`, also of those that nobody needs any more

    def keep(self, route: _Kept) -> _Kept:
        self._kept.append((ref(route), len(route)))
        self._size += len(route)
        while self._size > self._limit and len(self._kept) > 1:
            old, size = self._kept.popleft()
            self._size -= size
            if (forgotten := old()) is not None:
                forgotten.forget()
        return route
