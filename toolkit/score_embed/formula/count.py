"""How many values a formula can have at most: what decides whether all of them are worth a test each.

The number is static, so that all runs of a path, sessions and machines agree. `limits`: what the path's conditions say of
formulas as a whole, as the largest value of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from score_embed.formula.expr import Expr, Kind, TableRead

_DEPTH = 12  # how deep formulas are looked into


def most_values(expr: Expr, limits: Mapping[Expr, int]) -> int:
    """No more than so many values; of a formula that is too deep, 2 to the power of its width."""
    return _most(expr, limits, _DEPTH, {})


def _most(expr: Expr, limits: Mapping[Expr, int], depth: int, known: dict[Expr, int]) -> int:
    if expr.is_const:
        return 1
    if expr in known:
        return known[expr]
    most = 1 << expr.width
    if expr in limits:
        most = min(most, limits[expr] + 1)
    if expr.only_byte >= 0:
        most = min(most, 256)
    if isinstance(expr, TableRead):
        most = min(most, len(set(expr.entries)))
    if depth and expr.args:
        counts = [_most(arg, limits, depth - 1, known) if arg.deps else 1 for arg in expr.args]
        most = min(most, counts[1] + counts[2] if expr.kind is Kind.ITE else math.prod(counts))
    known[expr] = most
    return most


def limit_of(condition: Expr) -> tuple[Expr, int] | None:
    """What a condition that holds says of a formula as a whole: its largest value."""
    if condition.kind is Kind.ULT and condition.args[1].is_const:  # x < c
        return condition.args[0], max(condition.args[1].value - 1, 0)
    if condition.kind is Kind.NOT:
        inner = condition.args[0]
        if inner.kind is Kind.ULT and inner.args[0].is_const:  # not c < x
            return inner.args[1], inner.args[0].value
    return None
