"""Functions that only look: an assertion that calls them (`assert(is_valid(buf))`) can be asked before the function is called.

Any other call would be made twice: `assert(lock(m) == 0)` is no precondition. A function only looks if it assigns to nothing but its own
variables, and calls nothing but such functions, whose definitions the program has.
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import Asm
from score_embed.frontend.harness.uses import walk

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
                case c_ast.FuncCall() if not (isinstance(part.name, c_ast.ID) and self._called(part.name.name)):
                    return False
                case Asm():
                    return False
        return True

    def _called(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = False  # while it is looked at: who calls itself is not followed
            function = self._definition(name)
            if function is not None:
                self._known[name] = self.only_looks(function.body, _variables(function))
        return self._known[name]


def _variables(function: c_ast.FuncDef) -> frozenset[str]:
    params = function.decl.type.args.params if function.decl.type.args else []
    local = [node for node in walk(function.body) if isinstance(node, c_ast.Decl) and "static" not in node.storage]
    return frozenset(str(node.name) for node in (*params, *local) if getattr(node, "name", None))


def _is_one_of(node: c_ast.Node, own: frozenset[str]) -> bool:
    return isinstance(node, c_ast.ID) and node.name in own
