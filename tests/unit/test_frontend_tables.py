"""The tables that take each kind of node or statement to the part that knows it are total, and say each thing once."""

from __future__ import annotations

import inspect
from types import ModuleType

from pycparser import c_ast

from score_embed.contract.sites import MAIN
from score_embed.frontend.c import gnu_ast
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.emit.branches import BranchEmitter
from score_embed.frontend.emit.calls import CallEmitter
from score_embed.frontend.emit.checks import CheckEmitter
from score_embed.frontend.emit.function import Emitter
from score_embed.frontend.emit.memory import MemoryEmitter
from score_embed.frontend.emit.meta import Meta, Numbering
from score_embed.frontend.emit.probes import Probes
from score_embed.frontend.ir import body as ir
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.calls import Callees
from score_embed.frontend.lower.function import FunctionLowering
from score_embed.frontend.probes.maybe import Maybe
from score_embed.frontend.probes.origins import Strays
from score_embed.frontend.types.ctype import Types, Void
from score_embed.frontend.types.data_model import DataModel

# What stands only inside other nodes, which look at it themselves.
PARTS = {
    c_ast.ArrayDecl,
    c_ast.ArrayDesignator,
    c_ast.PtrDecl,
    c_ast.FuncDecl,
    c_ast.TypeDecl,
    c_ast.Typename,
    c_ast.IdentifierType,
    c_ast.TypeOf,
    c_ast.Struct,
    c_ast.Union,
    c_ast.Enum,
    c_ast.Enumerator,
    c_ast.EnumeratorList,
    c_ast.ParamList,
    c_ast.EllipsisParam,
    c_ast.InitList,
    c_ast.NamedInitializer,
    c_ast.Alignas,
    c_ast.GenericAssociation,
    c_ast.FuncDef,
    c_ast.FileAST,
    gnu_ast.GnuAttribute,
    gnu_ast.AsmLabel,
    gnu_ast.AsmOperand,
    gnu_ast.ValueRange,
}


def classes(module: ModuleType, base: type) -> set[type]:
    """Those that a module defines, without the base and what is private."""
    found = (kind for _, kind in inspect.getmembers(module, inspect.isclass) if kind.__module__ == module.__name__)
    return {kind for kind in found if issubclass(kind, base) and kind is not base and not kind.__name__.startswith("_")}


# C23: the function that has one is left alone, with a note.
REFUSED = {
    c_ast.Attribute,
    c_ast.AttributeSpecifier,
    c_ast.AttributedStatement,
    c_ast.AttributedType,
    c_ast.BitIntType,
    c_ast.InferredType,
}
TYPES = Types(
    DataModel(
        short=16,
        int_=32,
        long=64,
        long_long=64,
        pointer=64,
        char_signed=True,
        size_type="unsigned long",
        ptrdiff_type="long",
        wchar_type="int",
        char16_type="short unsigned int",
        char32_type="unsigned int",
        short_enums=False,
        float_=32,
        double=64,
        long_double=0,
        float_literals=False,
        shift_bits=0,
    )
)


def empty_body() -> ir.Body:
    return ir.Body(MAIN, MAIN, f"void {MAIN}(void)", Void(), 0, [])


def lowering() -> FunctionLowering:
    builder = Builder(Declarations(TYPES), empty_body(), set())
    return FunctionLowering(builder, Callees(lambda name: False, lambda file: False, "right"))


def probes() -> Probes:
    maybe = Maybe(set(), set(), lambda name: False, lambda place: False)
    return Probes(
        empty_body(),
        TYPES,
        Numbering(),
        Meta("t.c"),
        maybe,
        verify=False,
        checks=frozenset(),
        strays=Strays(),
    )


def test_each_statement_has_its_emitter() -> None:
    assert set(Emitter(probes()).by_statement) == classes(ir, ir.Stmt)


def test_no_statement_has_two_emitters() -> None:
    shared = probes()
    parts = [kind(shared).by_statement for kind in (BranchEmitter, CallEmitter, CheckEmitter, MemoryEmitter)]
    assert sum(map(len, parts)) == len(Emitter(shared).by_statement)


def test_each_node_of_c_is_a_statement_an_expression_a_part_of_another_or_refused() -> None:
    made = lowering()
    values, statements = set(made.parts.values), set(made.statements.by_node)
    assert values | statements | PARTS | REFUSED == classes(c_ast, c_ast.Node) | classes(gnu_ast, c_ast.Node)
    assert not values & statements
    assert not (values | statements) & (PARTS | REFUSED)


def test_effects_are_of_expressions() -> None:
    made = lowering()
    assert set(made.parts.effects) <= set(made.parts.values)
