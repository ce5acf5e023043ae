"""Ways to use Z3 for the questions of a path, to be measured against each other.

Each takes the path's conditions and the slice, and may keep what it likes between questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import z3

from score_embed.formula.expr import Expr
from score_embed.solve.bitwuzla import BitwuzlaLayer
from score_embed.solve.chain import Nobody
from score_embed.solve.query import DEFAULT_RLIMIT, Limit, Query, Result
from score_embed.solve.smt import SmtLayer
from score_embed.solve.terms import Z3Translator

Make = Callable[[], Any]  # a new Z3 solver
_BACKSTOP_MS = 60_000
_LITERALS_KEPT = 100


class Variant(Protocol):
    def solve(self, path: Sequence[Expr], query: Query) -> Result: ...


def _limited(make: Make) -> Any:
    solver = make()
    solver.set("rlimit", DEFAULT_RLIMIT, "timeout", _BACKSTOP_MS, "ctrl_c", False)
    return solver


def _result(solver: Any, found: Any, query: Query) -> Result:
    """The answer, and the model too: reading it is part of the price."""
    if found == z3.unsat:
        return Result.UNSAT
    if found != z3.sat:
        return Result.UNKNOWN
    model = solver.model()
    for index in query.indices():
        value = model[z3.BitVec(f"in{index}", 8)]
        if value is not None:
            value.as_long()
    return Result.SAT


class FreshWhole:
    """A new solver for each question, with the whole path."""

    def __init__(self, make: Make) -> None:
        self._make, self._translator = make, Z3Translator()

    def formulas(self, path: Sequence[Expr], query: Query) -> Sequence[Expr]:
        return path

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        solver = _limited(self._make)
        condition = self._translator.condition
        solver.add(*[condition(formula) for formula in (*self.formulas(path, query), query.target)])
        return _result(solver, solver.check(), query)


class FreshSlice(FreshWhole):
    """A new solver for each question, with the conditions of the slice."""

    def formulas(self, path: Sequence[Expr], query: Query) -> Sequence[Expr]:
        return query.conditions


class FreshSets(FreshWhole):
    """A new solver for each question, with the slice; its conditions on one byte as sets of values."""

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        self._layer = SmtLayer()

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        solver = _limited(self._make)
        solver.add(*self._layer.formulas(query))
        return _result(solver, solver.check(), query)


class ScopesWhole:
    """One solver, a scope a condition: those that the path shares with that of the question before stay."""

    def __init__(self, make: Make) -> None:
        self._solver, self._translator = _limited(make), Z3Translator()
        self._stack: list[Expr] = []

    def follow(self, path: Sequence[Expr]) -> None:
        keep = 0
        for old, new in zip(self._stack, path, strict=False):
            if old is not new:
                break
            keep += 1
        if len(self._stack) > keep:
            self._solver.pop(len(self._stack) - keep)
            del self._stack[keep:]
        for formula in path[keep:]:
            self._solver.push()
            self._enter(formula)
            self._stack.append(formula)

    def _enter(self, formula: Expr) -> None:
        self._solver.add(self._translator.condition(formula))

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        self.follow(path)
        self._solver.push()
        self._solver.add(self._translator.condition(query.target))
        found = _result(self._solver, self._solver.check(), query)
        self._solver.pop()
        return found


class ScopesSlice(ScopesWhole):
    """The same on the conditions of the slice."""

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        return super().solve(query.conditions, query)


class ScopesNames(ScopesSlice):
    """The same, each condition with a name: unsat comes with a core."""

    def _enter(self, formula: Expr) -> None:
        self._solver.assert_and_track(self._translator.condition(formula), f"c{len(self._stack)}")


class ScopesLiterals(ScopesWhole):
    """Scopes that follow the path hold `literal implies condition`; a question assumes the slice's literals."""

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        self._literals: dict[Expr, Any] = {}

    def _literal(self, formula: Expr) -> Any:
        found = self._literals.get(formula)
        if found is None:
            found = self._literals[formula] = z3.Bool(f"p{formula.uid}")
        return found

    def _enter(self, formula: Expr) -> None:
        self._solver.add(z3.Implies(self._literal(formula), self._translator.condition(formula)))

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        self.follow(path)
        self._solver.push()
        self._enter(query.target)
        literals = [self._literal(formula) for formula in dict.fromkeys((*query.conditions, query.target))]
        found = _result(self._solver, self._solver.check(*literals), query)
        self._solver.pop()
        return found


class Literals(ScopesLiterals):
    """No scopes: implications stay for good, until there are too many; a question assumes the slice's literals."""

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        self._make = make

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        if len(self._literals) > _LITERALS_KEPT + 2 * len(query.several):
            self._solver = _limited(self._make)
            self._literals.clear()
        wanted = dict.fromkeys((*query.conditions, query.target))
        for formula in wanted:
            if formula not in self._literals:
                self._enter(formula)
        found = self._solver.check(*[self._literals[formula] for formula in wanted])
        return _result(self._solver, found, query)


class FreshCore(FreshWhole):
    """A new solver for each question, with the slice as tracked assertions: unsat comes with a core."""

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        solver = _limited(self._make)
        for number, formula in enumerate(dict.fromkeys((*query.conditions, query.target))):
            solver.assert_and_track(self._translator.condition(formula), f"p{number}")
        found = solver.check()
        if found == z3.unsat:
            solver.unsat_core()
        return _result(solver, found, query)


class Bitwuzlas:
    """Bitwuzla as campaigns use it: scopes with cores."""

    def __init__(self) -> None:
        self._layer = BitwuzlaLayer(Nobody(), Limit())

    def solve(self, path: Sequence[Expr], query: Query) -> Result:
        return self._layer.solve(query).result


MAKERS: dict[str, Make] = {"Solver()": z3.Solver, 'SolverFor("QF_BV")': lambda: z3.SolverFor("QF_BV")}
VARIANTS: dict[str, Callable[[Make], Variant]] = {
    "fresh, whole path": FreshWhole,
    "fresh, slice": FreshSlice,
    "fresh, slice, byte sets": FreshSets,
    "fresh, slice, core": FreshCore,
    "scopes, whole path": ScopesWhole,
    "scopes, slice": ScopesSlice,
    "scopes, slice, core": ScopesNames,
    "scopes and literals": ScopesLiterals,
    "literals, slice": Literals,
}
