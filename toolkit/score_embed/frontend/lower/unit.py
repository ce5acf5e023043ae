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
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.contract.program import HARNESS_FILE, STUBS_FILE, Note
from score_embed.contract.sites import is_main, shown
from score_embed.frontend.c.names import addressed_names, defined_functions, defined_twice
from score_embed.frontend.c.own_names import HANDLER, PRELUDE
from score_embed.frontend.c.printer import line_directive, to_c
from score_embed.frontend.c.signature import (
    drop_promises,
    handlers_by_name,
    has_parameters,
    is_handler,
    left_alone,
    prototype,
)
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.initialiser_walk import InitialiserWalk, static_type
from score_embed.frontend.declarations.layout import Layout
from score_embed.frontend.declarations.longer import Where
from score_embed.frontend.declarations.objects import named_in, texts_in
from score_embed.frontend.declarations.symbols import (
    FunctionName,
    Unsupported,
    Unusable,
    Variable,
)
from score_embed.frontend.ir.body import Body, Coord
from score_embed.frontend.ir.exp import Storage
from score_embed.frontend.lower.assembly import names_in_assembly
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.calls import Callees
from score_embed.frontend.lower.function import FunctionLowering
from score_embed.frontend.lower.kept_text import KeptText
from score_embed.frontend.lower.parameters import passing_doubles
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Enumeration,
    Function,
    Record,
    Struct,
    Types,
    unqualified,
)

_WORD = re.compile(r"[A-Za-z_]\w*")
_UNKNOWN_SIZE = 1024  # bytes that a variable is taken to have, if nobody says


@dataclass
class Unit:
    """A parsed translation unit (its names separated: scopes.py), with what the whole program needs to know of it."""

    source: str
    tree: c_ast.FileAST
    system: frozenset[str]
    static: frozenset[str]  # names at file scope that other units do not see


@dataclass
class Lowered:
    """A unit ready to be printed: text that stays, and functions in normal form.

    `failed`: the functions that are left alone, and why. `decisive`: those whose being instrumented or not the rest
    rests on. `handlers`: what is said of interrupt handlers.
    """

    pieces: list[str | Body]
    failed: dict[str, Note] = field(default_factory=dict)
    decisive: set[str] = field(default_factory=set)
    handlers: list[Note] = field(default_factory=list)


def why_left_alone(name: str, error: Exception, coord: Coord) -> Note:
    """The note of a function that cannot be instrumented: `coord` is where, if the error does not say it."""
    if isinstance(error, Unsupported):
        return _left_alone(name, error.what, getattr(error.node, "coord", None) or coord)
    if isinstance(error, RecursionError):
        return _left_alone(name, "its expressions or statements are nested too deeply", coord)
    return _left_alone(name, f"internal error, {type(error).__name__}: {error}", coord)


def _left_alone(name: str, reason: str, coord: Coord) -> Note:
    return Note(f"function '{shown(name)}' is not instrumented: {reason}", str(coord.file), coord.line)


def _handler(name: str, coord: Coord) -> Note:
    what = f"interrupt handler '{name}': what interrupts call has no part in paths and coverage"
    return Note(what, str(coord.file), coord.line)


