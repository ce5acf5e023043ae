"""One translation unit: which functions are instrumented, and the C that comes out.

Everything outside the bodies of the user's functions is printed as it was. A function that cannot be lowered is
left alone, listed, and its callers treat it as opaque: that is why lowering repeats until the set of
instrumented functions is stable (frontend/program.py).
"""

from __future__ import annotations

import copy
import fnmatch
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.frontend.builder import Builder
from score_embed.frontend.calls import Calls
from score_embed.frontend.declare import (
    Declarations,
    FunctionName,
    PlainVariable,
    Scope,
    SlotVariable,
    TypedefName,
    Unsupported,
    Variable,
    attribute_texts,
    located,
)
from score_embed.frontend.emit import PRELUDE, Emitter
from score_embed.frontend.expressions import Expressions
from score_embed.frontend.initialiser_walk import InitialiserWalk, static_type
from score_embed.frontend.initialisers import Initialisers
from score_embed.frontend.ir import Assign, Body, Clear, Coord, Slot, SlotRef
from score_embed.frontend.meta import Meta, Numbering
from score_embed.frontend.printer import to_c
from score_embed.frontend.statements import Statements
from score_embed.frontend.types import (
    Array,
    CType,
    Enumeration,
    Function,
    Struct,
    Types,
    as_int,
    declare,
    is_integer,
    is_untracked,
    unqualified,
)

HARNESS_FILE = "<entry>"  # where the main that `--entry` makes is said to stand
_LEFT_ALONE = re.compile(r"\b_*(naked|interrupt|isr|signal|constructor|destructor|no_instrument_function)_*\b", re.I)


@dataclass(frozen=True)
class Note:
    """Something left uninstrumented, and where."""

    what: str
    file: str
    line: int


@dataclass
class Unit:
    """A parsed translation unit, with what the whole program needs to know of it."""

    source: str
    tree: c_ast.FileAST
    system: frozenset[str]
    main_name: str = "sc_main"


@dataclass
class Lowered:
    text: str
    defined: dict[str, bool]  # instrumented function → has external linkage
    failed: list[tuple[str, Note]] = field(default_factory=list)


