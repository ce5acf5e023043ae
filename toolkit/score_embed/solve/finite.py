"""Slices of code that is driven by tables are decided by their values: each is a network of small tables (the engine's
`finite.cpp`). What would be too large is left to the next layer.
"""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.engine._core import Finite
from score_embed.solve.query import Answer, Query, Result, Solver

KEPT = 1 << 23  # cells of all rows that are remembered


class FiniteLayer:
    """Answers what it can within a fixed number of rows; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver, kept: int = KEPT) -> None:
        self._inner = inner
        self.finite = Finite(kept)

    def solve(self, query: Query) -> Answer:
        is_decided, found = self.finite.solve(query.target, query.several, list(query.sets.items()), query.data)
        if not is_decided:
            return self._inner.solve(query)
        if found is None:
            return Answer(Result.UNSAT, Layer.FINITE)
        return Answer(Result.SAT, Layer.FINITE, found)
