"""Slices made of `a == b` and `a != b` of bytes are decided without Z3 (the engine's `equality.cpp`). What takes too
many steps is left to the next layer.
"""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.engine._core import Equality, Found
from score_embed.solve.query import Answer, Limit, Query, Result, Solver

STEPS = 5_000
DEPTH = 300  # of the search


class EqualityLayer:
    """Answers slices that consist of byte sets and comparisons of bytes for equality."""

    def __init__(self, inner: Solver, steps: int = STEPS, limit: Limit | None = None, depth: int = DEPTH) -> None:
        self._inner, self._limit = inner, limit or Limit()
        self._equality = Equality(steps, depth, self._limit.look)

    def solve(self, query: Query) -> Answer:
        found, values = self._equality.solve(query.target, query.several, query.sets, query.data)
        if found is Found.SAT:
            return Answer(Result.SAT, Layer.EQUALITY, values)
        if found is Found.UNSAT:
            return Answer(Result.UNSAT, Layer.EQUALITY)
        if found is Found.GAVE_UP:
            self._limit.gave_up[Layer.EQUALITY] += 1
        return self._inner.solve(query)
