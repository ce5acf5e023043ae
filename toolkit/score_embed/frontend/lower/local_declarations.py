"""Lowering of the declarations inside functions: of what is hoisted to the function's top, and the initial values.

A variable becomes a slot if it can be one, else memory; definitions of types move to the top as they are written.

There the size of an array that is computed at run time is not known yet: so such an array is a pointer, and its stack
is taken where it was declared. A declaration that is reached again gives back first what it took before, and what was
taken after it: as the end of its block would have. Each count is kept in a slot that the type names, so sizes and
addresses have formulas; in the emitted C such a type stands in casts only.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pycparser import c_ast

from score_embed.frontend.c.signature import declared_attributes, has_assembler_name
from score_embed.frontend.declarations.declare import Declarations
from score_embed.frontend.declarations.initialiser_walk import scalar_value
from score_embed.frontend.declarations.objects import named_in, texts_in
from score_embed.frontend.declarations.symbols import (
    Constant,
    FunctionName,
    TypedefName,
    Unsupported,
    Variable,
    VariableArray,
    VariableLength,
)
from score_embed.frontend.ir.body import Clear, Pin, Verbatim
from score_embed.frontend.ir.exp import Place, Raw, SlotRef
from score_embed.frontend.lower.assignments import Assignments
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.lower.cleanups import Cleanups
from score_embed.frontend.lower.expressions import Expressions
from score_embed.frontend.lower.initialisers import Initialisers
from score_embed.frontend.lower.places import Places
from score_embed.frontend.types.ctype import Array, CType, Function, Pointer, Struct, declare, unqualified

REASON = "array size"
_ALIGNING = re.compile(r"\b_*(aligned|Alignas)_*\b")
_LAYING_OUT = re.compile(r"\b(pack|ms_struct|scalar_storage_order)\b")


class VariableArrays:
    """Those of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.e = expressions
        self.b = expressions.b
        self._declared = 0
        self._stack_at = -1  # where the declaration of what they gave back stands

    def count(self, node: c_ast.Node) -> str:
        """Evaluates a count; returns the name of the variable that keeps it."""
        if self.b.is_unevaluated:
            raise VariableLength("a variable length array in an operand that is not evaluated", node)
        size = self.b.types.size
        kept = self.b.temporary(size, keep=True)
        self.b.assign(kept, self.e.arith.convert(self.e.rvalue(node), size))
        self.b.counts[kept.slot.name] = kept
        return kept.slot.name

    def declare(self, name: str, t: Array) -> Place:
        """The declaration of an array: what it lies in is new."""
        size = self.b.temporary(self.b.types.size, keep=True)
        self.b.assign(size, self.e.sizes.of(t))
        self.b.add(Pin(self.b.coord, size, REASON))
        pointer = SlotRef(Pointer(t.of), self.b.new_slot(name, Pointer(t.of)))
        self.b.body.declarations.append(f"void *{name};")
        self.b.add(Verbatim(self.b.coord, self._give_back()))
        of: CType = t.of
        while isinstance(of, Array):
            of = of.of
        taken = f"__builtin_alloca_with_align({size.c()}, 8 * _Alignof({declare(of)}))"
        self.b.assign(pointer, Raw(pointer.type, taken))
        self.b.add(Verbatim(self.b.coord, f"SC_TAKEN({name}, {size.c()});"))
        self.b.declarations.scope.names[name] = VariableArray(pointer.slot, t)
        return self.e.sizes.variable_array(pointer.slot, t)

    def _give_back(self) -> str:
        """C that gives back the stack of this array and of all that were declared after it."""
        index, self._declared = self._declared, self._declared + 1
        text = f"void *sc_stack[{self._declared}] = {{ 0 }};"
        if self._stack_at < 0:
            self._stack_at = len(self.b.body.declarations)
            self.b.body.declarations.append(text)
        else:
            self.b.body.declarations[self._stack_at] = text
        mine, later = f"sc_stack[{index}]", f"sc_stack + {index + 1}"
        forget = f"__builtin_memset({later}, 0, sizeof sc_stack - {index + 1} * sizeof *sc_stack);"
        return f"if ({mine}) __builtin_stack_restore({mine}); else {mine} = __builtin_stack_save(); {forget}"


def refuse_unless_constant(builder: Builder, t: CType, what: str) -> None:
    """For what is emitted where counts are not known yet."""
    if builder.is_variable(t):
        raise Unsupported(f"{what} of variable length arrays")


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
            self.initialisers.initialise(self.b.local_place(node.name, t), node.init)
        elif node.init is not None:
            value = self.places.exact(scalar_value(node.init))
            self.assignments.store(self.places.lvalue(c_ast.ID(node.name, node.coord)), value)
        self.cleanups.declare(node.name, attributes)


def _is_thread_local(node: c_ast.Decl) -> bool:
    return any(word in ("__thread", "_Thread_local") for word in node.storage or [])
