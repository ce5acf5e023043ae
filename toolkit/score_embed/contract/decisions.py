"""Decisions: what `if`, loops, `?:` and the operators `&&` and `||` decide, and the conditions that they are made of.

A decision is a tree of `&&`, `||` and `!` over conditions, which stand in it in the order in which C evaluates them. Only
decisions of several conditions are listed: of one with a single condition the two directions of its branch say all.
A way through a decision is a *vector*: a text with a letter for each condition: T, F, or `-` where it was not evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

AND, OR, NOT = "&&", "||", "!"
TRUE, FALSE, SKIPPED = "T", "F", "-"  # of a vector
Tree: TypeAlias = "int | tuple[str, Tree] | tuple[str, Tree, Tree]"


@dataclass(frozen=True)
class Condition:
    """`site`: of its branch; 0 if it has none. `constant`: its value, if the compiler knows it."""

    site: int
    text: str
    constant: bool | None = None


@dataclass(frozen=True)
class Decision:
    """`postfix`: its tree: numbers of conditions, and operators behind their operands."""

    file: str
    line: int
    function: str
    postfix: tuple[int | str, ...]
    conditions: tuple[Condition, ...]

    @property
    def text(self) -> str:
        """The decision in C, with as few parentheses as it can have."""
        return _shown(self.tree, self.conditions, "")

    @property
    def tree(self) -> Tree:
        stack: list[Tree] = []
        for word in self.postfix:
            if isinstance(word, int):
                stack.append(word)
            elif word == NOT:
                stack.append((word, stack.pop()))
            else:
                right, left = stack.pop(), stack.pop()
                stack.append((word, left, right))
        (tree,) = stack
        return tree


def decision(file: str, line: int, function: str, postfix: Sequence[Any], conditions: Sequence[Condition]) -> Decision:
    """One as it was read. Raises ValueError if its tree is none, or not of these conditions in this order."""
    words = tuple(word if word in (AND, OR, NOT) else int(word) for word in postfix)
    found = Decision(file, int(line), function, words, tuple(conditions))
    operands = [word for word in words if isinstance(word, int)]
    depth = 0
    for word in words:
        depth += 1 if isinstance(word, int) else 0 if word == NOT else -1
        if depth < 1:
            raise ValueError("an operator of a decision has no operand")
    if operands != list(range(len(conditions))) or depth != 1:
        raise ValueError("a decision has other conditions than its tree")
    return found


def _shown(tree: Tree, conditions: Sequence[Condition], above: str) -> str:
    if isinstance(tree, int):
        text = conditions[tree].text
        return f"({text})" if above == NOT and not text.isidentifier() else text
    if tree[0] == NOT:
        return NOT + _shown(tree[1], conditions, NOT)
    assert len(tree) == 3
    text = f" {tree[0]} ".join(_shown(part, conditions, tree[0]) for part in tree[1:])
    return text if above in ("", tree[0]) else f"({text})"
