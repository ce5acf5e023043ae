"""Arithmetic that says whether it overflowed: `__builtin_add_overflow(a, b, &sum)` and its kin.

The result is that of unlimited precision, cut to the type it is stored in; whether something was cut off is an expression,
without a branch. Up to 32 bits it is computed in 64; of 64 bits what C can say without more of them.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.expressions import Expressions
from score_embed.frontend.ir_exp import Const, Exp, SlotRef
from score_embed.frontend.types import Int, Pointer, is_integer, unqualified

_NAME = re.compile(r"__builtin_([su]?)(add|sub|mul)(l|ll|)_overflow")
_OPERATORS = {"add": "+", "sub": "-", "mul": "*"}


class OverflowCalls:
    """Calls of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.e, self.b = expressions, expressions.b
        self.types = t = expressions.types
        self._wide, self._wide_unsigned = (t.long, t.ulong) if t.long.bits == 64 else (t.llong, t.ullong)
        self._named = {
            "s": {"": t.int, "l": t.long, "ll": t.llong},
            "u": {"": t.uint, "l": t.ulong, "ll": t.ullong},
        }

    def call(self, name: str, node: c_ast.FuncCall) -> Exp | None:
        """Computes and stores; returns whether it overflowed. None if that is no such builtin, or has no formula."""
        found = _NAME.fullmatch(name)
        if found is None or node.args is None or len(node.args.exprs) != 3:
            return None
        values = [self.e.settled(self.e.rvalue(arg)) for arg in node.args.exprs]
        left, right, pointer = values
        if found[1]:
            left, right = (self._as(value, self._named[found[1]][found[3]]) for value in (left, right))
        to = pointer.type.to if isinstance(pointer.type, Pointer) else None
        if to is None or not (is_integer(to) and is_integer(left.type) and is_integer(right.type)):
            return None
        made = self._compute(_OPERATORS[found[2]], left, right, unqualified(to))
        if made is None:
            return None
        result, overflowed = made
        self.e.store(self.e.dereference(pointer, node), result)
        return self.e.arith.convert(overflowed, self.types.bool)

    def _as(self, value: Exp, t: Int) -> Exp:
        value = self.e.arith.convert(value, t)
        return value if isinstance(value, (SlotRef, Const)) else self.b.save(value)

    def _do(self, op: str, left: Exp, right: Exp) -> Exp:
        return self.e.arith.binary(op, left, right, self.e.size_text)

    def _compute(self, op: str, left: Exp, right: Exp, to: object) -> tuple[Exp, Exp] | None:
        """The result in its type, and whether that is not the whole of it."""
        if not (isinstance(to, Int) and isinstance(left.type, Int) and isinstance(right.type, Int)):
            return None
        if max(left.type.bits, right.type.bits, to.bits) <= 32:
            signed = op != "*" or left.type.signed or right.type.signed
            wide = self._wide if signed else self._wide_unsigned
            exact = self.b.save(self._do(op, self._as(left, wide), self._as(right, wide)))
            result = self._as(exact, to)
            return result, self._do("!=", self._as(result, wide), exact)
        if not (self._keeps(left, to) and self._keeps(right, to)):
            return None
        left, right = self._as(left, to), self._as(right, to)
        zero = Const(to, f"(({to.name}) 0)", 0)
        if to.signed:
            return None if op == "*" else self._signed(op, left, right, zero)
        result = self.b.save(self._do(op, left, right))
        if op == "*":
            most = Const(to, f"(({to.name}) -1)", (1 << to.bits) - 1)
            is_zero = self._as(self._do("==", right, zero), to)
            divisor = self.b.save(self._do("|", right, is_zero))
            return result, self._do("&", self._do("!=", right, zero), self._do(">", left, self._do("/", most, divisor)))
        return result, self._do("<", result, left) if op == "+" else self._do("<", left, right)

    def _signed(self, op: str, left: Exp, right: Exp, zero: Const) -> tuple[Exp, Exp]:
        """By Warren, Hacker's Delight, 2-13: the sign is neither operand's."""
        t = zero.type
        assert isinstance(t, Int)
        first, second = (self._as(value, self._wide_unsigned) for value in (left, right))
        result = self._as(self.b.save(self._do(op, first, second)), t)
        changed = self._do("^", left, result)
        other = self._do("^", right, result) if op == "+" else self._do("^", left, right)
        return result, self._do("<", self._do("&", changed, other), zero)

    @staticmethod
    def _keeps(value: Exp, t: Int) -> bool:
        """Whether all its values are ones of the type."""
        if isinstance(value, Const) and value.value is not None and value.value >= 0:
            return value.value < 1 << (t.bits - t.signed)
        assert isinstance(value.type, Int)
        if value.type.signed:
            return t.signed and value.type.bits <= t.bits
        return value.type.bits < t.bits or (value.type.bits == t.bits and not t.signed)
