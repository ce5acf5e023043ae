"""Makes formulas: one function an operator, each with the light simplifications that pay for themselves.

They fold constants, undo what C's promotions do (a comparison of a widened byte becomes one of the byte), and
put memory reads back together. No simplification drops an origin silently: a constant that decides a result
hands its origins on. Rules look one level deep, or recurse only into narrower formulas, so that deep formulas are safe.
"""

from __future__ import annotations

from collections.abc import Sequence

from score_embed.formula import floats
from score_embed.formula.expr import COMMUTATIVE, COMPARISONS, NOWHERE, OPERATIONS, Expr, Kind, intern, to_signed

_CONST = Kind.CONST


def const(value: int, width: int, origins: frozenset[int] = NOWHERE) -> Expr:
    return intern(Kind.CONST, width, (), value & ((1 << width) - 1), origins)


def byte(index: int) -> Expr:
    return intern(Kind.BYTE, 8, (), index)


TRUE, FALSE = const(1, 1), const(0, 1)


def _raw(kind: Kind, width: int, args: tuple[Expr, ...], value: int = 0) -> Expr:
    """The node itself, or the constant it folds to."""
    for arg in args:
        if arg.kind is not _CONST:
            return intern(kind, width, args, value)
    node = Expr(kind, width, args, value, NOWHERE)  # not interned: only to compute with
    return const(OPERATIONS[kind](node, *[arg.value for arg in args]), width, node.origins)


def binary(kind: Kind, a: Expr, b: Expr) -> Expr:
    """Any operator of two arguments of equal width; comparisons have width 1, CONCAT is `concat`."""
    if a.width != b.width:
        raise ValueError(f"operands of {kind.name} have {a.width} and {b.width} bits")
    if a.kind is _CONST and b.kind is _CONST:
        return _raw(kind, 1 if kind in COMPARISONS else a.width, (a, b))
    if kind in COMMUTATIVE and _belongs_right(a, b):
        a, b = b, a
    if kind is Kind.EQ:
        return _eq(a, b)
    if kind is Kind.ULT or kind is Kind.SLT:
        return _less(kind, a, b)
    if kind in _JOINS and a is not b:
        joined = _join(a, b) or _join(b, a)
        if joined is not None:
            return joined
    return _same(kind, a) if a is b else _with_const(kind, a, b)


def _belongs_right(a: Expr, b: Expr) -> bool:
    """Constants stand on the right; else the order is by input bytes, which is the same in every session."""
    if a.kind is _CONST or b.kind is _CONST:
        return a.kind is _CONST
    return a.deps > b.deps or (a.deps == b.deps and a.uid > b.uid)


_JOINS = frozenset({Kind.OR, Kind.ADD, Kind.XOR})  # all alike where no two bits meet


def _join(a: Expr, b: Expr) -> Expr | None:
    """`b` put into the zero bits at the end of `a`: how parsers build numbers from bytes (`h << 8 | l`)."""
    high = a.args[0] if a.kind is Kind.ZEXT else a
    if high.kind is not Kind.CONCAT or b.kind is not Kind.ZEXT:
        return None
    joined = _fill_tail(high, b.args[0])
    return None if joined is None else zext(joined, a.width)


def _fill_tail(high: Expr, low: Expr) -> Expr | None:
    top, tail = high.args
    if tail.kind is Kind.CONCAT:
        filled = _fill_tail(tail, low)
        return None if filled is None else concat(top, filled)
    if tail.kind is _CONST and tail.value == 0 and not tail.origins and tail.width >= low.width:
        return concat(top, zext(low, tail.width))
    return None


def _same(kind: Kind, a: Expr) -> Expr:
    if kind is Kind.SUB or kind is Kind.XOR:
        return const(0, a.width)
    if kind is Kind.AND or kind is Kind.OR:
        return a
    return _raw(kind, a.width, (a, a))


def _with_const(kind: Kind, a: Expr, b: Expr) -> Expr:
    """Neutral and absorbing constants on the right. `b.origins` go to every result that `b` decided."""
    width = a.width
    if b.kind is not _CONST:
        return _raw(kind, width, (a, b))
    c = b.value
    if kind is Kind.SUB:
        return binary(Kind.ADD, a, const(-c, width, b.origins))
    if c == 0 and not b.origins and kind in (Kind.ADD, Kind.OR, Kind.XOR, Kind.SHL, Kind.LSHR, Kind.ASHR):
        return a
    if c == 1 and not b.origins and kind in (Kind.MUL, Kind.UDIV, Kind.SDIV):
        return a
    if c == 0 and kind in (Kind.MUL, Kind.AND):
        return b
    if kind is Kind.ADD and a.kind is Kind.ADD and a.args[1].kind is _CONST:
        return binary(Kind.ADD, a.args[0], binary(Kind.ADD, a.args[1], b))
    if kind is Kind.AND and not b.origins and c & (c + 1) == 0:  # a mask of low bits
        return zext(extract(a, 0, c.bit_length()), width)
    if kind is Kind.XOR and not b.origins and c == (1 << width) - 1:
        return bit_not(a)
    if c >= width and kind in (Kind.SHL, Kind.LSHR):
        return const(0, width, b.origins)
    if kind is Kind.SHL and not b.origins:
        return concat(extract(a, 0, width - c), const(0, c))
    if kind is Kind.LSHR and not b.origins:
        return zext(extract(a, c, width - c), width)
    return _raw(kind, width, (a, b))


