"""IEEE 754 on bit patterns: what the floating-point operators of formulas compute, exactly, and whatever the host.

Values are patterns of binary32 or binary64, rounding is to nearest, ties to even. Operations on binary32 go through the
host's binary64: its 53 bits are more than twice 24 and two, so rounding twice gives what rounding once does; only
conversions of integers of more than 53 bits need care. Every result that is no number (NaN) has one pattern here, while
machines differ in its sign and payload: `pattern_uses` finds the formulas whose value could depend on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from struct import Struct

from score_embed.solve.expr import OPERATIONS, Expr, Kind, to_signed

_F32, _U32, _F64, _U64 = Struct("<f"), Struct("<I"), Struct("<d"), Struct("<Q")
NAN = {32: 0x7FC00000, 64: 0x7FF8000000000000}
INFINITY = {32: 0x7F800000, 64: 0x7FF0000000000000}
PRECISION = {32: 24, 64: 53}  # bits of the significand

# Their results may be no number, of a pattern that only the machine knows.
ARITHMETIC = frozenset({Kind.FADD, Kind.FSUB, Kind.FMUL, Kind.FDIV, Kind.FSQRT, Kind.FROUND, Kind.FCONV})
SIGN = frozenset({Kind.FNEG, Kind.FABS})  # these change the sign bit and nothing else, also of NaN
FROM_INTEGER = frozenset({Kind.SITOF, Kind.UITOF})
TO_INTEGER = frozenset({Kind.FTOSI, Kind.FTOUI})
COMPARISONS = frozenset({Kind.FEQ, Kind.FLT, Kind.FLE})
_TAKES_NUMBERS = ARITHMETIC | SIGN | TO_INTEGER | COMPARISONS
FLOOR, CEIL, TRUNC = 1, 2, 3  # values of FROUND


def decode(pattern: int, width: int) -> float:
    """The number of a pattern; NaN for all that are none."""
    if width == 32:
        return float(_F32.unpack(_U32.pack(pattern))[0])
    return float(_F64.unpack(_U64.pack(pattern))[0])


def encode(number: float, width: int) -> int:
    """The pattern of a number, rounded if need be."""
    if number != number:
        return NAN[width]
    if width == 64:
        return int(_U64.unpack(_F64.pack(number))[0])
    try:
        return int(_U32.unpack(_F32.pack(number))[0])
    except OverflowError:
        return 0xFF800000 if number < 0 else 0x7F800000


def is_nan(pattern: int, width: int) -> bool:
    return pattern & ((1 << (width - 1)) - 1) > INFINITY[width]


def pattern_uses(expr: Expr, *, whole: bool = False) -> tuple[Expr, ...]:
    """The results of arithmetic in a formula whose pattern, not only their number, it depends on.

    `whole`: the formula's own value is stored, so that its pattern is not looked at.
    """
    found: dict[Expr, None] = {}
    seen: set[tuple[Expr, bool]] = set()
    stack = [(expr, whole)]
    while stack:
        node, as_number = stack.pop()
        if not node.floats or (node, as_number) in seen:
            continue
        seen.add((node, as_number))
        if node.kind in ARITHMETIC and not as_number:
            found[node] = None
        if node.kind is Kind.ITE:
            stack += [(node.args[0], False), (node.args[1], as_number), (node.args[2], as_number)]
        elif node.kind in SIGN:
            stack.append((node.args[0], as_number))
        else:
            stack += [(arg, node.kind in _TAKES_NUMBERS) for arg in node.args]
    return tuple(found)


def _add(e: Expr, a: int, b: int) -> int:
    return encode(decode(a, e.width) + decode(b, e.width), e.width)


def _sub(e: Expr, a: int, b: int) -> int:
    return encode(decode(a, e.width) - decode(b, e.width), e.width)


def _mul(e: Expr, a: int, b: int) -> int:
    return encode(decode(a, e.width) * decode(b, e.width), e.width)


def _div(e: Expr, a: int, b: int) -> int:
    x, y = decode(a, e.width), decode(b, e.width)
    if y:
        return encode(x / y, e.width)
    if x == 0 or x != x or y != y:
        return NAN[e.width]
    return INFINITY[e.width] | (a ^ b) >> (e.width - 1) << (e.width - 1)


def _sqrt(e: Expr, a: int) -> int:
    x = decode(a, e.width)
    return encode(math.sqrt(x), e.width) if x >= 0 else NAN[e.width]


_TO_WHOLE: dict[int, Callable[[float], int]] = {FLOOR: math.floor, CEIL: math.ceil, TRUNC: math.trunc}


def _round(e: Expr, a: int) -> int:
    x = decode(a, e.width)
    if x != x:
        return NAN[e.width]
    if abs(x) >= 1 << 52:  # infinity, too
        return a
    return encode(math.copysign(float(_TO_WHOLE[e.value](x)), x), e.width)


def _from_integer(number: int, width: int) -> int:
    size = abs(number).bit_length()
    if width == 64 or size <= 53:
        return encode(float(number), width)
    shift = size - PRECISION[width]
    kept, rest, half = abs(number) >> shift, abs(number) & ((1 << shift) - 1), 1 << (shift - 1)
    kept += rest > half or (rest == half and kept & 1)
    return encode(float(-(kept << shift) if number < 0 else kept << shift), width)


def _to_integer(e: Expr, a: int, lowest: int, highest: int) -> int:
    """The nearest that there is: out of range C leaves it open, and the path says that it is not."""
    x = decode(a, e.args[0].width)
    if x != x:
        return 0
    number = lowest if x <= lowest else highest if x >= highest else int(x)
    return number & ((1 << e.width) - 1)


def _to_signed_integer(e: Expr, a: int) -> int:
    return _to_integer(e, a, -(1 << (e.width - 1)), (1 << (e.width - 1)) - 1)


def _compared(e: Expr, a: int, b: int) -> tuple[float, float]:
    width = e.args[0].width
    return decode(a, width), decode(b, width)


def _eq(e: Expr, a: int, b: int) -> int:
    x, y = _compared(e, a, b)
    return int(x == y)


def _lt(e: Expr, a: int, b: int) -> int:
    x, y = _compared(e, a, b)
    return int(x < y)


def _le(e: Expr, a: int, b: int) -> int:
    x, y = _compared(e, a, b)
    return int(x <= y)


OPERATIONS |= {
    Kind.FADD: _add,
    Kind.FSUB: _sub,
    Kind.FMUL: _mul,
    Kind.FDIV: _div,
    Kind.FNEG: lambda e, a: a ^ 1 << (e.width - 1),
    Kind.FABS: lambda e, a: a & ((1 << (e.width - 1)) - 1),
    Kind.FSQRT: _sqrt,
    Kind.FROUND: _round,
    Kind.FCONV: lambda e, a: encode(decode(a, e.args[0].width), e.width),
    Kind.SITOF: lambda e, a: _from_integer(to_signed(a, e.args[0].width), e.width),
    Kind.UITOF: lambda e, a: _from_integer(a, e.width),
    Kind.FTOSI: _to_signed_integer,
    Kind.FTOUI: lambda e, a: _to_integer(e, a, 0, (1 << e.width) - 1),
    Kind.FEQ: _eq,
    Kind.FLT: _lt,
    Kind.FLE: _le,
}
