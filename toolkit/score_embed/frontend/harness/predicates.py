"""Functions that only look: an assertion that calls them (`assert(is_valid(buf))`) can be asked before the function is
called.

Any other call would be made twice: `assert(lock(m) == 0)` is no precondition. A function only looks if it assigns to
nothing but its own variables, and calls nothing but such functions, whose definitions the program has. Or its name says
that it answers a question (`list_is_valid`), and its pointers are to const: what it changes besides (where an error is
noted, a number that it computes) is no part of what it is asked. So of one that computes with a check for overflow.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import Asm
from score_embed.frontend.harness.prologue import is_fresh
from score_embed.frontend.harness.uses import walk

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_ASKS = frozenset(
    ["is", "are", "has", "valid", "ok", "sane", "consistent", "invariant", "invariants", "initialized", "initialised"]
)
_CHECKS = frozenset(["checked", "overflow", "overflows", "overflowed"])
Definition = Callable[[str], c_ast.FuncDef | None]  # of a function, wherever the program has it


class Predicates:
    """Of one program."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._known: dict[str, bool] = {}

    def only_looks(self, node: c_ast.Node, own: frozenset[str] = frozenset()) -> bool:
        """Whether an expression or a body changes nothing but the variables `own`."""
        for part in walk(node):
            match part:
                case c_ast.Assignment() if not _is_one_of(part.lvalue, own):
                    return False
                case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--") if not _is_one_of(part.expr, own):
                    return False
                case c_ast.FuncCall() if not (isinstance(part.name, c_ast.ID) and self._looks(part)):
                    return False
                case Asm():
                    return False
        return True

    def _looks(self, call: c_ast.FuncCall) -> bool:
        name = str(call.name.name)
        return self._called(name) or (_computes(call) and (name.startswith("__builtin_") or self._is_known(name)))

    def _is_known(self, name: str) -> bool:
        return self._definition(name) is not None

    def _called(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = False  # while it is looked at: who calls itself is not followed
            function = self._definition(name)
            if function is not None:
                self._known[name] = _asks(function) or self.only_looks(function.body, _variables(function))
        return self._known[name]


def _computes(call: c_ast.FuncCall) -> bool:
    """Whether a call asks whether a number is too large, as its name says, and leaves the number where nobody looks:
    `mul_overflows(a, b, &(size_t){0})`."""
    words = {word.lower() for word in _WORD.findall(call.name.name)}
    given = call.args.exprs if call.args is not None else []
    return not _CHECKS.isdisjoint(words) and any(map(is_fresh, given))


def _asks(function: c_ast.FuncDef) -> bool:
    """Whether a function is named after a question about its arguments, and cannot change what they lead to."""
    params = function.decl.type.args.params if function.decl.type.args else []
    types = [getattr(param, "type", None) for param in params]
    asks = not _ASKS.isdisjoint(word.lower() for word in _WORD.findall(function.decl.name))
    return asks and any(isinstance(t, c_ast.PtrDecl) for t in types) and all(map(_is_for_reading, types))


def _is_for_reading(t: c_ast.Node) -> bool:
    """A number, or a pointer to what is const."""
    if not isinstance(t, c_ast.PtrDecl):
        return isinstance(t, c_ast.TypeDecl)
    return isinstance(t.type, c_ast.TypeDecl) and "const" in t.type.quals


def _variables(function: c_ast.FuncDef) -> frozenset[str]:
    params = function.decl.type.args.params if function.decl.type.args else []
    local = [node for node in walk(function.body) if isinstance(node, c_ast.Decl) and "static" not in node.storage]
    return frozenset(str(node.name) for node in (*params, *local) if getattr(node, "name", None))


def _is_one_of(node: c_ast.Node, own: frozenset[str]) -> bool:
    return isinstance(node, c_ast.ID) and node.name in own
