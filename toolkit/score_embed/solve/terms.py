"""Formulas as Z3's terms: bit vectors, booleans and floating-point numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from score_embed.formula.expr import Expr, Kind, TableRead
from score_embed.formula.floats import CEIL, COMPARISONS, FLOOR, FROM_INTEGER, NAN, TO_INTEGER, TRUNC
from score_embed.solve.translate import Translator, table_term

_ARITHMETIC = {
    Kind.ADD: lambda a, b: a + b,
    Kind.SUB: lambda a, b: a - b,
    Kind.MUL: lambda a, b: a * b,
    Kind.UDIV: z3.UDiv,
    Kind.SDIV: lambda a, b: a / b,
    Kind.UREM: z3.URem,
    Kind.SREM: z3.SRem,
    Kind.AND: lambda a, b: a & b,
    Kind.OR: lambda a, b: a | b,
    Kind.XOR: lambda a, b: a ^ b,
    Kind.SHL: lambda a, b: a << b,
    Kind.LSHR: z3.LShR,
    Kind.ASHR: lambda a, b: a >> b,
    Kind.CONCAT: z3.Concat,
}
_COMPARE = {Kind.EQ: lambda a, b: a == b, Kind.ULT: z3.ULT, Kind.SLT: lambda a, b: a < b}
_SORTS = {32: z3.Float32(), 64: z3.Float64()}
_NEAREST, _TOWARDS_ZERO = z3.RNE(), z3.RTZ()
_FLOAT = {
    Kind.FADD: lambda a, b: z3.fpAdd(_NEAREST, a, b),
    Kind.FSUB: lambda a, b: z3.fpSub(_NEAREST, a, b),
    Kind.FMUL: lambda a, b: z3.fpMul(_NEAREST, a, b),
    Kind.FDIV: lambda a, b: z3.fpDiv(_NEAREST, a, b),
    Kind.FNEG: z3.fpNeg,
    Kind.FABS: z3.fpAbs,
    Kind.FSQRT: lambda a: z3.fpSqrt(_NEAREST, a),
    Kind.FEQ: z3.fpEQ,
    Kind.FLT: z3.fpLT,
    Kind.FLE: z3.fpLEQ,
}
_DIRECTIONS = {FLOOR: z3.RTN(), CEIL: z3.RTP(), TRUNC: _TOWARDS_ZERO}
_LOGIC = {Kind.AND: z3.And, Kind.OR: z3.Or, Kind.XOR: z3.Xor}


class Z3Translator(Translator[Any]):
    """Z3's terms, floating-point numbers included."""

    def __init__(self, look: Callable[[], None] = lambda: None) -> None:
        super().__init__(look)
        self._numbers: dict[int, Any] = {}  # the same as floating-point numbers
        self._variables: dict[int, tuple[Any, Any]] = {}

    def variable(self, index: int) -> Any:
        """An input byte."""
        return self._both(index)[0]

    def declaration(self, index: int) -> Any:
        """The byte as models know it, for Z3's own functions."""
        return self._both(index)[1].ast

    def _both(self, index: int) -> tuple[Any, Any]:
        found = self._variables.get(index)
        if found is None:
            variable = z3.BitVec(f"in{index}", 8)
            found = self._variables[index] = variable, variable.decl()
        return found

    def _clear(self) -> None:
        super()._clear()
        self._numbers.clear()

    def _boolean(self, term: Any) -> Any:
        return _boolean(term)

    def _number(self, node: Expr) -> Any:
        """A node as the floating-point number that its bits are the pattern of."""
        found = self._numbers.get(node.uid)
        if found is None:
            if node.kind is Kind.ITE:
                found = z3.If(_boolean(self._terms[node.args[0].uid]), *map(self._number, node.args[1:]))
            else:
                found = z3.fpBVToFP(_vector(self._terms[node.uid]), _SORTS[node.width])
            self._numbers[node.uid] = found
        return found

    def _float_term(self, node: Expr) -> Any:
        """A node of a floating-point operator, as the bits of its result."""
        kind, width = node.kind, node.width
        if kind in FROM_INTEGER:
            convert = z3.fpSignedToFP if kind is Kind.SITOF else z3.fpUnsignedToFP
            number = convert(_NEAREST, _vector(self._terms[node.args[0].uid]), _SORTS[width])
            self._numbers[node.uid] = number
            return z3.fpToIEEEBV(number)
        args = [self._number(arg) for arg in node.args]
        if kind in COMPARISONS:
            return _FLOAT[kind](*args)
        if kind in TO_INTEGER:
            return (z3.fpToSBV if kind is Kind.FTOSI else z3.fpToUBV)(_TOWARDS_ZERO, args[0], z3.BitVecSort(width))
        if kind is Kind.FCONV:
            number = z3.fpFPToFP(_NEAREST, args[0], _SORTS[width])
        elif kind is Kind.FROUND:
            number = z3.fpRoundToIntegral(_DIRECTIONS[node.value], args[0])
        else:
            number = _FLOAT[kind](*args)
        self._numbers[node.uid] = number
        sign = z3.BitVecVal(1 << (width - 1), width)
        if kind is Kind.FNEG:
            return _vector(self._terms[node.args[0].uid]) ^ sign
        if kind is Kind.FABS:
            return _vector(self._terms[node.args[0].uid]) & ~sign
        # What is no number has the pattern that it has everywhere here.
        return z3.If(z3.fpIsNaN(number), z3.BitVecVal(NAN[width], width), z3.fpToIEEEBV(number))

    def _term(self, node: Expr) -> Any:
        if node.kind >= Kind.FADD:
            return self._float_term(node)
        kind, args = node.kind, [self._terms[arg.uid] for arg in node.args]
        if kind is Kind.CONST:
            return z3.BitVecVal(node.value, node.width)
        if kind is Kind.BYTE:
            return self.variable(node.value)
        if node.width == 1 and any(z3.is_bool(arg) for arg in args):
            if kind is Kind.NOT:
                return z3.Not(args[0])
            if kind in _LOGIC:
                return _LOGIC[kind](_boolean(args[0]), _boolean(args[1]))
        if kind is Kind.ITE:
            return z3.If(_boolean(args[0]), _vector(args[1]), _vector(args[2]))
        args = [_vector(arg) for arg in args]
        if isinstance(node, TableRead):
            return table_term(WORDS, args[0], node.args[0].width, node.entries, node.width)
        if kind in _COMPARE:
            return _COMPARE[kind](*args)
        if kind is Kind.NOT:
            return ~args[0]
        if kind is Kind.NEG:
            return -args[0]
        if kind is Kind.ZEXT:
            return z3.ZeroExt(node.width - node.args[0].width, args[0])
        if kind is Kind.SEXT:
            return z3.SignExt(node.width - node.args[0].width, args[0])
        if kind is Kind.EXTRACT:
            return z3.Extract(node.value + node.width - 1, node.value, args[0])
        return _ARITHMETIC[kind](*args)


class _Words:
    """Of tables. Without a look at the sorts: large ones have thousands of decisions."""

    def constant(self, value: int, width: int) -> Any:
        return z3.BitVecVal(value, width)

    def bit(self, value: Any, at: int) -> Any:
        return z3.Extract(at, at, value) == z3.BitVecVal(1, 1)

    def either(self, condition: Any, yes: Any, no: Any) -> Any:
        return z3.BitVecRef(z3.Z3_mk_ite(condition.ctx_ref(), condition.ast, yes.ast, no.ast), condition.ctx)

    def xor(self, a: Any, b: Any) -> Any:
        return a ^ b


WORDS = _Words()


def _boolean(term: Any) -> Any:
    return term if z3.is_bool(term) else term == z3.BitVecVal(1, 1)


def _vector(term: Any) -> Any:
    return z3.If(term, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) if z3.is_bool(term) else term
