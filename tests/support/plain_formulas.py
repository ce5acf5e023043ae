"""What the engine is compared with: formulas as plain trees that are not simplified, and their values in Python's
integers and floating-point numbers. Slow and obvious.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import pack, unpack

from score_embed.formula.expr import Kind


@dataclass(frozen=True)
class Plain:
    """One operator: `value` as in Expr; a table has its `entries`."""

    kind: Kind
    width: int
    args: tuple[Plain, ...] = ()
    value: int = 0
    entries: tuple[int, ...] = ()

    def under(self, data: Sequence[int]) -> int:
        """The value if the input is `data`."""
        if self.kind is Kind.CONST:
            return self.value & self.mask
        if self.kind is Kind.BYTE:
            return data[self.value]
        return _OPERATIONS[self.kind](self, *[arg.under(data) for arg in self.args]) & self.mask

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _sdiv(e: Plain, a: int, b: int) -> int:
    x, y = signed(a, e.width), signed(b, e.width)
    if y == 0:
        return 1 if x < 0 else -1
    return abs(x) // abs(y) if (x < 0) == (y < 0) else -(abs(x) // abs(y))


def _srem(e: Plain, a: int, b: int) -> int:
    x, y = signed(a, e.width), signed(b, e.width)
    if y == 0:
        return a
    return -(abs(x) % abs(y)) if x < 0 else abs(x) % abs(y)


def number(pattern: int, width: int) -> float:
    if width == 32:
        return float(unpack("<f", pack("<I", pattern))[0])
    return float(unpack("<d", pack("<Q", pattern))[0])


def pattern(x: float, width: int) -> int:
    """Rounded to nearest; one pattern for all that are no number."""
    if x != x:
        return {32: 0x7FC00000, 64: 0x7FF8000000000000}[width]
    if width == 64:
        return int(unpack("<Q", pack("<d", x))[0])
    try:
        return int(unpack("<I", pack("<f", x))[0])
    except OverflowError:
        return 0xFF800000 if x < 0 else 0x7F800000


def _float(compute: Callable[..., float]) -> Callable[..., int]:
    return lambda e, *patterns: pattern(
        compute(*[number(p, arg.width) for p, arg in zip(patterns, e.args, strict=True)]), e.width
    )


def _compared(compute: Callable[[float, float], bool]) -> Callable[..., int]:
    return lambda e, a, b: int(compute(number(a, e.args[0].width), number(b, e.args[0].width)))


def _quotient(x: float, y: float) -> float:
    if y:
        return x / y
    return math.nan if x == 0 or x != x or y != y else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _whole(e: Plain, a: int) -> int:
    x = number(a, e.width)
    if x != x or abs(x) >= 1 << 52:
        return pattern(x, e.width)
    rounded = (math.floor, math.ceil, math.trunc)[e.value - 1](x)
    return pattern(math.copysign(float(rounded), x), e.width)


def _from_integer(x: int, width: int) -> int:
    """The nearest number, ties to the even one: found among neighbours, by exact arithmetic."""
    if width == 64:
        return pattern(float(x), 64)
    near = pattern(float(x), 32)
    around = [p for p in (near - 1, near, near + 1) if p & 0x7FFFFFFF < 0x7F800000 and p >= 0]
    return min(around, key=lambda p: (abs(int(number(p, 32)) - x), p & 1)) if abs(x) >= 1 << 24 else near


def _to_integer(e: Plain, a: int) -> int:
    x = number(a, e.args[0].width)
    lowest = -(1 << (e.width - 1)) if e.kind is Kind.FTOSI else 0
    highest = lowest + (1 << e.width) - 1
    return 0 if x != x else lowest if x <= lowest else highest if x >= highest else int(x)


_OPERATIONS: dict[Kind, Callable[..., int]] = {
    Kind.ADD: lambda e, a, b: a + b,
    Kind.SUB: lambda e, a, b: a - b,
    Kind.MUL: lambda e, a, b: a * b,
    Kind.UDIV: lambda e, a, b: a // b if b else -1,
    Kind.SDIV: _sdiv,
    Kind.UREM: lambda e, a, b: a % b if b else a,
    Kind.SREM: _srem,
    Kind.AND: lambda e, a, b: a & b,
    Kind.OR: lambda e, a, b: a | b,
    Kind.XOR: lambda e, a, b: a ^ b,
    Kind.SHL: lambda e, a, b: a << b if b < e.width else 0,
    Kind.LSHR: lambda e, a, b: a >> b if b < e.width else 0,
    Kind.ASHR: lambda e, a, b: signed(a, e.width) >> min(b, e.width),
    Kind.NOT: lambda e, a: ~a,
    Kind.NEG: lambda e, a: -a,
    Kind.ZEXT: lambda e, a: a,
    Kind.SEXT: lambda e, a: signed(a, e.args[0].width),
    Kind.EXTRACT: lambda e, a: a >> e.value,
    Kind.CONCAT: lambda e, a, b: a << e.args[1].width | b,
    Kind.EQ: lambda e, a, b: int(a == b),
    Kind.ULT: lambda e, a, b: int(a < b),
    Kind.SLT: lambda e, a, b: int(signed(a, e.args[0].width) < signed(b, e.args[0].width)),
    Kind.ITE: lambda e, condition, then, otherwise: then if condition else otherwise,
    Kind.TABLE: lambda e, index: e.entries[index],
    Kind.FADD: _float(lambda a, b: a + b),
    Kind.FSUB: _float(lambda a, b: a - b),
    Kind.FMUL: _float(lambda a, b: a * b),
    Kind.FDIV: _float(_quotient),
    Kind.FNEG: lambda e, a: a ^ 1 << (e.width - 1),
    Kind.FABS: lambda e, a: a & ~(1 << (e.width - 1)),
    Kind.FSQRT: _float(lambda a: math.sqrt(a) if a >= 0 else math.nan),
    Kind.FROUND: _whole,
    Kind.FCONV: _float(lambda a: a),
    Kind.SITOF: lambda e, a: _from_integer(signed(a, e.args[0].width), e.width),
    Kind.UITOF: lambda e, a: _from_integer(a, e.width),
    Kind.FTOSI: _to_integer,
    Kind.FTOUI: _to_integer,
    Kind.FEQ: _compared(lambda a, b: a == b),
    Kind.FLT: _compared(lambda a, b: a < b),
    Kind.FLE: _compared(lambda a, b: a <= b),
}
