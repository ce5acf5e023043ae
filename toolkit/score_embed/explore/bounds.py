"""Where exploration is told to stop: branches that are not flipped although they could be.

What a bound cuts is lost, so it is counted and located, and the campaign is not exhausted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from score_embed.trace.path import Condition

Decision = tuple[int, int, int]  # site, chain, direction


@dataclass(frozen=True, slots=True)
class Bounds:
    """`depth`: only the first conditions of a path are flipped. `loop`: a path is led through the same direction of
    a branch at most so many times. None: no bound."""

    depth: int | None = None
    loop: int | None = None


class BoundedPath:
    """The bounds applied to the path in work: follows it condition by condition, forth and back."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._taken: list[Decision] = []  # by each condition; kept only for the loop bound
        self._times: Counter[Decision] = Counter()

    def cut(self, count: int) -> None:
        """Go back to before condition `count`."""
        for decision in self._taken[count:]:
            self._times[decision] -= 1
            if not self._times[decision]:
                del self._times[decision]
        del self._taken[count:]

    def pass_by(self, condition: Condition) -> None:
        """The path goes on in the condition's direction."""
        if self._bounds.loop is not None:
            decision = condition.site, condition.chain, condition.direction
            self._taken.append(decision)
            self._times[decision] += 1

    def forbids(self, index: int, condition: Condition) -> str:
        """The option that keeps this condition from being flipped, or nothing."""
        bounds = self._bounds
        if bounds.depth is not None and condition.counted >= bounds.depth:
            return "--max-depth"
        other = condition.site, condition.chain, 1 - condition.direction
        if bounds.loop is not None and self._times[other] >= bounds.loop:
            return "--loop-bound"
        return ""
