"""Sizes of types, and the steps that pointers make: also where the size is computed at run time."""

from __future__ import annotations

from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.exp import Binary, Const, Convert, Exp, Place, PointerAdd, Slot, SlotRef
from score_embed.frontend.lower.arithmetic import Arithmetic
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Pointer,
    Void,
    as_int,
    declare,
    is_integer,
    unqualified,
)


class Sizes:
    """Those of one function, whose variable length arrays keep their counts in slots."""

    def __init__(self, builder: Builder, arith: Arithmetic) -> None:
        self.b = builder
        self.types = builder.types
        self.arith = arith

    def of(self, t: CType) -> Exp:
        """The size of a type, in bytes."""
        size = self.types.size
        if not (isinstance(t, Array) and self.b.is_variable(t)):
            return Const(size, self.text(t), as_int(t).bits // 8 if is_integer(t) else None)
        count = self.b.counts.get(t.count or "") or Const(size, f"(({size.name}) ({t.count}))", t.length)
        return Binary(size, "*", count, self.of(t.of))

    def text(self, t: CType) -> str:
        """The size of a type, in bytes, as C that the compiler computes. Raises Unsupported if it cannot."""
        if isinstance(t, Array) and self.b.is_variable(t):
            raise Unsupported("arithmetic on a pointer to variable length arrays")
        if isinstance(t, (Void, Function)):
            return "1"
        return f"sizeof({declare(unqualified(t))})"

    def element_address(self, t: CType, base: Exp, index: Exp, of: CType) -> Exp:
        """The address, of type t, of an element of an array."""
        if not (isinstance(of, Array) and self.b.is_variable(of)):
            return PointerAdd(t, base, index, self.text(of))
        return PointerAdd(t, base, Binary(self.types.size, "*", Convert(self.types.size, index), self.of(of)), "1")

    def operate(self, op: str, left: Exp, right: Exp) -> Exp:
        """A binary operator; of pointers to variable length arrays by their addresses, as C's own step is not known."""
        pointers = [e for e in (left, right) if isinstance(e.type, Pointer) and self.b.is_variable(e.type.to)]
        sized = [e.type.to for e in pointers if isinstance(e.type, Pointer) and isinstance(e.type.to, Array)]
        if not sized or op not in ("+", "-"):
            return self.arith.binary(op, left, right, self.text)
        size, t = self.of(sized[0]), self.types.uintptr
        if isinstance(left.type, Pointer) and isinstance(right.type, Pointer):
            t = self.types.ptrdiff
            return Binary(t, "/", Binary(t, "-", Convert(t, left), Convert(t, right)), self.arith.convert(size, t))
        pointer, index = (left, right) if isinstance(left.type, Pointer) else (right, left)
        step = Binary(t, "*", self.arith.convert(self.arith.promoted(index), t), self.arith.convert(size, t))
        return self.b.save(Convert(pointer.type, Binary(t, op, Convert(t, pointer), step)))

    def typed(self, pointer: Exp) -> str:
        """C of a pointer that is used. A variable that points to variable length arrays is declared as `void *`."""
        t = pointer.type
        return f"(({declare(t)}) {pointer.c()})" if self.b.is_variable(t) else pointer.c()

    @staticmethod
    def variable_array(slot: Slot, t: Array) -> Place:
        """An array whose size is computed at run time, at the address that the slot holds."""
        text = f"(*({declare(Pointer(t))}) {slot.name})"
        return Place(text, t, SlotRef(Pointer(t), slot), False, (slot,))
