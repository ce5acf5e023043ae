"""Slices of code that is driven by tables are decided by their values: each is a network of small tables (the engine's
`finite.cpp`). What would be too large, or takes too many steps, is left to the next layer.
"""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.engine._core import Finite, Found
from score_embed.solve.query import Answer, Limit, Query, Result, Solver

KEPT = 1 << 23  # cells of all rows that are remembered
STEPS = 1 << 28  # of one question, a nanosecond each: some tenths of a second


class FiniteLayer:
    """Answers what it can within a fixed number of steps; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver, limit: Limit | None = None, kept: int = KEPT, steps: int = STEPS) -> None:
        self._inner, self._limit = inner, limit or Limit()
        self.finite = Finite(kept, steps, self._limit.look)

    def solve(self, query: Query) -> Answer:
        found, values = self.finite.solve(query.target, query.several, list(query.sets.items()), query.data)
        if found is Found.SAT:
            return Answer(Result.SAT, Layer.FINITE, values)
        if found is Found.UNSAT:
            return Answer(Result.UNSAT, Layer.FINITE)
        if found is Found.GAVE_UP:
            self._limit.gave_up[Layer.FINITE] += 1
        return self._inner.solve(query)