class UnitLowering:
    """Lowers one unit, given what other units define.

    `external`: functions that it finds instrumented in other units; `excluded`: those, and its own, that are left
    alone; `called`: those that the program calls by name; `strict`: a fault of ours in one function is raised (for
    tests) instead of noted; `tells_statements`: where each statement of C begins is told; `longer`: the structures that
    the program allocates with more room than they say.
    """

    def __init__(
        self,
        unit: Unit,
        types: Types,
        *,
        external: Set[str],
        excluded: frozenset[str],
        called: Set[str],
        instrument: Sequence[str],
        argument_order: str,
        strict: bool,
        layout: Layout | None = None,
        tells_statements: bool = False,
        longer: Set[Where] = frozenset(),
    ) -> None:
        self.unit = unit
        self.types = types
        self.external = external
        self.excluded = excluded
        self.instrument = instrument
        self.argument_order = argument_order
        self.strict = strict
        self.layout = layout
        self._tells_statements = tells_statements
        self.declarations = Declarations(types)
        self.declarations.longer = longer
        self._kept = KeptText(self.declarations)
        self.declarations.text = self._kept.of
        self._walk = InitialiserWalk(self.declarations, functools.partial(static_type, self.declarations))
        self.result = Lowered([])
        self._local = defined_functions(unit.tree)
        self.result.decisive.update(self._local)
        self._twice = defined_twice(unit.tree)
        self._handlers = handlers_by_name(unit.tree, called)
        self._promised: dict[str, str] = {}  # why functions are left alone, as a declaration says
        for ext in unit.tree.ext:
            if isinstance(ext, c_ast.Decl) and ext.name in self._local and left_alone(ext):
                self._promised[ext.name] = left_alone(ext)
        self._left: list[c_ast.FuncDef] = []  # the user's functions that stay as they are written
        self._printed: set[int] = set()
        self._named: dict[str, int] = {}  # by initialisers at file scope

    def lower(self) -> Lowered:
        pieces = self.result.pieces
        pieces.append(PRELUDE)
        for ext in self.unit.tree.ext:
            coord = getattr(ext, "coord", None)
            if coord is not None and coord.line:
                pieces.append(line_directive(coord.file, coord.line))
            pieces.append(self._external(ext))
        pieces.append(self._enum_assertions())
        pieces += self._named_by_what_is_left()
        return self.result

    # --- file scope ------------------------------------------------------------------------------------------

    def _external(self, ext: c_ast.Node) -> str | Body:
        if isinstance(ext, c_ast.FuncDef):
            return self._function_definition(ext)
        if not isinstance(ext, (c_ast.Decl, c_ast.Typedef)):
            return self._printed_declaration(ext)
        names = self.declarations.scope.names
        try:
            if isinstance(ext, c_ast.Typedef):
                names[ext.name] = self.declarations.typedef(ext)
            else:
                self._declare(ext)
        except Unsupported as error:  # it stays as it is, and so do the functions that use it
            if ext.name is not None:
                names[ext.name] = Unusable(error.what)
        if (
            isinstance(names.get(ext.name), FunctionName)
            and self._instrumented(ext.name)
            and ext.name not in self._twice
        ):
            drop_promises(ext)
            if _tagged(ext) is None:
                return prototype(ext) + ";"
        known = names.get(ext.name)
        init = getattr(ext, "init", None)
        named = [("SC_STATIC", name) for name in named_in(init, names.get)]
        if isinstance(known, Variable):
            named += [("SC_TEXT", text) for text in texts_in(known.type, init, self._walk)]
        listed = [f"\n{how}({self._listed(name)}, {name});" for how, name in named if name not in self._named]
        return self._printed_declaration(ext) + "".join(listed)

    def _listed(self, name: str) -> int:
        """A number for an object that is listed."""
        self._named[name] = len(self._named)
        return self._named[name]

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
        t = self.declarations.type_of(decl)
        if decl.name is None:
            return
        names = self.declarations.scope.names
        if isinstance(t, Function):
            names[decl.name] = FunctionName(decl.name, t, str(decl.coord.file))
            return
        if isinstance(t, Array) and t.count is None:
            known = names.get(decl.name)
            if isinstance(known, Variable) and isinstance(known.type, Array) and known.type.count is not None:
                t = known.type  # also where an initialiser has fewer elements (C11 6.2.7p3)
            elif decl.init is not None:
                t = self._walk.completed_static(t, decl.init, decl.name)
        static = "__thread" not in (decl.storage or []) and "_Thread_local" not in (decl.storage or [])
        names[decl.name] = Variable(decl.name, t, static)

    def _is_user(self, file: str) -> bool:
        if any(fnmatch.fnmatch(file, pattern) for pattern in self.instrument):
            return True
        if file in (HARNESS_FILE, STUBS_FILE):
            return True
        return file not in self.unit.system and not file.startswith("<")

    def _enum_assertions(self) -> str:
        """Let the board's compiler check what lowering assumed of the enums it used."""
        lines = []
        for tag, body in self.declarations.scope.tags.items():
            if isinstance(body, Enumeration) and body.complete:
                t = body.int_type
                sign = f"((enum {tag}) -1 < (enum {tag}) 0) == {int(t.signed)}"
                says = f"score-embed took enum {tag} for another type than the compiler does"
                lines.append(f'_Static_assert(sizeof(enum {tag}) == {t.bits // 8} && {sign}, "{says}");')
        return "\n".join(lines)

    def _named_by_what_is_left(self) -> list[str]:
        """The variables that functions without probes name, also in assembly: they may find symbolic data there."""
        words: dict[bool, set[str]] = {False: set(), True: set()}  # of functions, of interrupt handlers
        for node in self._left:
            name = node.decl.name
            handler = is_handler(left_alone(node.decl) or self._promised.get(name, "")) or name in self._handlers
            words[handler].update(_WORD.findall(to_c(node.body)))
        words[False].update(names_in_assembly(self.unit.tree))
        variables = {
            name: v for name, v in self.declarations.scope.names.items() if isinstance(v, Variable) and v.static
        }
        lists = [
            f"{'SC_SHARED' if handler else 'SC_NAMED'}({number}, {v.name}, {_size_text(v)});"
            for handler, found in words.items()
            for number, v in enumerate(v for name, v in variables.items() if name in found)
        ]
        return [*lists, *(["SC_ASKED;"] if any(line.startswith("SC_SHARED") for line in lists) else [])]

    # --- functions -------------------------------------------------------------------------------------------

    def _function_definition(self, node: c_ast.FuncDef) -> str | Body:
        name, coord = node.decl.name, node.decl.coord
        names = self.declarations.scope.names
        reason = left_alone(node.decl) or self._promised.get(name, "")
        result: CType = self.types.void
        try:
            t, known = self.declarations.function(node.decl), names.get(name)
            if t.params is None and isinstance(known, FunctionName):
                t = known.type  # what calls pass, an earlier prototype says
            names[name], result = FunctionName(name, t, str(coord.file)), t.result
        except Unsupported as error:
            names[name] = Unusable(error.what)
            reason = reason or error.what
        if not self._is_user(str(coord.file)):
            return to_c(node, positions=True)
        handler = is_handler(reason) or name in self._handlers
        left = bool(reason) and (not handler or has_parameters(node.decl))
        if left:
            self.result.failed[name] = _left_alone(name, reason, coord)
        body = None if left or name in self.excluded else self._lowered(node, result)
        if body is None:
            self._left.append(node)
            return to_c(_as_written(node, handler=handler, returns=result != self.types.void), positions=True)
        if handler:
            body.handler = True
            self.result.handlers.append(_handler(name, coord))
        return body

    def _lowered(self, node: c_ast.FuncDef, result: CType) -> Body | None:
        """The function in normal form, or None if it cannot be lowered (which is then noted)."""
        typeof, define = self.declarations.typeof_, self.declarations.define
        self.declarations.counted = None
        self._kept.hoisted.clear()
        name, where = node.decl.name, node.decl.coord
        body = Body(name, name, "", unqualified(result), 0, [], coord=Coord(str(where.file), where.line))
        if body.coord.file != self.unit.source:
            body.text = to_c(node)
        builder = Builder(self.declarations, body, set(), tells_statements=self._tells_statements)
        try:
            with self.declarations.inner_scope():
                node = passing_doubles(node, self.declarations)
                builder.addressed |= addressed_names(node.body)
                self._fill(node, builder)
            return body
        except Exception as error:
            if self.strict and not isinstance(error, Unsupported):
                raise
            self.result.failed[body.name] = why_left_alone(body.name, error, builder.coord)
        finally:
            self.declarations.typeof_, self.declarations.define = typeof, define
            self.declarations.counted = None
        return None

    def _fill(self, node: c_ast.FuncDef, builder: Builder) -> FunctionLowering:
        """Lower the parts of a function into its body."""
        callees = Callees(self._instrumented, self._is_library, self.argument_order)
        function = FunctionLowering(builder, callees)
        self.declarations.typeof_ = function.expressions.type_of
        function.declare(node, defined_again=builder.body.name in self._twice)
        self.declarations.define = lambda definition: self._define(builder, definition)
        self.declarations.storage = lambda record, name: self._storage(builder, record, name)
        function.lower(node.body)
        return function

    def _define(self, builder: Builder, node: c_ast.Node) -> None:
        """A struct, union or enum of the function moves to its top; after that its text is printed without the body."""
        builder.define(self._kept.of(node) + ";")
        self._kept.hoisted.add(node.name)

    def _storage(self, builder: Builder, record: Record, name: str) -> Storage | None:
        if self.layout is None:
            return None
        inner = list(builder.definitions)
        return self.layout.storage(record, name, self.declarations.scope, self._file_scope, builder.body.name, inner)

    def _file_scope(self) -> str:
        """The unit up to here without the bodies of what is instrumented."""
        pieces = self.result.pieces
        return "\n".join(piece if isinstance(piece, str) else f"{piece.header} {{ }}" for piece in pieces)

    def _instrumented(self, name: str) -> bool:
        self.result.decisive.add(name)
        if name in self.excluded:
            return False
        return self._is_user(self._local[name]) if name in self._local else name in self.external

    def _is_library(self, file: str) -> bool:
        return file in self.unit.system or file == "<builtin>"


