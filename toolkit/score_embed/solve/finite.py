"""Slices of code that is driven by tables are decided by their values: each is a network of small tables.

The variables are input bytes and the inner values of the formulas (formula/grid.py), the constraints are the conditions and
what makes an inner value of others. Variables are eliminated one by one, in the input's order: all constraints on one are
joined, and what is left without it is a constraint on the others (bucket elimination: Dechter, "Bucket elimination: A
unifying framework for reasoning", 1999). A scanner's slice is a chain, and this is one walk along it.

Questions of a path have most of their conditions in common, and those of neighbouring paths, too. So what came of a join is
kept, by the constraints that went into it. What would be too large is left to the next layer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from score_embed.contract.words import Layer
from score_embed.formula.expr import Expr
from score_embed.formula.grid import Grids, Variable
from score_embed.formula.relation import Relation, TooLarge, joined
from score_embed.solve.query import Answer, Query, Result, Solver

_MOST = 1 << 16  # rows of a join
_WORK = 1 << 18  # rows of all joins that a question makes
_KEPT = 1 << 23  # numbers, of 8 bytes, in all rows that are remembered
_OVERHEAD = 64  # numbers that an empty relation takes as much memory as


class _Eliminated(NamedTuple):
    """`keys`: the values that the `others` have together with a variable, coded, rising; `own`: its value in each row.
    `left`: what that says of the others; None if nothing."""

    others: tuple[Variable, ...]
    keys: NDArray[np.int64]
    own: NDArray[np.int64]
    left: Relation | None


class FiniteLayer:
    """Answers what it can within a fixed number of rows; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver) -> None:
        self._inner = inner
        self._grids = Grids()
        self._forget()

    def _forget(self) -> None:
        self._made_of: dict[int, Relation] = {}  # by inner variable
        self._sets: dict[tuple[int, int], Relation] = {}  # by input byte and set
        self._conditions: dict[int, Relation] = {}  # by the formula's uid
        self._joins: dict[tuple[int, ...], _Eliminated] = {}
        self._left: dict[tuple[tuple[int, ...], bytes], Relation] = {}
        self._kept = 0

    def solve(self, query: Query) -> Answer:
        if self._kept > _KEPT:
            self._forget()
        conditions: list[Relation] = []
        for condition in (query.target, *query.several):
            relation = self._condition(condition)
            if relation is None:
                return self._inner.solve(query)
            conditions.append(relation)
        try:
            return self._decided(query, conditions)
        except TooLarge:
            return self._inner.solve(query)

    def _condition(self, condition: Expr) -> Relation | None:
        found = self._conditions.get(condition.uid)
        if found is None:
            grid = self._grids.of(condition)
            if grid is None:
                return None
            found = Relation(grid.variables, np.argwhere(grid.values))
            self._conditions[condition.uid] = self._keep(found)
        return found

    def _keep(self, relation: Relation) -> Relation:
        self._kept += relation.rows.size + _OVERHEAD
        return relation

    def _decided(self, query: Query, conditions: Sequence[Relation]) -> Answer:
        """Raises TooLarge."""
        variables = _all_variables(conditions)
        buckets = self._buckets(query, conditions, variables)
        if buckets is None:
            return _REFUTED
        work = _WORK
        steps: list[_Eliminated] = []
        for variable in variables:
            relations = buckets[variable]
            key = (variable.number, *sorted({relation.number for relation in relations}))
            found = self._joins.get(key)
            if found is None:
                found = self._joins[key] = self._eliminated(variable, relations)
                work -= len(found.own)
                self._kept += 2 * len(found.own) + _OVERHEAD
                if work < 0:
                    raise TooLarge
            steps.append(found)
            left = found.left
            if left is not None:
                if not left.variables:
                    return _REFUTED
                buckets[left.variables[0]].append(left)
        return Answer(Result.SAT, Layer.FINITE, _model(variables, steps, query.data))

    def _buckets(
        self, query: Query, conditions: Sequence[Relation], variables: Sequence[Variable]
    ) -> defaultdict[Variable, list[Relation]] | None:
        """All constraints, by the first variable that each is on; None if one of them never holds."""
        buckets: defaultdict[Variable, list[Relation]] = defaultdict(list)
        relations = list(conditions)
        for variable in variables:
            if variable.made_of:
                relations.append(self._definition(variable))
            elif variable.index in query.sets:
                relations.append(self._set(variable, query.sets[variable.index]))
        for relation in relations:
            if not len(relation.rows):
                return None
            if relation.variables:
                buckets[relation.variables[0]].append(relation)
        return buckets

    def _definition(self, variable: Variable) -> Relation:
        found = self._made_of.get(variable.number)
        if found is None:
            assert variable.partition is not None
            relation = Relation((*variable.made_of, variable), variable.partition.rows)
            found = self._made_of[variable.number] = self._keep(relation)
        return found

    def _set(self, variable: Variable, values: int) -> Relation:
        key = variable.number, values
        found = self._sets.get(key)
        if found is None:
            bits = np.unpackbits(np.frombuffer(values.to_bytes(32, "little"), np.uint8), bitorder="little")
            found = self._sets[key] = self._keep(Relation((variable,), np.argwhere(bits)))
        return found

    def _eliminated(self, variable: Variable, relations: Sequence[Relation]) -> _Eliminated:
        """What all constraints on a variable that is the first of each say together. Raises TooLarge."""
        if not relations:
            return _Eliminated((), np.zeros(variable.count, np.int64), np.arange(variable.count), None)
        together = joined(relations, _MOST)
        others, own = together.variables[1:], together.rows[:, 0]
        keys = Relation(others, together.rows[:, 1:]).keys
        order = np.argsort(keys, kind="stable")
        keys, own = keys[order], own[order]
        if not len(keys):
            return _Eliminated(others, keys, own, _IMPOSSIBLE)
        first = np.append(True, keys[1:] != keys[:-1])
        return _Eliminated(others, keys, own, self._what_is_left(others, together.rows[order][first, 1:]))

    def _what_is_left(self, variables: tuple[Variable, ...], rows: NDArray[np.int64]) -> Relation | None:
        """Equal constraints are one, so that joins are found again."""
        every = 1
        for variable in variables:
            every *= variable.count
        if len(rows) == every:
            return None
        key = tuple(v.number for v in variables), rows.tobytes()
        found = self._left.get(key)
        if found is None:
            found = self._left[key] = self._keep(Relation(variables, rows))
        return found


