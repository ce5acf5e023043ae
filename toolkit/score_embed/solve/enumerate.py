"""Slices of one to eight input bytes are decided by trying every assignment, where these are at most 2^20.

Of two bytes they always are. Of more they are if the path has left few: a character of UTF-8 that is looked up in
tables of properties, digits of a number. Bytes that the path's conditions bind together (those of one character) are
looked at by themselves first; what is left of each such group is put together with the others'.

The assignments that satisfy a set of conditions (*rows*) are kept. A path's questions each add one condition, and the
next path shares most of them, so a question mostly has to look at the few rows that its last condition is new to.

Of three bytes and more, it may come out only after millions of rows that they are too many. So work on those is earned,
as in local.py, by questions of as many bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from score_embed.contract.words import Layer
from score_embed.formula.build import negate
from score_embed.formula.domain import FULL, Rows, all_rows, byte_set, cost, rows_product, rows_within, split
from score_embed.formula.expr import Expr
from score_embed.solve.query import Answer, Limit, Query, Result, Solver

WORK = 200_000_000  # operations that one question may take
_LEAST = 1_000_000  # those that it may take however little is left
_SHARE = 8  # a question of three bytes and more may use one part in so many of what is left
_MOST_BYTES = 8
_MOST_ROWS = 1 << 20
_ROWS_KEPT = 4_000_000  # eight bytes each
_ENTRIES_KEPT = 256


class _TooMany(Exception):
    """Assignments."""


class _TooMuch(Exception):
    """Work."""


class _Constraint(Struct, frozen=True):
    """What rows must satisfy: each byte in its set, and all of the conditions over several bytes."""

    indices: tuple[int, ...]
    sets: tuple[int, ...]  # of values, by byte
    conditions: frozenset[Expr]

    def implies(self, other: _Constraint) -> bool:
        return (
            self.indices == other.indices
            and self.conditions >= other.conditions
            and all(mine & ~theirs == 0 for mine, theirs in zip(self.sets, other.sets, strict=True))
        )

    def of(self, indices: Sequence[int]) -> _Constraint:
        """What is said of these bytes alone."""
        mine = sum(1 << index for index in indices)
        sets = dict(zip(self.indices, self.sets, strict=True))
        conditions = (condition for condition in self.conditions if condition.deps & ~mine == 0)
        return _Constraint(tuple(indices), tuple(sets[index] for index in indices), frozenset(conditions))

    def groups(self) -> list[tuple[int, ...]]:
        """The bytes by what binds them together without binding all."""
        groups = [1 << index for index in self.indices]
        bonds = {condition.deps for condition in self.conditions}
        for deps in sorted(bonds, key=lambda deps: (deps.bit_count(), deps)):
            bound = [group for group in groups if group & deps]
            if len(bound) < len(groups):
                groups = [group for group in groups if not group & deps] + [sum(bound)]
        return [tuple(index for index in self.indices if group >> index & 1) for group in groups]

    def plus(self, condition: Expr) -> _Constraint:
        index = condition.only_byte
        if index < 0:
            return replace(self, conditions=self.conditions | {condition})
        left = byte_set(condition)
        sets = zip(self.indices, self.sets, strict=True)
        return replace(self, sets=tuple(values & left if each == index else values for each, values in sets))

    @property
    def assignments(self) -> int:
        return prod(values.bit_count() for values in self.sets)


class EnumerateLayer:
    """Answers whatever it can in `work` operations; the rest goes on to the layer it wraps."""

    def __init__(self, inner: Solver, limit: Limit | None = None, work: int = WORK) -> None:
        self._inner, self._limit, self._work = inner, limit or Limit(), work
        self._left = work  # of a question's
        self._earned: dict[int, int] = {}  # by the number of bytes: what is left for questions of so many
        self._known: OrderedDict[_Constraint, Rows[int]] = OrderedDict()  # the one used last is last
        self._rows_kept = 0

    def solve(self, query: Query) -> Answer:
        indices = tuple(query.indices())
        if not 0 < len(indices) <= _MOST_BYTES:
            return self._inner.solve(query)
        sets = tuple(query.sets.get(index, FULL) for index in indices)
        path = _Constraint(indices, sets, frozenset(query.several))
        self._left = allowed = self._allowed(len(indices))
        try:
            rows = self._find(path, query.several)
            hits, misses = self._split(query.target, indices, rows)
        except (_TooMany, _TooMuch) as error:
            self._earn(len(indices), self._left - allowed)
            if isinstance(error, _TooMuch):
                self._limit.gave_up[Layer.ENUMERATE] += 1
            return self._inner.solve(query)
        self._earn(len(indices), self._work)
        # The path goes on with the misses, the path of the answer with the hits.
        self._keep(path.plus(negate(query.target)), misses)
        self._keep(path.plus(query.target), hits)
        if not hits:
            return Answer(Result.UNSAT, Layer.ENUMERATE)
        values = hits[0].to_bytes(len(indices), "big")
        return Answer(Result.SAT, Layer.ENUMERATE, dict(zip(indices, values, strict=True)))

    def _allowed(self, count: int) -> int:
        """Operations that a question of so many bytes may take."""
        if count <= 2:
            return self._work
        return max(min(_LEAST, self._work), self._earned.get(count, _SHARE * self._work) // _SHARE)

    def _earn(self, count: int, operations: int) -> None:
        most = _SHARE * self._work
        self._earned[count] = max(0, min(most, self._earned.get(count, most) + operations))

    def _find(self, path: _Constraint, conditions: Sequence[Expr]) -> Rows[int]:
        """The rows of what is said so far; `conditions`: those of it, in the order in which they are tried. Raises
        _TooMany, _TooMuch."""
        base = min(
            (known for known in self._known if path.implies(known)),
            key=lambda known: len(self._known[known]),
            default=None,
        )
        if base is None:
            rows, tried = self._together(path, conditions)
        else:
            self._known.move_to_end(base)
            rows, tried = self._known[base], base.conditions
            if base.sets != path.sets:
                rows = rows_within(rows, path.sets)
        for condition in conditions:
            if condition not in tried:
                rows, _ = self._split(condition, path.indices, rows)
        if base != path:
            self._keep(path, rows)
        return rows

    def _together(self, path: _Constraint, conditions: Sequence[Expr]) -> tuple[Rows[int], frozenset[Expr]]:
        """The rows of each group of bytes, put together; and the conditions that these rows satisfy. Raises _TooMany,
        _TooMuch."""
        groups = path.groups() if len(path.indices) > 2 else []
        if len(groups) < 2:
            if path.assignments > _MOST_ROWS:
                raise _TooMany
            self._spend(path.assignments)
            return all_rows(path.sets), frozenset()
        parts, tried, count = [], frozenset[Expr](), 1
        for group in groups:
            part = path.of(group)
            rows = self._find(part, [condition for condition in conditions if condition in part.conditions])
            count *= len(rows)
            tried |= part.conditions
            parts.append((rows, tuple(map(path.indices.index, group))))
            if count > _MOST_ROWS:
                raise _TooMany
        self._spend(count * len(path.indices))
        return rows_product(parts), tried

    def _split(self, condition: Expr, indices: tuple[int, ...], rows: Rows[int]) -> tuple[Rows[int], Rows[int]]:
        """The rows that satisfy it, and those that do not. Raises _TooMuch."""
        self._spend(len(rows) * cost(condition))
        return split(condition, indices, rows)

    def _spend(self, operations: int) -> None:
        """What is to be done next takes so many. Raises _TooMuch."""
        self._left -= operations
        if self._left < 0:
            raise _TooMuch
        self._limit.look()

    def _keep(self, constraint: _Constraint, rows: Rows[int]) -> None:
        """Remember, and forget what was not used for long."""
        if constraint in self._known:
            self._rows_kept -= len(self._known.pop(constraint))
        self._known[constraint] = rows
        self._rows_kept += len(rows)
        while len(self._known) > _ENTRIES_KEPT or self._rows_kept > _ROWS_KEPT:
            _, forgotten = self._known.popitem(last=False)
            self._rows_kept -= len(forgotten)
