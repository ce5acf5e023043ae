"""Formulas as tables: the values of a formula for all values of the few variables that it depends on.

A variable is an input byte, or an *inner* value: what a formula reads from a table, chooses, or cuts out, if that has few
values. Code that is driven by tables computes chains of such values (a scanner's state after each byte), each from the one
before and one byte more. Over bytes alone such a formula has more values than can be listed; over its inner values it has a
few thousand. Each inner variable knows its own table, over the variables that it is made of.

Numbers are unsigned 64-bit words, masked to the formula's width; wider formulas and floating-point numbers have no table.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from score_embed.formula.expr import Expr, Kind

Words = NDArray[np.uint64]

_WIDEST = 64  # bits
_AT_EASE = 4096  # elements that a table may have before a part of it becomes a variable
_MOST = 1 << 16  # elements of a table
_MOST_VALUES = 256  # of an inner variable
_FEWEST = 16  # elements of a table that is worth one
_MOST_JOINED = 1 << 20  # elements of an inner variable's table times its values
_KEPT = 1 << 23  # elements of all tables together
_CHOOSING = frozenset({Kind.TABLE, Kind.ITE})  # their results are few, and much is made of them

_numbers = itertools.count()


class Partition:
    """A table's elements by their values, which are few: `choice` has, for each element, which of `values` it is. They are
    numbered as they come: what tells the same apart is the same partition, whatever the values are (`key`)."""

    __slots__ = ("choice", "key", "rows", "values")

    def __init__(self, values: Words, choice: NDArray[np.intp]) -> None:
        self.values, self.choice = values, choice
        self.key = choice.astype(np.uint8).tobytes()
        # As a relation: a row for each element, its place and which value it has.
        self.rows = np.column_stack([np.indices(choice.shape).reshape(choice.ndim, -1).T, choice.reshape(-1)])


class Variable:
    """An input byte has its `index`; an inner variable has -1 and is `made_of` others: the `partition` of a table over them
    says which of its `count` values it has."""

    __slots__ = ("__weakref__", "count", "index", "made_of", "number", "partition", "rank")

    def __init__(
        self, index: int, count: int, made_of: tuple[Variable, ...] = (), partition: Partition | None = None
    ) -> None:
        self.index, self.count, self.made_of, self.partition = index, count, made_of, partition
        self.number = next(_numbers)
        # Of two variables that one is made of the other, the other is first; else the input's order decides.
        self.rank: tuple[int, int, int] = (index, 0, 0)
        if made_of:
            last, depth, _ = max(part.rank for part in made_of)
            self.rank = (last, depth + 1, self.number)


class Grid(NamedTuple):
    """A formula's values: an axis for each variable, in the order of their ranks."""

    variables: tuple[Variable, ...]
    values: Words


