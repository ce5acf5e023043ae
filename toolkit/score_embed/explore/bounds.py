"""Where exploration is told to stop: branches that are not flipped although they could be (the engine's `bounds.hpp`
goes along the path).

What a bound cuts is lost, so it is counted and located, and the campaign is not exhausted.
"""

from __future__ import annotations

from msgspec import Struct

from score_embed.engine import _core
from score_embed.trace.trail import Condition

_OPTIONS = {_core.Bound.NONE: "", _core.Bound.DEPTH: "--max-depth", _core.Bound.LOOP: "--loop-bound"}


class Bounds(Struct, frozen=True):
    """`depth`: only the first conditions of a path are flipped. `loop`: a path is led through the same direction of
    a branch at most so many times. None: no bound."""

    depth: int | None = None
    loop: int | None = None


class BoundedPath(_core.BoundedPath):
    """The bounds applied to the path in work: follows it condition by condition, forth and back."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds.depth, bounds.loop)

    def option(self, condition: Condition) -> str:
        """The option that keeps this condition from being flipped, or nothing."""
        return _OPTIONS[self.forbids(condition)]
