"""Formulas as they are where every choice in them is made as in one run: of what a formula chooses from (an if-then-else, or
a tree of them that stands for a read at a symbolic place) one part is left, and that it is chosen is a condition. How far a
number is shifted is a choice, too: so are bits read from a stream.

What is left is a stronger statement with far smaller formulas.
"""

from __future__ import annotations

from typing import Any

from score_embed.formula import build
from score_embed.formula.expr import SHIFTS, Expr, Kind, changed_bytes, evaluate
from score_embed.formula.replace import made

_NESTED = 64  # choices that depend on choices: beyond, what decides is not told as a constant
_KEPT = 100_000  # formulas


class Chosen:
    """Of the run with input `data`."""

    def __init__(self) -> None:
        self.data = b""
        self._values: dict[Expr, int] = {}
        self._plain: dict[Expr, Expr] = {}
        self._known: dict[Expr, tuple[Expr, dict[Expr, None]]] = {}
        # What a choice depends on is a constant for all that comes of it, under the conditions that make it so.
        self._fixed: dict[Expr, Expr] = {}
        self._because: dict[Expr, dict[Expr, None]] = {}

    def take(self, data: bytes) -> None:
        """From now on of the run with this input. What no changed byte reaches stays as it is."""
        if data == self.data:
            return
        changed = changed_bytes(self.data, data)
        self.data = data
        tables: tuple[dict[Expr, Any], ...] = (self._values, self._plain, self._known, self._fixed, self._because)
        is_full = len(self._plain) > _KEPT
        for table in tables:
            if is_full:
                table.clear()
            for node in [node for node in table if node.deps & changed]:
                del table[node]

    def of(self, formula: Expr) -> tuple[Expr, dict[Expr, None]]:
        """The formula without choices, and the conditions under which they are made so."""
        found = self._known.get(formula)
        if found is None:
            found = self._known[formula] = self._simple(formula, _NESTED)
        return found

    def _simple(self, formula: Expr, depth: int) -> tuple[Expr, dict[Expr, None]]:
        """Goes through all that the formula is made of in this run."""
        plain, seen = self._plain, set()
        conditions: dict[Expr, None] = {}
        stack = [formula]
        while stack:
            node = stack[-1]
            if node in seen:
                stack.pop()
                continue
            if node in self._fixed and node is not formula:
                conditions.update(self._because[node])
                needed: tuple[Expr, ...] = ()
            elif node.kind is Kind.ITE:
                needed = (self._choice(node, depth, conditions),)
            elif node.kind in SHIFTS and node.args[1].deps:
                self._fix(node.args[1], depth, conditions)
                needed = node.args
            else:
                needed = node.args
            missing = [arg for arg in needed if arg not in seen]
            if missing:
                stack += missing
                continue
            stack.pop()
            seen.add(node)
            if node not in plain:
                plain[node] = self._made(node, needed)
        return plain[formula], conditions

    def _choice(self, node: Expr, depth: int, conditions: dict[Expr, None]) -> Expr:
        """The part that is chosen in this run; why, is added to the conditions."""
        condition, then, otherwise = node.args
        decider = _decider(condition)
        if decider.deps:
            self._fix(decider, depth, conditions)
        return then if evaluate(condition, self.data, self._values) else otherwise

    def _fix(self, decider: Expr, depth: int, conditions: dict[Expr, None]) -> None:
        if decider not in self._because:
            self._decide(decider, depth)
        conditions.update(self._because[decider])

    def _decide(self, decider: Expr, depth: int) -> None:
        value = build.const(evaluate(decider, self.data, self._values), decider.width)
        known, because = self._simple(decider, depth - 1) if depth else (decider, {})
        condition = build.binary(Kind.EQ, known, value)
        self._because[decider] = because | ({} if condition.is_const else {condition: None})
        self._fixed[decider] = value

    def _made(self, node: Expr, needed: tuple[Expr, ...]) -> Expr:
        if node.kind is Kind.ITE:
            return self._as_used(needed[0])
        arguments = [self._as_used(arg) for arg in needed]
        if all(mine is arg for mine, arg in zip(arguments, needed, strict=True)):
            return node
        return made(node, arguments)

    def _as_used(self, node: Expr) -> Expr:
        return self._fixed.get(node) or self._plain[node]


def _decider(condition: Expr) -> Expr:
    """What a choice depends on: the whole index, where the condition looks at a bit of it or for one of its values."""
    while condition.kind in (Kind.NOT, Kind.EXTRACT, Kind.ZEXT):
        condition = condition.args[0]
    if condition.kind is Kind.EQ and condition.args[1].is_const:
        return condition.args[0]
    return condition
