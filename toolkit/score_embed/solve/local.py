"""Local search before SMT: from the run's input, which satisfies all but the target, to one that satisfies all.

The engine searches (toolkit/engine/src/search.cpp): one operand inverted, bytes moved a little. It counts the inputs
that it evaluates, never time, and is seeded by the question. It only ever says sat; what it does not find goes on.

Where it finds nothing (checksums, what is unsat) it would be in vain for each question anew. So evaluations are earned:
an answer earns some, a question without one uses them up, and a question may use a share of what is left. That depends
on the questions before, as answers of solvers that stay do, and not on machine or time. Measured in
docs/design/solving.md.
"""

from __future__ import annotations

from collections.abc import Callable

from score_embed.contract.words import Layer
from score_embed.engine._core import search
from score_embed.solve.query import Answer, Query, Result, Solver

MOST = 2000  # inputs evaluated for one question
LEAST = 32
EARNED = 250  # by an answer
SHARE = 8  # a question may use one part in so many of what is left


class SearchLayer:
    """Answers what it finds; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver, may: Callable[[], bool] = lambda: True, most: int = MOST) -> None:
        """`may`: whether it is to search now. A question that is asked again was searched for the first time. `most`:
        inputs evaluated for one question."""
        self._inner, self._may = inner, may
        self._most, self._earned = most, EARNED * most // MOST
        self._left = SHARE * most

    def solve(self, query: Query) -> Answer:
        if query.floats or not self._may():
            return self._inner.solve(query)
        most = max(LEAST, self._left // SHARE)
        found, used = search(query.target, query.several, list(query.sets.items()), query.data, most)
        if found is not None:
            self._left = min(SHARE * self._most, self._left + self._earned)
            return Answer(Result.SAT, Layer.SEARCH, found)
        self._left = max(0, self._left - used)
        return self._inner.solve(query)