def _size_text(variable: Variable) -> str:
    """Its size in bytes, if that is known in its file."""
    t = unqualified(variable.type)
    complete = (
        t.record.members is not None if isinstance(t, Struct) else not isinstance(t, Array) or t.count is not None
    )
    return f"sizeof({variable.name})" if complete else str(_UNKNOWN_SIZE)


def _as_written(node: c_ast.FuncDef, *, handler: bool, returns: bool) -> c_ast.FuncDef:
    """A function that is left alone. What a handler calls has probes; and `main`, which is not called so any more,
    gives 0 at its end."""
    before = [c_ast.ID(HANDLER)] if handler else []
    after = [c_ast.Return(c_ast.Constant("int", "0"))] if returns and is_main(node.decl.name) else []
    node = copy.copy(node)
    node.body = c_ast.Compound([*before, *(node.body.block_items or []), *after], node.body.coord)
    return node


def _tagged(ext: c_ast.Node) -> c_ast.Node | None:
    """The struct, union or enum specifier of a declaration."""
    inner = getattr(ext, "type", None)
    while isinstance(inner, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        inner = inner.type
    return inner if isinstance(inner, (c_ast.Struct, c_ast.Union, c_ast.Enum)) else None


def _with_semicolon(text: str) -> str:
    return text if text.lstrip().startswith("#") else text + ";"
