"""Ranges of one number: conditions that compare what grows or falls with an input are decided by bisection.

A threshold of a sensor's value is `x * scale + offset < limit`: every floating-point operation with a constant is
monotone, rounding included (a square in each of two halves), so the values of x that satisfy it are those up to a
border, which some 32 or 64 evaluations find. A slice all of whose conditions are over the same number is thus answered
exactly, without Z3, as byte sets answer one byte. Numbers are of 1 to 8 neighbouring bytes of the input, integers or
floating point; sets are runs of their patterns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from struct import pack, unpack

from score_embed.contract.words import Layer
from score_embed.formula.expr import Expr, Kind, compute, to_signed
from score_embed.formula.floats import ARITHMETIC, COMPARISONS, FROM_INTEGER, INFINITY, SIGN, TO_INTEGER, decode, is_nan
from score_embed.solve.query import Answer, Query, Result, Solver

_CONDITIONS_KEPT = 10_000

Runs = tuple[tuple[int, int], ...]  # of patterns: first and last of each, in rising order
_Predicate = Callable[[int], bool]  # of a compared value

_NUMBERS = ARITHMETIC | SIGN | TO_INTEGER | COMPARISONS  # take floating-point numbers
_GIVES_NUMBERS = ARITHMETIC | SIGN | FROM_INTEGER
_SIGNED = frozenset({Kind.SITOF, Kind.SEXT, Kind.SLT})
_INTEGERS = _SIGNED | {Kind.UITOF, Kind.ZEXT, Kind.ULT, Kind.EQ}
_FORMATS = {32: "<f", 64: "<d"}


class NotOneNumber(Exception):
    """The condition says something else."""


class RangeLayer:
    """Answers slices over one number."""

    def __init__(self, inner: Solver) -> None:
        self._inner = inner
        self._known: dict[Expr, Runs | None] = {}

    def solve(self, query: Query) -> Answer:
        found = self._runs(query) if query.floats and not query.sets else None
        if found is None:
            return self._inner.solve(query)
        runs, number, floating = found
        if not runs:
            return Answer(Result.UNSAT, Layer.RANGE)
        pattern = min(
            (_simplest(run, number.width, floating) for run in runs), key=lambda p: _plainness(p, number, floating)
        )
        places = _places(number)
        assert places is not None
        return Answer(Result.SAT, Layer.RANGE, {place: pattern >> 8 * i & 0xFF for i, place in enumerate(places)})

    def _runs(self, query: Query) -> tuple[Runs, Expr, bool] | None:
        """The patterns that satisfy the query, the number, and whether it is a floating-point number."""
        number = _number_of(query.target)
        if number is None or any(condition.deps != number.deps for condition in query.several):
            return None
        runs: Runs = ((0, (1 << number.width) - 1),)
        for condition in (query.target, *query.several):
            allowed = self._of(condition, number)
            if allowed is None:
                return None
            runs = _both(runs, allowed)
        return runs, number, any(_taken_as_float(c, number) for c in (query.target, *query.several))

    def _of(self, condition: Expr, number: Expr) -> Runs | None:
        if condition not in self._known:
            if len(self._known) >= _CONDITIONS_KEPT:
                self._known.clear()
            try:
                self._known[condition] = satisfying(condition, number)
            except NotOneNumber:
                self._known[condition] = None
        return self._known[condition]


def _places(number: Expr) -> list[int] | None:
    """The input bytes of a number, the lowest first; None if it is anything else than bytes side by side."""
    found = []
    while number.kind is Kind.CONCAT and number.args[0].kind is Kind.BYTE:
        found.append(number.args[0].value)
        number = number.args[1]
    if number.kind is not Kind.BYTE or number.value in found:
        return None
    return [number.value, *reversed(found)] if len(set(found)) == len(found) else None


def _number_of(condition: Expr) -> Expr | None:
    """The one number that a condition is about: the largest part of it that is bytes side by side."""
    node = condition
    while _places(node) is None:
        inner = [arg for arg in node.args if arg.deps]
        if not inner or any(arg.deps != node.deps for arg in inner):
            return None
        node = inner[0]
    return node


def _taken_as_float(condition: Expr, number: Expr) -> bool:
    node, user = condition, condition
    while node is not number:
        user, node = node, next(arg for arg in node.args if arg.deps)
    return user.kind in _NUMBERS and node.width in INFINITY


def satisfying(condition: Expr, number: Expr) -> Runs:
    """The patterns of the number with which a condition holds. Raises NotOneNumber."""
    kind, args = condition.kind, condition.args
    if kind is Kind.NOT:
        return _complement(satisfying(args[0], number), number.width)
    if kind in (Kind.AND, Kind.OR) and condition.width == 1:
        if any(arg.deps != number.deps for arg in args):
            raise NotOneNumber
        one, other = (satisfying(arg, number) for arg in args)
        if kind is Kind.AND:
            return _both(one, other)
        width = number.width
        return _complement(_both(_complement(one, width), _complement(other, width)), width)
    if kind not in (Kind.EQ, Kind.ULT, Kind.SLT, *COMPARISONS):
        raise NotOneNumber
    left, right = args
    if bool(left.deps) == bool(right.deps):
        raise NotOneNumber
    varying = left if left.deps else right
    chain = _chain(varying, number)
    runs: Runs = ((0, (1 << number.width) - 1),)
    pieces = _pieces(chain, condition, number)
    for holds in _predicates(condition, varying, chain):
        runs = _both(runs, _where(pieces, chain, holds))
    return runs


def _where(pieces: Iterable[tuple[int, int]], chain: Sequence[Expr], holds: _Predicate) -> Runs:
    """Where in these pieces the chain's value satisfies the predicate."""
    return _joined(run for piece in pieces for run in _true_in(piece, lambda p: holds(_value(chain, p))))


