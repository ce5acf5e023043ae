"""Lowering of lvalues: where an object lies, and what reading it means.

The address of a place is made of slots and constants only; inner loads go to temporaries first.
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import ChooseExpr
from score_embed.frontend.declarations.symbols import (
    FunctionName,
    PlainVariable,
    SlotVariable,
    Unsupported,
    Variable,
    VariableArray,
)
from score_embed.frontend.ir.body import Copy, ForgetObject
from score_embed.frontend.ir.exp import AddressOf, Const, Exp, GlobalAddress, Load, Offset, Place, Raw, SlotRef
from score_embed.frontend.lower.bit_fields import BitFields
from score_embed.frontend.lower.expressions import (
    MOST_LEAVES,
    Expressions,
    LValue,
    Value,
    decayed,
    leaf_count,
    slots_of,
)
from score_embed.frontend.types.ctype import (
    Array,
    Function,
    Pointer,
    Struct,
    Void,
    as_int,
    declare,
    is_integer,
    is_untracked,
    qualified,
    unqualified,
    why_untracked,
)


class Places:
    """Lvalues of one function (C11 6.3.2.1, 6.5.2)."""

    def __init__(self, expressions: Expressions, bit_fields: BitFields) -> None:
        self.e = expressions
        self.b = expressions.b
        self.types = expressions.types
        self.arith = expressions.arith
        self.sizes = expressions.sizes
        self.bit_fields = bit_fields

    def lvalue(self, node: c_ast.Node) -> LValue:
        match node:
            case c_ast.ID():
                return self._named(node)
            case c_ast.UnaryOp(op="*"):
                return self.dereference(self.e.rvalue(node.expr), node)
            case c_ast.ArrayRef():
                return self._element(node)
            case c_ast.StructRef():
                return self._member(node)
            case c_ast.CompoundLiteral():
                return self.e.literal(node)
            case c_ast.GenericSelection() | ChooseExpr():
                return self.lvalue(self.e.chosen(node))
            case c_ast.Constant() if node.value.endswith('"'):
                return self.string(node)
            case c_ast.UnaryOp(op="__extension__" | "__real__" | "__imag__"):
                raise Unsupported("complex numbers", node)
        raise Unsupported("this is no lvalue", node)

    def _named(self, node: c_ast.ID) -> LValue:
        symbol = self.b.declarations.scope.find(node.name)
        match symbol:
            case SlotVariable():
                t = symbol.slot.type
                return SlotRef(as_int(t) if is_integer(t) else t, symbol.slot)
            case PlainVariable():
                return symbol
            case VariableArray():
                return self.sizes.variable_array(symbol.slot, symbol.type)
            case Variable():
                if symbol.static:
                    return Place(symbol.name, symbol.type, GlobalAddress(Pointer(symbol.type), symbol.name), True)
                return self.b.local_place(symbol.name, symbol.type)
        raise Unsupported(f"'{node.name}' is no variable", node)

    def dereference(self, pointer: Exp, node: c_ast.Node) -> Place:
        of = pointer.type
        if not isinstance(of, Pointer):
            raise Unsupported("dereference of a non-pointer", node)
        if isinstance(of.to, Void):
            raise Unsupported("dereference of a pointer to void", node)
        pointer = self.b.settled(pointer)
        if isinstance(pointer, AddressOf) and pointer.place.type == of.to:
            return pointer.place
        return Place(f"(*{self.sizes.typed(pointer)})", of.to, pointer, False, slots_of(pointer), pointer=pointer)

    def _element(self, node: c_ast.ArrayRef) -> Place:
        base_type = decayed(self.e.type_of(node.name))
        if not isinstance(base_type, Pointer):  # i[a]
            node = c_ast.ArrayRef(node.subscript, node.name, node.coord)
        base: Place | Exp
        whole = self.e.type_of(node.name)
        if isinstance(whole, Array):
            array = self.lvalue(node.name)
            assert isinstance(array, Place)
            base = array
        else:
            base = self.b.settled(self.e.rvalue(node.name))
        index = self.b.settled(self.arith.promoted(self.e.rvalue(node.subscript)))
        if leaf_count(index) + leaf_count(base if isinstance(base, Exp) else base.address) > MOST_LEAVES:
            index = self.b.save(index)
        if isinstance(base, Exp):
            if not isinstance(base.type, Pointer) or isinstance(base.type.to, Void):
                raise Unsupported("subscript of a non-pointer", node)
            pointee = base.type.to
            address = self.sizes.element_address(base.type, base, index, pointee)
            return Place(
                f"{self.sizes.typed(base)}[{index.c()}]", pointee, address, False, slots_of(address), pointer=base
            )
        assert isinstance(base.type, Array)
        of = base.type.of
        address = self.sizes.element_address(Pointer(of), base.address, index, of)
        static = base.static and isinstance(index, Const)
        text = f"{base.text}[{index.c()}]"
        subscripts, around = base.subscripts, base.array
        if not self._may_be_longer(node.name, base.type) and not self.b.is_variable(base.type):
            assert base.type.count is not None
            subscripts = (*subscripts, (index, base.type.count, base.type.length))
            around = around or (None if isinstance(index, Const) else base)
        return Place(
            text, of, address, static, slots_of(address), pointer=base.pointer, subscripts=subscripts, array=around
        )

    def _member(self, node: c_ast.StructRef) -> Place:
        if node.type == "->":
            base = self.dereference(self.e.rvalue(node.name), node)
            head = base.text[2:-1] + "->" if base.text.startswith("(*") else base.text + "."
        else:
            found = self.struct_operand(node.name)
            base, head = found, found.text + "."
        if not isinstance(base.type, Struct):
            raise Unsupported("member of a non-struct", node)
        member = base.type.record.find(node.field.name)
        if member is None:
            raise Unsupported(f"no member '{node.field.name}'", node)
        t = qualified(member.type, volatile=base.type.volatile, const=base.type.const)
        text = head + node.field.name
        if member.bits is not None:
            return self.bit_fields.place(base, text, node.field.name, t, member.bits)
        offset = f"__builtin_offsetof({declare(unqualified(base.type))}, {node.field.name})"
        narrow = isinstance(t, Array) and not self._may_be_longer(node, t) and base.type.record.is_amid(node.field.name)
        return replace(base, text=text, type=t, address=Offset(Pointer(t), base.address, offset), narrow=narrow)

    def struct_operand(self, node: c_ast.Node) -> Place:
        """The operand of `.` or of an assignment of structs: where it lies, without a copy."""
        if isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef, c_ast.CompoundLiteral)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*"
        ):
            found = self.lvalue(node)
            assert isinstance(found, Place)
            return found
        return self.e.place_value(node)

    def kept(self, value: Exp | Place) -> Exp | Place:
        """A value that stays what it is, whatever is changed before it is used."""
        if isinstance(value, Exp):
            return value if isinstance(value, Const) else self.b.save(value)
        return self.copied(value)

    def copied(self, value: Place) -> Place:
        copy = self.b.object_temporary(value.type)
        self.b.add(Copy(self.b.coord, copy, value))
        return copy

    def string(self, node: c_ast.Constant) -> Place:
        """A string literal: an array without a name."""
        of = self.types.character(node.value)
        return self.b.local_place(node.value, Array(of, f"sizeof({node.value}) / sizeof({of.name})"))

    def address_of(self, node: c_ast.Node) -> Exp:
        """`&node` (C11 6.5.3.2)."""
        if isinstance(node, c_ast.ID):
            symbol = self.b.declarations.scope.find(node.name)
            if isinstance(symbol, FunctionName):
                return Const(Pointer(symbol.type), symbol.name)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self.e.rvalue(node.expr)
        place = self.lvalue(node)
        if not isinstance(place, Place) or place.bit_field is not None:
            raise Unsupported("address of a variable that has none", node)
        return AddressOf(Pointer(place.type), place, f"(&{place.text})")

    def decay(self, place: Place) -> Exp:
        assert isinstance(place.type, Array)
        return AddressOf(Pointer(place.type.of), place, f"({place.text})")

    def read(self, place: LValue) -> Exp | Place:
        """Lvalue conversion (C11 6.3.2.1)."""
        if isinstance(place, PlainVariable):
            return Raw(unqualified(place.type), place.name)
        if isinstance(place, SlotRef):
            return place
        if isinstance(place.type, Array):
            return self.decay(place)
        if isinstance(place.type, Struct):
            return place
        if isinstance(place.type, Function):
            return Raw(Pointer(place.type), f"(&{place.text})", (place.address,))
        if place.bit_field is not None:
            return self.bit_fields.read(place, place.bit_field)
        t = unqualified(place.type)
        if is_untracked(t):
            self.b.add(ForgetObject(self.b.coord, place.text, why_untracked(t), False, place))
            return Raw(t, place.text)
        load = Load(as_int(t) if is_integer(t) else t, place)
        return self.b.save(load) if place.type.volatile else load

    def exact(self, node: c_ast.Node) -> Exp:
        """As rvalue, where the value is converted at once: then a bit-field may be wider than int."""
        value = self.exact_value(node)
        return value if isinstance(value, Exp) else self.e.rvalue(node)

    def exact_value(self, node: c_ast.Node) -> Value:
        """As value, likewise."""
        place = self.lvalue(node) if isinstance(node, c_ast.StructRef) else None
        return self.read_exactly(place) if isinstance(place, Place) else self.e.value(node)

    def read_exactly(self, place: Place) -> Exp | Place:
        """As read, but of a bit-field wider than int in its declared type."""
        field = place.bit_field
        if field is None or not self.bit_fields.is_wide(place.type, field):
            return self.read(place)
        return self.bit_fields.read_wide(place, field)

    def _may_be_longer(self, node: c_ast.Node, t: Array) -> bool:
        """An array of unknown size, or a member that may stand for as many elements as there is room for: it has so
        few, or the program allocates its structure with room for more."""
        if t.count is None or not isinstance(node, c_ast.StructRef):
            return t.count is None
        if t.length is not None and t.length <= 1:
            return True
        of = self.e.type_of(node.name)
        of = of.to if isinstance(of, Pointer) else of
        return isinstance(of, Struct) and of.record.longer and not of.record.is_amid(node.field.name)
