"""What the solver knows at a condition of a path: the conditions before it, and beside them the pins.

A pin (a symbolic value that was used concretely) is a soft constraint: a flip that keeps it is sure to lead where it
should, so it is asked for first; without a model it is asked again without pins. Pins are rare, so the second slicer
exists only from the first pin on.

A flip that waits keeps its run's `Route`. When its turn comes, the scope goes there from wherever it is: back to where the
two paths part, and forth from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import ReferenceType, ref

from score_embed.formula.expr import Expr
from score_embed.solve.query import Query
from score_embed.solve.slicer import Slicer
from score_embed.trace.path import Condition, Pin

_CONDITIONS_KEPT = 200_000  # of all routes together

# The state before a condition and the pins that stand before it: marks of the slicers without and with pins (-1: there
# was no pin yet), and the number of pins.
_Mark = tuple[int, int, int]


@dataclass(slots=True, weakref_slot=True, eq=False)
class Route:
    """The path of a run, as far as a flip of it may need it."""

    conditions: Sequence[Condition]
    pins: Sequence[Pin]


class Routes:
    """The routes that waiting flips keep. Beyond a limit the oldest are forgotten: their flips need another run."""

    def __init__(self, limit: int = _CONDITIONS_KEPT) -> None:
        self._limit = limit
        self._kept: deque[tuple[ReferenceType[Route], int]] = deque()
        self._size = 0  # of the routes in `_kept`, also of those that nobody needs any more

    def keep(self, route: Route) -> Route:
        self._kept.append((ref(route), len(route.conditions)))
        self._size += len(route.conditions)
        while self._size > self._limit and len(self._kept) > 1:
            old, size = self._kept.popleft()
            self._size -= size
            if (forgotten := old()) is not None:
                forgotten.conditions = forgotten.pins = ()
        return route


class Scope:
    """The slices at one condition of one path."""

    def __init__(self) -> None:
        self._conditions: list[Condition] = []  # of the path, before the place where the scope is
        self._pins: list[Pin] = []  # taken over so far
        self._loose = Slicer()
        self._strict: Slicer | None = None  # with the pins
        self._marks: list[_Mark] = []  # by each condition

    def go_to(self, route: Route, index: int) -> None:
        """To before condition `index` of this path is reached."""
        self.cut(self._in_common(route.conditions, index))
        for condition in route.conditions[len(self._conditions) : index]:
            self.reach(condition, route.pins)
            self.pass_by(condition)

    def _in_common(self, conditions: Sequence[Condition], most: int) -> int:
        """How many conditions this path shares with the one that the scope is on. A condition is made once, behind the
        others of its path: so those before a shared one are shared, too."""
        mine = self._conditions
        low, high = 0, min(len(mine), most)
        if high and mine[high - 1] is conditions[high - 1]:
            return high
        while low < high:
            middle = (low + high + 1) // 2
            if mine[middle - 1] is conditions[middle - 1]:
                low = middle
            else:
                high = middle - 1
        return low

    def cut(self, count: int) -> None:
        """Go back to before condition `count` was reached."""
        if count >= len(self._marks):
            return
        loose, strict, pins = self._marks[count]
        del self._marks[count:], self._conditions[count:], self._pins[pins:]
        self._loose.undo(loose)
        if self._strict is not None:
            if strict < 0:
                self._strict = None
            else:
                self._strict.undo(strict)

    def reach(self, condition: Condition, pins: Sequence[Pin]) -> None:
        """The path has come to its next condition. `pins`: the path's."""
        strict = self._strict
        self._marks.append((self._loose.mark(), strict.mark() if strict else -1, len(self._pins)))
        if condition.pins == len(self._pins):
            return
        if strict is None:
            strict = self._strict = Slicer()
            for passed in self._conditions:
                strict.add(passed.formula)
        for pin in pins[len(self._pins) : condition.pins]:
            strict.add(pin.formula)
            self._pins.append(pin)

    def pass_by(self, condition: Condition) -> None:
        """The condition holds from now on."""
        self._conditions.append(condition)
        self._loose.add(condition.formula)
        if self._strict is not None:
            self._strict.add(condition.formula)

    def weight(self, target: Expr) -> int:
        """How many conditions over two bytes or more the question has."""
        return self._loose.weight(target)

    def slice_of(self, target: Expr) -> int:
        """The input bytes of the question."""
        return self._loose.slice_of(target)

    def queries(self, target: Expr, data: bytes) -> tuple[Query, Query | None]:
        """The question with the pins, and without them if they matter to it."""
        loose = self._loose.query(target, data)
        if self._strict is None:
            return loose, None
        strict = self._strict.query(target, data)
        return (loose, None) if strict.same_as(loose) else (strict, loose)