def _chain(varying: Expr, number: Expr) -> list[Expr]:
    """The operations from the number to a value that is computed of it and constants."""
    chain = []
    while varying is not number:
        inner = {arg for arg in varying.args if arg.deps}
        twice = all(arg.deps for arg in varying.args) and len(varying.args) > 1
        if len(inner) != 1 or varying.kind is Kind.TABLE or (twice and varying.kind is not Kind.FMUL):
            raise NotOneNumber
        chain.append(varying)
        (varying,) = inner
    return chain[::-1]


def _value(chain: Sequence[Expr], pattern: int) -> int:
    for node in chain:
        pattern = compute(node, *[pattern if arg.deps else arg.value for arg in node.args])
    return pattern


def _predicates(condition: Expr, varying: Expr, chain: Sequence[Expr]) -> list[_Predicate]:
    """The comparison as tests of the varying value, each of which changes once as that grows."""
    kind, (left, right) = condition.kind, condition.args
    if kind in COMPARISONS or kind in (Kind.ULT, Kind.SLT):
        if kind is Kind.FEQ:
            limit = decode((right if varying is left else left).value, varying.width)
            return [lambda v: decode(v, varying.width) <= limit, lambda v: decode(v, varying.width) >= limit]
        if varying is left:
            return [lambda v: bool(compute(condition, v, right.value))]
        return [lambda v: bool(compute(condition, left.value, v))]
    limit = (right if varying is left else left).value
    if _is_signed(chain):
        width, limit = varying.width, to_signed(limit, varying.width)
        return [lambda v: to_signed(v, width) <= limit, lambda v: to_signed(v, width) >= limit]
    return [lambda v: v <= limit, lambda v: v >= limit]


def _is_signed(chain: Sequence[Expr]) -> bool:
    """Whether the values of a chain grow as signed integers."""
    return any(node.kind in (Kind.FTOSI, Kind.SEXT) for node in chain)


def _pieces(chain: Sequence[Expr], condition: Expr, number: Expr) -> list[tuple[int, int]]:
    """Runs of patterns in which the chain's value only grows, or only falls."""
    top = 1 << (number.width - 1)
    user = chain[0].kind if chain else condition.kind
    if user in _NUMBERS:
        inf = INFINITY[number.width]
        pieces = [(0, inf), (inf + 1, top - 1), (top, top + inf), (top + inf + 1, 2 * top - 1)]
    else:
        pieces = [(0, top - 1), (top, 2 * top - 1)] if user in _SIGNED else [(0, 2 * top - 1)]
    for i, node in enumerate(chain):
        if not (_is_tame(node) and _follows(node.kind, chain[:i])):
            raise NotOneNumber
        if node.kind in (Kind.FABS, Kind.FSQRT):
            pieces = _split_by_sign(pieces, chain[:i], node.args[0].width)
        elif (node.kind is Kind.FDIV and node.args[1].deps) or (
            node.kind is Kind.FMUL and node.args[0] is node.args[1]
        ):
            pieces = _split_by_sign(pieces, chain[:i], node.width)
    if not _follows(condition.kind, chain):
        raise NotOneNumber
    return pieces