class Grids:
    """Makes grids and keeps those of formulas that are alive."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Expr, Grid | None] = WeakKeyDictionary()
        self._few: WeakKeyDictionary[Expr, Grid] = WeakKeyDictionary()  # over inner variables, where that makes them smaller
        self._bytes: dict[int, Variable] = {}
        self._inner: WeakValueDictionary[tuple[tuple[int, ...], bytes], Variable] = WeakValueDictionary()
        self._entries: dict[int, Words] = {}
        self._size = 0

    def of(self, expr: Expr) -> Grid | None:
        """The formula's values; None if it has no table of a bearable size."""
        if self._size > _KEPT:
            self._known.clear()
            self._few.clear()
            self._entries.clear()
            self._size = 0
        known = self._known
        stack = [expr]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
            elif node.width > _WIDEST or node.kind >= Kind.FADD:
                known[node] = None
            elif missing := [arg for arg in node.args if arg not in known]:
                stack += missing
            else:
                known[node] = self._made(node, [known[arg] for arg in node.args])
        return known[expr]

    def _made(self, node: Expr, parts: Sequence[Grid | None]) -> Grid | None:
        if node.kind is Kind.CONST:
            return Grid((), _word(node.value))
        if node.kind is Kind.BYTE:
            return Grid((self._byte(node.value),), np.arange(256, dtype=np.uint64))
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        found = self._in_few_values(node, found)
        if _size_of(found) > _MOST:
            return None
        grid = self._computed(node, found)
        self._size += grid.values.size
        return grid

    def _in_few_values(self, node: Expr, parts: list[Grid]) -> list[Grid]:
        """The arguments' grids, over inner variables where that makes the node's grid smaller."""
        of = list(zip(node.args, parts, strict=True))
        reduced = [self._few_of(arg, part) if arg.kind in _CHOOSING else part for arg, part in of]
        if _size_of(reduced) > _AT_EASE:
            reduced = [self._few_of(arg, part) for arg, part in of]
        for at, part in enumerate(parts):
            if part is not reduced[at]:
                other = [*reduced[:at], part, *reduced[at + 1 :]]
                if _size_of(other) <= _size_of(reduced):
                    reduced = other
        return reduced

    def _computed(self, node: Expr, parts: Sequence[Grid]) -> Grid:
        variables = _union(parts)
        arguments = [spread(part.values, part.variables, variables) for part in parts]
        if node.kind is Kind.TABLE:
            values = self._table(node)[arguments[0].astype(np.intp)]
        else:
            values = _COMPUTE[node.kind](node, *arguments)
        shape = tuple(variable.count for variable in variables)
        return Grid(variables, np.broadcast_to(values.astype(np.uint64), shape))

    def _table(self, node: Any) -> Words:
        entries = self._entries.get(node.value)
        if entries is None:
            entries = self._entries[node.value] = np.array(node.entries, np.uint64)
            self._size += len(entries)
        return entries

    def _few_of(self, node: Expr, grid: Grid) -> Grid:
        found = self._few.get(node)
        if found is None:
            found = self._few[node] = self._reduced(grid)
        return found

    def _reduced(self, grid: Grid) -> Grid:
        """These values as those of an inner variable, if they are few; else the same grid."""
        content, shape = grid.values.tobytes(), grid.values.shape
        partition = _known_partition(content, shape) if grid.values.size <= _AT_EASE else _partition(content, shape)
        if partition is None:
            return grid
        self._size += partition.rows.size
        key = tuple(variable.number for variable in grid.variables), partition.key
        variable = self._inner.get(key)
        if variable is None:
            variable = self._inner[key] = Variable(-1, len(partition.values), grid.variables, partition)
        return Grid((variable,), partition.values)

    def _byte(self, index: int) -> Variable:
        found = self._bytes.get(index)
        if found is None:
            found = self._bytes[index] = Variable(index, 256)
        return found


