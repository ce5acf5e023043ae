"""Which subobject each expression of an initialiser belongs to (C11 6.7.9, with GNU ranges).

One walk serves all who ask: it knows designators, elided braces, anonymous members and strings. A braced list inside is
one item of the list around it, to be walked in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import ValueRange
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.symbols import Unsupported, Variable
from score_embed.frontend.types.ctype import Array, CType, Int, Member, Record, Struct


@dataclass(frozen=True)
class Step:
    """From an aggregate to its elements first … last, or to the member at that position."""

    aggregate: Array | Struct
    first: int
    last: int


@dataclass(frozen=True)
class Item:
    """`value` initialises the subobject at the end of `path`, which has this type."""

    path: tuple[Step, ...]
    type: CType
    value: c_ast.Node


class InitialiserWalk:
    """`type_of` gives the type of an expression, as far as it may be a struct or union."""

    def __init__(self, declarations: Declarations, type_of: Callable[[c_ast.Node], CType | None]) -> None:
        self._declarations = declarations
        self._type_of = type_of

    def items(self, aggregate: Array | Struct, init: c_ast.InitList) -> Iterator[Item]:
        """The items between the braces of `aggregate`, in the order written."""
        levels = [_Level(aggregate)]
        for node in init.exprs:
            value = node
            if isinstance(node, c_ast.NamedInitializer):
                levels = self._designated(aggregate, node)
                value = node.expr
            of = self._settle(levels, value)
            yield Item(tuple(level.step for level in levels), of, value)
            for level in levels[:-1]:
                level.first = level.last  # gcc: what follows a range belongs to its last element
            levels[-1].advance()

    def literal_type(self, node: c_ast.CompoundLiteral) -> CType:
        return self._declarations.type_of(node.type)

    def completed(self, t: Array, init: c_ast.Node) -> Array:
        """An array of unknown size gets it from its initialiser."""
        if isinstance(init, c_ast.CompoundLiteral):  # GNU: for static objects
            init = init.init
        string = string_for(t, init)
        if string is not None:
            assert isinstance(t.of, Int)
            size = f"sizeof({string.value})"
            return replace(t, count=size if t.of.bits == 8 else f"{size} / {t.of.bits // 8}")
        if not isinstance(init, c_ast.InitList):
            raise Unsupported("this initialiser", init)
        length = 1 + max((item.path[0].last for item in self.items(t, init)), default=-1)
        return replace(t, count=str(length), length=length)

    def completed_static(self, t: Array, init: c_ast.Node, name: str) -> Array:
        """As `completed`, for an object that the compiler completes too: it is asked for what is not known here."""
        try:
            return self.completed(t, init)
        except Unsupported:
            return replace(t, count=f"sizeof({name}) / sizeof({name}[0])")

    def _settle(self, levels: list[_Level], value: c_ast.Node) -> CType:
        """Leave the aggregates that are full and enter those without braces, up to the subobject of `value`."""
        while True:
            of = levels[-1].element()
            if of is None:
                if len(levels) == 1:
                    raise Unsupported("too many initialisers", value)
                levels.pop()
                levels[-1].advance()
            elif isinstance(of, (Array, Struct)) and not self._is_whole(of, value):
                levels.append(_Level(of))
                if (isinstance(of, Array) and of.length is None) or levels[-1].element() is None:
                    raise Unsupported("elided braces of an aggregate that is empty or of unknown size", value)
            else:
                return of

    def _is_whole(self, t: Array | Struct, value: c_ast.Node) -> bool:
        if isinstance(value, c_ast.InitList):
            return True
        if isinstance(t, Array):
            return string_for(t, value) is not None
        of = self._type_of(value)
        return isinstance(of, Struct) and of.record is t.record

    def _designated(self, aggregate: Array | Struct, node: c_ast.NamedInitializer) -> list[_Level]:
        levels: list[_Level] = []
        of: CType | None = aggregate
        for designator in node.name:
            if isinstance(designator, c_ast.ArrayDesignator):
                ranges = [self._range(of, designator.expr)]
            else:
                ranges = [(at, at) for at in _positions(of, designator.name)]
            for first, last in ranges:
                assert isinstance(of, (Array, Struct))
                levels.append(_Level(of))
                levels[-1].first, levels[-1].last = first, last
                of = levels[-1].element()
            if of is None or not ranges:
                raise Unsupported("this designator", node)
        return levels

    def _range(self, t: CType | None, node: c_ast.Node) -> tuple[int, int]:
        first, last = (node.first, node.last) if isinstance(node, ValueRange) else (node, node)
        bounds = self._declarations.constant(first), self._declarations.constant(last)
        if not isinstance(t, Array) or bounds[0] is None or bounds[1] is None or not 0 <= bounds[0] <= bounds[1]:
            raise Unsupported("this designator", node)
        return bounds[0], bounds[1]


class _Level:
    """An aggregate that is being initialised, and which of its elements is next."""

    def __init__(self, t: Array | Struct) -> None:
        self.type = t
        self.first = self.last = 0
        if isinstance(t, Struct):
            _refuse_tagged(t.record)
        self._skip_unnamed()

    @property
    def step(self) -> Step:
        return Step(self.type, self.first, self.last)

    def element(self) -> CType | None:
        """The type of the next element; None if there is none."""
        if isinstance(self.type, Array):
            return None if self.type.length is not None and self.last >= self.type.length else self.type.of
        members = _members(self.type.record)
        return members[self.last].type if self.last < len(members) else None

    def advance(self) -> None:
        if isinstance(self.type, Struct) and self.type.record.kind == "union":
            self.last = len(_members(self.type.record))
        else:
            self.last += 1
        self.first = self.last
        self._skip_unnamed()

    def _skip_unnamed(self) -> None:
        """Bit-fields without a name are no members."""
        if isinstance(self.type, Struct):
            members = _members(self.type.record)
            while self.last < len(members) and members[self.last].name == "":
                self.last += 1
            self.first = self.last


def _members(record: Record) -> list[Member]:
    if record.members is None:
        raise Unsupported(f"'{record.kind} {record.tag}' is incomplete")
    return record.members


def _refuse_tagged(record: Record) -> None:
    """`struct a { struct b { int i; }; };` has a member only with -fms-extensions."""
    for member in _members(record):
        if member.name is None and isinstance(member.type, Struct) and not member.type.record.tag.startswith("sc_"):
            raise Unsupported(f"a member of type '{member.type.record.tag}' without a name")


def _positions(t: CType | None, name: str) -> list[int]:
    """The member called `name`, with the anonymous members around it, as positions; empty if there is none."""
    if not isinstance(t, Struct):
        return []
    for position, member in enumerate(_members(t.record)):
        if member.name == name:
            return [position]
        inner = _positions(member.type, name) if member.name is None else []
        if inner:
            return [position, *inner]
    return []


def string_for(t: CType, init: c_ast.Node) -> c_ast.Constant | None:
    """The string literal, in braces or not, that initialises an array of type t as a whole."""
    if isinstance(init, c_ast.InitList) and len(init.exprs) == 1:
        init = init.exprs[0]
    is_string = isinstance(init, c_ast.Constant) and init.value.endswith('"')
    return init if is_string and isinstance(t, Array) and isinstance(t.of, Int) else None


def scalar_value(init: c_ast.Node) -> c_ast.Node:
    """The expression that initialises a scalar: it may stand in braces."""
    while isinstance(init, c_ast.InitList):
        if len(init.exprs) != 1 or isinstance(init.exprs[0], c_ast.NamedInitializer):
            raise Unsupported("a scalar or vector with other than one initialiser", init)
        init = init.exprs[0]
    return init


def static_type(declarations: Declarations, node: c_ast.Node) -> CType | None:
    """The type of an expression of a static initialiser, if it may be a struct or union."""
    match node:
        case c_ast.CompoundLiteral():
            return declarations.type_of(node.type)
        case c_ast.ID():
            symbol = declarations.scope.find(node.name)
            return symbol.type if isinstance(symbol, Variable) else None
    return None
