"""Arithmetic that says whether it overflowed: `__builtin_add_overflow(a, b, &sum)` and its kin.

The result is that of unlimited precision, cut to the type it is stored in; whether something was cut off is an
expression, without a branch. Up to 32 bits it is computed in 64; of 64 bits what C can say without more of them.
`__builtin_add_overflow_p` and its kin only say it, of the type of their last argument.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.exp import Const, Exp, Place, SlotRef
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import Int, Pointer, is_untracked, unqualified

_NAME = re.compile(r"__builtin_([su]?)(add|sub|mul)(l|ll|)_overflow(_p|)")
_OPERATORS = {"add": "+", "sub": "-", "mul": "*"}


class OverflowCalls:
    """Calls of one function."""

    def __init__(self, expressions: Expressions, places: Places, assignments: Assignments) -> None:
        self.e, self.b = expressions, expressions.b
        self.types = t = expressions.types
        self.places, self.assignments = places, assignments
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
        left, right = (self.b.settled(self.e.rvalue(arg)) for arg in node.args.exprs[:2])
        if found[1]:
            left, right = (self._as(value, self._named[found[1]][found[3]]) for value in (left, right))
        last, pointer = node.args.exprs[2], None
        if found[4]:  # only its type counts
            to = self.types.void if self._is_bit_field(last) else self.e.type_of(last)
        else:
            pointer = self.b.settled(self.e.rvalue(last))
            to = unqualified(pointer.type.to) if isinstance(pointer.type, Pointer) else self.types.void
        if not all(isinstance(t, Int) and not is_untracked(t) and not t.precision for t in (left.type, right.type, to)):
            raise Unsupported(f"builtin '{name}' of such types", node)
        assert isinstance(to, Int)
        result, overflowed = self._compute(_OPERATORS[found[2]], left, right, to)
        if pointer is not None:
            self.assignments.store(self.places.dereference(pointer, node), result)
        return self.e.arith.convert(overflowed, self.types.bool)

    def _is_bit_field(self, node: c_ast.Node) -> bool:
        if not isinstance(node, c_ast.StructRef):
            return False
        with self.b.unevaluated():
            place = self.places.lvalue(node)
        return isinstance(place, Place) and place.bit_field is not None

    def _as(self, value: Exp, t: Int) -> Exp:
        value = self.e.arith.convert(value, t)
        return value if isinstance(value, (SlotRef, Const)) else self.b.save(value)

    def _do(self, op: str, left: Exp, right: Exp) -> Exp:
        return self.e.arith.binary(op, left, right, self.e.sizes.text)

    def _compute(self, op: str, left: Exp, right: Exp, to: Int) -> tuple[Exp, Exp]:
        """The result in its type, and whether that is not the whole of it."""
        assert isinstance(left.type, Int)
        assert isinstance(right.type, Int)
        if max(left.type.bits, right.type.bits, to.bits) <= 32:
            signed = op != "*" or left.type.signed or right.type.signed
            wide = self._wide if signed else self._wide_unsigned
            exact = self.b.save(self._do(op, self._as(left, wide), self._as(right, wide)))
            result = self._as(exact, to)
            return result, self._do("!=", self._as(result, wide), exact)
        if op == "*" and (to.signed or not (self._keeps(left, to) and self._keeps(right, to))):
            return self._product(left, right, to)
        if not (self._keeps(left, to) and self._keeps(right, to)):
            return self._sum(op, left, right, to)
        left, right = self._as(left, to), self._as(right, to)
        zero = self._number(to, 0)
        if to.signed:
            return self._signed(op, left, right, zero)
        result = self.b.save(self._do(op, left, right))
        if op == "*":
            return result, self._is_beyond(left, right, zero)
        return result, self._do("<", result, left) if op == "+" else self._do("<", left, right)

    def _is_beyond(self, left: Exp, right: Exp, zero: Const) -> Exp:
        """Whether a product of unsigned numbers of one type is more than that can hold."""
        t = zero.type
        assert isinstance(t, Int)
        is_zero = self._as(self._do("==", right, zero), t)
        divisor = self.b.save(self._do("|", right, is_zero))
        most = self._number(t, (1 << t.bits) - 1)
        return self._do("&", self._do("!=", right, zero), self._do(">", left, self._do("/", most, divisor)))

    def _number(self, t: Int, value: int) -> Const:
        return Const(t, f"(({t.name}) {value:#x}ull)", value)

    def _signed(self, op: str, left: Exp, right: Exp, zero: Const) -> tuple[Exp, Exp]:
        """By Warren, Hacker's Delight, 2-13: the sign is neither operand's."""
        t = zero.type
        assert isinstance(t, Int)
        first, second = (self._as(value, self._wide_unsigned) for value in (left, right))
        result = self._as(self.b.save(self._do(op, first, second)), t)
        changed = self._do("^", left, result)
        other = self._do("^", right, result) if op == "+" else self._do("^", left, right)
        return result, self._do("<", self._do("&", changed, other), zero)

    # --- 64 bits of mixed signs: of the exact result the low 64 bits, and what stands above them -----------------

    def _is_negative(self, value: Exp) -> Exp:
        """1 or 0, in 64 bits without a sign."""
        assert isinstance(value.type, Int)
        if not value.type.signed:
            return self._number(self._wide_unsigned, 0)
        return self._as(self._do("<", value, Const(value.type, "0", 0)), self._wide_unsigned)

    def _sum(self, op: str, left: Exp, right: Exp, to: Int) -> tuple[Exp, Exp]:
        """Both extended to 128 bits: the upper half is minus the sign, plus or minus the carry."""
        t = self._wide_unsigned
        first, second = self._as(left, t), self._as(right, t)
        low = self.b.save(self._do(op, first, second))
        carry = self._do("<", low, first) if op == "+" else self._do("<", first, second)
        above = self._do(op, self._do("-", self._number(t, 0), self._is_negative(left)),
                         self._do("-", self._number(t, 0), self._is_negative(right)))  # fmt: skip
        above = self.b.save(self._do(op, above, self._as(carry, t)))
        result = self._as(low, to)
        again = self._as(result, t)
        sign = self._do("-", self._number(t, 0), self._is_negative(result))
        return result, self._do("|", self._do("!=", again, low), self._do("!=", above, sign))

    def _product(self, left: Exp, right: Exp, to: Int) -> tuple[Exp, Exp]:
        """By sign and magnitude."""
        t = self._wide_unsigned
        zero = self._number(t, 0)
        signs = [self._is_negative(value) for value in (left, right)]
        sizes = [self._magnitude(self._as(value, t), sign) for value, sign in zip((left, right), signs, strict=True)]
        size = self.b.save(self._do("*", *sizes))
        beyond = self._is_beyond(sizes[0], sizes[1], zero)
        negative = self.b.save(self._do("^", *signs))
        result = self._as(self._magnitude(size, negative), to)
        most = self._number(t, (1 << (to.bits - to.signed)) - 1)
        allowed = (
            self._do("+", most, negative)
            if to.signed
            else self._do("&", most, self._do("-", negative, self._number(t, 1)))
        )
        return result, self._do("|", beyond, self._do(">", size, allowed))

    def _magnitude(self, value: Exp, negative: Exp) -> Exp:
        """The number, or minus it: (value ^ -n) + n."""
        t = self._wide_unsigned
        flipped = self._do("^", value, self._do("-", self._number(t, 0), negative))
        return self.b.save(self._do("+", flipped, negative))

    @staticmethod
    def _keeps(value: Exp, t: Int) -> bool:
        """Whether all its values are ones of the type."""
        if isinstance(value, Const) and value.value is not None and value.value >= 0:
            return value.value < 1 << (t.bits - t.signed)
        assert isinstance(value.type, Int)
        if value.type.signed:
            return t.signed and value.type.bits <= t.bits
        return value.type.bits < t.bits or (value.type.bits == t.bits and not t.signed)
