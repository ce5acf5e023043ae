"""Formulas as they are where every choice in them is made as in one run: of what a formula chooses from (an if-then-else, or
a tree of them that stands for a read at a symbolic place) one part is left, and that it is chosen is a condition.

What is left is a stronger statement with far smaller formulas.
"""

from __future__ import annotations

from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate
from score_embed.formula.replace import made


class Chosen:
    """Of the run with input `data`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._values: dict[Expr, int] = {}
        self._plain: dict[Expr, Expr] = {}
        self._known: dict[Expr, tuple[Expr, tuple[Expr, ...]]] = {}

    def of(self, formula: Expr) -> tuple[Expr, tuple[Expr, ...]]:
        """The formula without choices, and the conditions under which they are made so."""
        found = self._known.get(formula)
        if found is None:
            deciders = self._simplify(formula)
            conditions = []
            for decider in deciders:
                value = build.const(evaluate(decider, self.data, self._values), decider.width)
                condition = build.binary(Kind.EQ, self._plain[decider], value)
                if not condition.is_const:
                    conditions.append(condition)
            found = self._known[formula] = self._plain[formula], tuple(conditions)
        return found

    def _simplify(self, formula: Expr) -> list[Expr]:
        """Fills `_plain` for the formula and all that it is made of in this run; returns what its choices depend on."""
        plain, seen = self._plain, set()
        deciders: dict[Expr, None] = {}
        stack = [formula]
        while stack:
            node = stack[-1]
            if node in seen:
                stack.pop()
                continue
            if node.kind is Kind.ITE:
                needed = self._choice(node, deciders)
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
        return list(deciders)

    def _choice(self, node: Expr, deciders: dict[Expr, None]) -> tuple[Expr, ...]:
        """What the node needs: what decides, and the part that is chosen in this run."""
        condition, then, otherwise = node.args
        decider = _decider(condition)
        if decider.deps:
            deciders[decider] = None
        return decider, then if evaluate(condition, self.data, self._values) else otherwise

    def _made(self, node: Expr, needed: tuple[Expr, ...]) -> Expr:
        plain = self._plain
        if node.kind is Kind.ITE:
            return plain[needed[1]]
        arguments = [plain[arg] for arg in needed]
        if all(mine is arg for mine, arg in zip(arguments, needed, strict=True)):
            return node
        return made(node, arguments)


def _decider(condition: Expr) -> Expr:
    """What a choice depends on: the whole index, where the condition looks at a bit of it or for one of its values."""
    while condition.kind in (Kind.NOT, Kind.EXTRACT, Kind.ZEXT):
        condition = condition.args[0]
    if condition.kind is Kind.EQ and condition.args[1].is_const:
        return condition.args[0]
    return condition
