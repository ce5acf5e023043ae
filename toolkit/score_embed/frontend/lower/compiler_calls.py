"""Calls of functions that only the compiler has: hints, questions about an expression, the stack."""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.body import Pin, Verbatim
from score_embed.frontend.ir.exp import Const, Exp, Raw
from score_embed.frontend.lower.expressions import ByName, Expressions, decayed
from score_embed.frontend.lower.variable_length import REASON
from score_embed.frontend.types.ctype import Function, Pointer, Struct, Void, unqualified

_ATOMIC_TRUTH = re.compile(r"_bool_|_compare_exchange|_test_and_set$(?<!lock_test_and_set)|_lock_free$")
_ATOMIC_NOTHING = re.compile(r"_synchronize$|_release$|_store(_n)?$|_load$|_exchange$|_clear$|_fence$")


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

    # --- other threads ---------------------------------------------------------------------------------------

    def atomic(self, name: str, node: c_ast.FuncCall) -> Function | None:
        """The type of `__sync_fetch_and_add` and its kin, whose results are of what their first argument points to.

        They stay one step of the program's, as opaque calls.
        """
        if not name.startswith(("__sync_", "__atomic_")):
            return None
        if _ATOMIC_TRUTH.search(name):
            return Function(self.types.bool, None)
        if _ATOMIC_NOTHING.search(name) or not node.args:
            return Function(self.types.void, None)
        pointer = self.e.type_of(node.args.exprs[0])
        to = unqualified(decayed(pointer).to) if isinstance(decayed(pointer), Pointer) else None  # type: ignore[attr-defined]
        if to is None or isinstance(to, (Void, Struct)):
            raise Unsupported(f"'{name}' of such an argument", node)
        return Function(to, None)


def _is_string(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and str(node.value).endswith('"')
