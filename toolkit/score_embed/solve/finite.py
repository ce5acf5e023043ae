"""Slices of code that is driven by tables are decided by their values: each is a network of small tables.

The variables are input bytes and the inner values of the formulas (formula/grid.py), the constraints are the conditions and
what makes an inner value of others. Variables are eliminated one by one, in the input's order: all constraints on one are
joined, and what is left without it is a constraint on the others (bucket elimination: Dechter, "Bucket elimination: A
unifying framework for reasoning", 1999). A scanner's slice is a chain, and this is one walk along it.

Questions of a path have most of their conditions in common, and those of neighbouring paths, too. So what came of a join is
kept, by the constraints that went into it. What would be too large is left to the next layer.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from score_embed.contract.words import Layer
from score_embed.formula.expr import Expr
from score_embed.formula.grid import Grids, Variable, spread
from score_embed.solve.query import Answer, Query, Result, Solver

_MOST = 1 << 20  # elements of a join
_WORK = 1 << 23  # elements of all joins that a question makes
_KEPT = 1 << 26  # elements of joins that are remembered: a byte each

_numbers = itertools.count(1)


class _Relation:
    """Which values some variables may have together: an axis for each, in the order of their ranks."""

    __slots__ = ("holds", "number", "variables")

    def __init__(self, variables: tuple[Variable, ...], holds: NDArray[np.bool_]) -> None:
        self.variables, self.holds = variables, holds
        self.number = next(_numbers)


class _Eliminated(NamedTuple):
    """`holds`: the values that a variable may have with those of the `others`, its own axis last. `left`: what that says of
    the others; None if nothing."""

    others: tuple[Variable, ...]
    holds: NDArray[np.bool_]
    left: _Relation | None


class _TooLarge(Exception):
    """For this layer."""


class FiniteLayer:
    """Answers what it can within a fixed number of elements; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver) -> None:
        self._inner = inner
        self._grids = Grids()
        self._forget()

    def _forget(self) -> None:
        self._made_of: dict[int, _Relation] = {}  # by inner variable
        self._sets: dict[tuple[int, int], _Relation] = {}  # by input byte and set
        self._conditions: dict[int, _Relation] = {}  # by the formula's uid
        self._joins: dict[tuple[int, ...], _Eliminated] = {}
        self._left: dict[tuple[tuple[int, ...], bytes], _Relation] = {}
        self._kept = 0

    def solve(self, query: Query) -> Answer:
        if self._kept > _KEPT:
            self._forget()
        conditions: list[_Relation] = []
        for condition in (query.target, *query.several):
            relation = self._condition(condition)
            if relation is None:
                return self._inner.solve(query)
            conditions.append(relation)
        try:
            return self._decided(query, conditions)
        except _TooLarge:
            return self._inner.solve(query)

    def _condition(self, condition: Expr) -> _Relation | None:
        found = self._conditions.get(condition.uid)
        if found is None:
            grid = self._grids.of(condition)
            if grid is None:
                return None
            found = self._conditions[condition.uid] = _Relation(grid.variables, grid.values != 0)
            self._kept += grid.values.size
        return found

    def _decided(self, query: Query, conditions: Sequence[_Relation]) -> Answer:
        variables = _all_variables(conditions)
        buckets: defaultdict[Variable, list[_Relation]] = defaultdict(list)
        for relation in conditions:
            if not relation.variables:
                if not relation.holds:
                    return Answer(Result.UNSAT, Layer.FINITE)
            else:
                buckets[relation.variables[0]].append(relation)
        for variable in variables:
            if variable.made_of:
                relation = self._definition(variable)
                buckets[relation.variables[0]].append(relation)
            elif variable.index in query.sets:
                buckets[variable].append(self._set(variable, query.sets[variable.index]))
        work = _WORK
        joins: list[_Eliminated] = []
        for variable in variables:
            relations = buckets[variable]
            if not relations:
                joins.append(_free(variable))
                continue
            key = tuple(sorted({relation.number for relation in relations}))
            found = self._joins.get(key)
            if found is None:
                found = self._joins[key] = self._eliminate(relations)
                work -= found.holds.size
                self._kept += found.holds.size
                if work < 0:
                    raise _TooLarge
            joins.append(found)
            left = found.left
            if left is not None:
                if not left.variables:
                    return Answer(Result.UNSAT, Layer.FINITE)
                buckets[left.variables[0]].append(left)
        return Answer(Result.SAT, Layer.FINITE, _model(variables, joins, query.data))

    def _definition(self, variable: Variable) -> _Relation:
        found = self._made_of.get(variable.number)
        if found is None:
            assert variable.choice is not None
            holds = variable.choice[..., None] == np.arange(variable.count)
            found = self._made_of[variable.number] = _Relation((*variable.made_of, variable), holds)
            self._kept += holds.size
        return found

    def _set(self, variable: Variable, values: int) -> _Relation:
        key = variable.number, values
        found = self._sets.get(key)
        if found is None:
            bits = np.frombuffer(values.to_bytes(32, "little"), np.uint8)
            holds = np.unpackbits(bits, bitorder="little").astype(bool)
            found = self._sets[key] = _Relation((variable,), holds)
            self._kept += holds.size
        return found

    def _eliminate(self, relations: Sequence[_Relation]) -> _Eliminated:
        """The first variable of these. Raises _TooLarge."""
        variables = _ordered(v for relation in relations for v in relation.variables)
        size = 1
        for variable in variables:
            size *= variable.count
        if size > _MOST:
            raise _TooLarge
        holds = np.ones([v.count for v in variables], bool)
        for relation in relations:
            holds &= spread(relation.holds, relation.variables, variables)
        left = self._what_is_left(variables[1:], np.asarray(holds.any(axis=0)))
        return _Eliminated(variables[1:], np.moveaxis(holds, 0, -1), left)

    def _what_is_left(self, variables: tuple[Variable, ...], holds: NDArray[np.bool_]) -> _Relation | None:
        """Equal constraints are one, so that joins are found again."""
        if holds.all():
            return None
        if not holds.any():
            return _IMPOSSIBLE
        key = tuple(v.number for v in variables), np.packbits(holds).tobytes()
        found = self._left.get(key)
        if found is None:
            found = self._left[key] = _Relation(variables, holds)
        return found


