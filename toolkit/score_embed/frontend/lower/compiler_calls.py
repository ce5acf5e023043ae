"""Calls of functions that only the compiler has: hints, questions about an expression, the stack; moving and counting
bits.

The last (byte swaps, `ntohl` and `htons`, too, leading and trailing zeros, ones, parity) decide nothing, so they are
expressions, without a branch: the instrumented program computes what the formula says.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.ir.body import Pin, Verbatim
from score_embed.frontend.ir.exp import Const, Exp, Raw, Unary
from score_embed.frontend.lower.expressions import ByName, Expressions
from score_embed.frontend.lower.local_declarations import REASON
from score_embed.frontend.types.ctype import Int, Pointer

_BUILTIN = "__builtin_"
_SWAP = re.compile(rf"(?:{_BUILTIN}bswap|__bswap_?)(16|32|64)")
_NETWORK = {"htons": "16", "ntohs": "16", "htonl": "32", "ntohl": "32"}  # its order is not that of any board here
_COUNT = re.compile(rf"(?:{_BUILTIN}(clz|ctz|popcount|parity|ffs)|(ffs))(l|ll|)")


class CompilerCalls:
    """Those of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.arith = expressions.arith
        self.by_name: ByName = {
            "__builtin_expect": self._expect,
            "__builtin_expect_with_probability": self._expect,
            "__builtin_assume_aligned": self._as_pointer,
            "__builtin_extract_return_addr": self._as_pointer,
            "__builtin_prefetch": self._prefetch,
            "__builtin_constant_p": self._constant_p,
            "__builtin_types_compatible_p": self._types_compatible_p,
            "__builtin_offsetof": self._offsetof,
            "__builtin_alloca": self.alloca,
            "__builtin_alloca_with_align": self.alloca,
            "__builtin_alloca_with_align_and_max": self.alloca,
            "__builtin_frame_address": self._frame_address,
            "__builtin_return_address": self._frame_address,
        }

    def _first(self, node: c_ast.FuncCall) -> Exp:
        """The first argument; of the others only what they do besides counts. C leaves the order open."""
        first, *others = node.args.exprs
        for other in others:
            self.e.effect(other)
        return self.e.rvalue(first)

    # --- hints -----------------------------------------------------------------------------------------------

    def _expect(self, node: c_ast.FuncCall) -> Exp:
        return self.arith.convert(self._first(node), self.types.long)

    def _as_pointer(self, node: c_ast.FuncCall) -> Exp:
        return self.arith.convert(self._first(node), Pointer(self.types.void))

    def _prefetch(self, node: c_ast.FuncCall) -> None:
        self._first(node)

    # --- questions -------------------------------------------------------------------------------------------

    def _constant_p(self, node: c_ast.FuncCall) -> Exp:
        known = all(self.b.declarations.constant(node) is not None or _is_string(node) for node in node.args.exprs)
        return Const(self.types.int, str(int(known)), int(known))

    def _types_compatible_p(self, node: c_ast.FuncCall) -> Exp:
        return Const(self.types.int, self.b.declarations.text(node), self.b.declarations.constant(node))

    def _offsetof(self, node: c_ast.FuncCall) -> Exp:
        return Const(self.types.size, self.b.declarations.text(node))

    # --- the stack -------------------------------------------------------------------------------------------

    def alloca(self, node: c_ast.FuncCall) -> Exp:
        """Memory that the function's end gives back: of the emitted function, which is the same."""
        size = self.b.temporary(self.types.size, keep=True)  # its type says how much is cleared
        self.b.assign(size, self.arith.convert(self.e.rvalue(node.args.exprs[0]), self.types.size))
        self.b.add(Pin(self.b.coord, size, REASON))
        pointer = self.b.temporary(Pointer(self.types.void))
        aligned = [self.b.declarations.text(more) for more in node.args.exprs[1:]]
        taken = (
            f"{'__builtin_alloca_with_align' if aligned else '__builtin_alloca'}({', '.join([size.c(), *aligned[:1]])})"
        )
        self.b.assign(pointer, Raw(pointer.type, taken))
        self.b.add(Verbatim(self.b.coord, f"SC_TAKEN({pointer.c()}, {size.c()});"))
        return pointer

    def _frame_address(self, node: c_ast.FuncCall) -> Exp:
        text = self.b.declarations.text(node)
        return self.b.save(Raw(Pointer(self.types.void), text))


def _is_string(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and str(node.value).endswith('"')


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
        """The number of ones: of neighbours, in pairs, fours, bytes, and all bytes by a product (Warren, Hacker's
        Delight, 5-1)."""
        every = (1 << t.bits) - 1
        pairs = self._do("-", value, self._do("&", self._do(">>", value, 1), every // 3))
        value = self.b.save(pairs)
        fours = self._do("+", self._do("&", value, every // 5), self._do("&", self._do(">>", value, 2), every // 5))
        value = self.b.save(fours)
        value = self.b.save(self._do("&", self._do("+", value, self._do(">>", value, 4)), every // 17))
        return self.b.save(self._do(">>", self._do("*", value, every // 255), t.bits - 8))
