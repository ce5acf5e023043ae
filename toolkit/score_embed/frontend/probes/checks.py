"""Checks as reachability: what must hold where C leaves the outcome open becomes a condition whose other side is a bug.

A check stands before the statement that needs it, so a violation ends the test before it does harm. Where an operand
may be symbolic, the explorer asks for the other side as it does of branches; else it is a comparison of the program's.
What was checked on every way to a statement, and has not changed since, is not checked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from score_embed.frontend.ir.body import Body, Call, Check, Fail, Stmt
from score_embed.frontend.ir.exp import Binary, Const, Convert, Exp, GlobalAddress, LocalAddress, Place, Raw, Unary
from score_embed.frontend.ir.flow import blocks_of, expressions, places
from score_embed.frontend.probes.blocks import Plan
from score_embed.frontend.probes.bounds import BoundsFinder, bounds_said
from score_embed.frontend.probes.formulas import Formula
from score_embed.frontend.probes.maybe import Maybe
from score_embed.frontend.probes.pins import repeated, varying_part
from score_embed.frontend.types.ctype import Int, Types, as_int, declare

Comparison = tuple[str, str, Exp, Exp]  # kind, operator, operands of one type


def with_checks(body: Body, wanted: Set[str], types: Types, plan: Plan, maybe: Maybe) -> Body:
    """The function with its checks; itself if it needs none."""
    finder = _Finder(wanted, types)
    bounds = BoundsFinder(types, body.origins) if "bounds" in wanted else None
    found: list[Stmt] = []
    for s in body.statements:
        before = plan.maybe(s, maybe)
        for kind, op, left, right in dict.fromkeys(finder.of(s)):
            tracked = any(before.exp(plan.formula(s, exp)) for exp in (left, right))
            if tracked or kind != "null":  # other null pointers are the hardware's business
                found.append(Check(s.coord, kind, op, left, right, tracked))
        if bounds is not None:
            found += bounds.before(s)
        if "unreachable" in wanted and isinstance(s, Call) and s.callee == "__builtin_unreachable":
            found.append(Fail(s.coord, "unreachable"))
        found.append(s)
        if bounds is not None:
            found += bounds.behind(s)
    if len(found) == len(body.statements):
        return body
    checked = replace(body, statements=found)
    if plan.tainted is None:  # setjmp: what was checked may come back with other values
        return checked
    blocks = blocks_of(checked)
    again = repeated(blocks, _said, maybe) | repeated(blocks, bounds_said, maybe, lambda s: isinstance(s, Call))
    return replace(checked, statements=[s for s in found if (id(s), "") not in again])


def _said(s: Stmt) -> dict[str, Formula]:
    """What holds once the check was passed."""
    if not isinstance(s, Check):
        return {}
    return {"": Formula.of(Binary(s.left.type, s.op, s.left, s.right))}


class _Finder:
    """What a statement needs, in the order in which it is needed."""

    def __init__(self, wanted: Set[str], types: Types) -> None:
        self._wanted, self._types = wanted, types

    def of(self, s: Stmt) -> Iterator[Comparison]:
        if isinstance(s, Check):
            return
        for place in places(s):
            yield from self._place(place)
        for exp in expressions(s):
            yield from self._exp(exp)

    def _place(self, place: Place) -> Iterator[Comparison]:
        if place.pointer is not None:
            yield from self._exp(place.pointer)
            if "null" in self._wanted and not isinstance(varying_part(place.pointer), (GlobalAddress, LocalAddress)):
                null = Const(place.pointer.type, f"(({declare(place.pointer.type)}) 0)", 0)
                yield "null", "!=", place.pointer, null
        for index, count, length in place.subscripts:
            yield from self._exp(index)
            if "bounds" in self._wanted and not _is_within(index, length):
                t = self._unsigned(as_int(index.type))
                limit = Const(t, f"(({t.name}) ({count}))", length)
                yield "bounds", "<", Convert(t, index) if index.type != t else index, limit

    def _unsigned(self, t: Int) -> Int:
        choices = (self._types.uint, self._types.ulong, self._types.ullong)
        return t if not t.signed else next(u for u in choices if u.bits == t.bits)

    def _exp(self, exp: Exp) -> Iterator[Comparison]:
        """Operands before operators."""
        if isinstance(exp, Raw):
            return
        for child in exp.children():
            yield from self._exp(child)
        if isinstance(exp, Binary) and isinstance(exp.type, Int) and not exp.is_comparison:
            yield from self._operator(exp, exp.type)
        elif isinstance(exp, Unary) and isinstance(exp.type, Int):
            yield from self._sign(exp, exp.type)

    def _sign(self, exp: Unary, t: Int) -> Iterator[Comparison]:
        if "overflow" in self._wanted and exp.op == "-" and t.signed:
            yield "overflow", "!=", exp.operand, self._least(t)

    def _operator(self, exp: Binary, t: Int) -> Iterator[Comparison]:
        wanted, right = self._wanted, exp.right
        if exp.op in ("/", "%"):
            if "division" in wanted and not (isinstance(right, Const) and right.value):
                yield "division", "!=", right, Const(t, "0", 0)
            if "overflow" in wanted and t.signed and not (isinstance(right, Const) and right.value != -1):
                both = Binary(t, "|", Binary(t, "^", exp.left, self._least(t)), Unary(t, "~", right))
                yield "overflow", "!=", both, Const(t, "0", 0)
        elif exp.op in ("<<", ">>"):
            if "shift" in wanted and isinstance(right.type, Int) and not _is_within(right, t.bits):
                count = self._unsigned(right.type)
                limit = Const(count, f"(({count.name}) {t.bits})", t.bits)
                yield "shift", "<", Convert(count, right) if right.type != count else right, limit
        elif "overflow" in wanted and t.signed and exp.op in ("+", "-", "*"):
            yield from self._overflow(exp, t)

    def _overflow(self, exp: Binary, t: Int) -> Iterator[Comparison]:
        wide = self._types.llong
        if 2 * t.bits <= wide.bits:
            exact = Binary(wide, exp.op, Convert(wide, exp.left), Convert(wide, exp.right))
            yield "overflow", "==", exact, Convert(wide, exp)
        elif exp.op in (
            "+",
            "-",
        ):  # it overflows if the sign is neither operand's (of `-`: the left one's, if they differ)
            a = Binary(t, "^", exp.left, exp if exp.op == "+" else exp.right)
            b = Binary(t, "^", exp.right if exp.op == "+" else exp.left, exp)
            yield "overflow", ">=", Binary(t, "&", a, b), Const(t, "0", 0)

    def _least(self, t: Int) -> Const:
        value = -(1 << (t.bits - 1))
        return Const(t, f"(({t.name}) ({value + 1}{'ll' if t.bits > 32 else 'l'}) - 1)", value)


def _is_within(index: Exp, length: int | None) -> bool:
    """Whether it is a constant in range, or one that only the compiler knows."""
    if not isinstance(index, Const):
        return False
    return index.value is None or length is None or 0 <= index.value < length
