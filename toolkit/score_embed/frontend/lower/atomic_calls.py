"""Atomic operations of gcc, which <stdatomic.h> is made of.

A load or store of what is no wider than a pointer is a read or an assignment between two fences, with formulas as any
other's: on one core an interrupt handler cannot come in the middle of it. What is wider, and what reads and writes in
one step (`atomic_fetch_add`), stays one step of the program's, as an opaque call.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.body import Verbatim
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.expressions import Expressions, Value, decayed
from score_embed.frontend.types.ctype import (
    CType,
    Float,
    Function,
    Pointer,
    Struct,
    Void,
    as_int,
    is_integer,
    is_scalar,
    is_untracked,
    unqualified,
)

_TRUTH = re.compile(r"_bool_|_compare_exchange|_test_and_set$(?<!lock_test_and_set)|_lock_free$")
_NOTHING = re.compile(r"_synchronize$|_release$|_store(_n)?$|_load$|_exchange$|_clear$|_fence$")
_ARGUMENTS = {"__atomic_load_n": 2, "__atomic_load": 3, "__atomic_store_n": 3, "__atomic_store": 3}


class AtomicCalls:
    """Those of one function."""

    def __init__(self, expressions: Expressions, assignments: Assignments) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.assignments = assignments

    # --- reads and assignments -------------------------------------------------------------------------------

    def is_access(self, name: str, node: c_ast.FuncCall) -> bool:
        """Whether the call is a load or store that can be one."""
        if name not in _ARGUMENTS or not node.args or len(node.args.exprs) != _ARGUMENTS[name]:
            return False
        to = self._pointed_to(node.args.exprs[0])
        if to is None or not self._is_narrow(to):
            return False
        return name.endswith("_n") or self._pointed_to(node.args.exprs[1]) == to  # else bits are copied, and no value

    def access(self, name: str, node: c_ast.FuncCall) -> Value:
        """The value of `__atomic_load_n`; of the others nothing. The order is the strictest, whichever is asked for."""
        first, second = node.args.exprs[:2]
        if self.b.declarations.constant(node.args.exprs[-1]) is None:
            self.e.effect(node.args.exprs[-1])
        there, other = c_ast.UnaryOp("*", first, node.coord), c_ast.UnaryOp("*", second, node.coord)
        value: Value = None
        self._fence()
        if name == "__atomic_load_n":
            value = self.b.save(self.e.rvalue(there))
        elif name == "__atomic_load":
            self._assign(other, there)
        else:
            self._assign(there, second if name == "__atomic_store_n" else other)
        self._fence()
        return value

    def _is_narrow(self, t: CType) -> bool:
        if not is_scalar(t) or is_untracked(t):
            return False
        widest = self.types.uintptr.bits
        return (as_int(t).bits if is_integer(t) else t.bits if isinstance(t, Float) else widest) <= widest

    def _assign(self, dest: c_ast.Node, source: c_ast.Node) -> None:
        self.assignments.assign(c_ast.Assignment("=", dest, source, dest.coord), wanted=False)

    def _fence(self) -> None:
        self.b.add(Verbatim(self.b.coord, "__atomic_thread_fence(__ATOMIC_SEQ_CST);"))

    # --- opaque calls ----------------------------------------------------------------------------------------

    def type_of(self, name: str, node: c_ast.FuncCall) -> Function | None:
        """The type of `__sync_fetch_and_add` and its kin, whose results are of what their first argument points to."""
        if not name.startswith(("__sync_", "__atomic_")):
            return None
        if _TRUTH.search(name):
            return Function(self.types.bool, None)
        if _NOTHING.search(name) or not node.args:
            return Function(self.types.void, None)
        to = self._pointed_to(node.args.exprs[0])
        if to is None or isinstance(to, (Void, Struct)):
            raise Unsupported(f"'{name}' of such an argument", node)
        return Function(to, None)

    def _pointed_to(self, argument: c_ast.Node) -> CType | None:
        pointer = decayed(self.e.type_of(argument))
        return unqualified(pointer.to) if isinstance(pointer, Pointer) else None
