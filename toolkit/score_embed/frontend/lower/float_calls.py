"""Functions of floating-point numbers that are formulas: what `<math.h>` classifies and rounds with.

They decide nothing, so they are expressions, without a branch; the emitted code calls the compiler's builtin. A
function of the same name that the program defines is just code.
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from score_embed.frontend.ir.exp import MATH, Binary, Const, Exp, FloatConst, MathCall, Raw, SlotRef
from score_embed.frontend.lower.arithmetic import zero
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.types.ctype import CType, Float, is_float, is_integer

_BUILTIN = "__builtin_"
_SUFFIXES = {"float": "f", "double": "", "long double": "l"}
_RELATIONS = {"isgreater": ">", "isgreaterequal": ">=", "isless": "<", "islessequal": "<="}
_INFINITY = {32: 0x7F800000, 64: 0x7FF0000000000000}
_NAN = {32: 0x7FC00000, 64: 0x7FF8000000000000}
_LEAST_NORMAL = {32: 0x00800000, 64: 0x0010000000000000}


class FloatCalls:
    """Calls of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.e, self.b = expressions, expressions.b
        self.types = expressions.types

    def call(self, name: str, node: c_ast.FuncCall) -> Exp | None:
        """The value of a call of the library's function or builtin of this name; None if it has no formula."""
        short = name.removeprefix(_BUILTIN).removeprefix("__")
        args = list(node.args.exprs) if node.args else []
        for suffix, t in (("f", self.types.float), ("l", self.types.long_double), ("", self.types.double)):
            base = short.removesuffix(suffix) if suffix else short
            if (suffix and base == short) or not is_float(t):
                continue
            if base in MATH and len(args) == 1:
                operand = self.e.arith.convert(self.e.rvalue(args[0]), t)
                return MathCall(t, base, f"{_BUILTIN}{base}{_SUFFIXES[t.name]}", operand)
            if name.startswith(_BUILTIN) and base in ("inf", "huge_val") and not args:
                return self._constant(t, _INFINITY, "inf")
            if name.startswith(_BUILTIN) and base == "nan" and len(args) == 1 and _is_empty(args[0]):
                return FloatConst(t, f'{_BUILTIN}nan{_SUFFIXES[t.name]}("")', None, _NAN[t.bits])
            classify = self._classifier(base, len(args))
            if classify is not None:
                return self._classified(base, classify, args)
        return None

    def _constant(self, t: Float, patterns: dict[int, int], name: str) -> FloatConst:
        return FloatConst(t, f"{_BUILTIN}{name}{_SUFFIXES[t.name]}()", None, patterns[t.bits])

    def _classified(self, name: str, classify: Callable[..., Exp], args: list[c_ast.Node]) -> Exp:
        """What is said of floating-point numbers, in their own type; other arguments are constants."""
        values = [self.e.rvalue(arg) for arg in args]
        floats = [value.type for value in values if isinstance(value.type, Float)]
        common: CType = self.types.double
        for t in floats:
            common = t if len(floats) == 1 else self.e.arith.float_type(common, t)
        if len(floats) > 1 and all(t == self.types.float for t in floats):
            common = self.types.float
        if not is_float(common):  # the compiler's answer, which has no formula
            builtin = f"{_BUILTIN}{'isfinite' if name == 'finite' else name}"
            return Raw(self.types.int, f"{builtin}({', '.join(v.c() for v in values)})", tuple(values))
        tells = [v if len(args) > 2 and is_integer(v.type) else self._settled(v, common) for v in values]
        return classify(*tells)

    def _settled(self, value: Exp, t: Float) -> Exp:
        value = self.e.arith.convert(value, t)
        return value if isinstance(value, (SlotRef, FloatConst)) else self.b.save(value)

    def _classifier(self, name: str, count: int) -> Callable[..., Exp] | None:
        known: dict[str, Callable[..., Exp]] = {
            "isnan": self._isnan,
            "isinf": self._isinf,
            "isinf_sign": self._isinf_sign,
            "isfinite": self._isfinite,
            "finite": self._isfinite,
            "isnormal": self._isnormal,
            "signbit": self._signbit,
        }
        if count == 1:
            return known.get(name)
        if count == 2 and name in _RELATIONS:
            return lambda x, y: self._compare(_RELATIONS[name], x, y)
        if count == 2:
            return {"islessgreater": self._islessgreater, "isunordered": self._isunordered}.get(name)
        return self._fpclassify if (name, count) == ("fpclassify", 6) else None

    # --- what they say -----------------------------------------------------------------------------------------

    def _compare(self, op: str, x: Exp, y: Exp) -> Exp:
        return Binary(self.types.int, op, x, y)

    def _both(self, op: str, one: Exp, other: Exp) -> Exp:
        return Binary(self.types.int, op, one, other)

    def _absolute(self, x: Exp) -> Exp:
        assert isinstance(x.type, Float)
        return MathCall(x.type, "fabs", f"{_BUILTIN}fabs{_SUFFIXES[x.type.name]}", x)

    def _infinity(self, x: Exp) -> FloatConst:
        assert isinstance(x.type, Float)
        return self._constant(x.type, _INFINITY, "inf")

    def _isnan(self, x: Exp) -> Exp:
        return self._compare("!=", x, x)

    def _isinf(self, x: Exp) -> Exp:
        return self._compare("==", self._absolute(x), self._infinity(x))

    def _isinf_sign(self, x: Exp) -> Exp:
        infinity = self._infinity(x)
        negative = self.e.arith.unary("-", infinity)
        return self._both("-", self._compare("==", x, infinity), self._compare("==", x, negative))

    def _isfinite(self, x: Exp) -> Exp:
        return self._compare("<", self._absolute(x), self._infinity(x))

    def _least(self, x: Exp) -> FloatConst:
        assert isinstance(x.type, Float)
        prefix = {"float": "FLT", "double": "DBL", "long double": "LDBL"}[x.type.name]
        return FloatConst(x.type, f"__{prefix}_MIN__", None, _LEAST_NORMAL[x.type.bits])

    def _isnormal(self, x: Exp) -> Exp:
        return self._both("&", self._compare("<=", self._least(x), self._absolute(x)), self._isfinite(x))

    def _signbit(self, x: Exp) -> Exp:
        assert isinstance(x.type, Float)
        return MathCall(self.types.int, "signbit", f"!!{_BUILTIN}signbit{_SUFFIXES[x.type.name]}", x)

    def _islessgreater(self, x: Exp, y: Exp) -> Exp:
        return self._both("|", self._compare("<", x, y), self._compare(">", x, y))

    def _isunordered(self, x: Exp, y: Exp) -> Exp:
        return self._both("|", self._isnan(x), self._isnan(y))

    def _fpclassify(self, nan: Exp, infinite: Exp, normal: Exp, subnormal: Exp, null: Exp, x: Exp) -> Exp:
        """The number of the one class that it is of."""
        least, nothing = self._least(x), self.e.arith.convert(zero(self.types.int), x.type)
        small = self._both("&", self._compare("<", self._absolute(x), least), self._compare("!=", x, nothing))
        classes = [
            (nan, self._isnan(x)),
            (infinite, self._isinf(x)),
            (normal, self._isnormal(x)),
            (subnormal, small),
            (null, self._compare("==", x, nothing)),
        ]
        result: Exp = zero(self.types.int)
        for number, holds in classes:
            assert isinstance(number, Const)
            result = self._both("+", result, self._both("*", number, holds))
        return result


def _is_empty(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.value == '""'