def _eq(a: Expr, b: Expr) -> Expr:
    if a is b:
        return TRUE
    if b.kind is _CONST:
        if a.width == 1 and not b.origins:
            return a if b.value else bit_not(a)
        if a.kind is Kind.ADD and a.args[1].kind is _CONST:
            return binary(Kind.EQ, a.args[0], binary(Kind.SUB, b, a.args[1]))
        if a.kind is Kind.SUB and b.value == 0 and not b.origins:
            return binary(Kind.EQ, a.args[0], a.args[1])
        if a.kind is Kind.ZEXT or a.kind is Kind.SEXT:
            inner = a.args[0]
            low = const(b.value, inner.width, b.origins)
            widened = zext(low, a.width) if a.kind is Kind.ZEXT else sext(low, a.width)
            return binary(Kind.EQ, inner, low) if widened.value == b.value else const(0, 1, b.origins)
    elif a.kind is b.kind and a.kind in (Kind.ZEXT, Kind.SEXT) and a.args[0].width == b.args[0].width:
        return binary(Kind.EQ, a.args[0], b.args[0])
    return _raw(Kind.EQ, 1, (a, b))


def _less(kind: Kind, a: Expr, b: Expr) -> Expr:
    if a is b:
        return FALSE
    if kind is Kind.SLT and _never_negative(a) and _never_negative(b):
        kind = Kind.ULT
    if a.kind is b.kind and a.kind in (Kind.ZEXT, Kind.SEXT) and a.args[0].width == b.args[0].width:
        return _less(kind, a.args[0], b.args[0])  # widening keeps the order
    wide, limit = (a, b) if b.kind is _CONST else (b, a)
    if limit.kind is _CONST:
        if kind is Kind.ULT and wide is a and limit.value == 0:
            return const(0, 1, limit.origins)
        narrowed = _narrow(kind, wide, limit, wide is a)
        if narrowed is not None:
            return narrowed
    return _raw(kind, 1, (a, b))


def _never_negative(e: Expr) -> bool:
    return e.kind is Kind.ZEXT or (e.kind is _CONST and not e.value >> (e.width - 1))


def _narrow(kind: Kind, wide: Expr, limit: Expr, wide_first: bool) -> Expr | None:
    """Compare what was widened instead, if the constant is in its range; if it is not, the order is known."""
    if wide.kind is Kind.ZEXT:
        signed_range = False
    elif wide.kind is Kind.SEXT and kind is Kind.SLT:
        signed_range = True
    else:
        return None
    inner = wide.args[0]
    number = to_signed(limit.value, limit.width) if kind is Kind.SLT else limit.value
    lowest = -(1 << (inner.width - 1)) if signed_range else 0
    highest = lowest + (1 << inner.width) - 1
    if number < lowest or number > highest:
        above = number > highest
        return const(int(above == wide_first), 1, limit.origins)
    low = const(limit.value, inner.width, limit.origins)
    order = Kind.SLT if signed_range else Kind.ULT
    return binary(order, inner, low) if wide_first else binary(order, low, inner)


def less_equal(kind: Kind, a: Expr, b: Expr) -> Expr:
    """a ≤ b as ¬(b < a); `kind` is ULT or SLT."""
    return bit_not(binary(kind, b, a))


def bit_not(a: Expr) -> Expr:
    """Also the boolean not, of a formula of one bit."""
    return a.args[0] if a.kind is Kind.NOT else _raw(Kind.NOT, a.width, (a,))


def neg(a: Expr) -> Expr:
    return a.args[0] if a.kind is Kind.NEG else _raw(Kind.NEG, a.width, (a,))


def zext(a: Expr, width: int) -> Expr:
    if width == a.width:
        return a
    if a.kind is Kind.ZEXT:
        a = a.args[0]
    return _raw(Kind.ZEXT, width, (a,))


def sext(a: Expr, width: int) -> Expr:
    if width == a.width:
        return a
    if a.kind is Kind.ZEXT:
        return zext(a.args[0], width)
    if a.kind is Kind.SEXT:
        a = a.args[0]
    return _raw(Kind.SEXT, width, (a,))


