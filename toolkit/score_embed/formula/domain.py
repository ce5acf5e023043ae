"""Byte sets: a condition over a single input byte is the 256-bit set of the values that satisfy it.

Most conditions of parsers are of this kind, and then a flip is one AND of two integers.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from score_embed.formula.expr import OPERATIONS, Expr, Kind, nodes

FULL = (1 << 256) - 1
_SHAPES_KEPT = 1 << 16

_SHAPE_SIZE = 64  # nodes
_COLUMNS_KEPT = 512  # two KiB each

_Shape = tuple[object, ...]
_by_shape: dict[_Shape, int] = {}
_columns: WeakKeyDictionary[Expr, list[int]] = WeakKeyDictionary()


def byte_set(condition: Expr) -> int:
    """Bit v is set iff the condition holds when its only byte is v. Remembered on the node and by its shape:
    `in[3] == 'a'` and `in[7] == 'a'` are the same set."""
    if condition.byte_set >= 0:
        return condition.byte_set
    if condition.kind is Kind.NOT:
        result = FULL ^ byte_set(condition.args[0])  # NOT never holds a NOT: no deep recursion
    else:
        order = _few_nodes(condition)
        shape = _shape(order) if order else None
        found = _by_shape.get(shape) if shape else None
        if found is None:
            found = sum(1 << value for value, holds in enumerate(table(condition)) if holds)
            if len(_by_shape) >= _SHAPES_KEPT:
                _by_shape.clear()
            if shape:
                _by_shape[shape] = found
        result = found
    condition.byte_set = result
    return result


def _few_nodes(expr: Expr) -> list[Expr]:
    """Every node once, arguments first; empty if there are too many for its shape to come again."""
    seen, stack = {expr}, [expr]
    while stack:
        for arg in stack.pop().args:
            if arg not in seen:
                if len(seen) == _SHAPE_SIZE:
                    return []
                seen.add(arg)
                stack.append(arg)
    return nodes([expr])


def _shape(order: list[Expr]) -> _Shape:
    """The formula with its byte's index left out."""
    number = {node: i for i, node in enumerate(order)}
    return tuple(
        (node.kind, node.width, 0 if node.kind is Kind.BYTE else node.value, *[number[arg] for arg in node.args])
        for node in order
    )


def table(expr: Expr) -> list[int]:
    """The formula's value for each value of its only byte.

    A loop that adds to a value makes a formula that grows with every turn: what was computed last is kept.
    """
    columns: dict[Expr, list[int]] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        if node in columns:
            stack.pop()
        elif (kept := _columns.get(node)) is not None:
            columns[node] = kept
        elif missing := [arg for arg in node.args if arg not in columns]:
            stack += missing
        else:
            columns[node] = _columns[node] = _column(node, [columns[arg] for arg in node.args])
    if len(_columns) > 2 * _COLUMNS_KEPT:
        kept_last = list(_columns.items())[-_COLUMNS_KEPT:]
        _columns.clear()
        _columns.update(kept_last)
    return columns[expr]


def _column(node: Expr, arguments: list[list[int]]) -> list[int]:
    if node.kind is Kind.CONST:
        return [node.value] * 256
    if node.kind is Kind.BYTE:
        return list(range(256))
    compute = OPERATIONS[node.kind]
    return [compute(node, *row) for row in zip(*arguments, strict=True)]


def smallest(values: int) -> int:
    """The smallest member of a set that is not empty."""
    return (values & -values).bit_length() - 1


def members(values: int) -> list[int]:
    return [value for value in range(256) if values >> value & 1]


def intervals(values: int) -> list[tuple[int, int]]:
    """The set as runs of neighbouring values (first, last): how it is told to an SMT solver."""
    runs = []
    value = 0
    while values >> value:
        value += smallest(values >> value)
        length = smallest(~(values >> value))
        runs.append((value, value + length - 1))
        value += length
    return runs
