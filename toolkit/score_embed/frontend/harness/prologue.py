"""What a body's own variables hold at its beginning, as far as they are made of its parameters.

`int fits = !mul_overflows(n, size, &bytes); assert(fits);` is a precondition by way of a variable. Asked before the
call it is `!mul_overflows(n, size, &(size_t){0})`: each variable is replaced by what it was made of.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection

from pycparser import c_ast

from score_embed.frontend.harness.uses import variables_in, walk

_HARMLESS = frozenset(f"{prefix}{name}" for name in ("memset", "memcpy", "memmove") for prefix in ("", "__builtin_"))
OnlyLooks = Callable[[c_ast.Node], bool]


class _Unknown(Exception):
    """A variable holds what nobody can say before the call."""


class Prologue:
    """Follows the beginning of a body, statement by statement. `names`: the parameters."""

    def __init__(self, names: Collection[str], only_looks: OnlyLooks) -> None:
        self._names, self._only_looks = set(names), only_looks
        self._values: dict[str, c_ast.Node | None] = {}  # of the own variables: what they hold
        self._types: dict[str, c_ast.TypeDecl] = {}  # of those that are numbers

    def declare(self, decl: c_ast.Decl) -> None:
        """`size_t size = 2 * n;`"""
        self._types.pop(decl.name, None)
        if isinstance(decl.type, c_ast.TypeDecl) and isinstance(decl.type.type, c_ast.IdentifierType):
            self._types[decl.name] = decl.type
        self.assign(decl.name, None if "static" in (decl.storage or []) else decl.init)

    def assign(self, name: str, value: c_ast.Node | None) -> None:
        """It holds that from now on; None: something unknown."""
        known = self.said(value) if value is not None else None
        self._values[name] = known if known is not None and self._only_looks(known) else None
        for node in walk(value) if value is not None else ():
            match node:
                case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=given)) if given in self._values and given != name:
                    self._values[given] = None  # whoever got its address has written to it

    def said(self, node: c_ast.Node) -> c_ast.Node | None:
        """An expression without the own variables; None if it is made of what nobody can say."""
        used = {one.name for one in variables_in(node)}
        if used.isdisjoint(self._values):
            return node
        try:
            return self._rewritten(copy.deepcopy(node))
        except _Unknown:
            return None

    def of_parameters(self, node: c_ast.Node) -> bool:
        """Whether an expression is made of nothing but what parameters hold themselves."""
        called = {part.name.name for part in walk(node) if isinstance(part, c_ast.FuncCall)}
        return {one.name for one in variables_in(node)} <= self._names | called and not any(
            isinstance(part, (c_ast.StructRef, c_ast.ArrayRef)) or (isinstance(part, c_ast.UnaryOp) and part.op == "*")
            for part in walk(node)
        )

    def leaves_parameters(self, node: c_ast.Node) -> bool:
        """Whether a statement changes no parameter, and comes to an end: an assignment, or `memset(p, 0, n)`."""
        for part in walk(node):
            match part:
                case c_ast.FuncCall() if not (isinstance(part.name, c_ast.ID) and part.name.name in _HARMLESS):
                    return False
                case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
                    if name in self._names:
                        return False
                    self._values[name] = None
                case c_ast.UnaryOp(op="&" | "++" | "--" | "p++" | "p--", expr=c_ast.ID(name=name)):
                    if name in self._names:
                        return False
                    self._values[name] = None
        return isinstance(node, (c_ast.Assignment, c_ast.FuncCall, c_ast.UnaryOp)) or _is_once(node)

    def _rewritten(self, node: c_ast.Node) -> c_ast.Node:
        match node:
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)) if name in self._values:
                return c_ast.UnaryOp("&", self._fresh(name))
            case c_ast.UnaryOp(op="sizeof"):
                raise _Unknown
            case c_ast.ID(name=name) if name in self._values:
                value = self._values[name]
                if value is None:
                    raise _Unknown
                t, held = self._types.get(name), copy.deepcopy(value)
                return held if t is None or _is_truth(held) else c_ast.Cast(_typename(t), held)
        for slot in getattr(type(node), "__slots__", ())[:-2]:
            if isinstance(node, c_ast.StructRef) and slot == "field":
                continue
            child = getattr(node, slot)
            if isinstance(child, c_ast.Node):
                setattr(node, slot, self._rewritten(child))
            elif isinstance(child, list):
                setattr(node, slot, [self._rewritten(c) if isinstance(c, c_ast.Node) else c for c in child])
        return node

    def _fresh(self, name: str) -> c_ast.Node:
        """An object like a variable of which a call gets the address."""
        t, value = self._types.get(name), self._values[name]
        if t is None:
            raise _Unknown
        first = copy.deepcopy(value) if value is not None else c_ast.Constant("int", "0")
        return c_ast.CompoundLiteral(_typename(t), c_ast.InitList([first]), [])


def is_fresh(node: c_ast.Node) -> bool:
    """`&(size_t){0}`: nobody else knows the object."""
    return isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.CompoundLiteral)


def _is_truth(node: c_ast.Node) -> bool:
    """0 or 1, which every type of numbers has."""
    compares = isinstance(node, c_ast.BinaryOp) and node.op in ("==", "!=", "<", ">", "<=", ">=", "&&", "||")
    return compares or (isinstance(node, c_ast.UnaryOp) and node.op == "!")


def _typename(t: c_ast.TypeDecl) -> c_ast.Typename:
    return c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, t.type))


def _is_once(node: c_ast.Node) -> bool:
    """`do { … } while (0)` around such statements, as macros have it, a cast, or braces."""
    if isinstance(node, c_ast.DoWhile):
        return isinstance(node.cond, c_ast.Constant) and node.cond.value == "0" and _is_once(node.stmt)
    if isinstance(node, c_ast.Cast):
        return True
    plain = (c_ast.Assignment, c_ast.FuncCall, c_ast.UnaryOp, c_ast.EmptyStatement, c_ast.Cast)
    return isinstance(node, c_ast.Compound) and all(isinstance(one, plain) for one in node.block_items or [])
