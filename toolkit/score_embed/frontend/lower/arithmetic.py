"""C's arithmetic on typed expressions: promotions, usual conversions, pointer arithmetic (C11 6.3, 6.5), sizes of
types.

Every conversion becomes an explicit `Convert`, so that the emitted C and the template say the same. What has no formula
here (`long double`, 128-bit integers) becomes `Raw` text that remembers what it reads. The size of a type, and so the
steps that a pointer makes, may be computed at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.exp import (
    COMPARISONS,
    AddressOf,
    Binary,
    Const,
    Convert,
    Exp,
    FloatConst,
    Place,
    PointerAdd,
    PointerDiff,
    Raw,
    Slot,
    SlotRef,
    Unary,
)
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.types.constant import number, pattern, wrap
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Float,
    Function,
    Int,
    Pointer,
    Types,
    Void,
    as_int,
    compatible_text,
    declare,
    is_float,
    is_integer,
    is_untracked,
    unqualified,
)


def zero(t: Int) -> Const:
    return Const(t, "0", 0)


def narrowed(exp: Exp, to: Int) -> Exp:
    """A value in the width of `to` as it is in its precision, and then extended again."""
    whole, rest = replace(to, precision=0), to.bits - to.precision
    if isinstance(exp, Const) and exp.value is not None:
        mask = (1 << to.precision) - 1
        value = exp.value & mask
        value -= (mask + 1) if to.signed and value >> (to.precision - 1) else 0
        return Const(to, f"(({to.name}) {value & (1 << to.bits) - 1:#x}ull)", value)
    exp = replace(exp, type=whole)
    if not to.signed:
        mask = (1 << to.precision) - 1
        return Binary(to, "&", exp, Const(whole, f"(({to.name}) {mask:#x}ull)", mask))
    count = Const(whole, f"(({to.name}) {rest})", rest)
    return Binary(to, ">>", Binary(whole, "<<", exp, count), count)


class Arithmetic:
    """`truncate` computes a floating-point number's conversion to an integer type: a statement of its own."""

    def __init__(self, types: Types, truncate: Callable[[Exp, Int], Exp]) -> None:
        self.types = types
        self._truncate = truncate

    # --- conversions -----------------------------------------------------------------------------------------

    def convert(self, exp: Exp | None, to: CType) -> Exp:
        """`exp` converted to `to`, as by assignment."""
        if not isinstance(exp, Exp):
            raise Unsupported("a void or struct value is converted")
        to = as_int(to) if is_integer(to) else unqualified(to)
        to = unqualified(to)
        if isinstance(to, Int) and to.precision:
            return exp if exp.type == to else narrowed(self.convert(exp, replace(to, precision=0)), to)
        if isinstance(exp.type, Int) and exp.type.precision:
            exp = replace(exp, type=replace(exp.type, precision=0))
        if compatible_text(exp.type) == compatible_text(to) or isinstance(to, Void):
            return exp
        if is_untracked(to) or is_untracked(exp.type):
            return Raw(to, f"(({declare(to)}) {exp.c()})", (exp,))
        if isinstance(to, Int) and to.rank == 0:
            return Convert(to, self.compare("!=", exp, self._null(exp.type)))
        if isinstance(exp, Const) and exp.value is not None and isinstance(to, Int):
            return Const(to, f"(({to.name}) {exp.text})", wrap(exp.value, to))
        if isinstance(exp, Const) and exp.value is not None and is_float(to):
            return FloatConst(to, f"(({to.name}) {exp.text})", None, pattern(exp.value, to.bits))
        if is_float(exp.type) and isinstance(to, Int):
            return self._to_integer(exp, to)
        if isinstance(exp, AddressOf) and isinstance(to, Pointer):
            return AddressOf(to, exp.place, f"(({declare(to)}) {exp.text})")
        return Convert(to, exp)

    def _to_integer(self, exp: Exp, to: Int) -> Exp:
        if not isinstance(exp, FloatConst):
            return self._truncate(exp, to)
        value = number(exp.pattern, exp.type.bits) if isinstance(exp.type, Float) else None
        fits = value is not None and wrap(value, to) == value
        return Const(to, f"(({to.name}) {exp.text})", value if fits else None)

    def _null(self, t: CType) -> Const:
        if is_float(t):
            return FloatConst(t, f"(({t.name}) 0)", None, 0)
        return Const(t, f"(({declare(t)}) 0)", 0)

    def promoted(self, exp: Exp) -> Exp:
        if isinstance(exp.type, Int) and not is_untracked(exp.type):
            return self.convert(exp, self.types.promote(exp.type))
        return exp

    def argument_promoted(self, exp: Exp) -> Exp:
        """Default argument promotions (C11 6.5.2.2)."""
        if isinstance(exp.type, Float) and exp.type.name == "float":
            return self.convert(exp, self.types.double)
        return self.promoted(exp)

    def float_type(self, a: CType, b: CType) -> CType:
        """The common type of two operands of which one is a floating-point number."""
        found = [unqualified(t) for t in (a, b) if isinstance(t, Float)]
        for t in (self.types.long_double, self.types.double):
            if t in found:
                return t
        return found[0]

    # --- operators -------------------------------------------------------------------------------------------

    def unary(self, op: str, exp: Exp) -> Exp:
        if is_untracked(exp.type):
            if op == "~" and isinstance(exp.type, Float):
                raise Unsupported("complex numbers")
            return Raw(exp.type, f"({op} {exp.c()})", (exp,))
        if is_float(exp.type):
            return self._float_unary(op, exp, exp.type)
        if not isinstance(exp.type, Int):
            raise Unsupported(f"unary {op} on a pointer")
        exp = self.promoted(exp)
        assert isinstance(exp.type, Int)
        if op == "+":
            return exp
        if isinstance(exp, Const) and exp.value is not None:
            value = -exp.value if op == "-" else ~exp.value
            return Const(exp.type, f"({op} {exp.text})", wrap(value, exp.type))
        found = Unary(exp.type, op, exp)
        return narrowed(found, exp.type) if exp.type.precision else found

    def _float_unary(self, op: str, exp: Exp, t: Float) -> Exp:
        if op == "+":
            return exp
        if op != "-":
            raise Unsupported("complex numbers")
        if isinstance(exp, FloatConst):
            return FloatConst(t, f"(- {exp.text})", None, exp.pattern ^ 1 << (t.bits - 1))
        return Unary(t, op, exp)

    def binary(self, op: str, left: Exp, right: Exp, size: Callable[[CType], str]) -> Exp:
        """`left op right`; `size` gives the C text of a pointee's size."""
        if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
            return self._pointers(op, left, right, size)
        if is_untracked(left.type) or is_untracked(right.type):
            return self._raw(op, left, right)
        if op in ("<<", ">>"):
            left, right = self.promoted(left), self.promoted(right)
            return self._computed(left.type, op, left, right)
        if op in COMPARISONS:
            return self.compare(op, left, right)
        if is_float(left.type) or is_float(right.type):
            if op not in ("+", "-", "*", "/"):
                raise Unsupported(f"{op} on floating point")
            t = self.float_type(left.type, right.type)
            return Binary(t, op, self.convert(left, t), self.convert(right, t))
        assert isinstance(left.type, Int)
        assert isinstance(right.type, Int)
        common = self.types.usual(left.type, right.type)
        return self._computed(common, op, self.convert(left, common), self.convert(right, common))

    @staticmethod
    def _computed(t: CType, op: str, left: Exp, right: Exp) -> Exp:
        exp = Binary(t, op, left, right)
        return narrowed(exp, t) if isinstance(t, Int) and t.precision else exp

    def _raw(self, op: str, left: Exp, right: Exp) -> Exp:
        t: CType = self.types.int
        if op not in COMPARISONS:
            floats = isinstance(left.type, Float) or isinstance(right.type, Float)
            t = self.float_type(left.type, right.type) if floats else self._wide(left.type, right.type)
        return Raw(t, f"({left.c()} {op} {right.c()})", (left, right))

    def _wide(self, a: CType, b: CType) -> CType:
        assert isinstance(a, Int)
        assert isinstance(b, Int)
        return self.types.usual(a, b)

    def _pointers(self, op: str, left: Exp, right: Exp, size: Callable[[CType], str]) -> Exp:
        if op in COMPARISONS:
            return self.compare(op, left, right)
        if isinstance(left.type, Pointer) and isinstance(right.type, Pointer):
            if op != "-":
                raise Unsupported(f"{op} on two pointers")
            return PointerDiff(self.types.ptrdiff, left, right, size(left.type.to))
        if isinstance(right.type, Pointer):
            left, right = right, left
        if op not in ("+", "-") or not isinstance(left.type, Pointer):
            raise Unsupported(f"{op} on a pointer")
        return PointerAdd(left.type, left, self.promoted(right), size(left.type.to), op == "-")

    def compare(self, op: str, left: Exp, right: Exp) -> Exp:
        left, right = self.comparands(left, right)
        if is_untracked(left.type) or is_untracked(right.type):
            return Raw(self.types.int, f"({left.c()} {op} {right.c()})", (left, right))
        return Binary(self.types.int, op, left, right)

    def comparands(self, left: Exp, right: Exp) -> tuple[Exp, Exp]:
        """Both sides of a comparison in their common type."""
        if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
            t = left.type if isinstance(left.type, Pointer) else right.type
            return self.convert(left, t), self.convert(right, t)
        if isinstance(left.type, Int) and isinstance(right.type, Int):
            common = self.types.usual(left.type, right.type)
            return self.convert(left, common), self.convert(right, common)
        if is_untracked(left.type) or is_untracked(right.type):
            return left, right
        t = self.float_type(left.type, right.type)
        return self.convert(left, t), self.convert(right, t)

    def atom(self, exp: Exp) -> tuple[str, Exp, Exp]:
        """A condition as one comparison: (operator, left, right) with operands of one type."""
        if isinstance(exp, Binary) and exp.op in COMPARISONS:
            return exp.op, exp.left, exp.right
        if is_untracked(exp.type):
            return "!=", exp, exp
        left, right = self.comparands(
            exp, self._null(exp.type) if isinstance(exp.type, Pointer) else zero(self.types.int)
        )
        return "!=", left, right


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
