"""Structures that only another file of the program defines: the handles of a library, of which its users see no member.

A harness stands in the file of its function, where such a structure is incomplete. So it gets one of the same shape:
the members that the other file gives it, of types that have a name here. What the code does with these members tells
the file that defines them. A structure with attributes, or of a file with `#pragma pack`, has a layout that a copy of
its members would not have, and is not made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pycparser import c_ast

from score_embed.contract.program import Source
from score_embed.frontend.c.signature import attribute_texts, declared_attributes
from score_embed.frontend.declarations.declare import ANONYMOUS
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Enum,
    Function,
    Member,
    Pointer,
    Record,
    Struct,
    as_int,
)

if TYPE_CHECKING:
    from score_embed.frontend.harness.scope import FileScope


class _Unlike(Exception):
    """No copy of the members would have the structure's layout."""


class Elsewhere:
    """Of one file. `here`: what it declares itself; `sources`: the other files; `scope_of`: what one of these
    declares."""

    def __init__(self, here: FileScope, sources: Sequence[Source], scope_of: Callable[[Source], FileScope]) -> None:
        self._here, self._sources, self._scope_of = here, sources, scope_of
        self._shapes: dict[str, Record | None] = {}  # by their tags
        self._copies: dict[Record, Record | None] = {}
        self._origins: dict[Record, tuple[Record, FileScope]] = {}

    def shape(self, record: Record) -> Record | None:
        """One like the structure, which has no members here; None if no other file defines it, if several do, each in
        its own way, or if it has a layout of its own."""
        if record.tag not in self._shapes:
            found = self._found(record)
            self._shapes[record.tag] = self._copied(*found) if found is not None else None
        return self._shapes[record.tag]

    def origin(self, record: Record) -> tuple[Record, FileScope] | None:
        """What a shape was taken from, and the file that defines that."""
        return self._origins.get(record)

    def definitions(self, record: Record, written: set[Record]) -> Iterator[str]:
        """C that defines a shape, and before it those that lie within it, each once."""
        if record in written or record not in self._origins:
            return
        written.add(record)
        for within in _within(record):
            yield from self.definitions(within, written)
        yield f"{record.kind} {record.tag} {{\n{self._members(record, 1)}}};\n"

    def _members(self, record: Record, depth: int) -> str:
        indent, lines = "    " * depth, []
        for member in record.members or []:
            if member.name is None and isinstance(member.type, Struct):
                inner = member.type.record
                lines.append(f"{indent}{inner.kind} {{\n{self._members(inner, depth + 1)}{indent}}};\n")
            else:
                bits = f" : {member.bits}" if member.bits is not None else ""
                lines.append(f"{indent}{self._here.declare(member.type, member.name or '')}{bits};\n")
        return "".join(lines)

    def _found(self, record: Record) -> tuple[Record, FileScope] | None:
        begins = re.compile(rf"\b{record.kind}\b[^;(){{}}]*?\b{re.escape(record.tag)}\s*\{{")
        found: dict[str, tuple[Record, FileScope]] = {}
        for source in self._sources:
            if begins.search(source.text):
                scope = self._scope_of(source)
                node, body = scope.body(record.tag), scope.record(record.tag)
                if node is not None and body is not None and body.members is not None:
                    found.setdefault(str(node.coord), (body, scope))
        return next(iter(found.values())) if len(found) == 1 else None

    def known(self, record: Record, scope: FileScope, *, whole: bool) -> Record:
        """What a structure of another file is here. `whole`: an object of it is wanted. Raises _Unlike."""
        named = scope.name_of(record)
        own = None if named.startswith(ANONYMOUS) else self._here.record(named)
        if own is not None and _is_alike(own, record):
            return own
        shape = self.shape(own or record) if record.members is None else self._copied(record, scope)
        if shape is None and whole:
            raise _Unlike
        return shape or own or record

    def _copied(self, origin: Record, scope: FileScope) -> Record | None:
        if origin in self._copies:
            return self._copies[origin]
        tag = re.sub(r"\W", "_", f"{scope.name_of(origin)}_of_{scope.stem}")
        made = self._copies[origin] = Record(origin.kind, tag, longer=origin.longer)  # its members may lead back
        translation = _Translation(self, scope)
        try:
            translation.check(origin)
            made.members = translation.members(origin)
        except _Unlike:
            self._copies[origin] = None
            return None
        self._origins[made] = origin, scope
        return made


class _Translation:
    """Types of one file as another one names them. Raises _Unlike."""

    def __init__(self, elsewhere: Elsewhere, scope: FileScope) -> None:
        self._elsewhere, self._scope = elsewhere, scope

    def check(self, record: Record) -> None:
        """Whether a copy of the members lies as they do."""
        node = self._scope.body(record.tag)
        if node is None or _has_layout(node) or self._scope.packs:
            raise _Unlike

    def members(self, record: Record) -> list[Member]:
        return [self._member(member) for member in record.members or []]

    def _member(self, member: Member) -> Member:
        if member.bits == -1:
            raise _Unlike
        if member.name is None and isinstance(member.type, Struct):
            inner = member.type.record
            return Member(None, Struct(Record(inner.kind, inner.tag, self.members(inner))), None)
        return Member(member.name, self._type(member.type, whole=True), member.bits)

    def _type(self, t: CType, *, whole: bool) -> CType:
        if t.spelling:  # attributes make it another type than what it names
            raise _Unlike
        match t:
            case Pointer():
                return replace(t, to=self._type(t.to, whole=False))
            case Array():
                if t.length is None and t.count is not None:
                    raise _Unlike
                return replace(t, of=self._type(t.of, whole=whole), count=None if t.count is None else str(t.length))
            case Enum():
                return replace(as_int(t), const=t.const, volatile=t.volatile)
            case Function():
                params = None if t.params is None else tuple(self._type(p, whole=False) for p in t.params)
                return replace(t, result=self._type(t.result, whole=False), params=params)
            case Struct():
                return replace(t, record=self._elsewhere.known(t.record, self._scope, whole=whole))
        return t


def _within(record: Record) -> Iterator[Record]:
    """The structures of which an object has some in it."""
    for member in record.members or []:
        of = member.type
        while isinstance(of, Array):
            of = of.of
        if isinstance(of, Struct):
            yield from _within(of.record) if member.name is None else (of.record,)


def _is_alike(one: Record, other: Record) -> bool:
    """Whether the structures of two files are one, as their headers have it."""
    names = [[member.name for member in record.members or []] for record in (one, other)]
    return one.kind == other.kind and one.members is not None and other.members is not None and names[0] == names[1]


def _has_layout(node: c_ast.Node) -> bool:
    """Whether attributes say how the members lie."""
    if attribute_texts(node):
        return True
    for decl in node.decls or []:
        if isinstance(decl, c_ast.Decl) and (declared_attributes(decl) or decl.align):
            return True
        inner = getattr(decl, "type", None)
        if isinstance(inner, (c_ast.Struct, c_ast.Union)) and inner.decls is not None and _has_layout(inner):
            return True
    return False
