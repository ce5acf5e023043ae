"""Calls of functions that only the compiler has: hints, questions about an expression, the stack."""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.body import Clear, Pin
from score_embed.frontend.ir.exp import Const, Exp, Raw
from score_embed.frontend.lower.lowering import decayed
from score_embed.frontend.lower.variable_length import REASON
from score_embed.frontend.lower.variadic import Variadic
from score_embed.frontend.types.ctype import Function, Pointer, Struct, Void, unqualified

_ATOMIC_TRUTH = re.compile(r"_bool_|_compare_exchange|_test_and_set$(?<!lock_test_and_set)|_lock_free$")
_ATOMIC_NOTHING = re.compile(r"_synchronize$|_release$|_store(_n)?$|_load$|_exchange$|_clear$|_fence$")


class CompilerCalls(Variadic):
    """Those of one function."""

    def _first(self, node: c_ast.FuncCall) -> Exp:
        """The first argument; of the others only what they do besides counts. C leaves the order open."""
        first, *others = node.args.exprs
        for other in others:
            self.e.effect(other)
        return self.e.rvalue(first)

    # --- hints -----------------------------------------------------------------------------------------------

    def _special__builtin_expect(self, node: c_ast.FuncCall) -> Exp:
        return self.arith.convert(self._first(node), self.types.long)

    _special__builtin_expect_with_probability = _special__builtin_expect

    def _special__builtin_assume_aligned(self, node: c_ast.FuncCall) -> Exp:
        return self.arith.convert(self._first(node), Pointer(self.types.void))

    def _special__builtin_prefetch(self, node: c_ast.FuncCall) -> None:
        self._first(node)

    # --- questions -------------------------------------------------------------------------------------------

    def _special__builtin_constant_p(self, node: c_ast.FuncCall) -> Exp:
        known = all(self.b.declarations.constant(node) is not None or _is_string(node) for node in node.args.exprs)
        return Const(self.types.int, str(int(known)), int(known))

    def _special__builtin_types_compatible_p(self, node: c_ast.FuncCall) -> Exp:
        return Const(self.types.int, self.b.declarations.text(node), self.b.declarations.constant(node))

    def _special__builtin_offsetof(self, node: c_ast.FuncCall) -> Exp:
        return Const(self.types.size, self.b.declarations.text(node))

    # --- the stack -------------------------------------------------------------------------------------------

    def _special__builtin_alloca(self, node: c_ast.FuncCall) -> Exp:
        """Memory that the function's end gives back: of the emitted function, which is the same."""
        size = self.b.temporary(
            self.types.size, keep=True
        )  # one that keeps its value: its type says how much is cleared
        self.b.assign(size, self.arith.convert(self.e.rvalue(node.args.exprs[0]), self.types.size))
        self.b.add(Pin(self.b.coord, size, REASON))
        pointer = self.b.temporary(Pointer(self.types.void))
        aligned = [self.b.declarations.text(more) for more in node.args.exprs[1:]]
        taken = (
            f"{'__builtin_alloca_with_align' if aligned else '__builtin_alloca'}({', '.join([size.c(), *aligned[:1]])})"
        )
        self.b.assign(pointer, Raw(pointer.type, taken))
        self.b.add(Clear(self.b.coord, f"(*(unsigned char (*)[{size.c()}]) {pointer.c()})"))
        return pointer

    _special__builtin_alloca_with_align = _special__builtin_alloca
    _special__builtin_alloca_with_align_and_max = _special__builtin_alloca

    def _special__builtin_frame_address(self, node: c_ast.FuncCall) -> Exp:
        text = self.b.declarations.text(node)
        return self.b.save(Raw(Pointer(self.types.void), text))

    _special__builtin_return_address = _special__builtin_frame_address

    def _special__builtin_extract_return_addr(self, node: c_ast.FuncCall) -> Exp:
        return self.arith.convert(self._first(node), Pointer(self.types.void))

    # --- other threads ---------------------------------------------------------------------------------------

    def _atomic(self, name: str, node: c_ast.FuncCall) -> Function | None:
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
