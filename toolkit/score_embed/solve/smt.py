"""The last layer: Z3 on bit-vectors and floating-point numbers. It and `terms` alone know Z3.

Two solvers stay from question to question: one goes along with the path, one learns about products and quotients
(docs/design/solving.md has the measurements). For what they find too hard there is a new one for each question, which
rewrites it as a whole before it searches. The limits are Z3's own resource counts (`query.py` has the whole,
`DEFAULT_RLIMIT`), so that a query has the same answer on every machine; a wall clock stands behind them as a backstop.
"unknown" is handed on, never taken for unsat.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import z3

from score_embed.contract.words import Layer
from score_embed.formula.domain import intervals
from score_embed.formula.expr import Expr, digest
from score_embed.solve.integral import integral
from score_embed.solve.query import DEFAULT_RLIMIT, Answer, Limit, Query, Result, Solver, Stopped, on_interrupt
from score_embed.solve.terms import Z3Translator

LEARNING_RLIMIT = DEFAULT_RLIMIT // 10  # of a solver that stays: what it finds hard, a new one may not
_FLOAT_SHARE = 4  # of a question's limit with floating point: what is hard there mostly stays so
_LITERALS_KEPT = 100  # besides twice those of the question: Z3 assigns them all, and blasts their arithmetic
_BACKSTOP_MS = 60_000
_PORTION = 16  # conditions of a scope, where many are added
_UNKNOWN = Answer(Result.UNKNOWN, Layer.SMT)
_CONTEXT = z3.main_ctx()  # made now: made by two threads at once, it would be two


class _Interrupts:
    """Z3's interrupts, which may hit it between two of its functions as well: some then raise, others leave out what
    they were told, and it stays interrupted until its next check. So what was asked meanwhile has no answer.
    """

    def __init__(self) -> None:
        self._count = 0  # odd while one is under way
        self._cleared = 0

    def add(self) -> None:
        self._count += 1
        try:
            _CONTEXT.interrupt()
        except z3.Z3Exception:  # the error is the other thread's
            pass
        finally:
            self._count += 1

    def unless(self, ask: Callable[[Query], Answer], query: Query) -> Answer | None:
        """The answer; None if an interrupt came."""
        before = self._count
        if before != self._cleared:
            z3.Solver().check()
            self._cleared = before
        answer = None
        try:
            answer = ask(query)
        except z3.Z3Exception:
            if not before % 2 and before == self._count:
                raise
        return None if before % 2 or before != self._count else answer


_interrupts = _Interrupts()


def interrupt() -> None:
    """End the running query, if any, as unknown. May be called by any thread; later queries are not affected."""
    _interrupts.add()


on_interrupt(interrupt)


def _limited(solver: Any, rlimit: int) -> Any:
    # Z3 would swallow Ctrl-C and call the query unknown.
    solver.set("rlimit", rlimit, "timeout", _BACKSTOP_MS, "ctrl_c", False)
    return solver


class _StayingLayer(ABC):
    """A solver that stays from question to question. What is too hard for it, it hands on, and begins anew."""

    def __init__(self, inner: Solver, limit: Limit | None = None) -> None:
        self._inner, self._limit = inner, limit or Limit()
        self._translator = Z3Translator(self._limit.look)
        self._forget()

    def _forget(self) -> None:
        self._solver = _limited(z3.Solver(), min(self._limit.rlimit, LEARNING_RLIMIT))

    @abstractmethod
    def _ask(self, query: Query) -> Answer:
        """The question, put to the solver."""

    def solve(self, query: Query) -> Answer:
        if query.unexplained or self._limit.again:
            return self._inner.solve(query)
        try:
            answer = _interrupts.unless(self._ask, query)
        except Stopped:
            self._forget()  # nobody knows what Z3 was told
            raise
        if answer is not None and answer.result is not Result.UNKNOWN:
            return answer
        self._forget()
        return _UNKNOWN if answer is None else self._inner.solve(query)


class LearningLayer(_StayingLayer):
    """Holds `literal implies condition` for many conditions; a question assumes the literals of its own.

    So circuits of products and quotients are built once, and whatever Z3 derives about some conditions is true for all
    later questions, in whatever order they come. An unsat answer says which conditions it needed.
    """

    def _forget(self) -> None:
        super()._forget()
        self._literals: dict[bytes, Any] = {}  # by the digest of the condition

    def _ask(self, query: Query) -> Answer:
        wanted = {digest(formula): formula for formula in (query.target, *query.conditions)}
        self._limit.look()
        if len(self._literals) > _LITERALS_KEPT + 2 * len(wanted):
            self._forget()
        literals = [self._literal(name, formula) for name, formula in wanted.items()]
        result = self._solver.check(*literals)
        if result == z3.unsat:
            return Answer(Result.UNSAT, Layer.SMT, core=_core(self._solver, literals, wanted.values()))
        return _sat(self._solver, self._translator, query) if result == z3.sat else _UNKNOWN

    def _literal(self, name: bytes, formula: Expr) -> Any:
        literal = self._literals.get(name)
        if literal is None:
            # Z3 never forgets a name, so few are used, again and again.
            literal = self._literals[name] = z3.Bool(f"p{len(self._literals)}")
            self._solver.add(z3.Implies(literal, self._translator.condition(formula)))
        return literal


class PathLayer(_StayingLayer):
    """Follows the path from question to question: what the next one shares of it stays.

    So nothing is held that the question does not need: for conditions that are cheap to build again. Each has a name,
    by which an unsat answer says which ones it needed. A scope holds one condition; a way of hundreds is gone in
    portions, for at each scope Z3 simplifies what it holds once more. What that takes has a limit, as a question has:
    Z3 counts, but does not watch it.
    """

    def __init__(self, inner: Solver, limit: Limit | None = None) -> None:
        super().__init__(inner, limit)
        self._names: list[Any] = []  # Z3 never forgets a name, so few are used, again and again: one a condition

    def _forget(self) -> None:
        super()._forget()
        self._scopes: list[tuple[Expr, ...]] = []

    def _ask(self, query: Query) -> Answer:
        if not self._follow(query.conditions):
            return _UNKNOWN
        self._solver.push()
        self._solver.add(self._translator.condition(query.target))
        result = self._solver.check()
        if result == z3.sat:
            answer = _sat(self._solver, self._translator, query)
        elif result == z3.unsat:
            core = _core(self._solver, self._names, itertools.chain(*self._scopes))
            answer = Answer(Result.UNSAT, Layer.SMT, core=(query.target, *core))
        else:
            return _UNKNOWN
        self._solver.pop()
        return answer

    def _follow(self, conditions: Sequence[Expr]) -> bool:
        """Whether the solver holds them now; no: that would take more than a question may."""
        held = kept = 0  # scopes, conditions
        for scope in self._scopes:
            if any(old is not new for old, new in itertools.zip_longest(scope, conditions[kept : kept + len(scope)])):
                break
            held, kept = held + 1, kept + len(scope)
        self._solver.pop(len(self._scopes) - held)
        del self._scopes[held:]
        most = _spent(self._solver) + min(self._limit.rlimit, LEARNING_RLIMIT)
        while kept < len(conditions):
            self._limit.look()
            is_far = len(conditions) - kept > 2 * _PORTION
            scope = tuple(conditions[kept : kept + (_PORTION if is_far else 1)])
            self._solver.push()
            for condition in scope:
                self._hold(condition, kept)
                kept += 1
            self._scopes.append(scope)
            if _spent(self._solver) > most:
                return False
        return True

    def _hold(self, condition: Expr, at: int) -> None:
        if len(self._names) == at:
            self._names.append(z3.Bool(f"c{at}"))
        self._solver.assert_and_track(self._translator.condition(condition), self._names[at])


def _spent(solver: Any) -> int:
    """What Z3 has done so far, as its limits count it."""
    return int(solver.statistics().get_key_value("rlimit count"))


def _core(solver: Any, names: Iterable[Any], formulas: Iterable[Expr]) -> tuple[Expr, ...]:
    """Those of the formulas whose names Z3 needed to refute them all; there may be more names."""
    needed = {name.get_id() for name in solver.unsat_core()}
    return tuple(formula for name, formula in zip(names, formulas, strict=False) if name.get_id() in needed)


def _sat(solver: Any, translator: Z3Translator, query: Query) -> Answer:
    model = solver.model()
    values: dict[int, int] = {}
    for index in query.indices():
        # By Z3's own functions: its Python objects for two dozen numbers cost more than to find them.
        value = z3.Z3_model_get_const_interp(model.ctx.ref(), model.model, translator.declaration(index))
        if value:  # a byte that the model leaves open keeps its value
            values[index] = int(z3.Z3_get_numeral_string(model.ctx.ref(), value))
    return Answer(Result.SAT, Layer.SMT, values)


class SmtLayer:
    """The last word: a new solver for each question."""

    def __init__(self, limit: Limit | None = None) -> None:
        self._limit = limit or Limit()
        self._translator = Z3Translator(self._limit.look)

    def solve(self, query: Query) -> Answer:
        answer = _interrupts.unless(self._alone, query)
        return _UNKNOWN if answer is None else answer

    def _alone(self, query: Query) -> Answer:
        floats = any(integral(formula).floats for formula in (query.target, *query.several))
        return self._fresh(self.formulas(query), query, floats)

    def solve_plain(self, query: Query, conditions: Sequence[Expr]) -> Answer:
        """Are these conditions possible? Told as they are to a new solver: to check other layers against."""
        terms = [self._translator.formula(condition) for condition in conditions]
        return self._fresh(terms, query, any(condition.floats for condition in conditions))

    def formulas(self, query: Query) -> list[Any]:
        """The question as Z3 terms: byte sets as intervals, the rest as formulas."""
        terms = [self._translator.condition(c) for c in (query.target, *query.several)]
        return terms + [self._membership(index, values) for index, values in query.sets.items()]

    def _membership(self, index: int, values: int) -> Any:
        variable = self._translator.variable(index)
        return z3.Or(
            *[
                variable == first if first == last else z3.And(z3.UGE(variable, first), z3.ULE(variable, last))
                for first, last in intervals(values)
            ]
        )

    def _fresh(self, formulas: Sequence[Any], query: Query, floats: bool) -> Answer:
        if floats:
            solver = _limited(z3.SolverFor("QF_FPBV"), max(1, self._limit.rlimit // _FLOAT_SHARE))
        else:
            solver = _limited(z3.SolverFor("QF_BV"), self._limit.rlimit)
        solver.add(*formulas)
        result = solver.check()
        if result == z3.unsat:
            return Answer(Result.UNSAT, Layer.SMT)
        if result != z3.sat:
            return _UNKNOWN
        return _sat(solver, self._translator, query)
