"""Equalities between bytes: slices made of `a == b` and `a != b` are decided without Z3.

Equal bytes are put into classes; a class has the values that all of its bytes may have. What is left are values that
must differ, which is colouring a graph: whoever has more values than neighbours can always be coloured last, and only
the rest, mostly nothing, is searched. Numbers of several bytes are compared byte by byte: `x == y` is one equality
for each byte, `x != y` says that one of the pairs differs. The search is complete within `_STEPS`; what takes more
goes on to the next layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from score_embed.contract.words import Layer
from score_embed.formula.domain import FULL, byte_set, smallest
from score_embed.formula.expr import Expr, Kind
from score_embed.solve.query import Answer, Limit, Query, Result, Solver

_STEPS = 5_000
_DEPTH = 300  # of the search

Pair = tuple[int, int]  # two input bytes, or an input byte and ~constant


class Relation(NamedTuple):
    """All pairs are equal; or, if not `equal`, at least one of them differs."""

    equal: bool
    pairs: tuple[Pair, ...]
    decided: bool  # constants differ, so it is unequal whatever the bytes are


class _TooMuch(Exception):
    """The search takes more steps than it may."""


class EqualityLayer:
    """Answers slices that consist of byte sets and comparisons of bytes for equality."""

    def __init__(self, inner: Solver, steps: int = _STEPS, limit: Limit | None = None) -> None:
        self._inner, self._limit, self._steps = inner, limit or Limit(), steps

    def solve(self, query: Query) -> Answer:
        relations = _relations(query)
        if relations is None:
            return self._inner.solve(query)
        sets = dict(query.sets)
        index = query.target.only_byte
        if index >= 0:
            sets[index] = sets.get(index, FULL) & byte_set(query.target)
        try:
            found = _Problem(relations, sets, query.data, self._steps).solve()
        except _TooMuch:
            self._limit.gave_up[Layer.EQUALITY] += 1
            return self._inner.solve(query)
        if found is None:
            return Answer(Result.UNSAT, Layer.EQUALITY)
        return Answer(Result.SAT, Layer.EQUALITY, found)


def _relations(query: Query) -> list[Relation] | None:
    """The slice without what its sets say, or None if it holds another kind of condition."""
    found = []
    conditions: Iterable[Expr] = query.several
    if query.target.only_byte < 0:
        conditions = (query.target, *query.several)
    for condition in conditions:
        relation = parse(condition)
        if relation is None:
            return None
        found.append(relation)
    return found


def parse(condition: Expr) -> Relation | None:
    """The condition as a comparison of bytes for equality, if it is one."""
    equal = condition.kind is not Kind.NOT
    comparison = condition if equal else condition.args[0]
    if comparison.kind is not Kind.EQ:
        return None
    left, right = comparison.args
    if left.kind is Kind.BYTE and right.kind is Kind.BYTE:  # nearly always
        return Relation(equal, ((left.value, right.value),), False)
    one, other = _bytes(left), _bytes(right)
    if one is None or other is None:
        return None
    pairs = []
    decided = False
    for a, b in zip(one, other, strict=True):
        if a >= 0 or b >= 0:
            pairs.append((a, b) if a >= 0 else (b, a))
        elif a != b:
            decided = True
    return Relation(equal, tuple(pairs), decided)


def _bytes(value: Expr) -> list[int] | None:
    """The value's bytes, lowest first: indices into the input, or ~constant. None if it is computed in any way."""
    if value.width % 8:
        return None
    if value.kind is Kind.BYTE:
        return [value.value]
    if value.kind is Kind.CONST:
        return [~byte for byte in value.value.to_bytes(value.width // 8, "little")]
    if value.kind is Kind.ZEXT:
        low = _bytes(value.args[0])
        return None if low is None else low + [~0] * (value.width // 8 - len(low))
    found: list[int] = []
    while value.kind is Kind.CONCAT:  # a chain: the highest part is first
        high = _bytes(value.args[0]) if value.args[0].kind is not Kind.CONCAT else None
        if high is None:
            return None
        found = high + found
        value = value.args[1]
    if not found:
        return None
    low = _bytes(value)
    return None if low is None else low + found


def _part(pair: Pair, values: dict[int, int], edges: dict[int, set[int]]) -> bool:
    """Make the pair differ; False if then a class has no value."""
    a, b = pair
    if b < 0:
        values[a] &= ~(1 << ~b)
        return values[a] != 0
    edges[a].add(b)
    edges[b].add(a)
    return True


def _differ(pair: Pair, found: dict[int, int]) -> bool:
    a, b = pair
    return found[a] != (found[b] if b >= 0 else ~b)


class _Problem:
    """Classes of equal bytes with their values, and what must differ."""

    def __init__(self, relations: Sequence[Relation], sets: dict[int, int], data: bytes, steps: int) -> None:
        self._data, self._steps = data, steps
        self._parent: dict[int, int] = {}
        self._values: dict[int, int] = {}  # by root
        self._possible = True
        for index, values in sets.items():
            self._narrow(index, values)
        clauses = []
        for relation in relations:
            for index in (index for pair in relation.pairs for index in pair if index >= 0):
                self._root(index)
            if not relation.equal:
                clauses.append(relation)
            elif relation.decided:
                self._possible = False
            else:
                for a, b in relation.pairs:
                    self._join(a, b)
        self._clauses = [clause.pairs for clause in clauses if not clause.decided]
        self._choices: list[list[Pair]] = []  # of each, one pair at least has to differ

    # --- classes -----------------------------------------------------------------------------------------------

    def _root(self, index: int) -> int:
        parent = self._parent
        if index not in parent:
            parent[index], self._values[index] = index, FULL
        while parent[index] != index:
            parent[index] = index = parent[parent[index]]
        return index

    def _narrow(self, index: int, values: int) -> None:
        root = self._root(index)
        self._values[root] &= values
        if not self._values[root]:
            self._possible = False

    def _join(self, a: int, b: int) -> None:
        if b < 0:
            self._narrow(a, 1 << ~b)
            return
        a, b = self._root(a), self._root(b)
        if a != b:
            self._parent[b] = a
            self._narrow(a, self._values.pop(b))

    # --- what must differ --------------------------------------------------------------------------------------

    def solve(self) -> dict[int, int] | None:
        """A value for each byte, or None if there is none. Raises _TooMuch."""
        if not self._possible:
            return None
        edges: dict[int, set[int]] = {root: set() for root in self._values}
        values = dict(self._values)
        for clause in self._clauses:
            pairs = self._open(clause)
            if pairs is None:
                continue
            if not pairs:
                return None
            if len(pairs) > 1:
                self._choices.append(pairs)
            elif not _part(pairs[0], values, edges):
                return None
        found = self._choose(values, edges, 0)
        return None if found is None else {index: found[self._root(index)] for index in self._parent}

    def _open(self, clause: Sequence[Pair]) -> list[Pair] | None:
        """The pairs of roots that can still differ; None if one is sure to."""
        pairs = []
        for a, b in clause:
            a = self._root(a)
            if b >= 0:
                b = self._root(b)
                if a == b:
                    continue
            others = self._values[b] if b >= 0 else 1 << ~b
            mine = self._values[a]
            if not mine & others:
                return None
            if mine == others and mine & (mine - 1) == 0:
                continue
            pairs.append((a, b))
        return pairs

    def _choose(self, values: dict[int, int], edges: dict[int, set[int]], depth: int) -> dict[int, int] | None:
        """Colour; if a choice is not kept by chance, make each of its pairs differ in turn."""
        found = self._colour(values, edges)
        if found is None:
            return None
        broken = next((pairs for pairs in self._choices if not any(_differ(pair, found) for pair in pairs)), None)
        if broken is None:
            return found
        if depth == _DEPTH:
            raise _TooMuch
        for pair in broken:
            self._step()
            narrowed, more = dict(values), {root: set(others) for root, others in edges.items()}
            if _part(pair, narrowed, more):
                found = self._choose(narrowed, more, depth + 1)
                if found is not None:
                    return found
        return None

    def _step(self) -> None:
        self._steps -= 1
        if self._steps < 0:
            raise _TooMuch

    # --- colouring ---------------------------------------------------------------------------------------------

    def _colour(self, values: dict[int, int], edges: dict[int, set[int]]) -> dict[int, int] | None:
        """Values that differ along all edges."""
        degree = {root: len(others) for root, others in edges.items()}
        easy: list[int] = []  # can be coloured whatever the others get: last taken off, first coloured
        queue = [root for root in degree if values[root].bit_count() > degree[root]]
        hard = set(degree)
        while queue:
            root = queue.pop()
            if root not in hard:
                continue
            hard.remove(root)
            easy.append(root)
            for other in sorted(edges[root]):  # a set's own order is its table's
                degree[other] -= 1
                if other in hard and values[other].bit_count() > degree[other]:
                    queue.append(other)
        if len(hard) > _DEPTH:
            raise _TooMuch
        found = self._search({root: values[root] for root in hard}, edges, {})
        if found is None:
            return None
        for root in reversed(easy):
            taken = 0
            for other in edges[root]:
                if other in found:
                    taken |= 1 << found[other]
            found[root] = self._preferred(root, values[root] & ~taken)
        return found

    def _search(self, left: dict[int, int], edges: dict[int, set[int]], found: dict[int, int]) -> dict[int, int] | None:
        """Colour the rest: the class with the fewest values first."""
        if not left:
            return found
        self._step()
        root = min(left, key=lambda root: (left[root].bit_count(), root))
        values = left[root]
        while values:
            value = self._preferred(root, values)
            values &= ~(1 << value)
            narrowed = {
                other: mine & ~(1 << value) if other in edges[root] else mine
                for other, mine in left.items()
                if other != root
            }
            if all(narrowed.values()):
                result = self._search(narrowed, edges, {**found, root: value})
                if result is not None:
                    return result
        return None

    def _preferred(self, root: int, values: int) -> int:
        """The byte's own value if it may keep it, else the smallest."""
        own = self._data[root]
        return own if values >> own & 1 else smallest(values)
