"""Formulas as Z3's terms: bit vectors, booleans and floating-point numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import z3

from score_embed.formula.expr import Expr, Kind, TableRead
from score_embed.formula.floats import CEIL, COMPARISONS, FLOOR, FROM_INTEGER, NAN, TO_INTEGER, TRUNC
from score_embed.solve.integral import integral

_TERMS_KEPT = 100_000

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


class Translator:
    """Formulas as Z3 terms, each node once. One-bit nodes become booleans where that is what they are."""

    def __init__(self, look: Callable[[], None] = lambda: None) -> None:
        """`look` is called for each new node; what it raises ends the question."""
        self._look = look
        # By uid, not by node: terms of dead formulas go when the table is cleared.
        self._terms: dict[int, Any] = {}
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

    def condition(self, expr: Expr) -> Any:
        """A one-bit formula as a Z3 boolean, without floating point where it can be said so."""
        return self.formula(integral(expr))

    def formula(self, expr: Expr) -> Any:
        """A one-bit formula as a Z3 boolean, as it is written."""
        if len(self._terms) > _TERMS_KEPT:
            self._terms.clear()
            self._numbers.clear()
        # Only down to what is known: formulas of a loop stand in one another, thousands deep.
        waiting = [(expr, False)]
        while waiting:
            node, is_ready = waiting.pop()
            if is_ready:
                self._look()
                self._terms[node.uid] = self._term(node)
            elif node.uid not in self._terms:
                waiting.append((node, True))
                waiting += [(arg, False) for arg in node.args]
        return _boolean(self._terms[expr.uid])

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
            return table_term(args[0], node.args[0].width, node.entries, node.width)
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


def table_term(index: Any, bits: int, entries: Sequence[int], width: int) -> Any:
    """A table: as XORs where its entries are such (those of a CRC), else decisions, the highest bit first. What is the
    same in several places (a state's row, Unicode's blocks) is made once."""
    columns = [entries[1 << bit] ^ entries[0] for bit in range(bits)]
    chosen = [z3.Extract(bit, bit, index) == z3.BitVecVal(1, 1) for bit in range(bits)]
    if _is_linear(entries, columns):
        parts = [
            z3.If(bit, z3.BitVecVal(column, width), z3.BitVecVal(0, width))
            for bit, column in zip(chosen, columns, strict=True)
        ]
        return functools.reduce(lambda a, b: a ^ b, parts, z3.BitVecVal(entries[0], width))
    terms = {entry: z3.BitVecVal(entry, width) for entry in set(entries)}
    level: Sequence[int] = entries  # names of terms: of constants their values, of others negative numbers
    for bit in chosen:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        names = {pair: pair[0] for pair in pairs if pair[0] == pair[1]}
        for low, high in dict.fromkeys(pairs):
            if low != high:
                names[low, high] = -1 - len(terms)
                terms[-1 - len(terms)] = _either(bit, terms[high], terms[low])
        level = [names[pair] for pair in pairs]
    return terms[level[0]]


def _either(condition: Any, yes: Any, no: Any) -> Any:
    """As z3.If, without looking at the sorts: large tables have thousands of these."""
    return z3.BitVecRef(z3.Z3_mk_ite(condition.ctx_ref(), condition.ast, yes.ast, no.ast), condition.ctx)


def _is_linear(entries: Sequence[int], columns: Sequence[int]) -> bool:
    """Whether each entry is the first one, changed by what belongs to each bit of the index."""
    expected = [entries[0]]
    for column in columns:
        expected += [entry ^ column for entry in expected]
    return expected == list(entries)


def _boolean(term: Any) -> Any:
    return term if z3.is_bool(term) else term == z3.BitVecVal(1, 1)


def _vector(term: Any) -> Any:
    return z3.If(term, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) if z3.is_bool(term) else term
