"""Any expression of a function: its value, its effects, its type.

C's expressions contain each other, so each part of lowering (places, assignments, conditions, operators, calls …) may
need any other's value. All of them are given this object, which is told at the end, in function.py, which part each
kind of node belongs to; beside it stands what every part needs: the builder, C's arithmetic, the sizes of types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import ChooseExpr
from score_embed.frontend.declarations.symbols import PlainVariable, Unsupported
from score_embed.frontend.ir.exp import Exp, Place, Slot, SlotRef
from score_embed.frontend.lower.arithmetic import Arithmetic, Sizes
from score_embed.frontend.lower.builder import Builder
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Enum,
    Function,
    Pointer,
    as_int,
    compatible_text,
    declare,
    unqualified,
)

MOST_LEAVES = 12  # an expression or address with more is split by a temporary
LValue: TypeAlias = SlotRef | Place | PlainVariable
Selection: TypeAlias = c_ast.GenericSelection | ChooseExpr
Value: TypeAlias = Exp | Place | None  # of a scalar, of a struct, of what is void
# By the type of the node. What a node is, pycparser does not tell the type checker.
Values: TypeAlias = Mapping[type[c_ast.Node], Callable[[Any], Value]]
Effects: TypeAlias = Mapping[type[c_ast.Node], Callable[[Any], object]]

ByName: TypeAlias = Mapping[str, Callable[[c_ast.FuncCall], Value]]  # calls, by what is called


@dataclass(frozen=True)
class Parts:
    """Who lowers what. `values`: each kind of expression; `effects`: those that are shorter where nobody wants the
    value; `type_of`: the type of an expression that is not evaluated; `literal`: the place of a compound literal."""

    values: Values
    effects: Effects
    type_of: Callable[[c_ast.Node], CType]
    literal: Callable[[c_ast.CompoundLiteral], Place]


class Expressions:
    """The expressions of one function."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder
        self.types = builder.types
        self.arith = Arithmetic(builder.types, builder.truncated)
        self.sizes = Sizes(builder, self.arith)
        self._parts: Parts
        self._types: dict[int, tuple[c_ast.Node, CType]] = {}  # the node is kept so that its id stays its own

    def tie(self, parts: Parts) -> None:
        """The parts, once all of them are made."""
        self._parts = parts

    def value(self, node: c_ast.Node) -> Value:
        """The value of any expression. Emits its side effects first."""
        handler = self._parts.values.get(type(node))
        if handler is None:
            raise Unsupported(f"expression {type(node).__name__}", node)
        return handler(node)

    def effect(self, node: c_ast.Node) -> None:
        """Evaluate for side effects only."""
        handler = self._parts.effects.get(type(node))
        if handler is None:
            self.value(node)
        else:
            handler(node)

    def rvalue(self, node: c_ast.Node) -> Exp:
        """The value of an expression of scalar (or decayed) type. Emits its side effects first."""
        result = self.value(node)
        if isinstance(result, Exp):
            return result
        if result is None:
            raise Unsupported("a void value is used", node)
        raise Unsupported("a struct is used as a scalar", node)

    def place_value(self, node: c_ast.Node) -> Place:
        """The value of an expression of struct or union type, as the place where it lies."""
        result = self.value(node)
        if isinstance(result, Place):
            return result
        raise Unsupported("a struct was expected", node)

    def literal(self, node: c_ast.CompoundLiteral) -> Place:
        """The object that a compound literal makes."""
        return self._parts.literal(node)

    def type_of(self, node: c_ast.Node) -> CType:
        """The type of an expression that is not evaluated (sizeof, typeof)."""
        if id(node) not in self._types:
            with self.b.unevaluated():
                self._types[id(node)] = (node, self._parts.type_of(node))
        return self._types[id(node)][1]

    # --- choices that the compiler makes ---------------------------------------------------------------------

    def chosen(self, node: Selection) -> c_ast.Node:
        """The expression that a `_Generic` or `__builtin_choose_expr` stands for."""
        return self._by_condition(node) if isinstance(node, ChooseExpr) else self._by_type(node)

    def _by_condition(self, node: ChooseExpr) -> c_ast.Node:
        known = self.b.declarations.constant(node.cond)
        if known is None:
            raise Unsupported("__builtin_choose_expr by what only the compiler knows", node)
        return node.first if known else node.second

    def _by_type(self, node: c_ast.GenericSelection) -> c_ast.Node:
        """The compiler is asked to agree (C11 6.5.1.1)."""
        t = unqualified(decayed(self.type_of(node.expr)))
        types = [None if a.type is None else self.b.declarations.type_of(a.type) for a in node.associations]
        wanted = [compatible_text(t), compatible_text(as_int(t)) if isinstance(t, Enum) else ""]
        plain = ((i, of) for i, of in enumerate(types) if of is not None and not of.const and not of.volatile)
        texts = {i: compatible_text(of) for i, of in plain}
        found = next((i for text in wanted for i in texts if texts[i] == text), None)
        index = types.index(None) if found is None and None in types else found
        if index is None:
            raise Unsupported("_Generic without an association that fits", node)
        text = self.b.declarations.text
        arms = [f"{text(a.type) if a.type else 'default'}: {i}" for i, a in enumerate(node.associations)]
        question = f"_Generic(*({declare(Pointer(t))}) 0, {', '.join(arms)})"
        self.b.define(f'_Static_assert({question} == {index}, "_Generic");')
        return node.associations[index].expr


def leaf_count(exp: Exp) -> int:
    return sum(1 for e in exp.walk() if not e.children())


def slots_of(exp: Exp) -> tuple[Slot, ...]:
    """The slots that an address depends on, each once."""
    seen: dict[int, Slot] = {}
    for e in exp.walk():
        if isinstance(e, SlotRef):
            seen[e.slot.index] = e.slot
    return tuple(seen.values())


def decayed(t: CType) -> CType:
    """The type of a value of type t (C11 6.3.2.1)."""
    if isinstance(t, Array):
        return Pointer(t.of)
    return Pointer(t) if isinstance(t, Function) else unqualified(t)