_REFUTED = Answer(Result.UNSAT, Layer.FINITE)
_IMPOSSIBLE = Relation((), np.zeros((0, 0), np.int64))


def _all_variables(relations: Sequence[Relation]) -> tuple[Variable, ...]:
    """Also those that others are made of."""
    found = {v for relation in relations for v in relation.variables}
    stack = list(found)
    while stack:
        for part in stack.pop().made_of:
            if part not in found:
                found.add(part)
                stack.append(part)
    return tuple(sorted(found, key=lambda v: v.rank))


def _model(variables: Sequence[Variable], steps: Sequence[_Eliminated], data: bytes) -> dict[int, int]:
    """Values of the input bytes, those of the run where they are as good as others."""
    now: dict[Variable, int] = {}  # which of its values each variable has in the run
    for variable in variables:
        if variable.partition is None:
            now[variable] = data[variable.index]
        else:
            now[variable] = int(variable.partition.choice[tuple([now[part] for part in variable.made_of])])
    chosen: dict[Variable, int] = {}
    for variable, step in zip(reversed(variables), reversed(steps), strict=True):
        key = 0
        for other in step.others:
            key = key * other.count + chosen[other]
        low, high = step.keys.searchsorted(key, "left"), step.keys.searchsorted(key, "right")
        allowed = step.own[low:high]
        chosen[variable] = now[variable] if now[variable] in allowed else int(allowed[0])
    return {variable.index: value for variable, value in chosen.items() if variable.index >= 0}
