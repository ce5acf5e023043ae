"""The paths that waiting flips keep: a flip that waits is asked on its run's path when its turn comes (the engine's
`scope.cpp` goes there and back).
"""

from __future__ import annotations

from collections import deque
from typing import Protocol, TypeVar
from weakref import ReferenceType, ref

from score_embed.engine._core import Route

__all__ = ["Route", "Routes"]

_CONDITIONS_KEPT = 200_000  # of all routes together


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