def _free(variable: Variable) -> _Eliminated:
    return _Eliminated((), np.ones(variable.count, bool), None)


_IMPOSSIBLE = _Relation((), np.zeros((), bool))


def _ordered(variables: object) -> tuple[Variable, ...]:
    found: set[Variable] = set(variables)  # type: ignore[call-overload]
    return tuple(sorted(found, key=lambda v: v.rank))


def _all_variables(relations: Sequence[_Relation]) -> tuple[Variable, ...]:
    """Also those that others are made of."""
    found = {v for relation in relations for v in relation.variables}
    stack = list(found)
    while stack:
        for part in stack.pop().made_of:
            if part not in found:
                found.add(part)
                stack.append(part)
    return _ordered(found)


def _model(variables: Sequence[Variable], joins: Sequence[_Eliminated], data: bytes) -> dict[int, int]:
    """Values of the input bytes, those of the run where they are as good as others."""
    now: dict[Variable, int] = {}  # which of its values each variable has in the run
    for variable in variables:
        if variable.choice is None:
            now[variable] = data[variable.index]
        else:
            now[variable] = int(variable.choice[tuple([now[part] for part in variable.made_of])])
    chosen: dict[Variable, int] = {}
    for variable, join in zip(reversed(variables), reversed(joins), strict=True):
        allowed = join.holds[tuple([chosen[other] for other in join.others])]
        chosen[variable] = now[variable] if allowed[now[variable]] else int(allowed.argmax())
    return {variable.index: value for variable, value in chosen.items() if variable.index >= 0}
