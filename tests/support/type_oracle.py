"""The compilers as judges of every type: each expression of the user's functions with a static assertion beside it.

A full expression E becomes `({ assertions; E; })`, so that all its names are in scope where its parts are judged.
What the front-end refuses is left out; so are bodies of statement expressions and constants at file scope.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pycparser import c_ast

from score_embed.board.profile import Board
from score_embed.frontend.c.gnu_ast import Asm
from score_embed.frontend.c.names import static_names
from score_embed.frontend.c.parse import parse, system_files
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.c.scopes import separate
from score_embed.frontend.c.signature import drop_promises
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.ir.exp import Place
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.function import FunctionLowering
from score_embed.frontend.lower.unit import Unit, UnitLowering
from score_embed.frontend.types.ctype import CType, Function, Int, Pointer, Types, VaList, declare
from score_embed.image.toolchain import Toolchain

_EXPRESSIONS = (
    c_ast.ArrayRef,
    c_ast.Assignment,
    c_ast.BinaryOp,
    c_ast.Cast,
    c_ast.CompoundLiteral,
    c_ast.Constant,
    c_ast.ExprList,
    c_ast.FuncCall,
    c_ast.ID,
    c_ast.StructRef,
    c_ast.TernaryOp,
    c_ast.UnaryOp,
)
_UNTYPED = re.compile(r"__builtin_(offsetof|va_arg|types_compatible_p|choose_expr)|__auto_type")
_BODY = re.compile(r"\b(struct|union|enum)\b[^;]*\{")  # a type that is defined where it is named: C has no second way


@dataclass
class Verdicts:
    """What the compiler said of the types of a file."""

    asserted: int = 0
    skipped: int = 0  # expressions of functions that the front-end leaves alone are not counted
    wrong: list[str] = field(default_factory=list)


class _Typed(UnitLowering):
    """Lowers a unit and notes, function by function, what its parts' types are."""

    def __init__(self, unit: Unit, types: Types, verdicts: Verdicts, argument_order: str) -> None:
        super().__init__(
            unit,
            types,
            external=frozenset(),
            excluded=frozenset(),
            called=frozenset(),
            instrument=(),
            argument_order=argument_order,
            strict=False,
        )
        self.verdicts = verdicts
        self.judged: list[Callable[[], None]] = []

    def _fill(self, node: c_ast.FuncDef, builder: Builder) -> FunctionLowering:
        function = super()._fill(node, builder)
        for replace, full in _full_expressions(node.body):
            lines = [line for part in _parts(full) for line in self._assertion(function, part)]
            if lines:
                text = f"({{ {' '.join(lines)} {to_c(full)}; }})"
                self.judged.append(partial(replace, c_ast.ID(text)))
        return function

    def _assertion(self, function: FunctionLowering, part: c_ast.Node) -> Iterator[str]:
        text = to_c(part)
        if _UNTYPED.search(text):
            return
        if _BODY.search(text):
            self.verdicts.skipped += 1
            return
        try:
            found = function.expressions.type_of(part)
            typed = f"+({text})" if self._is_bit_field(function, part) else f"({text})"
            if isinstance(found, Pointer) and isinstance(found.to, Function):
                typed = f"1 ? ({text}) : ({text})"  # what a function decays to
            if isinstance(found, Int) and found.precision:
                raise _Nameless
            if function.builder.is_variable(found) or isinstance(
                found, VaList
            ):  # named otherwise, or an array as a parameter
                raise _Nameless
            name = _name(found)
        except (Unsupported, _Nameless):
            self.verdicts.skipped += 1
            return
        self.verdicts.asserted += 1
        message = json.dumps(f"{part.coord}: {text} is not {name}"[:200], ensure_ascii=False)
        yield f"_Static_assert(__builtin_types_compatible_p(__typeof__({typed}), {name}), {message});"

    @staticmethod
    def _is_bit_field(function: FunctionLowering, part: c_ast.Node) -> bool:
        """Its value, or one that is given to it: the promoted type is what the front-end goes on with."""
        if isinstance(part, c_ast.Assignment):
            part = part.lvalue
        elif isinstance(part, c_ast.UnaryOp) and part.op in ("++", "--", "p++", "p--"):
            part = part.expr
        if not isinstance(part, c_ast.StructRef):
            return False
        with function.builder.unevaluated():
            place = function.places.lvalue(part)
        if not isinstance(place, Place) or place.bit_field is None:
            return False
        if function.places.bit_fields.is_wide(place.type, place.bit_field):
            raise _Nameless
        return True