_LOW_BITS = frozenset({Kind.ADD, Kind.SUB, Kind.MUL})  # their low bits depend on low bits only
_BITWISE = frozenset({Kind.AND, Kind.OR, Kind.XOR})
_THIN = frozenset({Kind.CONST, Kind.BYTE, Kind.ZEXT, Kind.SEXT, Kind.CONCAT, Kind.EXTRACT})


def extract(a: Expr, low: int, width: int) -> Expr:
    """Bits low … low + width − 1."""
    if width == a.width:
        return a
    kind = a.kind
    if kind is Kind.EXTRACT:
        return extract(a.args[0], a.value + low, width)
    if kind is Kind.ZEXT or kind is Kind.SEXT:
        inner = a.args[0]
        if low + width <= inner.width:
            return extract(inner, low, width)
        if kind is Kind.ZEXT and low >= inner.width:
            return const(0, width)
        if low < inner.width:
            part = extract(inner, low, inner.width - low)
            return zext(part, width) if kind is Kind.ZEXT else sext(part, width)
    elif kind is Kind.CONCAT:
        high, bottom = a.args
        if low >= bottom.width:
            return extract(high, low - bottom.width, width)
        if low + width <= bottom.width:
            return extract(bottom, low, width)
        top = extract(high, 0, low + width - bottom.width)
        return concat(top, extract(bottom, low, bottom.width - low))
    elif (kind in _BITWISE or (kind in _LOW_BITS and low == 0)) and all(arg.kind in _THIN for arg in a.args):
        return binary(kind, extract(a.args[0], low, width), extract(a.args[1], low, width))
    return _raw(Kind.EXTRACT, width, (a,), low)


def _adjacent(high: Expr, low: Expr) -> Expr | None:
    """The two as one, if they are neighbouring bits of the same formula, or constants."""
    if high.kind is _CONST and low.kind is _CONST:
        return _raw(Kind.CONCAT, high.width + low.width, (high, low))
    if low.kind is not Kind.EXTRACT:
        return None
    if high.kind is Kind.EXTRACT and high.args[0] is low.args[0] and high.value == low.value + low.width:
        return extract(low.args[0], low.value, low.width + high.width)
    return None


def concat(high: Expr, low: Expr) -> Expr:
    merged = _adjacent(high, low)
    if merged is not None:
        return merged
    if low.kind is Kind.CONCAT:
        merged = _adjacent(high, low.args[0])
        if merged is not None:
            return concat(merged, low.args[1])
    if high.kind is _CONST and high.value == 0 and not high.origins:
        return zext(low, high.width + low.width)
    if high.kind is Kind.ZEXT:
        return zext(concat(high.args[0], low), high.width + low.width)
    return intern(Kind.CONCAT, high.width + low.width, (high, low))


def from_bytes(parts: Sequence[Expr]) -> Expr:
    """A little-endian value of bytes: the first is the lowest."""
    result = parts[0]
    for part in parts[1:]:
        result = concat(part, result)
    return result


def ite(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """`then` if the condition holds, else `otherwise`."""
    if condition.kind is _CONST and not condition.origins:
        return then if condition.value else otherwise
    return then if then is otherwise else _raw(Kind.ITE, then.width, (condition, then, otherwise))


def float_binary(kind: Kind, a: Expr, b: Expr) -> Expr:
    """An operator or comparison of two floating-point numbers of equal width."""
    if a.width != b.width or a.width not in floats.PRECISION:
        raise ValueError(f"operands of {kind.name} have {a.width} and {b.width} bits")
    if kind in COMMUTATIVE and _belongs_right(a, b):
        a, b = b, a
    return _raw(kind, 1 if kind in COMPARISONS else a.width, (a, b))


def float_unary(kind: Kind, a: Expr, width: int, value: int = 0) -> Expr:
    """An operator or conversion with a result of that many bits."""
    return a if kind is Kind.FCONV and width == a.width else _raw(kind, width, (a,), value)


def negate(condition: Expr) -> Expr:
    return bit_not(condition)


def member(value: Expr, first: int, last: int) -> Expr:
    """first ≤ value ≤ last, unsigned: a label of a switch."""
    if first == last:
        return binary(Kind.EQ, value, const(first, value.width))
    if first > last:  # a signed range over zero, written as unsigned bounds
        return bit_not(member(value, last + 1, first - 1)) if last + 1 <= first - 1 else TRUE
    below = binary(Kind.ULT, value, const(first, value.width))
    above = binary(Kind.ULT, const(last, value.width), value)
    return binary(Kind.AND, bit_not(below), bit_not(above))
