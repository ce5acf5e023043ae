"""Lowering of expressions: the user's C becomes pure, typed `Exp`s; side effects become statements before them.

Operands are evaluated left first; when a later operand has side effects, what an earlier one loads from memory is
saved before (a slot cannot change: changing it in the same expression would be unsequenced). `jump` lowers
conditions: short-circuit operators become branches, everything else one comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.arithmetic import Arithmetic, zero
from score_embed.frontend.builder import Builder
from score_embed.frontend.constant import char_value
from score_embed.frontend.declare import (
    Constant,
    FunctionName,
    PlainVariable,
    SlotVariable,
    Unsupported,
    Variable,
)
from score_embed.frontend.ir import (
    COMPARISONS,
    NEGATED,
    AddressOf,
    Assign,
    Branch,
    Const,
    Copy,
    Exp,
    ForgetObject,
    GlobalAddress,
    Load,
    Offset,
    Place,
    PointerAdd,
    Raw,
    SetPlain,
    Slot,
    SlotRef,
)
from score_embed.frontend.types import (
    Array,
    CType,
    Float,
    Function,
    Int,
    Pointer,
    Struct,
    Void,
    as_int,
    declare,
    is_integer,
    is_untracked,
    parse_int,
    unqualified,
    without_const,
)

LValue = SlotRef | Place | PlainVariable
_EXCHANGEABLE = COMPARISONS | {"+", "*", "&", "|", "^"}
_MOST_LEAVES = 12  # an expression or address with more is split by a temporary


class Expressions:
    """Expressions of one function. `call` and `block` are supplied by the call and statement lowerings."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder
        self.types = builder.types
        self.arith = Arithmetic(builder.types)
        self.call: Callable[[c_ast.FuncCall, bool], Exp | Place | None]
        self.block: Callable[[c_ast.Node], Exp | Place | None]
        self.initialise: Callable[[Place, c_ast.Node], None]
        self._types: dict[int, tuple[c_ast.Node, CType]] = {}  # the node is kept so that its id stays its own

    # --- entry points ----------------------------------------------------------------------------------------

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

    def effect(self, node: c_ast.Node) -> None:
        """Evaluate for side effects only."""
        match node:
            case c_ast.Assignment():
                self._assignment(node, wanted=False)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
                self._step(node, wanted=False)
            case c_ast.FuncCall():
                self.call(node, False)
            case c_ast.ExprList():
                for item in node.exprs:
                    self.effect(item)
            case c_ast.TernaryOp() | c_ast.BinaryOp(op="&&" | "||"):
                self._conditional_effect(node)
            case c_ast.Cast():
                self.effect(node.expr)
            case _:
                self.value(node)

    def _conditional_effect(self, node: c_ast.Node) -> None:
        other, end = self.b.label("else"), self.b.label("end")
        if isinstance(node, c_ast.BinaryOp):
            self.jump(node.left, end, node.op == "||")
            self.effect(node.right)
        else:
            if node.iftrue is None:
                self.value(node)
                return
            self.jump(node.cond, other, False)
            self.effect(node.iftrue)
            self.b.goto(end)
            self.b.place_label(other)
            self.effect(node.iffalse)
        self.b.place_label(end)

    def type_of(self, node: c_ast.Node) -> CType:
        """The type of an expression that is not evaluated (sizeof, typeof)."""
        if id(node) not in self._types:
            with self.b.unevaluated():
                self._types[id(node)] = (node, self._type_of(node))
        return self._types[id(node)][1]

    def _type_of(self, node: c_ast.Node) -> CType:
        if isinstance(node, c_ast.ID):
            symbol = self.b.declarations.scope.find(node.name)
            if isinstance(symbol, (FunctionName, Constant)):
                return symbol.type
        if isinstance(node, c_ast.Constant) and node.value.endswith('"'):
            return Array(self.types.char, f"sizeof({node.value})")
        if isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*" and not self._is_function_deref(node.expr)
        ):
            return self.lvalue(node).type
        result = self.value(node)
        return self.types.void if result is None else result.type

    # --- values ----------------------------------------------------------------------------------------------

    def value(self, node: c_ast.Node) -> Exp | Place | None:
        handler = getattr(self, f"_value_{type(node).__name__}", None)
        if handler is None:
            raise Unsupported(f"expression {type(node).__name__}", node)
        result: Exp | Place | None = handler(node)
        return result

    def _value_Constant(self, node: c_ast.Constant) -> Exp:
        kind, text = node.type, node.value
        if kind == "string" or text.endswith('"'):
            if not text.startswith('"'):
                raise Unsupported("wide string literal", node)
            place = Place(
                text, Array(self.types.char, f"sizeof({text})"), self.b.local_address(text, self.types.char), False
            )
            return self.decay(place)
        if text.endswith("'"):
            value = char_value(text, self.types.model.char_signed)
            of = self.types.int if text.startswith("'") else self.types.wchar
            return Const(of, text, value)
        if "float" in kind or "double" in kind:
            return Raw(
                Float("float" if text.lower().endswith("f") and not text.lower().startswith("0x") else "double"), text
            )
        body = text.lower().rstrip("ul")
        return Const(self.types.literal(text), text, parse_int(body))

    def _value_ID(self, node: c_ast.ID) -> Exp | Place:
        symbol = self.b.declarations.scope.find(node.name)
        match symbol:
            case Constant():
                return Const(symbol.type, symbol.name, symbol.value)
            case FunctionName():
                return Const(Pointer(symbol.type), symbol.name)
            case None:
                if node.name in ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"):
                    text = '"main"' if self.b.body.name == "sc_main" else f'"{self.b.body.name}"'
                    return self._value_Constant(c_ast.Constant("string", text))
                raise Unsupported(f"undeclared name '{node.name}'", node)
        return self.read(self.lvalue(node))

    def _value_ArrayRef(self, node: c_ast.ArrayRef) -> Exp | Place:
        return self.read(self.lvalue(node))

    def _value_StructRef(self, node: c_ast.StructRef) -> Exp | Place:
        return self.read(self.lvalue(node))

    def _value_CompoundLiteral(self, node: c_ast.CompoundLiteral) -> Exp | Place:
        return self.read(self.lvalue(node))

    def _value_ExprList(self, node: c_ast.ExprList) -> Exp | Place | None:
        for item in node.exprs[:-1]:
            self.effect(item)
        return self.value(node.exprs[-1])

    def _value_FuncCall(self, node: c_ast.FuncCall) -> Exp | Place | None:
        return self.call(node, True)

    def _value_Compound(self, node: c_ast.Node) -> Exp | Place | None:
        with self.b.nested():
            return self.block(node)

    def _value_Cast(self, node: c_ast.Cast) -> Exp | Place | None:
        to = self.b.declarations.type_of(node.to_type)
        if isinstance(to, Void):
            self.effect(node.expr)
            return None
        if isinstance(to, Struct):
            return self.place_value(node.expr)
        return self.arith.convert(self.rvalue(node.expr), to)

    def _value_Assignment(self, node: c_ast.Assignment) -> Exp | Place | None:
        return self._assignment(node, wanted=True)

    def _value_UnaryOp(self, node: c_ast.UnaryOp) -> Exp | Place | None:
        match node.op:
            case "&":
                return self._address(node.expr)
            case "*":
                if self._is_function_deref(node.expr):
                    return self.rvalue(node.expr)
                return self.read(self.lvalue(node))
            case "sizeof" | "_Alignof" | "__alignof__" | "alignof":
                t = (
                    self.b.declarations.type_of(node.expr)
                    if isinstance(node.expr, c_ast.Typename)
                    else self.type_of(node.expr)
                )
                known = t.bits // 8 if isinstance(t, Int) and node.op == "sizeof" else None
                return Const(self.types.size, f"{node.op}({declare(t)})", known)
            case "++" | "--" | "p++" | "p--":
                return self._step(node, wanted=True)
            case "!":
                exp = self.rvalue(node.expr)
                return self.arith.compare("==", *self.truth_operands(exp))
        exp = self.rvalue(node.expr)
        return self.arith.unary(node.op, exp)

    def _is_function_deref(self, node: c_ast.Node) -> bool:
        t = self.type_of(node)
        return isinstance(t, Function) or (isinstance(t, Pointer) and isinstance(t.to, Function))

    def _value_BinaryOp(self, node: c_ast.BinaryOp) -> Exp:
        if node.op in ("&&", "||"):
            return self._short_circuit(node)
        left, right = self.operands(node)
        return self._bounded(self.arith.binary(node.op, left, right, self.size_text))

    def _bounded(self, exp: Exp) -> Exp:
        """Keep templates small: an expression with many operands is split by a temporary."""
        return self.b.save(exp) if leaf_count(exp) > _MOST_LEAVES and not is_untracked(exp.type) else exp

    def _short_circuit(self, node: c_ast.BinaryOp) -> Exp:
        result = self.b.temporary(self.types.int)
        no, end = self.b.label("false"), self.b.label("end")
        self.jump(node, no, False)
        self.b.assign(result, Const(self.types.int, "1", 1))
        self.b.goto(end)
        self.b.place_label(no)
        self.b.assign(result, zero(self.types.int))
        self.b.place_label(end)
        return result

    def _value_TernaryOp(self, node: c_ast.TernaryOp) -> Exp | Place | None:
        known = self.b.declarations.constant(node.cond) if isinstance(node.cond, c_ast.Constant) else None
        if known is not None and node.iftrue is not None:
            t = self._common_type(node)
            chosen = self.value(node.iftrue if known else node.iffalse)
            return self.arith.convert(chosen, t) if isinstance(chosen, Exp) and not isinstance(t, Void) else chosen
        t = self._common_type(node)
        if isinstance(t, Void):
            self._conditional_effect(node)
            return None
        other, end = self.b.label("else"), self.b.label("end")
        store, result = self._result_holder(t)
        if node.iftrue is None:
            test = self.b.save(self.rvalue(node.cond))
            self.branch(test, other, False)
            store(test)
        else:
            self.jump(node.cond, other, False)
            store(self.value(node.iftrue))
        self.b.goto(end)
        self.b.place_label(other)
        store(self.value(node.iffalse))
        self.b.place_label(end)
        return result

    def _common_type(self, node: c_ast.TernaryOp) -> CType:
        a, b = (self._decayed(self.type_of(n)) for n in (node.iftrue or node.cond, node.iffalse))
        if is_integer(a) and is_integer(b):
            return self.types.usual(as_int(a), as_int(b))
        if isinstance(a, Float) or isinstance(b, Float):
            return self.arith.float_type(a, b)
        if isinstance(a, Pointer) and isinstance(b, Pointer):
            return self._common_pointer(a, b, node)
        if isinstance(a, Void) or isinstance(b, Void):
            return self.types.void
        return b if isinstance(b, Pointer) else a

    def _common_pointer(self, a: Pointer, b: Pointer, node: c_ast.TernaryOp) -> Pointer:
        """C11 6.5.15p6: a null pointer constant takes the other's type, else `void *` wins."""
        if self._is_null_constant(node.iffalse):
            return a
        if self._is_null_constant(node.iftrue or node.cond) or isinstance(b.to, Void):
            return b
        return a

    def _is_null_constant(self, node: c_ast.Node) -> bool:
        """An integer constant 0, also cast to `void *` (C11 6.3.2.3)."""
        if isinstance(node, c_ast.Cast) and self.b.declarations.type_of(node.to_type) == Pointer(self.types.void):
            node = node.expr
        return self.b.declarations.constant(node) == 0

    @staticmethod
    def _decayed(t: CType) -> CType:
        if isinstance(t, Array):
            return Pointer(t.of)
        return Pointer(t) if isinstance(t, Function) else unqualified(t)

    def _result_holder(self, t: CType) -> tuple[Callable[[Exp | Place | None], None], Exp | Place]:
        """Where both arms of a conditional put their value, and how."""
        if isinstance(t, Struct):
            place = self.b.object_temporary(t)

            def store_struct(value: Exp | Place | None) -> None:
                assert isinstance(value, Place)
                self.b.add(Copy(self.b.coord, place, value))

            return store_struct, place
        if is_untracked(t):
            name = self.b.plain_temporary(t)

            def store_plain(value: Exp | Place | None) -> None:
                assert isinstance(value, Exp)
                self.b.add(SetPlain(self.b.coord, name, self.arith.convert(value, t)))

            return store_plain, Raw(t, name)
        ref = self.b.temporary(t)

        def store(value: Exp | Place | None) -> None:
            assert isinstance(value, Exp)
            self.b.assign(ref, self.arith.convert(value, ref.type))

        return store, ref

    # --- operands and places ---------------------------------------------------------------------------------

    def operands(self, node: c_ast.BinaryOp) -> tuple[Exp, Exp]:
        """Both operands, in gcc's order: left first, but for two rewritings of its own that show."""
        right = node.right
        while isinstance(right, c_ast.ExprList):  # a - (f(), b) is (f(), a - b)
            for item in right.exprs[:-1]:
                self.effect(item)
            right = right.exprs[-1]
        first = self.rvalue(node.left)
        with self.b.buffered() as effects:
            second = self.rvalue(right)
        if (
            effects
            and any(isinstance(e, (Load, Raw)) for e in first.walk())
            and not self._read_late(node, first, second)
        ):
            first = self.b.save(first)
        self.b.body.statements.extend(effects)
        return first, second

    def _read_late(self, node: c_ast.BinaryOp, first: Exp, second: Exp) -> bool:
        """gcc puts a plain variable last where operands may be exchanged: it is read after the right one's calls."""
        left = node.left
        while isinstance(left, c_ast.Cast):
            left = left.expr
        if node.op not in _EXCHANGEABLE or not isinstance(left, c_ast.ID) or is_untracked(first.type):
            return False
        variable = self.lvalue(left)
        if not isinstance(variable, Place) or variable.type.volatile:
            return False
        if not isinstance(first.type, Int) or not isinstance(second.type, Int):
            return isinstance(first.type, Pointer) and isinstance(second.type, Pointer)
        # A conversion to another width is an operation of its own, which stays where it is.
        common = self.types.usual(first.type, second.type)
        return is_integer(variable.type) and as_int(variable.type).bits == first.type.bits == common.bits

    def settled(self, exp: Exp) -> Exp:
        """An address or index over slots and constants only: inner loads go to temporaries."""
        if any(isinstance(e, (Load, Raw)) for e in exp.walk()):
            return self.b.save(exp)
        return exp

    def lvalue(self, node: c_ast.Node) -> LValue:
        match node:
            case c_ast.ID():
                return self._named(node)
            case c_ast.UnaryOp(op="*"):
                return self.dereference(self.rvalue(node.expr), node)
            case c_ast.ArrayRef():
                return self._element(node)
            case c_ast.StructRef():
                return self._member(node)
            case c_ast.CompoundLiteral():
                return self._compound_literal(node)
            case c_ast.Constant() if node.value.startswith('"'):
                t = Array(self.types.char, f"sizeof({node.value})")
                return Place(node.value, t, self.b.local_address(node.value, t), False)
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
        pointer = self.settled(pointer)
        if isinstance(pointer, AddressOf) and pointer.place.type == of.to:
            return pointer.place
        return Place(f"(*{pointer.c()})", of.to, pointer, False, slots_of(pointer))

    def _element(self, node: c_ast.ArrayRef) -> Place:
        base_type = self._decayed(self.type_of(node.name))
        if not isinstance(base_type, Pointer):  # i[a]
            node = c_ast.ArrayRef(node.subscript, node.name, node.coord)
        base: Place | Exp
        whole = self.type_of(node.name)
        if isinstance(whole, Array):
            array = self.lvalue(node.name)
            assert isinstance(array, Place)
            base = array
        else:
            base = self.settled(self.rvalue(node.name))
        index = self.settled(self.arith.promoted(self.rvalue(node.subscript)))
        if leaf_count(index) + leaf_count(base if isinstance(base, Exp) else base.address) > _MOST_LEAVES:
            index = self.b.save(index)
        if isinstance(base, Exp):
            if not isinstance(base.type, Pointer) or isinstance(base.type.to, Void):
                raise Unsupported("subscript of a non-pointer", node)
            pointee = base.type.to
            address = PointerAdd(base.type, base, index, self.size_text(pointee))
            return Place(f"{base.c()}[{index.c()}]", pointee, address, False, slots_of(address))
        assert isinstance(base.type, Array)
        of: CType = replace(base.type.of, volatile=base.type.of.volatile or base.type.volatile)
        address = PointerAdd(Pointer(of), base.address, index, self.size_text(of))
        static = base.static and isinstance(index, Const)
        return Place(f"{base.text}[{index.c()}]", of, address, static, slots_of(address))

    def _member(self, node: c_ast.StructRef) -> Place:
        if node.type == "->":
            base = self.dereference(self.rvalue(node.name), node)
            head = base.text[2:-1] + "->" if base.text.startswith("(*") else base.text + "."
        else:
            found = self._struct_operand(node.name)
            base, head = found, found.text + "."
        if not isinstance(base.type, Struct):
            raise Unsupported("member of a non-struct", node)
        member = base.type.record.find(node.field.name)
        if member is None:
            raise Unsupported(f"no member '{node.field.name}'", node)
        t = replace(member.type, volatile=member.type.volatile or base.type.volatile)
        text = head + node.field.name
        if member.bits is not None:
            return Place(text, t, base.address, False, base.slots, base.text, member.bits)
        offset = f"__builtin_offsetof({declare(unqualified(base.type))}, {node.field.name})"
        return Place(text, t, Offset(Pointer(t), base.address, offset), base.static, base.slots)

    def _struct_operand(self, node: c_ast.Node) -> Place:
        if isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef, c_ast.CompoundLiteral)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*"
        ):
            found = self.lvalue(node)
            assert isinstance(found, Place)
            return found
        return self.place_value(node)

    def _compound_literal(self, node: c_ast.CompoundLiteral) -> Place:
        t = self.b.declarations.type_of(node.type)
        if isinstance(t, Array) and t.count is None:
            raise Unsupported("compound literal of unknown size", node)
        name = self.b.fresh_name("literal")
        self.b.body.declarations.append(declare(without_const(t), name) + ";")
        place = self.b.local_place(name, without_const(t))
        self.initialise(place, node.init)
        return place

    def _address(self, node: c_ast.Node) -> Exp:
        if isinstance(node, c_ast.ID):
            symbol = self.b.declarations.scope.find(node.name)
            if isinstance(symbol, FunctionName):
                return Const(Pointer(symbol.type), symbol.name)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self.rvalue(node.expr)
        place = self.lvalue(node)
        if not isinstance(place, Place) or place.container is not None:
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
        if place.container is not None:
            return self._read_bit_field(place)
        t = unqualified(place.type)
        if is_untracked(t):
            self.b.add(ForgetObject(self.b.coord, place.text, "floating point", False))
            return Raw(t, place.text)
        load = Load(as_int(t) if is_integer(t) else t, place)
        return self.b.save(load) if place.type.volatile else load

    def _read_bit_field(self, place: Place) -> Exp:
        assert place.container is not None
        if place.bits is None or self.types.int.bits < place.bits < as_int(place.type).bits:
            # gcc computes with exactly its width, for which C has no name
            raise Unsupported("a bit-field wider than int")
        self.b.add(ForgetObject(self.b.coord, place.container, "bit-field", False))
        t = self.types.promote(as_int(place.type), place.bits)
        ref = self.b.temporary(t)
        self.b.add(Assign(self.b.coord, ref, Raw(t, place.text)))
        return ref

    # --- assignment ------------------------------------------------------------------------------------------

    def _assignment(self, node: c_ast.Assignment, *, wanted: bool) -> Exp | Place | None:
        self.b.at(node)
        if node.op == "=" and isinstance(unqualified(self.type_of(node.lvalue)), Struct):
            return self._assign_struct(node)
        if node.op != "=":
            return self._compound_assignment(node, wanted)
        dest = self.lvalue(node.lvalue)
        return self.store(dest, self.rvalue(node.rvalue), wanted=wanted)

    def _assign_struct(self, node: c_ast.Assignment) -> Place:
        dest = self._struct_operand(node.lvalue)
        source = self.place_value(node.rvalue)
        self.b.add(Copy(self.b.coord, dest, source))
        return dest

    def _compound_assignment(self, node: c_ast.Assignment, wanted: bool) -> Exp | None:
        # gcc evaluates the right operand of `op=` first (docs: measured on x86, ARM and AVR).
        with self.b.buffered() as effects:
            right = self.rvalue(node.rvalue)
        self.b.body.statements.extend(effects)
        with self.b.buffered() as more:
            dest = self.lvalue(node.lvalue)
        if more:
            right = self.b.save(right) if any(isinstance(e, (Load, Raw)) for e in right.walk()) else right
            self.b.body.statements.extend(more)
        old = self.read(dest)
        assert isinstance(old, Exp)
        return self.store(dest, self.arith.binary(node.op[:-1], old, right, self.size_text), wanted=wanted)

    def _step(self, node: c_ast.UnaryOp, *, wanted: bool) -> Exp | None:
        """`++` and `--`, before and after."""
        dest = self.lvalue(node.expr)
        old = self.read(dest)
        assert isinstance(old, Exp)
        post = node.op.startswith("p")
        if post and wanted:
            old = self.b.save(old)
        one = Const(self.types.int, "1", 1)
        new = self.arith.binary("+" if "+" in node.op else "-", old, one, self.size_text)
        result = self.store(dest, new, wanted=wanted and not post)
        return old if post and wanted else result

    def store(self, dest: LValue, exp: Exp, *, wanted: bool = False) -> Exp | None:
        """`dest = exp` with conversion; the value of the assignment if it is wanted."""
        if isinstance(dest, PlainVariable):
            self.b.add(SetPlain(self.b.coord, dest.name, self.arith.convert(exp, dest.type)))
            return Raw(unqualified(dest.type), dest.name)
        exp = self.arith.convert(exp, dest.type)
        if isinstance(dest, SlotRef):
            self.b.assign(dest, exp)
            return dest
        if dest.container is not None:
            self.b.report(exp, "bit-field")
            self.b.add(ForgetObject(self.b.coord, dest.container, "bit-field", True))
            self.b.add(SetPlain(self.b.coord, dest.text, exp))
            return self._read_bit_field(dest) if wanted else None
        if is_untracked(unqualified(dest.type)):
            self.b.add(ForgetObject(self.b.coord, dest.text, "floating point", True))
            self.b.add(SetPlain(self.b.coord, dest.text, exp))
            return Raw(unqualified(dest.type), dest.text) if wanted else None
        if wanted and not isinstance(exp, Const):
            exp = self.b.save(exp)
        self.b.assign(dest, exp)
        return exp

    # --- conditions ------------------------------------------------------------------------------------------

    def truth_operands(self, exp: Exp) -> tuple[Exp, Exp]:
        if isinstance(exp.type, Pointer):
            return exp, Const(exp.type, f"(({declare(exp.type)}) 0)", 0)
        return exp, zero(self.types.int)

    def jump(self, node: c_ast.Node, label: str, when: bool, *, assumed: bool | None = None) -> None:
        """Go to `label` if the truth of `node` is `when`; else fall through.

        `assumed`: the truth of `node` that an assumption demands (None: it demands nothing of this node alone).
        """
        match node:
            case c_ast.UnaryOp(op="!"):
                return self.jump(node.expr, label, not when, assumed=None if assumed is None else not assumed)
            case c_ast.BinaryOp(op="&&" | "||"):
                return self._jump_both(node, label, when, assumed)
            case c_ast.ExprList():
                for item in node.exprs[:-1]:
                    self.effect(item)
                return self.jump(node.exprs[-1], label, when, assumed=assumed)
            case c_ast.FuncCall(name=c_ast.ID(name="__builtin_expect")):
                return self.jump(node.args.exprs[0], label, when, assumed=assumed)
        # Only a literal is decided here: everything else has C's types, which the compiler knows best.
        known = self.b.declarations.constant(node) if isinstance(node, c_ast.Constant) else None
        if known is not None:
            if bool(known) == when:
                self.b.goto(label)
            return None
        self.b.at(node)
        return self.branch(self.rvalue(node), label, when, assumed=assumed)

    def _jump_both(self, node: c_ast.BinaryOp, label: str, when: bool, assumed: bool | None) -> None:
        decides = node.op == "||"  # the truth of the left operand that decides the whole
        each = assumed if assumed is not None and assumed != decides else None
        if decides == when:
            self.jump(node.left, label, when, assumed=each)
            self.jump(node.right, label, when, assumed=each)
        else:
            skip = self.b.label("skip")
            self.jump(node.left, skip, decides, assumed=each)
            self.jump(node.right, label, when, assumed=each)
            self.b.place_label(skip)

    def branch(self, exp: Exp, label: str, when: bool, *, assumed: bool | None = None) -> None:
        """One branch of the program: the comparison at the root of `exp`, or a truth test."""
        op, left, right = self.arith.atom(exp)
        if isinstance(left, Raw) or isinstance(right, Raw):
            op, left, right = self.arith.atom(self._settle_raw(exp))
        if assumed is False:  # only the false side of a comparison can be marked
            op, when = NEGATED[op], not when
        self.b.add(Branch(self.b.coord, op, left, right, label, when, assumed is not None))

    def _settle_raw(self, exp: Exp) -> Exp:
        if is_untracked(exp.type):
            exp = Raw(self.types.int, f"({exp.c()} != 0)", (exp,))
        ref = self.b.temporary(exp.type)
        self.b.assign(ref, exp)
        return ref

    def size_text(self, t: CType) -> str:
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
