"""Constants: integer constant expressions with C's types (C11 6.6), and floating constants as bit patterns.

Of an integer it is what the compiler would compute, or None. Every operand has its type, so that `~0u == 0xffffffffu`
and `sizeof(int) - 5 > 0` come out as on the board. What depends on a layout that only the board's compiler knows
(sizeof of a struct, offsetof) is None: doubt never guesses.

The site table holds integers, and C has no constant expression for the pattern of a floating constant. The value of a
literal is exact, and rounded once to the type it has: through the host's double it would be rounded twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from struct import pack, unpack

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import ChooseExpr
from score_embed.frontend.types.ctype import (
    CType,
    Enum,
    Float,
    Int,
    Pointer,
    Struct,
    Types,
    Void,
    as_int,
    compatible_text,
    is_integer,
    parse_int,
)

_UNARY: dict[str, Callable[[int], int]] = {
    "-": lambda v: -v,
    "+": lambda v: v,
    "~": lambda v: ~v,
    "!": lambda v: int(not v),
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63, "e": 27}
_LITERAL = re.compile(
    r"(?:0x(?P<whole>[0-9a-f]*)\.?(?P<part>[0-9a-f]*)p(?P<power>[+-]?\d+)|(?P<decimal>[\d.]+(?:e[+-]?\d+)?))[fld]?",
    re.I,
)
# A literal has so many characters, and its power counts as at most this: far beyond, all are infinite, or zero.
_LONGEST, _MOST_POWER = 2000, 20_000
_PRECISION = {32: (24, -126, "<f"), 64: (53, -1022, "<d")}  # bits of the significand, least exponent, how it is packed


@dataclass(frozen=True)
class Value:
    """A value in the range of its type."""

    number: int
    type: Int


class ConstantFolder:
    """Folds under one data model. `enumerator` looks a name up, `type_of` gives the type that a Typename denotes."""

    def __init__(
        self, types: Types, enumerator: Callable[[str], Value | None], type_of: Callable[[c_ast.Node], object]
    ) -> None:
        self.types = types
        self._enumerator = enumerator
        self._type_of = type_of

    def fold(self, node: c_ast.Node) -> Value | None:
        """The value of an integer constant expression, or None if only the compiler can tell."""
        match node:
            case c_ast.Constant():
                return self._literal(node)
            case c_ast.ID():
                return self._enumerator(node.name)
            case c_ast.UnaryOp(op="sizeof"):
                return self._sizeof(node.expr)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp(op="&&" | "||"):
                return self._logical(node)
            case c_ast.BinaryOp():
                left, right = self.fold(node.left), self.fold(node.right)
                return None if left is None or right is None else self._binary(node.op, left, right)
            case c_ast.TernaryOp():
                return self._conditional(node)
            case c_ast.Cast():
                return self._cast(node)
            case ChooseExpr():
                test = self.fold(node.cond)
                return None if test is None else self.fold(node.first if test.number else node.second)
            case c_ast.FuncCall(name=c_ast.ID(name="__builtin_types_compatible_p")):
                return self._compatible(*node.args.exprs)
            # of another expression the compiler may know more
            case c_ast.FuncCall(name=c_ast.ID(name="__builtin_constant_p")):
                return Value(1, self.types.int) if self.fold(node.args.exprs[0]) is not None else None
        return None

    def _value(self, number: int, t: Int) -> Value:
        return Value(wrap(number, t), t)

    def _literal(self, node: c_ast.Constant) -> Value | None:
        if node.value.endswith("'"):
            number = char_value(node.value, self.types.model.char_signed)
            of = self.types.int if node.value.startswith("'") else self.types.character(node.value)
            return None if number is None else Value(number, of)
        if "int" not in node.type:
            return None
        return self._value(parse_int(node.value.lower().rstrip("ul")), self.types.literal(node.value))

    def _compatible(self, one: c_ast.Node, other: c_ast.Node) -> Value | None:
        """Of types that are the same only if they are written the same: no arrays, functions or enums."""
        types = [self._type_of(node) for node in (one, other)]
        if not all(isinstance(t, CType) and _is_simple(t) for t in types):
            return None
        first, second = (compatible_text(t) for t in types if isinstance(t, CType))
        return Value(int(first == second), self.types.int)

    def _sizeof(self, node: c_ast.Node) -> Value | None:
        if not isinstance(node, c_ast.Typename):
            return None
        t = self._type_of(node)
        if isinstance(t, Int):
            return Value(t.bits // 8, self.types.size)
        return Value(self.types.model.pointer // 8, self.types.size) if isinstance(t, Pointer) else None

    def _unary(self, node: c_ast.UnaryOp) -> Value | None:
        value = self.fold(node.expr) if node.op in _UNARY else None
        if value is None:
            return None
        t = self.types.int if node.op == "!" else self.types.promote(value.type)
        return self._value(_UNARY[node.op](value.number), t)

    def _logical(self, node: c_ast.BinaryOp) -> Value | None:
        decisive = node.op == "||"
        left = self.fold(node.left)
        if left is None:
            return None
        if bool(left.number) == decisive:
            return Value(int(decisive), self.types.int)
        right = self.fold(node.right)
        return None if right is None else Value(int(bool(right.number)), self.types.int)

    def _binary(self, op: str, left: Value, right: Value) -> Value | None:
        if op in ("<<", ">>"):
            t = self.types.promote(left.type)
            if not 0 <= right.number < t.bits:
                return None
            return self._value(left.number << right.number if op == "<<" else left.number >> right.number, t)
        t = self.types.usual(left.type, right.type)
        a, b = wrap(left.number, t), wrap(right.number, t)
        if op in _COMPARISONS:
            return Value(int(_COMPARISONS[op](a, b)), self.types.int)
        if op not in _ARITHMETIC or (op in ("/", "%") and b == 0):
            return None
        return self._value(_ARITHMETIC[op](a, b), t)

    def _conditional(self, node: c_ast.TernaryOp) -> Value | None:
        test = self.fold(node.cond)
        first = test if node.iftrue is None else self.fold(node.iftrue)
        second = self.fold(node.iffalse)
        if test is None or first is None or second is None:
            return None
        return self._value((first if test.number else second).number, self.types.usual(first.type, second.type))

    def _cast(self, node: c_ast.Cast) -> Value | None:
        value, to = self.fold(node.expr), self._type_of(node.to_type)
        if value is None or not isinstance(to, (Int, Enum)) or not is_integer(to):
            return None
        t = as_int(to)
        return Value(int(value.number != 0), t) if t.rank == 0 else self._value(value.number, t)


def _is_simple(t: CType) -> bool:
    while isinstance(t, Pointer) and not t.spelling:
        t = t.to
    if isinstance(t, Float):
        return bool(t.bits)
    return isinstance(t, (Int, Struct, Void)) and not t.spelling


def wrap(value: int, t: Int) -> int:
    """`value` reduced to the range of t."""
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.signed and value >> (t.bits - 1) else value


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b), "&": lambda a, b: a & b, "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}  # fmt: skip


def char_value(text: str, char_signed: bool) -> int | None:
    """The value of a character constant as written (`'\\x41'`); None for those of several bytes."""
    wide = not text.startswith("'")
    body = text[text.index("'") + 1 : -1]
    if body.startswith("\\x"):
        value = int(body[2:], 16)
    elif body.startswith("\\") and body[1] in "01234567":
        value = int(body[1:], 8)
    elif body.startswith("\\"):
        value = _ESCAPES.get(body[1], -1)
    elif len(body) == 1 and (wide or body.isascii()):
        value = ord(body)
    else:
        return None
    if wide or value < 0:
        return value if value >= 0 else None
    value &= 0xFF
    return value - 256 if char_signed and value > 127 else value


def literal_pattern(text: str, bits: int) -> int | None:
    """The pattern of a literal as a number of that many bits; None if it is not understood."""
    found = _LITERAL.fullmatch(text.replace("'", "")) if len(text) <= _LONGEST else None
    if found is None:
        return None
    if found["decimal"]:
        digits, _, power = found["decimal"].lower().partition("e")
        return pattern(Fraction(f"{digits}e{_bounded(power or '0')}"), bits)
    whole = int(found["whole"] + found["part"] or "0", 16)
    return pattern(whole * Fraction(2) ** (_bounded(found["power"]) - 4 * len(found["part"])), bits)


def _bounded(power: str) -> int:
    return max(-_MOST_POWER, min(int(power), _MOST_POWER))


def pattern(value: Fraction | int, bits: int) -> int:
    """The pattern of the nearest number of that many bits; of two, the even one."""
    precision, least, how = _PRECISION[bits]
    size = abs(Fraction(value))
    if not size:
        return 0
    exponent = math.floor(size).bit_length() - 1 if size >= 1 else -math.ceil(1 / size).bit_length()
    # The true exponent is this or one more: one bit too many would round to another number.
    exponent += size >= Fraction(2) ** (exponent + 1)
    unit = max(exponent, least) - precision + 1
    try:
        packed = pack(how, math.ldexp(round(size / Fraction(2) ** unit), unit))
    except OverflowError:
        packed = pack(how, math.inf)
    return int.from_bytes(packed, "little") | (value < 0) << (bits - 1)


def number(pattern: int, bits: int) -> int | None:
    """The number of a pattern without what stands behind its point; None if it is infinite or none."""
    value = unpack(_PRECISION[bits][2], pattern.to_bytes(bits // 8, "little"))[0]
    return int(value) if math.isfinite(value) else None
