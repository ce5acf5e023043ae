"""Questions about what is read at symbolic places, first asked with all choices made as in the run.

A message whose parts lie where the parts before say makes each read a choice among all bytes. In most answers the parts
before stay what they are: so first it is asked for an input that reads at the same places as the run. There the
formulas are small, and the slice often is, too. An input found so is one. That there is none says nothing: the question
waits behind all others (docs/design/exploration.md), and is then asked as it stands.
"""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.formula.domain import FULL, byte_set
from score_embed.formula.expr import Chosen, Expr, bytes_of
from score_embed.solve.query import Answer, Limit, Query, Result, Solver


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
        return _slice(target, list(conditions), query) if chosen else None


def _slice(target: Expr, conditions: list[Expr], query: Query) -> Query:
    """The question with those of the conditions that it depends on. All of them hold in the run."""
    sets = dict(query.sets)
    several = []
    for condition in conditions:
        index = condition.only_byte
        if index >= 0:
            sets[index] = sets.get(index, FULL) & byte_set(condition)
        elif condition.deps:
            several.append(condition)
    deps, kept = target.deps, []
    while True:
        joining = [condition for condition in several if condition.deps & deps]
        if not joining:
            break
        kept += joining
        several = [condition for condition in several if not condition.deps & deps]
        for condition in joining:
            deps |= condition.deps
    return Query(target, {index: sets[index] for index in bytes_of(deps) if index in sets}, kept, query.data)
