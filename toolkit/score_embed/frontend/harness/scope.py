"""What a harness may name: the types, functions and variables of the file that it is appended to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from score_embed.contract.program import Source
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.parse import parse, system_files
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.declarations.declare import ANONYMOUS, Declarations
from score_embed.frontend.declarations.symbols import FunctionName, TypedefName, Unsupported, Variable
from score_embed.frontend.harness import uses
from score_embed.frontend.harness.nulls import Nulls
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
    is_untracked,
    unqualified,
)

_ACCESS = re.compile(r"(?:->|\.)\s*([A-Za-z_]\w*)")
_FREEING = frozenset({"free", "realloc"})
_TAG = re.compile(rf"\b(?:struct|union|enum) ({ANONYMOUS}\d+)")


class Unmakeable(Exception):
    """Something that no harness can bring about: why, in words."""


class FileScope:
    """One file of the program, parsed, with the types of all that it declares. `others`: the other files."""

    def __init__(self, source: Source, tree: c_ast.FileAST, types: Types, others: Sequence[Source]) -> None:
        self.tree = tree
        self.types = types
        self.declarations = Declarations(types)
        self.declarations.text = to_c
        self._system = system_files(source.text)
        self._others = others
        self._functions: dict[str, list[str]] | None = None
        for ext in tree.ext:
            self._register(ext)
        self.nulls = Nulls(tree)
        self.frees = self._frees()
        self._accessed = {name for text in (source.text, *(o.text for o in others)) for name in _ACCESS.findall(text)}
        self._really = uses.members_cast(tree)
        self._records = dict(self._bodies())
        self._typedefs = dict(self._named_by_typedefs())

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

    # --- types --------------------------------------------------------------------------------------------------

    def declare(self, t: CType, name: str = "") -> str:
        """C that declares `name` with type t. Raises Unmakeable if the type has no name there."""
        text = declare(t, name)
        for tag in _TAG.findall(text):
            if tag not in self._typedefs:
                raise Unmakeable("its type has no name")
        return _TAG.sub(lambda found: self._typedefs[found[1]], text)

    def name_of(self, body: Record | Enumeration) -> str:
        """What people call a structure or an enum."""
        return as_written(self._typedefs.get(body.tag, body.tag))

    def is_foreign(self, record: Record) -> bool:
        """A structure of a system header that holds pointers: what is in it is the library's business (FILE)."""
        node = self._records.get(record.tag)
        if node is None or node.coord is None or str(node.coord.file) not in self._system:
            return False
        return holds_pointers(Struct(record))

    def counted_by(self, record: Record) -> dict[str, str]:
        """What the attribute `counted_by` says of its members."""
        node = self._records.get(record.tag)
        members = [d for d in node.decls if isinstance(d, c_ast.Decl)] if node is not None else []
        return {member.name: by for member in members if member.name and (by := uses.counted_by(member))}

    def is_accessed(self, member: str) -> bool:
        """Whether any code of the program names such a member."""
        return member in self._accessed

    def member_seen_as(self, member: str) -> CType | None:
        """The structure that the file takes an opaque member for, wherever it does."""
        types = [self.type_at(node) for node in self._really.get(member, ())]
        found = {id(t.to.record): t.to for t in types if isinstance(t, Pointer) and isinstance(t.to, Struct)}
        return unqualified(next(iter(found.values()))) if len(found) == 1 else None

    def type_at(self, node: c_ast.Node) -> CType | None:
        """The type that a syntax tree denotes at file scope; None if it denotes none there."""
        try:
            return self.declarations.type_of(node)
        except (Unsupported, AssertionError):
            return None

    # --- functions and variables -----------------------------------------------------------------------------------

    def variable(self, name: str) -> CType | None:
        """The type of a variable of static storage that the file declares."""
        symbol = self.declarations.scope.names.get(name)
        return symbol.type if isinstance(symbol, Variable) else None

    def is_taken(self, name: str) -> bool:
        """Whether a name means something at file scope."""
        return name in self.declarations.scope.names

    def callbacks(self, t: Function) -> list[str]:
        """The functions of the program of that type whose address it takes."""
        if self._functions is None:
            self._functions = self._by_type()
        return self._functions.get(compatible_text(t), [])

    def _by_type(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        defined, taken = self._defined(), uses.functions_as_values(self.tree)
        for source in self._others:
            if any(re.search(rf"\b{name}\b", source.text) for name in defined - taken):
                taken |= uses.functions_as_values(parse(source.text, str(source.path)))
        for name, symbol in self.declarations.scope.names.items():
            if isinstance(symbol, FunctionName) and name in defined and name in taken:
                found.setdefault(compatible_text(symbol.type), []).append(name)
        return found

    def _defined(self) -> set[str]:
        own = {e.decl.name for e in self.tree.ext if isinstance(e, c_ast.FuncDef)}
        declared = {
            name for name, symbol in self.declarations.scope.names.items() if isinstance(symbol, FunctionName)
        } - own
        if not declared:
            return own
        pattern = re.compile(r"^[\w \t*]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
        elsewhere = {name for source in self._others for name in pattern.findall(source.text)}
        library = {
            name
            for name in declared
            if isinstance(symbol := self.declarations.scope.names[name], FunctionName) and symbol.file in self._system
        }
        return own | (declared & elsewhere) | library


def holds_pointers(t: CType) -> bool:
    """Whether an object of the type has a pointer in it, or what is as good as one."""
    t = unqualified(t)
    if isinstance(t, Array):
        return holds_pointers(t.of)
    if isinstance(t, Struct):
        return any(holds_pointers(member.type) for member in t.record.members or [])
    return isinstance(t, (Pointer, VaList, Function))


def why_not(t: CType) -> str:
    """Why no value of a scalar type can be symbolic; "" if one can."""
    if isinstance(t, VaList):
        return "a va_list"
    return "numbers of such a type have no formula" if is_untracked(t) else ""