class _Nameless(Exception):
    """C has no text for this type."""


def _name(t: CType) -> str:
    text = declare(t)
    if re.search(r"\b(struct|union|enum)\s*($|[*(\[])", text):
        raise _Nameless
    return text


def _full_expressions(node: Any) -> Iterator[tuple[Callable[[c_ast.Node], None], c_ast.Node]]:
    """The full expressions of a statement, each with what puts another in its place."""
    if isinstance(node, c_ast.Decl):
        automatic = not {"static", "extern"} & set(node.storage or [])
        scalar = isinstance(node.type, (c_ast.TypeDecl, c_ast.PtrDecl))
        if automatic and scalar and isinstance(node.init, _EXPRESSIONS):
            yield lambda new: setattr(node, "init", new), node.init
        return
    if isinstance(node, (c_ast.Typedef, c_ast.StaticAssert, Asm)):
        return
    for name in () if node is None else node.__slots__:
        inner = getattr(node, name, None)
        if isinstance(inner, list):
            for index, item in enumerate(inner):
                yield from _at(item, partial(inner.__setitem__, index))
        elif isinstance(inner, c_ast.Node) and not (isinstance(node, c_ast.Case) and name == "expr"):
            yield from _at(inner, partial(setattr, node, name))


def _at(node: Any, replace: Callable[[c_ast.Node], None]) -> Iterator[tuple[Callable[[c_ast.Node], None], c_ast.Node]]:
    if isinstance(node, _EXPRESSIONS):
        yield replace, node
    elif isinstance(node, c_ast.Node):
        yield from _full_expressions(node)


def _parts(node: Any) -> Iterator[c_ast.Node]:
    """An expression and those inside it that are typed on their own."""
    yield node
    match node:
        case c_ast.StructRef():
            yield from _inner(node.name)
        case c_ast.FuncCall():
            yield from _inner(node.name)
            for argument in node.args.exprs if node.args is not None else ():
                yield from _inner(argument)
        case c_ast.CompoundLiteral():
            return
        case c_ast.Cast():
            yield from _inner(node.expr)
        case _:
            for _, child in node.children():
                yield from _inner(child)


def _inner(node: c_ast.Node) -> Iterator[c_ast.Node]:
    if isinstance(node, _EXPRESSIONS):
        yield from _parts(node)


def judge(board: Board, source: Path, cflags: list[str], folder: Path) -> Verdicts:
    """Let a board's compiler check the types of all expressions of a C file that is not instrumented otherwise."""
    toolchain = Toolchain(board)
    flags = toolchain.preprocessor_flags(cflags)
    text = preprocess(board.cc, flags, source)
    tree = parse(text, str(source))
    separate(tree, {})
    drop_promises(tree)
    unit = Unit(str(source), tree, frozenset(system_files(text)), frozenset(static_names(tree)))
    verdicts = Verdicts()
    lowering = _Typed(unit, Types(toolchain.data_model(cflags)), verdicts, board.argument_order)
    lowering.lower()
    for put in lowering.judged:
        put()
    sworn = folder / "sworn.c"
    sworn.write_text(to_c(tree))
    command = [board.cc, *board.cflags, *toolchain.library_flags(cflags), "-fpreprocessed", "-w", "-fsyntax-only"]
    done = subprocess.run(
        [*command, "-fmax-errors=0", str(sworn)], capture_output=True, text=True, check=False, timeout=300
    )
    verdicts.wrong = re.findall(r"error: (.*)", done.stderr)
    return verdicts
