"""IEEE 754 on bit patterns: what the floating-point operators of formulas compute, exactly, and whatever the host.

Values are patterns of binary32 or binary64, rounding is to nearest, ties to even. Operations on binary32 go through the
host's binary64: its 53 bits are more than twice 24 and two, so rounding twice gives what rounding once does; only
conversions of integers of more than 53 bits need care. Every result that is no number (NaN) has one pattern here, while
machines differ in its sign and payload: `pattern_uses` finds the formulas whose value could depend on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from struct import Struct

from score_embed.formula.domain import table
from score_embed.formula.expr import OPERATIONS, Expr, Kind, nodes, to_signed

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


def single(number: float) -> float:
    """The nearest number of binary32."""
    try:
        return float(_F32.unpack(_F32.pack(number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


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


def quotient(x: float, y: float) -> float:
    if y:
        return x / y
    if x == 0 or x != x or y != y:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


_TO_WHOLE: dict[int, Callable[[float], int]] = {FLOOR: math.floor, CEIL: math.ceil, TRUNC: math.trunc}


def whole(x: float, how: int) -> float:
    """Rounded to a whole number."""
    if x != x or abs(x) >= 1 << 52:  # infinity, too
        return x
    return math.copysign(float(_TO_WHOLE[how](x)), x)


def from_integer(number: int, width: int) -> float:
    size = abs(number).bit_length()
    if width == 64:
        return float(number)
    if size <= 53:
        return single(float(number))
    shift = size - PRECISION[width]
    kept, rest, half = abs(number) >> shift, abs(number) & ((1 << shift) - 1), 1 << (shift - 1)
    kept += rest > half or (rest == half and kept & 1)
    return float(-(kept << shift) if number < 0 else kept << shift)


def to_integer(x: float, lowest: int, highest: int) -> int:
    """The nearest that there is: out of range C leaves it open, and the path says that it is not."""
    if x != x:
        return 0
    return lowest if x <= lowest else highest if x >= highest else int(x)


def range_of(e: Expr) -> tuple[int, int]:
    """The least and the greatest integer that a conversion gives."""
    if e.kind is Kind.FTOSI:
        return -(1 << (e.width - 1)), (1 << (e.width - 1)) - 1
    return 0, (1 << e.width) - 1


def _to_integer(e: Expr, a: int) -> int:
    return to_integer(decode(a, e.args[0].width), *range_of(e)) & ((1 << e.width) - 1)


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
    Kind.FDIV: lambda e, a, b: encode(quotient(decode(a, e.width), decode(b, e.width)), e.width),
    Kind.FNEG: lambda e, a: a ^ 1 << (e.width - 1),
    Kind.FABS: lambda e, a: a & ((1 << (e.width - 1)) - 1),
    Kind.FSQRT: lambda e, a: encode(root(decode(a, e.width)), e.width),
    Kind.FROUND: lambda e, a: encode(whole(decode(a, e.width), e.value), e.width),
    Kind.FCONV: lambda e, a: encode(decode(a, e.args[0].width), e.width),
    Kind.SITOF: lambda e, a: encode(from_integer(to_signed(a, e.args[0].width), e.width), e.width),
    Kind.UITOF: lambda e, a: encode(from_integer(a, e.width), e.width),
    Kind.FTOSI: _to_integer,
    Kind.FTOUI: _to_integer,
    Kind.FEQ: _eq,
    Kind.FLT: _lt,
    Kind.FLE: _le,
}


def may_be_nan(expr: Expr) -> bool:
    """Whether a value may be no number. Without a search: sure are values of one byte, and those that stay small."""
    if expr.only_byte >= 0:
        return any(is_nan(value, expr.width) for value in table(expr))
    return _magnitude(expr) >= _LARGEST[expr.width]


_LARGEST = {32: decode(0x7F7FFFFF, 32), 64: decode(0x7FEFFFFFFFFFFFFF, 64)}
_KEEPS_SIZE = SIGN | {Kind.FROUND, Kind.FCONV}


def _magnitude(expr: Expr) -> float:
    """What the number's size does not exceed by more than rounding; infinity if that is not known."""
    known: dict[Expr, float] = {}
    for node in nodes([expr]):
        known[node] = size = _size(node, known)
        if node.width in _LARGEST and not size < _LARGEST[node.width] / 2:
            known[node] = math.inf
    return known[expr]


def _size(node: Expr, known: Mapping[Expr, float]) -> float:
    kind, sizes = node.kind, [known[arg] for arg in node.args]
    if kind is Kind.CONST and node.width in PRECISION:
        size = abs(decode(node.value, node.width))
        return size if size < math.inf else math.inf
    if kind in FROM_INTEGER:
        return float(2 ** node.args[0].width)
    if kind in _KEEPS_SIZE:
        return sizes[0] + 1
    if kind is Kind.FADD or kind is Kind.FSUB:
        return sizes[0] + sizes[1]
    if kind is Kind.FMUL:
        return sizes[0] * sizes[1] if max(sizes) < math.inf else math.inf
    if kind is Kind.FDIV and node.args[1].is_const:
        divisor = abs(decode(node.args[1].value, node.width))
        return sizes[0] / divisor if divisor else math.inf
    return max(sizes[1:]) if kind is Kind.ITE else math.inf
