"""What a harness may name: the types, functions and variables of the file that it is appended to."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from pycparser import c_ast

from score_embed.contract.program import Source
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.parse import names_written, parse, system_files
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.declarations.declare import ANONYMOUS, Declarations
from score_embed.frontend.declarations.symbols import FunctionName, TypedefName, Unsupported, Variable
from score_embed.frontend.harness import spans, uses
from score_embed.frontend.harness.elsewhere import Elsewhere
from score_embed.frontend.harness.followed import Followed, compared_with_null, freed
from score_embed.frontend.harness.reach import DEFINITION, Reach
from score_embed.frontend.harness.shapes import bits, holds_pointers
from score_embed.frontend.harness.sizes import Said, Sizes
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Enum,
    Enumeration,
    Function,
    Pointer,
    Record,
    Struct,
    Types,
    VaList,
    compatible_text,
    declare,
    unqualified,
)

_ACCESS = re.compile(r"(?:->|\.)\s*([A-Za-z_]\w*)")
_FREEING = frozenset({"free", "realloc"})
_TAG = re.compile(rf"\b(?:struct|union|enum) ({ANONYMOUS}\d+)\b")
_PACK = re.compile(r"^\s*#\s*pragma\s+pack\b", re.MULTILINE)


class Unmakeable(Exception):
    """Something that no harness can bring about: why, in words."""


class FileScope:
    """One file of the program, parsed, with the types of all that it declares. `others`: the other files; `scope_of`:
    what one of these declares."""

    def __init__(
        self,
        source: Source,
        tree: c_ast.FileAST,
        types: Types,
        others: Sequence[Source],
        scope_of: Callable[[Source], FileScope],
    ) -> None:
        self.tree = tree
        self.types = types
        self.declarations = Declarations(types)
        self.declarations.text = to_c
        self._system = system_files(source.text)
        self._others, self._scope_of = others, scope_of
        self._functions: dict[str, list[str]] | None = None
        self._larger: dict[str, dict[str, Struct]] | None = None
        for ext in tree.ext:
            self._register(ext)
        self.is_small = types.model.pointer <= 16
        self.nulls = Followed(tree, compared_with_null)
        self.freed = Followed(tree, freed)
        self.elsewhere = Elsewhere(self, others, scope_of)
        self.reach = Reach(self, others, scope_of)
        self.stem = source.path.stem
        self.packs = _PACK.search(source.text) is not None
        self.frees = self._frees() or self._has_freed(names_written(source.text))
        self._accessed = {name for text in (source.text, *(o.text for o in others)) for name in _ACCESS.findall(text)}
        self._really = uses.members_cast(tree)
        self._compared = uses.members_compared(tree)
        self._together = spans.together(tree)
        self._moved, self._passed = uses.members_moved(tree)
        self._subscripted = uses.members_subscripted(tree)
        self._records = dict(self._bodies())
        self._typedefs = dict(self._named_by_typedefs())
        self._called = self._record_names()

    def _register(self, ext: c_ast.Node) -> None:
        names = self.declarations.scope.names
        decl = ext.decl if isinstance(ext, c_ast.FuncDef) else ext
        try:
            if isinstance(ext, c_ast.Typedef):
                names[ext.name] = self.declarations.typedef(ext)
            elif isinstance(decl, c_ast.Decl):
                t = self.declarations.type_of(decl)
                if isinstance(t, Function):
                    names[decl.name] = FunctionName(decl.name, t, str(decl.coord.file if decl.coord else ""))
                elif decl.name:
                    names[decl.name] = Variable(decl.name, t, True)
        except Unsupported:
            return  # a declaration that the function's parameters do not need; if they do, typing them says so

    def _frees(self) -> bool:
        """Whether the file gives blocks back to the library's heap."""
        users = [e for e in self.tree.ext if e.coord is not None and str(e.coord.file) not in self._system]
        if any(isinstance(e, c_ast.FuncDef) and e.decl.name in _FREEING for e in self.tree.ext):
            return False
        parts = [e.body if isinstance(e, c_ast.FuncDef) else getattr(e, "init", None) for e in users]
        return any(isinstance(n, c_ast.ID) and n.name in _FREEING for part in parts if part for n in uses.walk(part))

    def _has_freed(self, named: set[str]) -> bool:
        """Whether a file that does so defines a function that this one names: a wrapper of `free`."""
        for source in self._others:
            if not _FREEING.isdisjoint(names_written(source.text)):
                defined = set(DEFINITION.findall(source.text))
                if _FREEING.isdisjoint(defined) and not named.isdisjoint(defined - self._own_names()):
                    return True
        return False

    def _own_names(self) -> set[str]:
        return {ext.decl.name for ext in self.tree.ext if isinstance(ext, c_ast.FuncDef)}

    def _bodies(self) -> Iterator[tuple[str, c_ast.Node]]:
        for node in uses.walk(self.tree):
            if isinstance(node, (c_ast.Struct, c_ast.Union)) and node.decls is not None and node.name:
                yield node.name, node

    def _named_by_typedefs(self) -> Iterator[tuple[str, str]]:
        for name, symbol in self.declarations.scope.names.items():
            if isinstance(symbol, TypedefName):
                of = symbol.type
                body = of.record if isinstance(of, Struct) else of.body if isinstance(of, Enum) else None
                if body is not None and body.tag.startswith(ANONYMOUS) and not (of.const or of.volatile):
                    yield body.tag, name

    def _record_names(self) -> dict[str, dict[str, None]]:
        """Of each structure's tag the names that the file has for it."""
        found: dict[str, dict[str, None]] = {}
        for name, symbol in self.declarations.scope.names.items():
            if isinstance(symbol, TypedefName) and isinstance(of := unqualified(symbol.type), Struct):
                found.setdefault(of.record.tag, {})[as_written(name)] = None
        return found

    # --- types --------------------------------------------------------------------------------------------------

    def declare(self, t: CType, name: str = "") -> str:
        """C that declares `name` with type t. Raises Unmakeable if the type has no name there."""
        text = declare(t, name)
        for tag in _TAG.findall(text):
            if tag not in self._typedefs:
                raise Unmakeable("its type has no name")
        return _TAG.sub(lambda found: self._typedefs[found[1]], text)

    def element_name(self, u: CType) -> str:
        """What a pointer or an array is to, if there can be several; for what is compared by names."""
        of = unqualified(u.to) if isinstance(u, Pointer) else unqualified(u.of) if isinstance(u, Array) else None
        if of is None or isinstance(of, (Function, VaList)):
            return ""
        if isinstance(of, Struct) and not of.record.members:
            return ""
        try:
            return self.declare(of)
        except Unmakeable:
            return "?"

    def name_of(self, body: Record | Enumeration) -> str:
        """What people call a structure or an enum."""
        if isinstance(body, Record) and (origin := self.elsewhere.origin(body)) is not None:
            return origin[1].name_of(origin[0])
        return as_written(self._typedefs.get(body.tag, body.tag))

    def names_of(self, record: Record) -> tuple[str, ...]:
        """All that people may call a structure: its tag, and the names of its type."""
        if (origin := self.elsewhere.origin(record)) is not None:
            return origin[1].names_of(origin[0])
        return tuple({as_written(record.tag): None, **self._called.get(record.tag, {})})

    def is_foreign(self, record: Record) -> bool:
        """A structure of a system header that holds pointers: what is in it is the library's business (FILE)."""
        node = self._records.get(record.tag)
        if node is None or node.coord is None or str(node.coord.file) not in self._system:
            return False
        return holds_pointers(Struct(record))

    def named_here(self, t: CType | None, there: FileScope) -> CType | None:
        """A structure that another file names, if that is another one."""
        if there is self or not isinstance(t, Struct):
            return t
        return Struct(self.elsewhere.known(t.record, there, whole=False))

    def body(self, tag: str) -> c_ast.Node | None:
        """Where the file defines a structure or union, if it is none of the system's."""
        node = self._records.get(tag)
        return node if node is not None and str(node.coord.file) not in self._system else None

    def completed(self, record: Record) -> Record:
        """A structure with members, if any file of the program gives it some."""
        return record if record.members is not None else self.elsewhere.shape(record) or record

    def knowing(self, record: Record) -> FileScope:
        """The file whose code shows what the members of a structure are used for."""
        origin = self.elsewhere.origin(record)
        return origin[1] if origin is not None else self

    def record(self, name: str) -> Record | None:
        """The structure or union that people call so: by its tag or its type's name."""
        found = self.declarations.scope.tags.get(name)
        if isinstance(found, Record):
            return found
        symbol = self.declarations.scope.names.get(name)
        of = unqualified(symbol.type) if isinstance(symbol, TypedefName) else None
        return of.record if isinstance(of, Struct) else None

    def counted_by(self, record: Record) -> dict[str, str]:
        """What the attribute `counted_by` says of its members."""
        if (origin := self.elsewhere.origin(record)) is not None:
            return origin[1].counted_by(origin[0])
        node = self._records.get(record.tag)
        members = [d for d in node.decls if isinstance(d, c_ast.Decl)] if node is not None else []
        return {member.name: by for member in members if member.name and (by := uses.counted_by(member))}

    def is_accessed(self, member: str) -> bool:
        """Whether any code of the program names such a member."""
        return member in self._accessed

    def is_compared(self, member: str) -> bool:
        """Whether the file compares such a member with another pointer."""
        return member in self._compared

    def groups(self, members: Collection[str], *, elsewhere: bool) -> list[list[str]]:
        """Those members of one structure that point into one array, group by group: as the file shows, and with
        `elsewhere` the other files that name all of them, too."""
        return spans.members_together(members, self._showing(members, elsewhere=elsewhere))

    def before(self, members: Collection[str], *, elsewhere: bool) -> list[tuple[str, str]]:
        """Of members that point into one array: which are not behind which others."""
        return spans.members_before(members, self._showing(members, elsewhere=elsewhere))

    def _showing(self, members: Collection[str], *, elsewhere: bool) -> list[spans.Together]:
        known = [self._together]
        for source, words in self._words_elsewhere if elsewhere and len(members) > 1 else ():
            if words.issuperset(members):
                known.append(self._scope_of(source)._together)
        return known

    @functools.cached_property
    def _words_elsewhere(self) -> list[tuple[Source, set[str]]]:
        return [(source, names_written(source.text)) for source in self._others]

    def is_moved(self, member: str) -> bool:
        """Whether such a member may be to several objects, as far as the file shows."""
        return member in self._moved or member in self._passed or not self.is_accessed(member)

    def is_subscripted(self, member: str) -> bool:
        """Whether the file looks for elements of such a member, by a number."""
        return member in self._subscripted

    def is_only_passed(self, member: str) -> bool:
        """Whether the file does nothing of the kind itself, and only passes the member on to functions."""
        return member in self._passed and member not in self._moved

    def member_seen_as(self, member: str) -> CType | None:
        """The structure that the file takes an opaque member for, wherever it does."""
        types = [self.type_at(node) for node in self._really.get(member, ())]
        found = {id(t.to.record): t.to for t in types if isinstance(t, Pointer) and isinstance(t.to, Struct)}
        return unqualified(next(iter(found.values()))) if len(found) == 1 else None

    def seen_as(self, record: Record) -> CType | None:
        """The larger structure that the file takes each such argument for, where it is said to be something smaller."""
        if self._larger is None:
            self._larger = {}
            for of, to in uses.arguments_cast(self.tree):
                given, taken = self._structure(of), self._structure(to)
                if given is not None and taken is not None and given.record is not taken.record:
                    self._larger.setdefault(given.record.tag, {})[taken.record.tag] = taken
        found = list(self._larger.get(record.tag, {}).values())
        return found[0] if len(found) == 1 and bits(found[0]) > bits(Struct(record)) else None

    def _structure(self, node: c_ast.Node) -> Struct | None:
        """That to which a pointer of the type leads, if it is known."""
        t = self.type_at(node)
        to = unqualified(t.to) if isinstance(t, Pointer) else None
        return to if isinstance(to, Struct) and to.record.members else None

    def type_at(self, node: c_ast.Node) -> CType | None:
        """The type that a syntax tree denotes at file scope; None if it denotes none there."""
        try:
            return self.declarations.type_of(node)
        except (Unsupported, AssertionError):
            return None

    @functools.cached_property
    def sizes(self) -> Sizes:
        """Which sizes the file's functions ask for."""
        return Sizes(self.tree, self._number, self._sizes_elsewhere)

    def _sizes_elsewhere(self, function: str) -> Said | None:
        """What a function of another file says of its own."""
        found = [source for source, defined in self.defining if function in defined]
        return self._scope_of(found[0]).sizes.own(function) if len(found) == 1 else None

    @functools.cached_property
    def defining(self) -> list[tuple[Source, set[str]]]:
        """The other files, and what functions each defines."""
        return [(source, set(DEFINITION.findall(source.text))) for source in self._others]

    def _number(self, node: c_ast.Node) -> int | None:
        """A constant, also one that hangs on a layout, as far as that is known without the compiler."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof" and isinstance(node.expr, c_ast.Typename):
            t = self.type_at(node.expr)
            return bits(t) // 8 if t is not None and bits(t) else None
        try:
            return self.declarations.constant(node)
        except Unsupported:
            return None

    # --- functions and variables -----------------------------------------------------------------------------------

    def variable(self, name: str) -> CType | None:
        """The type of a variable of static storage that the file declares."""
        symbol = self.declarations.scope.names.get(name)
        return symbol.type if isinstance(symbol, Variable) else None

    def is_taken(self, name: str) -> bool:
        """Whether a name means something at file scope."""
        return name in self.declarations.scope.names

    def definition(self, name: str) -> c_ast.FuncDef | None:
        """Where the program defines a function."""
        found = self._definition_in(self.tree, name)
        for source in self._others if found is None else ():
            if re.search(rf"\b{re.escape(name)}\s*\([^;{{}}]*\)\s*\{{", source.text):
                found = found or self._definition_in(parse(source.text, str(source.path)), name)
        return found

    @staticmethod
    def _definition_in(tree: c_ast.FileAST, name: str) -> c_ast.FuncDef | None:
        return next((e for e in tree.ext if isinstance(e, c_ast.FuncDef) and e.decl.name == name), None)

    @functools.cached_property
    def taken(self) -> set[str]:
        """The names whose value the file takes: of functions, their addresses."""
        return uses.functions_as_values(self.tree)

    def defined(self, name: str) -> list[c_ast.FuncDef]:
        """The file's own functions of that name: one, or none."""
        function = self._definition_in(self.tree, name)
        return [function] if function is not None else []

    def is_library(self, name: str) -> bool:
        """Whether a function is the system's, or the compiler's."""
        symbol = self.declarations.scope.names.get(name)
        return name.startswith("__") or (isinstance(symbol, FunctionName) and symbol.file in self._system)

    def callbacks(self, t: Function) -> list[str]:
        """The functions of the program of that type whose address it takes."""
        if self._functions is None:
            self._functions = self._by_type()
        return self._functions.get(compatible_text(t), [])

    def _by_type(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        defined, taken = self._defined(), set(self.taken)
        for source in self._others:
            if any(re.search(rf"\b{name}\b", source.text) for name in defined - taken):
                taken |= self._scope_of(source).taken
        for name, symbol in self.declarations.scope.names.items():
            if isinstance(symbol, FunctionName) and name in defined and name in taken:
                found.setdefault(compatible_text(symbol.type), []).append(name)
        return found

    def _defined(self) -> set[str]:
        own = self._own_names()
        declared = {
            name for name, symbol in self.declarations.scope.names.items() if isinstance(symbol, FunctionName)
        } - own
        if not declared:
            return own
        elsewhere = {name for source in self._others for name in DEFINITION.findall(source.text)}
        library = {
            name
            for name in declared
            if isinstance(symbol := self.declarations.scope.names[name], FunctionName) and symbol.file in self._system
        }
        return own | (declared & elsewhere) | library


class Scopes:
    """Those of a program's files, each read once."""

    def __init__(self, types: Types, sources: Sequence[Source]) -> None:
        self._types, self._sources = types, sources
        self._kept: dict[Path, FileScope] = {}

    def of(self, source: Source, tree: c_ast.FileAST) -> FileScope:
        kept = self._kept.get(source.path)
        if kept is None or kept.tree is not tree:
            others = [other for other in self._sources if other is not source]
            kept = self._kept[source.path] = FileScope(source, tree, self._types, others, self._another)
        return kept

    def _another(self, source: Source) -> FileScope:
        return self._kept.get(source.path) or self.of(source, parse(source.text, str(source.path)))