class UnitLowering:
    """Lowers one unit, given what other units define."""

    def __init__(
        self,
        unit: Unit,
        types: Types,
        numbering: Numbering,
        *,
        known: Callable[[str], bool],
        excluded: frozenset[str],
        instrument: Sequence[str],
        argument_order: str,
        verify: bool,
    ) -> None:
        self.unit = unit
        self.types = types
        self.numbering = numbering
        self.known = known
        self.excluded = excluded
        self.instrument = instrument
        self.argument_order = argument_order
        self.verify = verify
        self.declarations = Declarations(types)
        self.declarations.text = self._text
        self.meta = Meta(unit.source)
        self.result = Lowered("", {})
        self._local = defined_functions(unit.tree)
        self._printed: set[int] = set()

    def lower(self) -> Lowered:
        """The instrumented C of the unit. Raises BuildError for what cannot be handled outside functions."""
        pieces = [PRELUDE]
        for ext in self.unit.tree.ext:
            coord = getattr(ext, "coord", None)
            if coord is not None and coord.line:
                pieces.append(f'#line {coord.line} "{coord.file}"')
            try:
                pieces.append(self._external(ext))
            except Unsupported as error:
                error.node = error.node or ext
                raise located(error, self.unit.source) from None
        pieces.append(self._enum_assertions())
        pieces.append(self.meta.c())
        self.result.text = "\n".join(pieces)
        return self.result

    # --- file scope ------------------------------------------------------------------------------------------

    def _external(self, ext: c_ast.Node) -> str:
        if isinstance(ext, c_ast.FuncDef):
            return self._function_definition(ext)
        if isinstance(ext, c_ast.Decl):
            self._declare(ext)
        elif isinstance(ext, c_ast.Typedef):
            self.declarations.scope.names[ext.name] = TypedefName(self.declarations.type_of(ext))
        return self._printed_declaration(ext)

    def _printed_declaration(self, ext: c_ast.Node) -> str:
        """`struct s { … } a, b;` is two declarations that share one body: the second is printed without."""
        tagged = _tagged(ext)
        if tagged is None or id(tagged) not in self._printed:
            if tagged is not None:
                self._printed.add(id(tagged))
            return _with_semicolon(to_c(ext))
        field_name = "values" if isinstance(tagged, c_ast.Enum) else "decls"
        body = getattr(tagged, field_name)
        setattr(tagged, field_name, None)
        try:
            return _with_semicolon(to_c(ext))
        finally:
            setattr(tagged, field_name, body)

    def _declare(self, decl: c_ast.Decl) -> None:
        if decl.name == "main":
            _rename(decl, self.unit.main_name)
        try:
            t = self.declarations.type_of(decl)
        except Unsupported:
            if decl.coord is None or self._is_user(decl.coord.file):
                raise
            return  # a system declaration that nobody can lower a use of
        if decl.name is None:
            return
        names = self.declarations.scope.names
        if isinstance(t, Function):
            names["main" if decl.name == self.unit.main_name else decl.name] = FunctionName(
                decl.name, t, str(decl.coord.file)
            )
            return
        if isinstance(t, Array) and t.count is None and decl.init is not None:
            walk = InitialiserWalk(self.declarations, functools.partial(static_type, self.declarations))
            t = walk.completed_static(t, decl.init, decl.name)
        known = names.get(decl.name)
        if isinstance(known, Variable) and isinstance(known.type, Array) and isinstance(t, Array) and t.count is None:
            t = known.type
        static = "__thread" not in (decl.storage or []) and "_Thread_local" not in (decl.storage or [])
        names[decl.name] = Variable(decl.name, t, static)

    def _is_user(self, file: str) -> bool:
        if any(fnmatch.fnmatch(file, pattern) for pattern in self.instrument):
            return True
        if file == HARNESS_FILE:
            return True
        return file not in self.unit.system and not file.startswith("<") and not file.endswith("/score.h")

    def _enum_assertions(self) -> str:
        """Let the board's compiler check what lowering assumed of the enums it used."""
        lines = []
        for tag, body in self.declarations.scope.tags.items():
            if isinstance(body, Enumeration):
                t = body.int_type
                sign = f"((enum {tag}) -1 < (enum {tag}) 0) == {int(t.signed)}"
                lines.append(f'_Static_assert(sizeof(enum {tag}) == {t.bits // 8} && {sign}, "enum {tag}");')
        return "\n".join(lines)

    # --- functions -------------------------------------------------------------------------------------------

    def _function_definition(self, node: c_ast.FuncDef) -> str:
        is_main = node.decl.name == "main"
        if is_main:
            _rename(node.decl, self.unit.main_name)
        file = str(node.decl.coord.file)
        t = self.declarations.type_of(node.decl)
        assert isinstance(t, Function)
        name = node.decl.name
        self.declarations.scope.names["main" if is_main else name] = FunctionName(name, t, file)
        if not self._is_user(file):
            return to_c(node)
        external = "static" not in (node.decl.storage or [])
        reason = self._left_alone(node)
        if reason:
            self.result.failed.append(
                (name, Note(f"function '{_shown(name)}' is not instrumented: {reason}", file, node.decl.coord.line))
            )
        if reason or name in self.excluded:
            return to_c(node)
        try:
            text = self._lowered(node, t)
        except Unsupported as error:
            coord = getattr(error.node, "coord", None) or node.decl.coord
            note = Note(f"function '{_shown(name)}' is not instrumented: {error.what}", str(coord.file), coord.line)
            self.result.failed.append((name, note))
            return to_c(node)
        self.result.defined[name] = external
        return text

    def _left_alone(self, node: c_ast.FuncDef) -> str:
        texts = [*attribute_texts(node.decl), *(q for q in node.decl.quals or [] if isinstance(q, str))]
        inner = node.decl.type
        while inner is not None and not isinstance(inner, c_ast.IdentifierType):
            texts += [q for q in getattr(inner, "quals", None) or [] if isinstance(q, str)]
            inner = getattr(inner, "type", None)
        for text in texts:
            found = _LEFT_ALONE.search(text)
            if found:
                return f"attribute {found.group(1)}"
        return ""

    def _lowered(self, node: c_ast.FuncDef, t: Function) -> str:
        outer = self.declarations.scope
        sites, coverage = self.numbering.site, self.numbering.coverage
        meta = len(self.meta.sites)
        self.declarations.scope = Scope(outer)
        try:
            body = self._body(node, t)
            return Emitter(body, self.types, self.numbering, self.meta, verify=self.verify).c()
        except Unsupported:
            self.numbering.site, self.numbering.coverage = sites, coverage
            del self.meta.sites[meta:]
            raise
        finally:
            self.declarations.scope = outer
            self.declarations.typeof_ = None

    def _body(self, node: c_ast.FuncDef, t: Function) -> Body:
        coord = Coord(str(node.decl.coord.file), node.decl.coord.line)
        header = to_c(node.decl)
        if node.param_decls:
            header += "\n" + "\n".join(_with_semicolon(to_c(d)) for d in node.param_decls)
        body = Body(node.decl.name, node.decl.name, header, unqualified(t.result), 0, [], coord=coord)
        taken = set(self._file_names())
        builder = Builder(self.declarations, body, addressed_names(node.body), taken)
        expressions = Expressions(builder)
        self.declarations.typeof_ = expressions.type_of
        initialisers = Initialisers(expressions)
        statements = Statements(expressions, initialisers)
        Calls(expressions, self._instrumented, self._is_library, self.argument_order)
        self._result_variable(body)
        self._parameters(node, builder)
        statements.statement(node.body)
        return body

    def _file_names(self) -> list[str]:
        scope: Scope | None = self.declarations.scope
        names: list[str] = []
        while scope:
            names += scope.names
            scope = scope.parent
        return names

    def _instrumented(self, name: str) -> bool:
        if name in self._local:
            return name not in self.excluded and self._is_user(self._local[name])
        return self.known(name)

    def _is_library(self, file: str) -> bool:
        return file in self.unit.system or file == "<builtin>"

    def _result_variable(self, body: Body) -> None:
        result = body.result
        if isinstance(result, Struct) or result == self.types.void:
            return
        if not is_untracked(result):
            plain = as_int(result) if is_integer(result) else result
            body.result_slot = Slot(0, "sc_r", plain)
            result = plain
        body.declarations.append(declare(unqualified(result), "sc_r") + ";")

    def _parameters(self, node: c_ast.FuncDef, builder: Builder) -> None:
        """Scalar parameters are slots 1…p; those whose address is taken are copied to memory."""
        for name, t in self._parameter_types(node):
            if isinstance(t, Struct):
                builder.body.structs.append(name)
                builder.reserve(name)
                self.declarations.scope.names[name] = Variable(name, t, False)
                continue
            slot = builder.new_slot(name, unqualified(t))
            builder.body.scalars += 1
            self._bind(builder, name, t, slot)

    def _bind(self, builder: Builder, name: str, t: CType, slot: Slot) -> None:
        names = self.declarations.scope.names
        builder.reserve(name)
        if is_untracked(t):
            names[name] = PlainVariable(name, t) if name not in builder.addressed else Variable(name, t, False)
        elif name in builder.addressed or t.volatile:
            symbol = builder.declare_local(name, t)
            assert isinstance(symbol, Variable)
            builder.add(Clear(builder.coord, symbol.name))
            plain = as_int(t) if is_integer(t) else unqualified(t)
            value = SlotRef(unqualified(plain), slot)
            builder.add(Assign(builder.coord, builder.local_place(symbol.name, symbol.type), value))
        else:
            names[name] = SlotVariable(slot)

    def _parameter_types(self, node: c_ast.FuncDef) -> list[tuple[str, CType]]:
        args = node.decl.type.args
        if args is None:
            return []
        old_style = {d.name: self.declarations.type_of(d) for d in node.param_decls or []}
        found: list[tuple[str, CType]] = []
        for param in args.params:
            if isinstance(param, c_ast.EllipsisParam):
                continue
            if isinstance(param, c_ast.ID):
                found.append((param.name, Declarations.decay(old_style.get(param.name, self.types.int))))
                continue
            t = Declarations.decay(self.declarations.type_of(param))
            if t == self.types.void:
                continue
            if param.name is None:
                raise Unsupported("a parameter without a name", node)
            found.append((param.name, t))
        return found

    # --- text of constant pieces -----------------------------------------------------------------------------

    def _text(self, node: c_ast.Node) -> str:
        """C text of a constant piece of the user's code, with hoisted names as they are now called."""
        renamed = copy.deepcopy(node)
        self._rename_ids(renamed)
        text = to_c(renamed)
        return f"{{ {text} }}" if isinstance(node, c_ast.InitList) else text

    def _rename_ids(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.ID):
            symbol = self.declarations.scope.find(node.name)
            if isinstance(symbol, (Variable, FunctionName, PlainVariable)):
                node.name = symbol.name
            elif isinstance(symbol, SlotVariable):
                node.name = symbol.slot.name
        for slot, child in node.children():
            is_member = (isinstance(node, c_ast.StructRef) and slot == "field") or (
                isinstance(node, c_ast.NamedInitializer) and isinstance(child, c_ast.ID) and slot != "expr"
            )
            if not is_member:
                self._rename_ids(child)


