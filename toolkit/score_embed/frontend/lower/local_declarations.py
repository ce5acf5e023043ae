"""Lowering of the declarations inside functions: of what is hoisted to the function's top, and the initial values.

A variable becomes a slot if it can be one, else memory; definitions of types move to the top as they are written.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.c.signature import declared_attributes, has_assembler_name
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.initialiser_walk import scalar_value
from score_embed.frontend.declarations.objects import named_in, texts_in
from score_embed.frontend.declarations.symbols import Constant, FunctionName, TypedefName, Unsupported, Variable
from score_embed.frontend.ir.body import Clear
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.cleanups import Cleanups
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.lower.initialisers import Initialisers
from score_embed.frontend.lower.places import Places
from score_embed.frontend.lower.variable_length import VariableArrays, refuse_unless_constant
from score_embed.frontend.types.ctype import Array, CType, Function, Struct, declare, unqualified

_ALIGNING = re.compile(r"\b_*(aligned|Alignas)_*\b")
_LAYING_OUT = re.compile(r"\b(pack|ms_struct|scalar_storage_order)\b")


class LocalDeclarations:
    """Those of one function."""

    def __init__(
        self,
        expressions: Expressions,
        places: Places,
        assignments: Assignments,
        initialisers: Initialisers,
        cleanups: Cleanups,
    ) -> None:
        self.e = expressions
        self.b = expressions.b
        self.places = places
        self.assignments = assignments
        self.initialisers = initialisers
        self.cleanups = cleanups
        self.variable_arrays = VariableArrays(expressions)

    def pragma(self, node: c_ast.Pragma) -> None:
        """`#pragma pack` moves to the top with the definitions that it is for. Others mean nothing there."""
        text = self.b.declarations.text(node)
        if _LAYING_OUT.search(text):
            self.b.define(f"/* {len(self.b.definitions)} */\n{text}\n")  # the same pragma may come again

    def typedef(self, node: c_ast.Typedef) -> None:
        """A typedef moves to the top, too."""
        declarations = self.b.declarations
        declarations.scope.names[node.name] = declared = declarations.typedef(node)
        if not self.b.is_variable(declared.type):  # else it stands in casts only, by what it is
            self.b.define(declarations.text(node) + ";")

    def declare(self, node: c_ast.Decl) -> None:
        """Any other declaration in a block."""
        declarations = self.b.declarations
        t = self._declared_type(node)
        if node.name is None:
            if isinstance(t, Struct) and t.record.members is None:
                self.b.define(f"{declare(t)};")
            return
        storage = node.storage or []
        if "extern" in storage or "static" in storage:
            refuse_unless_constant(self.b, t, "a declaration")
        if isinstance(t, Function) or "extern" in storage:
            declarations.scope.names[node.name] = self._linked(node, t)
            self.b.body.declarations.append(declarations.text(node) + ";")
        elif "static" in storage:
            if isinstance(t, Array) and t.count is None and node.init is not None:
                t = self.initialisers.walk.completed_static(t, node.init, node.name)
            declarations.scope.names[node.name] = Variable(node.name, t, not _is_thread_local(node))
            self.b.body.declarations.append(declarations.text(node) + ";")
            self.b.body.named += named_in(node.init, declarations.scope.find)
            self.b.body.named += texts_in(t, node.init, self.initialisers.walk)
        else:
            self._automatic(node, t)

    def _declared_type(self, node: c_ast.Decl) -> CType:
        inner = node.type
        names = getattr(getattr(inner, "type", None), "names", None)
        if isinstance(inner, c_ast.TypeDecl) and names == ["__auto_type"]:
            t = unqualified(Declarations.decay(self.e.type_of(node.init)))
            return replace(t, const="const" in inner.quals, volatile="volatile" in inner.quals)
        return self.b.declarations.type_of(node)

    def _linked(self, node: c_ast.Decl, t: CType) -> FunctionName | Variable:
        """A function or extern variable declared in a block. What the file knows of it counts, too (C11 6.2.7p4)."""
        known = self.b.declarations.scope.find(node.name)
        if isinstance(t, Function):
            if isinstance(known, FunctionName):
                return known if t.params is None else replace(known, type=t)
            found: FunctionName | Variable = FunctionName(node.name, t, self.b.coord.file)
        else:
            if isinstance(known, Variable) and isinstance(t, Array) and t.count is None:
                return known
            found = Variable(node.name, t, not _is_thread_local(node))
        if isinstance(known, (Constant, TypedefName)):  # at the top of the function it would hide that everywhere
            raise Unsupported(f"the declaration of '{node.name}' hides another kind of name", node)
        return found

    def _automatic(self, node: c_ast.Decl, t: CType) -> None:
        if isinstance(t, Array) and t.count is None and node.init is not None:
            t = self.initialisers.walk.completed(t, node.init)
        if has_assembler_name(node):
            raise Unsupported("a variable bound to a register", node)
        attributes = declared_attributes(node)
        if any("cleanup" in text for text in attributes):
            if isinstance(t, Array) and self.b.is_variable(t):
                raise Unsupported("attribute cleanup of a variable length array", node)
            self.b.addressed.add(node.name)
        before = [*map(self.b.declarations.text, node.align or []), *self.cleanups.without(attributes)]
        if any(_ALIGNING.search(text) for text in before):
            self.b.addressed.add(node.name)
        if isinstance(t, Array) and self.b.is_variable(t):
            if any(_ALIGNING.search(text) for text in before):
                raise Unsupported("a variable length array with an alignment", node)
            self.b.add(Clear(self.b.coord, self.variable_arrays.declare(node.name, t).text))
            return
        symbol = self.b.declare_local(node.name, t, attributes="".join(text + " " for text in before))
        if isinstance(symbol, Variable):
            self.b.add(Clear(self.b.coord, symbol.name))
        if node.init is not None and isinstance(t, (Array, Struct)):
            self.initialisers.initialise(self.b.local_place(symbol.name, t), node.init)  # type: ignore[union-attr]
        elif node.init is not None:
            value = self.places.exact(scalar_value(node.init))
            self.assignments.store(self.places.lvalue(c_ast.ID(node.name, node.coord)), value)
        self.cleanups.declare(node.name, attributes)


def _is_thread_local(node: c_ast.Decl) -> bool:
    return any(word in ("__thread", "_Thread_local") for word in node.storage or [])
