"""Formulas with parts of them replaced by constants, where the path says what these are."""

from __future__ import annotations

from collections.abc import Mapping

from score_embed.formula import build
from score_embed.formula.expr import COMMUTATIVE, COMPARISONS, Expr, Kind, TableRead, intern_table

_DEPTH = 8  # how deep a formula is looked into: what the path says of a value, it says soon after the value was made
_BINARY = COMMUTATIVE | COMPARISONS | {
    Kind.SUB, Kind.UDIV, Kind.SDIV, Kind.UREM, Kind.SREM, Kind.SHL, Kind.LSHR, Kind.ASHR,
}  # fmt: skip


def replaced(expr: Expr, known: Mapping[Expr, Expr], reach: int) -> Expr:
    """The formula, or one that is equal to it where each of the `known` is its constant. `reach`: their input bytes."""
    return _replaced(expr, known, reach, _DEPTH, {})


def _replaced(expr: Expr, known: Mapping[Expr, Expr], reach: int, depth: int, seen: dict[Expr, Expr]) -> Expr:
    if not expr.deps & reach or expr.floats:
        return expr
    found = known.get(expr) or seen.get(expr)
    if found is None:
        found = expr
        if depth and expr.kind is not Kind.BYTE:
            arguments = [_replaced(arg, known, reach, depth - 1, seen) for arg in expr.args]
            if any(mine is not other for mine, other in zip(arguments, expr.args, strict=True)):
                found = _made(expr, arguments)
        seen[expr] = found
    return found


def _made(expr: Expr, arguments: list[Expr]) -> Expr:
    """The same operator, of other arguments."""
    if expr.kind in _BINARY:
        return build.binary(expr.kind, *arguments)
    if isinstance(expr, TableRead):
        (index,) = arguments
        if index.is_const:
            return build.const(expr.entries[index.value], expr.width, index.origins)
        return intern_table(expr.width, index, expr.value, expr.entries)
    match expr.kind:
        case Kind.ZEXT:
            return build.zext(arguments[0], expr.width)
        case Kind.SEXT:
            return build.sext(arguments[0], expr.width)
        case Kind.EXTRACT:
            return build.extract(arguments[0], expr.value, expr.width)
        case Kind.CONCAT:
            return build.concat(*arguments)
        case Kind.ITE:
            return build.ite(*arguments)
        case Kind.NOT:
            return build.bit_not(arguments[0])
        case Kind.NEG:
            return build.neg(arguments[0])
    return expr
