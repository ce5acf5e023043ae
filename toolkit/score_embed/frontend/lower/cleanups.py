"""`__attribute__((cleanup(f)))`: f gets the variable's address wherever control leaves the variable's scope.

Lowered code has no scopes, so each way out is told here which variables it leaves: the end of a block, `break`,
`continue`, `return`, and a `goto` by where its label stands. (AVR's ATOMIC_BLOCK is made of such a variable.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import StatementExpression
from score_embed.frontend.c.gnu_lexer import ATTRIBUTE
from score_embed.frontend.c.signature import single_attributes
from score_embed.frontend.ir.body import Goto, Jump, Return
from score_embed.frontend.lower.builder import Builder

_CLEANUP = re.compile(r"_*cleanup_*\s*\(\s*([\w$\\]+)\s*\)")
_Where = tuple[tuple[int, int], ...]  # the blocks around, outermost first, and which of each block's items it is


@dataclass(frozen=True)
class _Variable:
    name: str
    function: str
    block: int
    item: int


class Cleanups:
    """Those of one function. `call` lowers a call for its effect."""

    def __init__(self, builder: Builder, call: Callable[[c_ast.Node], None]) -> None:
        self._b, self._call = builder, call
        self._labels: dict[str, _Where] = {}
        self._here: list[tuple[int, int]] = []
        self._active: list[_Variable] = []

    def find_labels(self, body: c_ast.Node) -> None:
        """Where the function's labels stand."""
        self._find(body, ())

    def _find(self, node: c_ast.Node, where: _Where) -> None:
        if isinstance(node, c_ast.Label):
            self._labels[node.name] = where
        if isinstance(node, c_ast.For):
            for part in (node.cond, node.next, node.stmt):
                if part is not None:
                    self._find(part, (*where, (id(node), 1)))
        elif isinstance(node, (c_ast.Compound, StatementExpression)):
            for index, item in enumerate(node.block_items or []):
                self._find(item, (*where, (id(node), index)))
        else:
            for _, child in node.children():
                self._find(child, where)

    # --- scopes ----------------------------------------------------------------------------------------------

    @contextmanager
    def block(self, node: c_ast.Node) -> Iterator[None]:
        """A block; when it is left at its end, what was declared in it is cleaned up."""
        depth = len(self._active)
        self._here.append((id(node), 0))
        yield
        self.leave_to(depth)
        del self._active[depth:]
        self._here.pop()

    def at_item(self, index: int) -> None:
        """The item of the innermost block that comes now."""
        self._here[-1] = (self._here[-1][0], index)

    @property
    def depth(self) -> int:
        """How many variables wait for their end."""
        return len(self._active)

    def declare(self, name: str, attributes: list[str]) -> None:
        """A variable that has its first value now."""
        for text in attributes:
            for one in single_attributes(text):
                if found := _CLEANUP.fullmatch(one.strip()):
                    self._active.append(_Variable(name, found[1], *self._here[-1]))

    @staticmethod
    def without(attributes: list[str]) -> list[str]:
        """The attributes that the compiler is to see."""
        kept = [[one for one in single_attributes(text) if not _CLEANUP.fullmatch(one.strip())] for text in attributes]
        return [f"{ATTRIBUTE}(({','.join(words)}))" for words in kept if words]

    # --- ways out --------------------------------------------------------------------------------------------

    def leave_to(self, depth: int) -> None:
        """Control leaves all but the outermost `depth` variables."""
        for variable in reversed(self._active[depth:]):
            if not self._is_reached():
                return
            self._clean(variable)

    def leave_for(self, label: str) -> None:
        """Control goes to a label."""
        where = dict(self._labels.get(label, ()))
        for variable in reversed(self._active):
            if where.get(variable.block, -1) <= variable.item:
                self._clean(variable)

    def _is_reached(self) -> bool:
        statements = self._b.body.statements
        return not statements or not isinstance(statements[-1], (Goto, Jump, Return))

    def _clean(self, variable: _Variable) -> None:
        coord = None
        address = c_ast.UnaryOp("&", c_ast.ID(variable.name, coord), coord)
        self._call(c_ast.FuncCall(c_ast.ID(variable.function, coord), c_ast.ExprList([address], coord), coord))
        self._b.end_full_expression()
