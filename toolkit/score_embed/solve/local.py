"""Local search before SMT: from the run's input, which satisfies all but the target, to one that satisfies all.

The engine searches (toolkit/engine/src/search.cpp): one operand inverted, bytes moved a little. It counts the inputs that
it evaluates, never time, and is seeded by the question. It only ever says sat; what it does not find goes on.

Where it finds nothing (hashes, what is unsat) it would be in vain for each question anew. So a question that it did not
answer halves what the next one may use, and an answer doubles it. That depends on the questions before, as answers of
solvers that stay do, and not on machine or time. Measured in docs/design/solving.md.
"""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.formula.local import search
from score_embed.solve.query import Answer, Query, Result, Solver

MOST = 2000  # inputs evaluated for one question
LEAST = 32


class SearchLayer:
    """Answers what it finds; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver) -> None:
        self._inner = inner
        self.allowed = MOST  # inputs for the next question

    def solve(self, query: Query) -> Answer:
        if query.floats:
            return self._inner.solve(query)
        found, used = search(query.target, query.several, list(query.sets.items()), query.data, self.allowed)
        if found is not None:
            self.allowed = min(MOST, 2 * self.allowed)
            return Answer(Result.SAT, Layer.SEARCH, found)
        if used:
            self.allowed = max(LEAST, self.allowed // 2)
        return self._inner.solve(query)
