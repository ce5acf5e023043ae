"""What the lowerings of places, assignments, conditions and values share: each may need any other's value.

C's expressions are mutually recursive, so the layers (places → assignments → conditions → expressions) are classes
that build on one another; what a lower layer needs of a higher one is declared here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import ChooseExpr, StatementExpression
from score_embed.frontend.declarations.symbols import PlainVariable, Unsupported
from score_embed.frontend.ir.body import Truncate
from score_embed.frontend.ir.exp import (
    Binary,
    BitField,
    Const,
    Convert,
    Exp,
    Load,
    Offset,
    Place,
    PointerAdd,
    Raw,
    Slot,
    SlotRef,
)
from score_embed.frontend.lower.arithmetic import Arithmetic
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Enum,
    Function,
    Int,
    Pointer,
    Struct,
    Void,
    as_int,
    compatible_text,
    declare,
    is_integer,
    unqualified,
)

MOST_LEAVES = 12  # an expression or address with more is split by a temporary
LValue = SlotRef | Place | PlainVariable
Selection: TypeAlias = c_ast.GenericSelection | ChooseExpr


class ValueLowering:
    """The state of one function's lowering. The callables are supplied by the lowerings that they belong to."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder
        self.types = builder.types
        self.arith = Arithmetic(builder.types, self._truncated)
        self.call: Callable[[c_ast.FuncCall, bool], Exp | Place | None]
        self.block: Callable[[StatementExpression], Exp | Place | None]
        self.initialise: Callable[[Place, c_ast.Node], None]
        self.completed: Callable[[Array, c_ast.Node], Array]
        self.store_to: Callable[[Place, Exp], object]
        self._types: dict[int, tuple[c_ast.Node, CType]] = {}  # the node is kept so that its id stays its own

    def value(self, node: c_ast.Node) -> Exp | Place | None:
        """The value of any expression: scalar, struct or nothing. Emits its side effects first."""
        raise NotImplementedError

    def effect(self, node: c_ast.Node) -> None:
        """Evaluate for side effects only."""
        raise NotImplementedError

    def rvalue(self, node: c_ast.Node) -> Exp:
        """The value of an expression of scalar (or decayed) type. Emits its side effects first."""
        result = self.value(node)
        if isinstance(result, Exp):
            return result
        if result is None:
            raise Unsupported("a void value is used", node)
        raise Unsupported("a struct is used as a scalar", node)

    def place_value(self, node: c_ast.Node) -> Place:
        """The value of an expression of struct or union type, as the place where it lies."""
        result = self.value(node)
        if isinstance(result, Place):
            return result
        raise Unsupported("a struct was expected", node)

    def type_of(self, node: c_ast.Node) -> CType:
        """The type of an expression that is not evaluated (sizeof, typeof)."""
        raise NotImplementedError

    def _truncated(self, exp: Exp, to: Int) -> Exp:
        """A floating-point number as an integer: of a slot, so that a probe has one leaf to ask for its range."""
        source = exp if isinstance(exp, SlotRef) else self.b.save(exp)
        dest = self.b.temporary(to)
        self.b.add(Truncate(self.b.coord, dest, Convert(to, source)))
        return dest

    def settled(self, exp: Exp) -> Exp:
        """An address or index over slots and constants only: inner loads go to temporaries."""
        if any(isinstance(e, (Load, Raw)) for e in exp.walk()):
            return self.b.save(exp)
        return exp

    def bit_field(self, base: Place, text: str, name: str, t: CType, bits: int) -> Place:
        """The place of a bit-field called `name` in the struct at `base`. `bits`: its width, -1 if not known."""
        assert isinstance(base.type, Struct)
        storage = self.b.declarations.storage(base.type.record, name)
        if storage is None:
            field = BitField(base.text, bits if bits > 0 else None, None)
            return replace(base, text=text, type=t, static=False, bit_field=field)
        address = Offset(Pointer(t), base.address, str(storage.offset))
        field = BitField(base.text, storage.width, storage)
        return replace(base, text=text, type=t, address=address, bit_field=field)

    def chosen(self, node: Selection) -> c_ast.Node:
        """The expression that a `_Generic` or `__builtin_choose_expr` stands for."""
        return self._by_condition(node) if isinstance(node, ChooseExpr) else self._by_type(node)

    def _by_condition(self, node: ChooseExpr) -> c_ast.Node:
        known = self.b.declarations.constant(node.cond)
        if known is None:
            raise Unsupported("__builtin_choose_expr by what only the compiler knows", node)
        return node.first if known else node.second

    def _by_type(self, node: c_ast.GenericSelection) -> c_ast.Node:
        """The expression that a `_Generic` stands for. The compiler is asked to agree (C11 6.5.1.1)."""
        t = unqualified(decayed(self.type_of(node.expr)))
        types = [None if a.type is None else self.b.declarations.type_of(a.type) for a in node.associations]
        wanted = [compatible_text(t), compatible_text(as_int(t)) if isinstance(t, Enum) else ""]
        fitting = [i for i, of in enumerate(types) if of is not None and not of.const and not of.volatile]
        found = next((i for text in wanted for i in fitting if compatible_text(types[i]) == text), None)  # type: ignore[arg-type]
        index = types.index(None) if found is None and None in types else found
        if index is None:
            raise Unsupported("_Generic without an association that fits", node)
        text = self.b.declarations.text
        arms = [f"{text(a.type) if a.type else 'default'}: {i}" for i, a in enumerate(node.associations)]
        question = f"_Generic(*({declare(Pointer(t))}) 0, {', '.join(arms)})"
        self.b.define(f'_Static_assert({question} == {index}, "_Generic");')
        return node.associations[index].expr

    def size_of(self, t: CType) -> Exp:
        """The size of a type, in bytes, also if it is computed at run time."""
        size = self.types.size
        if not (isinstance(t, Array) and self.b.is_variable(t)):
            return Const(size, self.size_text(t), as_int(t).bits // 8 if is_integer(t) else None)
        count = self.b.counts.get(t.count or "") or Const(size, f"(({size.name}) ({t.count}))", t.length)
        return Binary(size, "*", count, self.size_of(t.of))

    def element_address(self, t: CType, base: Exp, index: Exp, of: CType) -> Exp:
        """The address, of type t, of an element of an array."""
        if not (isinstance(of, Array) and self.b.is_variable(of)):
            return PointerAdd(t, base, index, self.size_text(of))
        return PointerAdd(t, base, Binary(self.types.size, "*", Convert(self.types.size, index), self.size_of(of)), "1")

    def operate(self, op: str, left: Exp, right: Exp) -> Exp:
        """A binary operator; of pointers to variable length arrays by their addresses, as C's own step is not known."""
        pointers = [e for e in (left, right) if isinstance(e.type, Pointer) and self.b.is_variable(e.type.to)]
        sized = [e.type.to for e in pointers if isinstance(e.type, Pointer) and isinstance(e.type.to, Array)]
        if not sized or op not in ("+", "-"):
            return self.arith.binary(op, left, right, self.size_text)
        size, t = self.size_of(sized[0]), self.types.uintptr
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

    def variable_array(self, slot: Slot, t: Array) -> Place:
        """An array whose size is computed at run time, at the address that the slot holds."""
        text = f"(*({declare(Pointer(t))}) {slot.name})"
        return Place(text, t, SlotRef(Pointer(t), slot), False, (slot,))

    def size_text(self, t: CType) -> str:
        if isinstance(t, Array) and self.b.is_variable(t):
            raise Unsupported("arithmetic on a pointer to variable length arrays")
        if isinstance(t, (Void, Function)):
            return "1"
        return f"sizeof({declare(unqualified(t))})"


def leaf_count(exp: Exp) -> int:
    return sum(1 for e in exp.walk() if not e.children())


def slots_of(exp: Exp) -> tuple[Slot, ...]:
    """The slots that an address depends on, each once."""
    seen: dict[int, Slot] = {}
    for e in exp.walk():
        if isinstance(e, SlotRef):
            seen[e.slot.index] = e.slot
    return tuple(seen.values())


def decayed(t: CType) -> CType:
    """The type of a value of type t (C11 6.3.2.1)."""
    if isinstance(t, Array):
        return Pointer(t.of)
    return Pointer(t) if isinstance(t, Function) else unqualified(t)