def _partition(content: bytes, shape: tuple[int, ...]) -> Partition | None:
    """Of a table with this content; None if its values are not few."""
    table = np.frombuffer(content, np.uint64)
    if table.size < _FEWEST:
        return None
    values, first, choice = np.unique(table, return_index=True, return_inverse=True)
    if len(values) > min(_MOST_VALUES, table.size // 2) or len(values) * table.size > _MOST_JOINED:
        return None
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Partition(values[order], place[choice].reshape(shape))


@lru_cache(maxsize=512)
def _known_partition(content: bytes, shape: tuple[int, ...]) -> Partition | None:
    """The same, remembered: the tables of a loop's turns are alike. For small tables: 200 KiB each at most."""
    return _partition(content, shape)


def _word(value: int) -> Words:
    return np.array(value, np.uint64)


def _union(parts: Sequence[Grid]) -> tuple[Variable, ...]:
    if len(parts) == 1:
        return parts[0].variables
    return tuple(sorted({v for part in parts for v in part.variables}, key=lambda v: v.rank))


def _size_of(parts: Sequence[Grid]) -> int:
    size = 1
    for variable in _union(parts):
        size *= variable.count
    return size


def spread(values: Any, mine: Sequence[Variable], variables: Sequence[Variable]) -> Any:
    """The same values, with an axis of one element for each variable that is not in them."""
    if len(mine) == len(variables):
        return values
    here = set(mine)
    return values.reshape([v.count if v in here else 1 for v in variables])


# --- operators -------------------------------------------------------------------------------------------------


def _mask(node: Expr) -> Words:
    return _word((1 << node.width) - 1)


def _sign_extended(values: Words, width: int) -> Words:
    """To 64 bits."""
    sign = _word(1 << (width - 1))
    return (values ^ sign) - sign


def _magnitude(values: Words, width: int) -> tuple[Words, Any]:
    """Absolute values of signed numbers, and which of them are negative."""
    negative = (values >> _word(width - 1)) != 0
    return np.where(negative, (~values + _word(1)) & _word((1 << width) - 1), values), negative


def _udiv(node: Expr, a: Words, b: Words) -> Words:
    return np.where(b == 0, _mask(node), a // np.maximum(b, _word(1)))


def _urem(node: Expr, a: Words, b: Words) -> Words:
    return np.where(b == 0, a, a % np.maximum(b, _word(1)))


def _sdiv(node: Expr, a: Words, b: Words) -> Words:
    (x, minus), (y, below) = _magnitude(a, node.width), _magnitude(b, node.width)
    quotient = x // np.maximum(y, _word(1))
    signed = np.where(minus == below, quotient, ~quotient + _word(1)) & _mask(node)
    return np.where(b == 0, np.where(minus, _word(1), _mask(node)), signed)


def _srem(node: Expr, a: Words, b: Words) -> Words:
    (x, minus), (y, _) = _magnitude(a, node.width), _magnitude(b, node.width)
    rest = x % np.maximum(y, _word(1))
    return np.where(b == 0, a, np.where(minus, ~rest + _word(1), rest) & _mask(node))


def _shl(node: Expr, a: Words, b: Words) -> Words:
    kept = a << np.minimum(b, _word(63)) & _mask(node)
    return np.where(b < _word(node.width), kept, _word(0))


def _lshr(node: Expr, a: Words, b: Words) -> Words:
    return np.where(b < _word(node.width), a >> np.minimum(b, _word(63)), _word(0))


def _ashr(node: Expr, a: Words, b: Words) -> Words:
    signed = _sign_extended(a, node.width).view(np.int64)
    shifted = signed >> np.minimum(b, _word(63)).astype(np.int64)
    return shifted.view(np.uint64) & _mask(node)


def _slt(node: Expr, a: Words, b: Words) -> Words:
    sign = _word(1 << (node.args[0].width - 1))
    return (a ^ sign) < (b ^ sign)  # type: ignore[return-value]


# As expr.OPERATIONS, for arrays of words. Comparisons give truth values, which the caller makes words.
_COMPUTE: dict[Kind, Callable[..., Any]] = {
    Kind.ADD: lambda node, a, b: a + b & _mask(node),
    Kind.SUB: lambda node, a, b: a - b & _mask(node),
    Kind.MUL: lambda node, a, b: a * b & _mask(node),
    Kind.UDIV: _udiv,
    Kind.SDIV: _sdiv,
    Kind.UREM: _urem,
    Kind.SREM: _srem,
    Kind.AND: lambda node, a, b: a & b,
    Kind.OR: lambda node, a, b: a | b,
    Kind.XOR: lambda node, a, b: a ^ b,
    Kind.SHL: _shl,
    Kind.LSHR: _lshr,
    Kind.ASHR: _ashr,
    Kind.NOT: lambda node, a: a ^ _mask(node),
    Kind.NEG: lambda node, a: ~a + _word(1) & _mask(node),
    Kind.ZEXT: lambda node, a: a,
    Kind.SEXT: lambda node, a: _sign_extended(a, node.args[0].width) & _mask(node),
    Kind.EXTRACT: lambda node, a: a >> _word(node.value) & _mask(node),
    Kind.CONCAT: lambda node, a, b: a << _word(node.args[1].width) | b,
    Kind.EQ: lambda node, a, b: a == b,
    Kind.ULT: lambda node, a, b: a < b,
    Kind.SLT: _slt,
    Kind.ITE: lambda node, condition, then, otherwise: np.where(condition != 0, then, otherwise),
}