def _tagged(ext: c_ast.Node) -> c_ast.Node | None:
    """The struct, union or enum specifier of a declaration."""
    inner = getattr(ext, "type", None)
    while isinstance(inner, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        inner = inner.type
    return inner if isinstance(inner, (c_ast.Struct, c_ast.Union, c_ast.Enum)) else None


def defined_functions(tree: c_ast.FileAST) -> dict[str, str]:
    """Functions with a body in this unit → the file they stand in."""
    return {e.decl.name: str(e.decl.coord.file) for e in tree.ext if isinstance(e, c_ast.FuncDef)}


def addressed_names(node: c_ast.Node) -> set[str]:
    """Names whose address is taken anywhere below, except for the inputs of score.h (they stay slots)."""
    found: set[str] = set()
    _collect_addressed(node, found)
    return found


def _collect_addressed(node: c_ast.Node, found: set[str]) -> None:
    if (
        isinstance(node, c_ast.FuncCall)
        and isinstance(node.name, c_ast.ID)
        and node.name.name
        in (
            "__score_symbolic",
            "__score_boolean",
        )
    ):
        return
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        inner = node.expr
        while isinstance(inner, (c_ast.ArrayRef, c_ast.StructRef)):
            inner = inner.name
        if isinstance(inner, c_ast.ID):
            found.add(inner.name)
    for _, child in node.children():
        _collect_addressed(child, found)


def _rename(decl: c_ast.Decl, name: str) -> None:
    decl.name = name
    inner = decl.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name


def _with_semicolon(text: str) -> str:
    return text if text.lstrip().startswith("#") else text + ";"


def _shown(name: str) -> str:
    return "main" if name == "sc_main" else name
