"""Byte sets: a condition over a single input byte is the 256-bit set of the values that satisfy it.

Most conditions of parsers are of this kind, and then a flip is one AND of two integers.
"""

from __future__ import annotations

from score_embed.solve.expr import OPERATIONS, Expr, Kind, nodes

FULL = (1 << 256) - 1
_SHAPES_KEPT = 1 << 16

_Shape = tuple[object, ...]
_by_shape: dict[_Shape, int] = {}


def byte_set(condition: Expr) -> int:
    """Bit v is set iff the condition holds when its only byte is v. Remembered on the node and by its shape:
    `in[3] == 'a'` and `in[7] == 'a'` are the same set."""
    if condition.byte_set >= 0:
        return condition.byte_set
    if condition.kind is Kind.NOT:
        result = FULL ^ byte_set(condition.args[0])  # NOT never holds a NOT: no deep recursion
    else:
        order = nodes([condition])
        shape = _shape(order)
        found = _by_shape.get(shape)
        if found is None:
            found = sum(1 << value for value, holds in enumerate(_column(order)) if holds)
            if len(_by_shape) >= _SHAPES_KEPT:
                _by_shape.clear()
            _by_shape[shape] = found
        result = found
    condition.byte_set = result
    return result


def _shape(order: list[Expr]) -> _Shape:
    """The formula with its byte's index left out."""
    number = {node: i for i, node in enumerate(order)}
    return tuple(
        (node.kind, node.width, 0 if node.kind is Kind.BYTE else node.value, *[number[arg] for arg in node.args])
        for node in order
    )


def table(expr: Expr) -> list[int]:
    """The formula's value for each value of its only byte."""
    return _column(nodes([expr]))


def _column(order: list[Expr]) -> list[int]:
    columns: dict[Expr, list[int]] = {}
    for node in order:
        if node.kind is Kind.CONST:
            columns[node] = [node.value] * 256
        elif node.kind is Kind.BYTE:
            columns[node] = list(range(256))
        else:
            compute = OPERATIONS[node.kind]
            columns[node] = [compute(node, *row) for row in zip(*[columns[a] for a in node.args], strict=True)]
    return columns[order[-1]]


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
