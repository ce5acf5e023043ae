"""What coverage is told of, beside the directions of branches: decisions, and stretches of statements.

*Decisions* are what `if`, loops, `?:` and the operators `&&` and `||` decide: a tree of `&&`, `||` and `!` over
conditions, which stand in it in the order in which C evaluates them. Only decisions of several conditions are listed:
of one with a single condition the two directions of its branch say all. A way through a decision is a *vector*: a text
with a letter for each condition: T, F, or `-` where it was not evaluated. Generated code has decisions of thousands of
conditions, so nothing here calls itself: who wants to know something of a tree goes through its nodes, of which
operands come before what they are operands of, forth or back.

A *stretch* is a run of statements that nothing enters or leaves in its midst. Which of them ran is told by coverage
indices: those of branch directions, and of marks where these do not tell. Some index of `begun` is covered exactly if a
test has come to its beginning; then its first `sure` statements have begun, as nothing before them can end a test. Some
index of `ended` is covered only if a test has come to its end; then all of them have. A test that ends between the two
(by a fault, say) leaves the rest uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from score_embed.contract.meta import StretchRow

AND, OR, NOT = "&&", "||", "!"
TRUE, FALSE, SKIPPED = "T", "F", "-"  # of a vector


class Node(NamedTuple):
    """Of a tree. `op`: "" of a condition, whose number is `first`. `left`, `right`: its operands, as numbers of nodes
    (-1: none); `first`: the condition that is evaluated first in it."""

    op: str
    left: int
    right: int
    first: int


class Condition(Struct, frozen=True):
    """`site`: of its branch; 0 if it has none. `constant`: its value, if the compiler knows it."""

    site: int
    text: str
    constant: bool | None = None


class Decision(Struct, frozen=True, dict=True):
    """`postfix`: its tree: numbers of conditions, and operators behind their operands."""

    file: str
    line: int
    function: str
    postfix: tuple[int | str, ...]
    conditions: tuple[Condition, ...]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Operands first; the last is the whole. Raises ValueError if the tree is none, or not of these conditions in
        this order."""
        nodes: list[Node] = []
        stack: list[int] = []
        count = 0
        for word in self.postfix:
            if word in (AND, OR, NOT):
                if len(stack) < (1 if word == NOT else 2):
                    raise ValueError("an operator of a decision has no operand")
                right = stack.pop() if word != NOT else -1
                left = stack.pop()
                nodes.append(Node(str(word), left, right, nodes[left].first))
            elif word == count:
                nodes.append(Node("", -1, -1, count))
                count += 1
            else:
                raise ValueError(f"a decision has {word!r} where condition {count} is expected")
            stack.append(len(nodes) - 1)
        if len(stack) != 1 or count != len(self.conditions):
            raise ValueError("a decision has other conditions than its tree")
        return tuple(nodes)

    @property
    def text(self) -> str:
        """The decision in C, with as few parentheses as it can have."""
        shown: list[str] = []
        for node in self.nodes:
            if not node.op:
                shown.append(self.conditions[node.first].text)
            elif node.op == NOT:
                inner = shown[node.left]
                is_name = not self.nodes[node.left].op and inner.isidentifier()
                shown.append(f"!{inner}" if is_name or self.nodes[node.left].op == NOT else f"!({inner})")
            else:
                both = [self._operand(part, node.op, shown) for part in (node.left, node.right)]
                shown.append(f" {node.op} ".join(both))
        return shown[-1]

    def _operand(self, number: int, above: str, shown: Sequence[str]) -> str:
        return f"({shown[number]})" if self.nodes[number].op not in ("", NOT, above) else shown[number]


def decision(
    file: str, line: int, function: str, postfix: Sequence[int | str], conditions: Sequence[Condition]
) -> Decision:
    """One as it was read. Raises ValueError as `nodes` does."""
    found = Decision(file, line, function, tuple(postfix), tuple(conditions))
    _ = found.nodes
    return found


class Stretch(NamedTuple):
    """`lines`: of its statements, in the order in which they run, each with its file. `beside`: interrupts may come to
    it, too, which no index tells."""

    function: str
    lines: tuple[tuple[str, int], ...]
    sure: int
    begun: tuple[int, ...]
    ended: tuple[int, ...]
    beside: bool = False

    def reached(self, covered: AbstractSet[int]) -> int:
        """How many of its statements a test has reached for certain; they are the first ones."""
        if not covered.isdisjoint(self.ended):
            return len(self.lines)
        return self.sure if self.is_begun(covered) else 0

    def is_begun(self, covered: AbstractSet[int]) -> bool:
        """Whether a test has come to it. If none has, none of its statements was reached."""
        return not covered.isdisjoint(self.begun) or not covered.isdisjoint(self.ended)


def stretch(row: StretchRow, files: Sequence[str], functions: Sequence[str]) -> Stretch:
    """One as the section `.sc_meta` has it. Raises ValueError or IndexError if it is none."""
    lines = tuple((files[file], line) for file, line in row.lines)
    if not 0 <= row.sure <= len(lines):
        raise ValueError("a stretch of statements is sure of more than it has")
    return Stretch(functions[row.function], lines, row.sure, tuple(row.begun), tuple(row.ended), bool(row.beside))
