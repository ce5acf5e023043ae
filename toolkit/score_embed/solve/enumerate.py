"""Slices of one or two input bytes are decided by trying every assignment: at most 65,536.

The assignments that satisfy a set of conditions (*rows*) are kept. A path's questions each add one condition, and the
next path shares most of them, so a question mostly has to look at the few rows that its last condition is new to.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from score_embed.contract.words import Layer
from score_embed.formula.build import negate
from score_embed.formula.domain import FULL, Rows, all_rows, byte_set, cost, rows_within, split
from score_embed.formula.expr import Expr
from score_embed.solve.query import Answer, Limit, Query, Result, Solver

WORK = 30_000_000  # operations that one question may take: about two seconds
_ROWS_KEPT = 4_000_000  # two bytes each
_ENTRIES_KEPT = 256


@dataclass(frozen=True, slots=True)
class _Constraint:
    """What rows must satisfy: each byte in its set, and all of the conditions over both bytes."""

    indices: tuple[int, ...]
    sets: tuple[int, int]  # the second is {0} if there is one byte only
    conditions: frozenset[Expr]

    def implies(self, other: _Constraint) -> bool:
        return (
            self.indices == other.indices
            and self.conditions >= other.conditions
            and all(mine & ~theirs == 0 for mine, theirs in zip(self.sets, other.sets, strict=True))
        )

    def plus(self, condition: Expr) -> _Constraint:
        index = condition.only_byte
        if index < 0:
            return replace(self, conditions=self.conditions | {condition})
        first, second = self.sets
        if index == self.indices[0]:
            return replace(self, sets=(first & byte_set(condition), second))
        return replace(self, sets=(first, second & byte_set(condition)))


class EnumerateLayer:
    """Answers whatever it can in `work` operations; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver, limit: Limit | None = None, work: int = WORK) -> None:
        self._inner, self._limit, self._work = inner, limit or Limit(), work
        self._known: OrderedDict[_Constraint, Rows[int]] = OrderedDict()  # the one used last is last
        self._rows_kept = 0

    def solve(self, query: Query) -> Answer:
        indices = tuple(query.indices())
        if not 0 < len(indices) <= 2:
            return self._inner.solve(query)
        second = query.sets.get(indices[1], FULL) if len(indices) == 2 else 1
        path = _Constraint(indices, (query.sets.get(indices[0], FULL), second), frozenset(query.several))
        rows = self._find(path, query.several, query.target)
        if rows is None:
            self._limit.gave_up[Layer.ENUMERATE] += 1
            return self._inner.solve(query)
        hits, misses = split(query.target, indices, rows)
        # The path goes on with the misses, the path of the answer with the hits.
        self._keep(path.plus(negate(query.target)), misses)
        self._keep(path.plus(query.target), hits)
        if not hits:
            return Answer(Result.UNSAT, Layer.ENUMERATE)
        return Answer(Result.SAT, Layer.ENUMERATE, dict(zip(indices, divmod(hits[0], 256), strict=False)))

    def _find(self, path: _Constraint, conditions: Sequence[Expr], target: Expr) -> Rows[int] | None:
        """The rows of the path so far, or None if they and the target take too much work."""
        base = min(
            (known for known in self._known if path.implies(known)),
            key=lambda known: len(self._known[known]),
            default=None,
        )
        if base is None:
            rows, missing = all_rows(*path.sets), list(conditions)
        else:
            self._known.move_to_end(base)
            rows, missing = self._known[base], [c for c in conditions if c not in base.conditions]
            if base.sets != path.sets:
                rows = rows_within(rows, *path.sets)
        work = self._work
        for condition in (*missing, target):
            work -= len(rows) * cost(condition)
            if work < 0:
                return None
            self._limit.look()
            if condition is not target:
                rows, _ = split(condition, path.indices, rows)
        if base != path:
            self._keep(path, rows)
        return rows

    def _keep(self, constraint: _Constraint, rows: Rows[int]) -> None:
        """Remember, and forget what was not used for long."""
        if constraint in self._known:
            self._rows_kept -= len(self._known.pop(constraint))
        self._known[constraint] = rows
        self._rows_kept += len(rows)
        while len(self._known) > _ENTRIES_KEPT or self._rows_kept > _ROWS_KEPT:
            _, forgotten = self._known.popitem(last=False)
            self._rows_kept -= len(forgotten)
