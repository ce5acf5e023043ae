"""Lowering of initialisers of automatic objects (C11 6.7.9): designators, brace elision, strings.

A constant initialiser is kept as the user wrote it and copied; any other zeroes the object and then stores
element by element, in order, so that each store has its probe.
"""

from __future__ import annotations

from collections import deque

from pycparser import c_ast

from score_embed.frontend.declare import Constant, FunctionName, Unsupported, Variable
from score_embed.frontend.expressions import Expressions
from score_embed.frontend.ir import Const, Copy, InitObject, Offset, Place, PointerAdd
from score_embed.frontend.types import Array, CType, Pointer, Struct, declare, unqualified


class Initialisers:
    def __init__(self, expressions: Expressions) -> None:
        self.e = expressions
        self.b = expressions.b
        expressions.initialise = self.initialise

    def initialise(self, place: Place, init: c_ast.Node) -> None:
        """Give an aggregate its initial value."""
        if isinstance(place.type, Struct) and not isinstance(init, c_ast.InitList):
            self.b.add(Copy(self.b.coord, place, self.e.place_value(init)))
        elif self._constant(init):
            self.b.add(InitObject(self.b.coord, place, self.b.declarations.text(init)))
        else:
            if not isinstance(init, c_ast.InitList):
                raise Unsupported("this initialiser", init)
            self.b.add(InitObject(self.b.coord, place, "{ 0 }"))
            self._list(place, init)

    def completed(self, t: Array, init: c_ast.Node) -> Array:
        """An array of unknown size gets it from its initialiser."""
        if isinstance(init, c_ast.Constant):
            return Array(t.of, f"sizeof({init.value})")
        highest = position = 0
        for item in init.exprs:
            if isinstance(item, c_ast.NamedInitializer):
                index = self.b.declarations.constant(item.name[0])
                if index is None:
                    raise Unsupported("array size from this designator", item)
                position = index
            position += 1
            highest = max(highest, position)
        first = init.exprs[0] if init.exprs else None
        if isinstance(t.of, Array) and not isinstance(first, (c_ast.InitList, c_ast.Constant, c_ast.NamedInitializer)):
            raise Unsupported("array size from elided braces", init)
        return Array(t.of, str(highest), highest)

    def _constant(self, node: c_ast.Node) -> bool:
        match node:
            case c_ast.InitList():
                return all(self._constant(item) for item in node.exprs)
            case c_ast.NamedInitializer():
                return self._constant(node.expr)
            case c_ast.Constant():
                return True
            case c_ast.UnaryOp(op="&"):
                return self._static(node.expr)
            case c_ast.UnaryOp(op="sizeof"):
                return True
            case c_ast.UnaryOp(op="-" | "~" | "+" | "!"):
                return self._constant(node.expr)
            case c_ast.BinaryOp():
                return self._constant(node.left) and self._constant(node.right)
            case c_ast.Cast():
                return self._constant(node.expr)
            case c_ast.ID():
                symbol = self.b.declarations.scope.find(node.name)
                if isinstance(symbol, (Constant, FunctionName)):
                    return True
                return isinstance(symbol, Variable) and symbol.static and isinstance(symbol.type, Array)
        return False

    def _static(self, node: c_ast.Node) -> bool:
        if not isinstance(node, c_ast.ID):
            return False
        symbol = self.b.declarations.scope.find(node.name)
        return isinstance(symbol, FunctionName) or (isinstance(symbol, Variable) and symbol.static)

    # --- element by element ----------------------------------------------------------------------------------

    def _list(self, place: Place, init: c_ast.InitList) -> None:
        if not isinstance(place.type, (Array, Struct)):
            self._one(place, init.exprs[0])
            return
        items = deque(init.exprs)
        self._fill(place, items, braced=True)
        if items:
            raise Unsupported("too many initialisers", init)

    def _one(self, place: Place, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.InitList):
            self._list(place, node)
        elif isinstance(place.type, Array):
            self.b.add(InitObject(self.b.coord, place, self.b.declarations.text(node)))
        elif isinstance(place.type, Struct):
            self.b.add(Copy(self.b.coord, place, self.e.place_value(node)))
        else:
            self.e.store(place, self.e.rvalue(node))

    def _fill(self, place: Place, items: deque[c_ast.Node], *, braced: bool) -> None:
        """Consume items for one aggregate; without braces of its own it takes only what it needs."""
        position = 0
        while items:
            item = items[0]
            if isinstance(item, c_ast.NamedInitializer):
                if not braced:
                    return
                items.popleft()
                position = self._designated(place, item) + 1
                if len(item.name) > 1 and items and not isinstance(items[0], c_ast.NamedInitializer):
                    raise Unsupported("an element after a nested designator", item)
                continue
            element = self._element(place, position)
            if element is None:
                return
            if self._takes_whole(element.type, item):
                items.popleft()
                self._one(element, item)
            else:
                self._fill(element, items, braced=False)
            position += 1

    def _takes_whole(self, t: CType, item: c_ast.Node) -> bool:
        if isinstance(item, c_ast.InitList) or not isinstance(t, (Array, Struct)):
            return True
        if isinstance(t, Array):
            return (
                isinstance(item, c_ast.Constant)
                and item.value.endswith('"')
                and not isinstance(t.of, (Array, Struct, Pointer))
            )
        return isinstance(self.e.type_of(item), Struct)

    def _designated(self, place: Place, item: c_ast.NamedInitializer) -> int:
        first: int | None = None
        for designator in item.name:
            if isinstance(place.type, Array):
                index = self.b.declarations.constant(designator)
            elif isinstance(place.type, Struct) and isinstance(designator, c_ast.ID):
                names = [m.name for m in place.type.record.members or []]
                index = names.index(designator.name) if designator.name in names else None
            else:
                index = None
            element = None if index is None else self._element(place, index)
            if element is None or index is None:
                raise Unsupported("this designator", item)
            first = index if first is None else first
            place = element
        self._one(place, item.expr)
        assert first is not None
        return first

    def _element(self, place: Place, position: int) -> Place | None:
        t = place.type
        if isinstance(t, Array):
            if t.length is not None and position >= t.length:
                return None
            index = Const(self.e.types.int, str(position), position)
            address = PointerAdd(Pointer(t.of), place.address, index, self.e.size_text(t.of))
            return Place(f"{place.text}[{position}]", t.of, address, place.static, place.slots)
        assert isinstance(t, Struct)
        members = t.record.members or []
        if t.record.kind == "union" and position > 0:
            return None
        if position >= len(members):
            return None
        member = members[position]
        if member.name is None:
            raise Unsupported("initialiser of an anonymous member")
        text = f"{place.text}.{member.name}"
        if member.bits is not None:
            return Place(text, member.type, place.address, False, place.slots, place.text, member.bits)
        offset = f"__builtin_offsetof({declare(unqualified(t))}, {member.name})"
        return Place(text, member.type, Offset(Pointer(member.type), place.address, offset), place.static, place.slots)
