"""Builtins that move and count bits: byte swaps (`ntohl` and `htons`, too), leading and trailing zeros, ones, parity.

They decide nothing, so they are expressions, without a branch: the instrumented program computes what the formula says.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.ir.exp import Const, Exp, Unary
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.types.ctype import Int

_BUILTIN = "__builtin_"
_SWAP = re.compile(rf"(?:{_BUILTIN}bswap|__bswap_?)(16|32|64)")
_NETWORK = {"htons": "16", "ntohs": "16", "htonl": "32", "ntohl": "32"}  # its order is not that of any board here
_COUNT = re.compile(rf"(?:{_BUILTIN}(clz|ctz|popcount|parity|ffs)|(ffs))(l|ll|)")


class BitCalls:
    """Calls of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.e, self.b = expressions, expressions.b
        self.types = t = expressions.types
        self._swapped = {"16": t.char16, "32": t.char32, "64": t.ulong if t.ulong.bits == 64 else t.ullong}
        self._unsigned = {"": t.uint, "l": t.ulong, "ll": t.ullong}

    def call(self, name: str, node: c_ast.FuncCall) -> Exp | None:
        """The value of a call of the builtin, or the library's function, of this name; None if it is none of these."""
        args = node.args.exprs if node.args else []
        if len(args) != 1:
            return None
        swap = _SWAP.fullmatch(name)
        bits = swap[1] if swap else _NETWORK.get(name)
        if bits is not None:
            return self._swap(self._operand(args[0], self._swapped[bits]))
        if count := _COUNT.fullmatch(name):
            t = self._unsigned[count[3]]
            return self.e.arith.convert(self._count(count[1] or count[2], self._operand(args[0], t), t), self.types.int)
        return None

    def _operand(self, node: c_ast.Node, t: Int) -> Exp:
        return self.b.settled(self.e.arith.convert(self.e.rvalue(node), t))

    def _do(self, op: str, left: Exp, right: Exp | int) -> Exp:
        assert isinstance(left.type, Int)
        if isinstance(right, int):
            right = Const(left.type, f"(({left.type.name}) {right:#x}ull)", right)
        return self.e.arith.binary(op, left, right, self.e.sizes.text)

    def _swap(self, value: Exp) -> Exp:
        t = value.type
        assert isinstance(t, Int)
        found: Exp | None = None
        for low in range(0, t.bits, 8):
            byte = self.e.arith.convert(self._do("&", self._do(">>", value, low) if low else value, 0xFF), t)
            moved = self._do("<<", byte, t.bits - 8 - low) if low < t.bits - 8 else byte
            found = moved if found is None else self._do("|", found, moved)
        return self.e.arith.convert(found, t)

    def _count(self, what: str, value: Exp, t: Int) -> Exp:
        if what == "popcount":
            return self._ones(value, t)
        if what == "parity":
            return self._do("&", self._ones(value, t), 1)
        if what == "clz":
            shift = 1
            while shift < t.bits:
                value = self.b.save(self._do("|", value, self._do(">>", value, shift)))
                shift *= 2
            value = Unary(t, "~", value)  # ones where zeros led
            return self._ones(self.b.save(value), t)
        below = self._do("-", value, 1)
        if what == "ctz":
            return self._ones(self.b.save(self._do("&", Unary(t, "~", value), below)), t)
        ones = self._ones(self.b.save(self._do("^", value, below)), t)
        is_any = self.e.arith.convert(self._do("!=", value, 0), t)
        return self._do("*", ones, is_any)

    def _ones(self, value: Exp, t: Int) -> Exp:
        """The number of ones: of neighbours, in pairs, fours, bytes, and all bytes by a product (Warren, Hacker's Delight, 5-1)."""
        every = (1 << t.bits) - 1
        pairs = self._do("-", value, self._do("&", self._do(">>", value, 1), every // 3))
        value = self.b.save(pairs)
        fours = self._do("+", self._do("&", value, every // 5), self._do("&", self._do(">>", value, 2), every // 5))
        value = self.b.save(fours)
        value = self.b.save(self._do("&", self._do("+", value, self._do(">>", value, 4)), every // 17))
        return self.b.save(self._do(">>", self._do("*", value, every // 255), t.bits - 8))