def _follows(kind: Kind, before: Sequence[Expr]) -> bool:
    """Whether the operator takes what the chain so far gives for what it is, so that order is kept."""
    if kind in _NUMBERS:
        return not before or before[-1].kind in _GIVES_NUMBERS
    if not before:
        return kind in _INTEGERS
    last = before[-1].kind
    if kind not in _INTEGERS or last in _GIVES_NUMBERS:
        return False
    return kind is Kind.EQ or _is_signed(before) == (kind in _SIGNED) or last is Kind.ZEXT


def _split_by_sign(pieces: Iterable[tuple[int, int]], chain: Sequence[Expr], width: int) -> list[tuple[int, int]]:
    return [part for piece in pieces for part in _split(piece, lambda p: bool(_value(chain, p) >> (width - 1)))]


def _is_tame(node: Expr) -> bool:
    """Whether the operation's constant makes no NaN of any number."""
    constants = [decode(arg.value, arg.width) for arg in node.args if not arg.deps and node.kind in ARITHMETIC]
    if any(not math.isfinite(constant) for constant in constants):
        return False
    return node.kind not in (Kind.FMUL, Kind.FDIV) or all(constants)


# --- runs ------------------------------------------------------------------------------------------------------


def _border(piece: tuple[int, int], holds: _Predicate) -> int:
    """The first pattern at which the predicate is other than at the piece's beginning."""
    low, high = piece
    first = holds(low)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle) == first:
            low = middle
        else:
            high = middle
    return high


def _split(piece: tuple[int, int], holds: _Predicate) -> list[tuple[int, int]]:
    first, last = piece
    if holds(first) == holds(last):
        return [piece]
    border = _border(piece, holds)
    return [(first, border - 1), (border, last)]


def _true_in(piece: tuple[int, int], holds: _Predicate) -> list[tuple[int, int]]:
    return [part for part in _split(piece, holds) if holds(part[0])]


def _joined(runs: Iterable[tuple[int, int]]) -> Runs:
    """Sorted, and neighbours made one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if found and found[-1][1] + 1 == first:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return tuple(found)


def _both(one: Runs, other: Runs) -> Runs:
    found = [(max(a, c), min(b, d)) for a, b in one for c, d in other]
    return tuple(sorted((first, last) for first, last in found if first <= last))


def _complement(runs: Runs, width: int) -> Runs:
    found, at = [], 0
    for first, last in runs:
        if at < first:
            found.append((at, first - 1))
        at = last + 1
    if at < 1 << width:
        found.append((at, (1 << width) - 1))
    return tuple(found)


# --- the answer ------------------------------------------------------------------------------------------------


def _simplest(run: tuple[int, int], width: int, floating: bool) -> int:
    """A pattern of a run that people like to read: a small whole number, else one of few digits."""
    first, last = run
    if not floating:
        return first if first < 1 << (width - 1) else last  # as a signed number that of -1 …
    nearest = decode(first, width)  # to zero
    if math.isfinite(nearest) and abs(nearest) < 1 << 20:
        whole = unpack(
            f"<{'I' if width == 32 else 'Q'}", pack(_FORMATS[width], math.copysign(math.ceil(abs(nearest)), nearest))
        )
        if first <= whole[0] <= last:
            return int(whole[0])
    bits = 0
    while (last >> bits + 1) << bits + 1 >= first and bits < width:
        bits += 1
    return (last >> bits) << bits


def _plainness(pattern: int, number: Expr, floating: bool) -> tuple[bool, float]:
    if not floating:
        return False, abs(to_signed(pattern, number.width))
    return is_nan(pattern, number.width), abs(decode(pattern, number.width))
