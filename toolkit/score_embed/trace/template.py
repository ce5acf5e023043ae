"""Templates compiled for replay: given the formulas of its leaves, a site's formula.

A template is checked once, when it is compiled; running it is a loop over a few steps. Consecutive runs compute
the same formulas again and again, so results are kept by site and leaves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from score_embed.contract.sites import Op, Place, Site, SiteKind, SiteTable
from score_embed.formula import build, floats
from score_embed.formula.expr import WIDEST, Expr, Kind
from score_embed.trace.cursor import TraceError

_BINARY = {
    Op.ADD: Kind.ADD,
    Op.SUB: Kind.SUB,
    Op.MUL: Kind.MUL,
    Op.UDIV: Kind.UDIV,
    Op.SDIV: Kind.SDIV,
    Op.UREM: Kind.UREM,
    Op.SREM: Kind.SREM,
    Op.AND: Kind.AND,
    Op.OR: Kind.OR,
    Op.XOR: Kind.XOR,
    Op.SHL: Kind.SHL,
    Op.LSHR: Kind.LSHR,
    Op.ASHR: Kind.ASHR,
    Op.EQ: Kind.EQ,
    Op.ULT: Kind.ULT,
    Op.SLT: Kind.SLT,
}
_FLOAT_BINARY = {
    Op.FADD: Kind.FADD,
    Op.FSUB: Kind.FSUB,
    Op.FMUL: Kind.FMUL,
    Op.FDIV: Kind.FDIV,
    Op.FEQ: Kind.FEQ,
    Op.FLT: Kind.FLT,
    Op.FLE: Kind.FLE,
}
_FLOAT_UNARY = {
    Op.FNEG: (Kind.FNEG, 0),
    Op.FABS: (Kind.FABS, 0),
    Op.FSQRT: (Kind.FSQRT, 0),
    Op.FFLOOR: (Kind.FROUND, floats.FLOOR),
    Op.FCEIL: (Kind.FROUND, floats.CEIL),
    Op.FTRUNC: (Kind.FROUND, floats.TRUNC),
    Op.FCONV: (Kind.FCONV, 0),
    Op.SITOF: (Kind.SITOF, 0),
    Op.UITOF: (Kind.UITOF, 0),
    Op.FTOSI: (Kind.FTOSI, 0),
    Op.FTOUI: (Kind.FTOUI, 0),
}
_MEMORY = (Place.MEMORY, Place.GLOBAL)
_COMPARISONS = frozenset({Op.EQ, Op.NE, Op.ULT, Op.ULE, Op.SLT, Op.SLE, Op.FEQ, Op.FLT, Op.FLE})
_UNARY = frozenset({Op.NOT, Op.NEG, Op.ZEXT, Op.SEXT, Op.TRUNC, *_FLOAT_UNARY})


def _binary(op: Op) -> Callable[[Expr, Expr], Expr]:
    if op is Op.NE:
        return lambda a, b: build.bit_not(build.binary(Kind.EQ, a, b))
    if op is Op.ULE:
        return lambda a, b: build.less_equal(Kind.ULT, a, b)
    if op is Op.SLE:
        return lambda a, b: build.less_equal(Kind.SLT, a, b)
    if op in _FLOAT_BINARY:
        return functools.partial(build.float_binary, _FLOAT_BINARY[op])
    return functools.partial(build.binary, _BINARY[op])


def _unary(op: Op, bits: int) -> Callable[[Expr], Expr]:
    if op in _FLOAT_UNARY:
        kind, how = _FLOAT_UNARY[op]
        return lambda a: build.float_unary(kind, a, bits, how)
    if op is Op.NOT:
        return build.bit_not
    if op is Op.NEG:
        return build.neg
    if op is Op.ZEXT:
        return lambda a: build.zext(a, bits)
    if op is Op.SEXT:
        return lambda a: build.sext(a, bits)
    return lambda a: build.extract(a, 0, bits)


def fit(expr: Expr, bits: int) -> Expr:
    """The value in a place of another width, as an unsigned value is converted."""
    return build.zext(expr, bits) if expr.width < bits else build.extract(expr, 0, bits)


class Program:
    """One site's template."""

    def __init__(self, site: Site) -> None:
        template = site.template
        if template is None:
            raise TraceError(f"site {site.id} has no template")
        self.leaves = template.leaves
        self._steps: list[tuple[int, Expr | int | Callable[..., Expr]]] = []  # (arguments taken, what)
        widths: list[int] = []
        try:
            if any(not 1 <= leaf.bits <= WIDEST or (leaf.place in _MEMORY and leaf.bits % 8) for leaf in self.leaves):
                raise ValueError("a leaf of no whole bytes, or too many")
            for step in template.steps:
                op, bits = step.op, step.bits
                if op is Op.CONST:
                    self._steps.append((0, build.const(step.value, bits)))
                elif op is Op.LEAF:
                    bits = self.leaves[step.value].bits
                    self._steps.append((0, step.value))
                elif op in _UNARY:
                    self._check_unary(op, widths.pop(), bits)
                    self._steps.append((1, _unary(op, bits)))
                else:
                    b, a = widths.pop(), widths.pop()
                    if a != b or (op in _FLOAT_BINARY and a not in floats.PRECISION):
                        raise ValueError(f"operands of {a} and {b} bits")
                    self._steps.append((2, _binary(op)))
                    bits = 1 if op in _COMPARISONS else a
                if bits > WIDEST:
                    raise ValueError(f"a formula of {bits} bits")
                widths.append(bits)
            if len(widths) != 1:
                raise ValueError("it leaves no single value")
            if (site.is_branch or site.kind in (SiteKind.CHECK, SiteKind.RANGE)) and widths != [1]:
                raise ValueError("it is no condition")
        except (IndexError, KeyError, ValueError) as error:
            raise TraceError(f"the template of site {site.id} is malformed: {error}") from error

    def _check_unary(self, op: Op, before: int, after: int) -> None:
        if op in _FLOAT_UNARY:
            takes, gives = op not in (Op.SITOF, Op.UITOF), op not in (Op.FTOSI, Op.FTOUI)
            same = op in (Op.FNEG, Op.FABS, Op.FSQRT, Op.FFLOOR, Op.FCEIL, Op.FTRUNC)
            wrong = (takes and before not in floats.PRECISION) or (gives and after not in floats.PRECISION)
            if wrong or after < 1 or (same and before != after):
                raise ValueError(f"{op.name} from {before} to {after} bits")
            return
        grows = op in (Op.ZEXT, Op.SEXT)
        if after < 1 or (grows and after < before) or (op is Op.TRUNC and after > before):
            raise ValueError(f"{op.name} from {before} to {after} bits")

    def value(self, leaves: Sequence[Expr]) -> Expr:
        """The formula."""
        stack: list[Expr] = []
        for arguments, what in self._steps:
            if isinstance(what, Expr):
                stack.append(what)
            elif isinstance(what, int):
                stack.append(leaves[what])
            elif arguments == 1:
                stack[-1] = what(stack[-1])
            else:
                right = stack.pop()
                stack[-1] = what(stack[-1], right)
        return stack[0]


KEPT = 20_000  # results: bounds memory, and with it how many formulas outlive their path


class Programs:
    """The templates of one table, compiled when first used, with the results of earlier runs."""

    def __init__(self, table: SiteTable) -> None:
        self.table = table
        self._compiled: dict[int, Program] = {}
        self._values: dict[tuple[Program, tuple[Expr, ...]], Expr] = {}

    def get(self, site: Site) -> Program:
        found = self._compiled.get(site.id)
        if found is None:
            found = self._compiled[site.id] = Program(site)
        return found

    def value(self, program: Program, leaves: tuple[Expr, ...]) -> Expr:
        key = program, leaves
        found = self._values.get(key)
        if found is None:
            if len(self._values) >= KEPT:
                self._values.clear()
            found = self._values[key] = program.value(leaves)
        return found
