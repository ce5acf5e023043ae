"""Floating-point conditions said without floating point: `adc * 3.3f / 4096 > 1.5f` is `adc > 1861`.

Z3 needs milliseconds for integers where its theory of floating point needs seconds. A comparison that depends on one
integer, or on one number's bit pattern, by operations with constants holds in few runs of values (solve/ranges.py finds
them); on one byte or two, whatever the operations are, all values are tried. What mixes two larger numbers stays as it
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from score_embed.formula.build import FALSE, binary, byte, concat, ite, member, negate
from score_embed.formula.domain import FULL, all_rows, byte_set, cost, intervals, split
from score_embed.formula.expr import Expr, Kind, bytes_of
from score_embed.solve.enumerate import WORK
from score_embed.solve.ranges import NotOneNumber, Runs, satisfying

_MOST_RUNS = 16  # more of them are no easier than the formula

_CONNECTIVES: dict[Kind, Callable[..., Expr]] = {
    Kind.NOT: negate,
    Kind.AND: lambda a, b: binary(Kind.AND, a, b),
    Kind.OR: lambda a, b: binary(Kind.OR, a, b),
    Kind.XOR: lambda a, b: binary(Kind.XOR, a, b),
    Kind.ITE: ite,
}


def integral(condition: Expr) -> Expr:
    """The condition, with as few floating-point operators as can be. Remembered on the node."""
    if not condition.floats:
        return condition
    if condition.integral is None:
        for node in _connected(condition):
            node.integral = _said(node)
        assert condition.integral is not None
    return condition.integral


def _connected(condition: Expr) -> list[Expr]:
    """What a condition is put together of by connectives, and itself, each after its parts: without recursion."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack = [(condition, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif node not in seen and node.floats and node.integral is None:
            seen.add(node)
            stack.append((node, True))
            if _is_connective(node):
                stack += [(arg, False) for arg in node.args]
    return order


def _is_connective(node: Expr) -> bool:
    return node.only_byte < 0 and node.kind in _CONNECTIVES and all(arg.width == 1 for arg in node.args)


def _said(condition: Expr) -> Expr:
    if _is_connective(condition):
        return _CONNECTIVES[condition.kind](*map(integral, condition.args))
    if condition.only_byte >= 0:
        number, runs = byte(condition.only_byte), tuple(intervals(byte_set(condition)))
    else:
        try:
            number = _number_of(condition)
            runs = satisfying(condition, number)
        except NotOneNumber:
            if not _is_on_two(condition):
                return condition
            number, runs = _tried(condition)
    return _among(number, runs) if len(runs) <= _MOST_RUNS else condition


def _number_of(condition: Expr) -> Expr:
    """The one part of a condition that is computed without floating point, and that decides it. Raises NotOneNumber."""
    node = condition
    while node.floats:
        inner = {arg for arg in node.args if arg.deps}
        if len(inner) != 1:
            raise NotOneNumber
        (node,) = inner
    return node


def _is_on_two(condition: Expr) -> bool:
    return condition.deps.bit_count() == 2 and cost(condition) << 16 <= WORK


def _tried(condition: Expr) -> tuple[Expr, Runs]:
    """A condition on two bytes: the number of these bytes that makes the fewer runs, and the runs."""
    high, low = indices = bytes_of(condition.deps)
    hits, _ = split(condition, indices, all_rows((FULL, FULL)))
    swapped = sorted(row >> 8 | (row & 0xFF) << 8 for row in hits)
    numbers = concat(byte(high), byte(low)), concat(byte(low), byte(high))
    return min(zip(numbers, map(_joined, (hits, swapped)), strict=True), key=lambda found: len(found[1]))


def _joined(values: Iterable[int]) -> Runs:
    """Rising values as runs."""
    found: list[tuple[int, int]] = []
    for value in values:
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return tuple(found)


def _among(number: Expr, runs: Iterable[tuple[int, int]]) -> Expr:
    """That a number's pattern is in one of these runs."""
    return reduce(lambda a, b: binary(Kind.OR, a, b), (member(number, *run) for run in runs), FALSE)
