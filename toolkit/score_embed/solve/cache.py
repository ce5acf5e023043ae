"""Slices already proved sat or unsat are used for other slices, too (the engine's `proved.cpp`): who holds a core is
unsat, and a model of a slice satisfies each that asks for less.
"""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.engine._core import Conjunction, Found, Proved
from score_embed.solve.query import Answer, Query, Result, Solver

KEPT = 100_000  # names of conditions, and sets or values, of cores and of models


class CacheLayer:
    """Answers from earlier answers of the layer it wraps."""

    def __init__(self, inner: Solver, kept: int = KEPT) -> None:
        self._inner = inner
        self.proved = Proved(kept)

    def solve(self, query: Query) -> Answer:
        asked = Conjunction((query.target, *query.several), query.sets)
        found, values = self.proved.find(asked, query.data)
        if found is Found.SAT:
            return Answer(Result.SAT, Layer.CACHE, values)
        if found is Found.UNSAT:
            return Answer(Result.UNSAT, Layer.CACHE)
        answer = self._inner.solve(query)
        if answer.result is Result.UNSAT:
            self.proved.add_core(Conjunction(answer.core) if answer.core else asked)
        elif answer.result is Result.SAT:
            self.proved.add_model(asked, answer.apply(query.data))
        return answer
