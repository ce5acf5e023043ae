"""Questions about what is read at symbolic places, first asked with all choices made as in the run.

A message whose parts lie where the parts before say makes each read a choice among all bytes. In most answers the parts
before stay what they are: so first it is asked for an input that reads at the same places as the run. There the
formulas are small, and the slice often is, too. An input found so is one. That there is none says nothing: the question
waits behind all others (docs/design/exploration.md), and is then asked as it stands.
"""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.formula.expr import Chosen
from score_embed.solve.query import Answer, Limit, Query, Result, Solver, sliced


class ChoicesLayer:
    """`quick`: is asked with the run's choices, the first time; `inner`: as it stands, later, when nothing else
    waits."""

    def __init__(self, quick: Solver, inner: Solver, limit: Limit) -> None:
        self._quick, self._inner, self._limit = quick, inner, limit
        self._run = Chosen()

    def solve(self, query: Query) -> Answer:
        simple = self._simple(query) if self._limit.trial and query.chooses and not query.floats else None
        if simple is None:
            return self._inner.solve(query)
        answer = self._quick.solve(simple)
        if answer.result is Result.SAT:
            return Answer(Result.SAT, Layer.CHOICES, answer.assignment)
        return Answer(Result.UNKNOWN, Layer.CHOICES)

    def _simple(self, query: Query) -> Query | None:
        """The question with the run's choices; None if there are none."""
        self._run.take(query.data)
        target, deciding = self._run.of(query.target)
        conditions = dict.fromkeys(deciding)
        chosen = bool(deciding)
        for condition in query.several:
            plain, deciding = self._run.of(condition)
            conditions[plain] = None
            conditions.update(dict.fromkeys(deciding))
            chosen = chosen or bool(deciding)
        return sliced(target, conditions, query.sets, query.data) if chosen else None
