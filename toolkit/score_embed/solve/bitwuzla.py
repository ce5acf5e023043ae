"""Bitwuzla on bit vectors, before Z3. It goes along with the path from question to question.

What it gives up, and all that has floating point, is Z3's (`smt.py`). Bitwuzla counts no resources: now and then it
asks whether it is to end. How often it may ask is the limit of a question, and never time, so that campaigns repeat. It
does more between two times where it holds more; so `_units` goes by that (docs/design/solving.md has measurements).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bitwuzla import Bitwuzla, Option, Options
from bitwuzla import Result as Found

from score_embed.contract.words import Layer
from score_embed.engine._core import Terminator
from score_embed.formula.domain import byte_set
from score_embed.formula.expr import Expr
from score_embed.solve.bitwuzla_terms import BitwuzlaTranslator
from score_embed.solve.integral import integral
from score_embed.solve.query import Answer, Limit, Query, Result, Solver, on_interrupt

_TOLD = 5_000  # conditions, besides twice those of a question: what was built for one is never forgotten
_UNKNOWN = Answer(Result.UNKNOWN, Layer.BITWUZLA)


on_interrupt(Terminator.interrupt)


class _Held(NamedTuple):
    """A condition in a scope of its own."""

    condition: Expr
    term: Any
    size: int  # nodes of it that were new when it was told for the first time


class BitwuzlaLayer:
    """Follows the path: what the next question shares of it stays.

    A scope holds one condition. So nothing is held that the question does not need, and an unsat answer says which
    conditions it needed.
    """

    def __init__(self, inner: Solver, limit: Limit | None = None, told: int = _TOLD) -> None:
        """`told`: after so many conditions, besides twice those of the question, it starts anew."""
        self._inner, self._limit, self._most = inner, limit or Limit(), told
        self._terminator = Terminator()
        self._forget()

    def _forget(self) -> None:
        options = Options()
        options.set(Option.PRODUCE_MODELS, True)
        options.set(Option.PRODUCE_UNSAT_CORES, True)
        self._translator = BitwuzlaTranslator(self._limit.look)
        self._solver = Bitwuzla(self._translator.manager, options)
        self._solver.configure_terminator(self._terminator)
        self._held: list[_Held] = []
        self._sizes: dict[Expr, int] = {}  # of all conditions that were told
        self._told = 0

    def solve(self, query: Query) -> Answer:
        if query.unexplained:
            return self._inner.solve(query)
        try:
            answer = self._ask(query)
        except BaseException:
            self._forget()  # nobody knows what it was told
            raise
        if answer.result is not Result.UNKNOWN:
            return answer
        self._forget()
        return self._inner.solve(query)

    def _ask(self, query: Query) -> Answer:
        conditions = query.conditions
        if self._told > self._most + 2 * len(conditions):
            self._forget()
        self._terminator.begin(self._limit.stop)
        self._follow(conditions)
        target = self._hold(query.target)
        size = target.size + sum(held.size for held in self._held)
        self._terminator.allow(max(1, self._limit.rlimit // _units(size)))
        found = self._solver.check_sat()
        self._terminator.end()
        answer = _UNKNOWN
        if found == Found.SAT:
            answer = Answer(Result.SAT, Layer.BITWUZLA, self._model(query))
        elif found == Found.UNSAT:
            answer = Answer(Result.UNSAT, Layer.BITWUZLA, core=self._core((*self._held, target)))
        self._solver.pop(1)
        return answer

    def _follow(self, conditions: Sequence[Expr]) -> None:
        kept, most = 0, min(len(self._held), len(conditions))
        while kept < most and self._held[kept].condition is conditions[kept]:
            kept += 1
        if kept < len(self._held):
            self._solver.pop(len(self._held) - kept)
            del self._held[kept:]
        for condition in conditions[kept:]:
            self._limit.look()
            self._held.append(self._hold(condition))

    def _hold(self, condition: Expr) -> _Held:
        """From now on, in a scope of its own."""
        before = self._translator.made
        if integral(condition).floats:  # on one byte: others are not asked of this layer
            term = self._translator.among(condition.only_byte, byte_set(condition))
        else:
            term = self._translator.condition(condition)
        self._solver.push(1)
        self._solver.assert_formula(term)
        self._told += 1
        return _Held(condition, term, self._sizes.setdefault(condition, self._translator.made - before))

    def _model(self, query: Query) -> dict[int, int]:
        value, byte = self._solver.get_value, self._translator.variable
        return {index: int(value(byte(index)).value(10)) for index in query.indices()}

    def _core(self, held: Sequence[_Held]) -> tuple[Expr, ...]:
        needed = set(self._solver.get_unsat_core())
        return tuple(each.condition for each in held if each.term in needed)


def _units(size: int) -> int:
    """Of Z3's limits (`Limit.rlimit`), for which Bitwuzla may ask once where it holds so many nodes."""
    return 100 + size + size * size // 1000
