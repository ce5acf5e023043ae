"""Lowering of initialisers of automatic objects (C11 6.7.9).

A constant initialiser is kept as the user wrote it and copied; any other zeroes the object and then stores each
subobject by itself, so that each store has its probe: by position, as gcc does, and only what no later
item replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from score_embed.frontend.declarations.initialiser_walk import InitialiserWalk, Item, Step, scalar_value, string_for
from score_embed.frontend.declarations.objects import named_in, texts_in
from score_embed.frontend.declarations.static_constants import StaticConstants
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.body import Clear, Copy, InitObject
from score_embed.frontend.ir.exp import Const, Exp, Offset, Place, PointerAdd
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Pointer,
    Struct,
    declare,
    qualified,
    unqualified,
    without_const,
)

_LONGEST_RANGE = 1024  # elements, each of which is a store of its own


@dataclass
class _Value:
    """What an expression of the initialiser gives; `shared` by the elements of a range, for which it is evaluated
    once."""

    node: c_ast.Node
    shared: bool = False
    stored: Exp | Place | None = None


@dataclass
class _Subobject:
    """An aggregate by the positions of its elements; those that are missing stay zero."""

    parts: dict[int, _Value | _Subobject] = field(default_factory=dict)
    shared: bool = False

    def put(self, path: Sequence[Step], content: _Value | _Subobject) -> None:
        """`content` takes the place of whatever was there before."""
        step, rest = path[0], path[1:]
        if step.last - step.first >= _LONGEST_RANGE:
            raise Unsupported("a long range of elements")
        for position in range(step.first, step.last + 1):
            if isinstance(step.aggregate, Struct) and step.aggregate.record.kind == "union":
                self.parts = {at: part for at, part in self.parts.items() if at == position}
            if not rest:
                self.parts[position] = content
                continue
            inner = self.parts.setdefault(position, _Subobject())
            if isinstance(inner, _Value) or inner.shared:  # compilers differ
                raise Unsupported("a part of a value is initialised again")
            inner.put(rest, content)

    def share(self) -> None:
        self.shared = True
        for part in self.parts.values():
            if isinstance(part, _Subobject):
                part.share()
            else:
                part.shared = True


@dataclass(frozen=True)
class _Spot:
    """A subobject: `place`, or a member of it without a name, which then has the type that is to be filled."""

    place: Place
    type: CType

    def qualified(self, t: CType) -> CType:
        """The type of an element declared with type t."""
        return qualified(t, volatile=self.type.volatile, const=self.type.const)


class Initialisers:
    """Those of one function, and its compound literals, which are objects without a name."""

    def __init__(self, expressions: Expressions, places: Places, assignments: Assignments) -> None:
        self.e = expressions
        self.b = expressions.b
        self.places = places
        self.assignments = assignments
        self.walk = InitialiserWalk(self.b.declarations, expressions.type_of)
        self._constants = StaticConstants(self.b.declarations, self.walk)

    def initialise(self, place: Place, init: c_ast.Node) -> None:
        """Give an object its initial value."""
        t = without_const(place.type)  # that is how a local is declared
        place = replace(place, type=t)
        if isinstance(t, (Array, Struct)) and isinstance(init, c_ast.InitList) and string_for(t, init) is None:
            self._braced(place, t, init)
        else:
            self._value(_Spot(place, t), _Value(init))

    def literal_type(self, node: c_ast.CompoundLiteral) -> CType:
        """The type of a compound literal."""
        t = self.b.declarations.type_of(node.type)
        return self.walk.completed(t, node.init) if isinstance(t, Array) and t.count is None else t

    def literal(self, node: c_ast.CompoundLiteral) -> Place:
        """The object that a compound literal makes (C11 6.5.2.5)."""
        t = self.literal_type(node)
        name = self.b.fresh_name("literal")
        self.b.body.declarations.append(declare(without_const(t), name) + ";")
        place = self.b.local_place(name, without_const(t))
        self.b.add(Clear(self.b.coord, name))
        self.initialise(place, node.init)
        return place

    def _braced(self, place: Place, t: Array | Struct, init: c_ast.InitList) -> None:
        if self._constants.may_initialise(t, init):
            self.b.add(InitObject(self.b.coord, place, self.b.declarations.text(init)))
            self.b.body.named += named_in(init, self.b.declarations.scope.find)
            self.b.body.named += texts_in(t, init, self.walk)
            return
        self.b.add(InitObject(self.b.coord, place, "{ 0 }"))
        coord = self.b.coord
        self._fill(_Spot(place, t), self._subobject(t, init))
        self.b.coord = coord

    # --- what goes where -------------------------------------------------------------------------------------

    def _subobject(self, t: Array | Struct, init: c_ast.InitList) -> _Subobject:
        whole = _Subobject()
        for item in self.walk.items(t, init):
            content = self._content(item)
            if any(step.first < step.last for step in item.path):
                if isinstance(content, _Subobject):
                    content.share()
                content.shared = True
            whole.put(item.path, content)
        return whole

    def _content(self, item: Item) -> _Value | _Subobject:
        is_list = isinstance(item.value, c_ast.InitList) and isinstance(item.type, (Array, Struct))
        if is_list and string_for(item.type, item.value) is None:
            assert isinstance(item.type, (Array, Struct))
            return self._subobject(item.type, item.value)
        return _Value(item.value)

    # --- stores ----------------------------------------------------------------------------------------------

    def _fill(self, spot: _Spot, content: _Subobject) -> None:
        for position in sorted(content.parts):
            element, part = self._element(spot, position), content.parts[position]
            if isinstance(part, _Subobject):
                self._fill(element, part)
            else:
                self.b.at(part.node)
                self._value(element, part)

    def _value(self, spot: _Spot, value: _Value) -> None:
        t = spot.type
        if isinstance(t, Array):
            string = string_for(t, value.node)
            if string is None or t.count is None:
                raise Unsupported("this initialiser of an array", value.node)
            self.b.add(InitObject(self.b.coord, spot.place, self.b.declarations.text(string)))
        elif isinstance(t, Struct):
            dest = _writable(spot)
            source = value.stored or self.e.place_value(value.node)
            assert isinstance(source, Place)
            self.b.add(Copy(self.b.coord, dest, source))
            value.stored = dest
        else:
            if not isinstance(value.stored, Exp):
                exp = self.places.exact(scalar_value(value.node))
                value.stored = self.b.save(exp) if value.shared and not isinstance(exp, Const) else exp
            self.assignments.store(_writable(spot), value.stored)

    def _element(self, spot: _Spot, position: int) -> _Spot:
        if isinstance(spot.type, Array):
            return self._array_element(spot, spot.type, position)
        assert isinstance(spot.type, Struct)
        place, member = spot.place, (spot.type.record.members or [])[position]
        t = spot.qualified(member.type)
        if member.name is None:
            return _Spot(place, t)
        text = f"{place.text}.{member.name}"
        if member.bits is not None:
            return _Spot(self.places.bit_fields.place(place, text, member.name, t, member.bits), t)
        offset = f"__builtin_offsetof({declare(unqualified(place.type))}, {member.name})"
        return _Spot(Place(text, t, Offset(Pointer(t), place.address, offset), place.static, place.slots), t)

    def _array_element(self, spot: _Spot, array: Array, position: int) -> _Spot:
        place, t = spot.place, spot.qualified(array.of)
        index = Const(self.e.types.int, str(position), position)
        address = PointerAdd(Pointer(t), place.address, index, self.e.sizes.text(t))
        return _Spot(Place(f"{place.text}[{position}]", t, address, place.static, place.slots), t)


def _writable(spot: _Spot) -> Place:
    """The place of a scalar or struct, so written that a constant member can be stored to."""
    if not spot.type.const:
        return spot.place
    if spot.place.bit_field is not None or spot.place.type != spot.type:
        raise Unsupported("initialiser of a constant bit-field or anonymous member")
    t = without_const(spot.type)
    return replace(spot.place, text=f"(*({declare(Pointer(t))}) &{spot.place.text})", type=t)
