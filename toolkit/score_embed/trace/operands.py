"""The leaves that the path's branches compare, and their running hash: compared with the target's in every END.

The hash notices stale state that a direction alone would not show. It depends on the input, so when a prefix is
kept for another input, the values that a changed byte reaches are computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from score_embed.formula.expr import Expr
from score_embed.trace import hash as hashes


@dataclass(slots=True)
class _Branch:
    exprs: tuple[Expr, ...]
    values: tuple[int, ...]
    deps: int  # input bytes of its operands
    reached: int  # input bytes of these and all earlier operands
    floats: bool  # they may be floating-point numbers
    before: hashes.Lanes


class Operands:
    def __init__(self) -> None:
        self._branches: list[_Branch] = []
        self.lanes = hashes.START

    def add(self, exprs: tuple[Expr, ...], values: tuple[int, ...], floats: bool = False, deps: int = 0) -> None:
        """The operands of one more branch. `floats`: its comparison is one of floating point; `deps`: other input bytes that
        it depends on."""
        for expr in exprs:
            deps |= expr.deps
        reached = deps | self._branches[-1].reached if self._branches else deps
        self._branches.append(_Branch(exprs, values, deps, reached, floats, self.lanes))
        self.lanes = _mixed(self.lanes, self._branches[-1])

    def cut(self, count: int) -> None:
        """Keep the first `count` branches."""
        if count < len(self._branches):
            self.lanes = self._branches[count].before
            del self._branches[count:]

    def first_reached(self, changed: int) -> int:
        """The first branch with an operand that depends on one of these input bytes, or their number."""
        low, high = 0, len(self._branches)
        while low < high:
            middle = (low + high) // 2
            if self._branches[middle].reached & changed:
                high = middle
            else:
                low = middle + 1
        return low

    def recompute(self, changed: int, value: Callable[[Expr], int]) -> None:
        """See to the values that depend on these input bytes."""
        first = self.first_reached(changed)
        if first == len(self._branches):
            return
        lanes = self._branches[first].before
        for branch in self._branches[first:]:
            branch.before = lanes
            if branch.deps & changed:
                branch.values = tuple(map(value, branch.exprs))
            lanes = _mixed(lanes, branch)
        self.lanes = lanes


def _mixed(lanes: hashes.Lanes, branch: _Branch) -> hashes.Lanes:
    for expr, value in zip(branch.exprs, branch.values, strict=True):
        if branch.floats and _may_be_no_number(value):
            value = 0  # machines differ in the pattern of what is no number
        lanes = hashes.mix_operand(lanes, value, expr.width)
    return lanes


def _may_be_no_number(value: int) -> bool:
    """As the target decides it: by 8 bits of the exponent, in either half."""
    return (value >> 32 | value) & 0x7F800000 == 0x7F800000
