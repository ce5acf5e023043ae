"""What the solver knows at each condition of the trail: the conditions before it, and beside them the pins.

A pin (a symbolic value that was used concretely) is a soft constraint: a flip that keeps it is sure to lead where it
should, so it is asked for first; without a model it is asked again without pins. Pins are rare, so the second slicer
exists only from the first pin on.
"""

from __future__ import annotations

from score_embed.formula.expr import Expr
from score_embed.solve.query import Query
from score_embed.solve.slicer import Slicer
from score_embed.trace.path import Condition
from score_embed.trace.trail import Trail

# The state before a condition and the pins that stand before it: marks of the slicers without and with pins (-1: there
# was no pin yet), and the number of pins.
_Mark = tuple[int, int, int]


class Scope:
    """Follows a trail condition by condition."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._loose = Slicer()
        self._strict: Slicer | None = None  # with the pins
        self._pins = 0  # of the trail, taken over so far
        self._marks: list[_Mark] = []

    def cut(self, count: int) -> None:
        """Go back to before condition `count`."""
        if count >= len(self._marks):
            return
        loose, strict, self._pins = self._marks[count]
        del self._marks[count:]
        self._loose.undo(loose)
        if self._strict is not None:
            if strict < 0:
                self._strict = None
            else:
                self._strict.undo(strict)

    def reach(self) -> None:
        """The trail has come to its next condition: take over the pins before it."""
        strict = self._strict
        self._marks.append((self._loose.mark(), strict.mark() if strict else -1, self._pins))
        pins = self._trail.pins
        if len(pins) == self._pins:
            return
        if strict is None:
            strict = self._strict = Slicer()
            for condition in self._trail.conditions:
                strict.add(condition.formula)
        for pin in pins[self._pins :]:
            strict.add(pin.formula)
        self._pins = len(pins)

    def pass_by(self, condition: Condition) -> None:
        """The condition holds from now on."""
        self._loose.add(condition.formula)
        if self._strict is not None:
            self._strict.add(condition.formula)

    def queries(self, target: Expr, data: bytes) -> tuple[Query, Query | None]:
        """The question with the pins, and without them if they matter to it."""
        loose = self._loose.query(target, data)
        if self._strict is None:
            return loose, None
        strict = self._strict.query(target, data)
        return (loose, None) if strict.same_as(loose) else (strict, loose)
