"""Which run a pair was derived from: what two paths have in common, without comparing their conditions.

A path is its parent's up to the condition that was flipped. So two paths part where the first of their ancestors left
the last run that both descend from. It is kept in memory only, and by waiting pairs only: a pair that comes from the
record has no known ancestors.
"""

from __future__ import annotations


class Origin:
    """A run: the run it was derived from, and how many conditions it has in common with that."""

    __slots__ = ("common", "generation", "parent")

    def __init__(self, parent: Origin | None = None, common: int = 0) -> None:
        self.parent, self.common = parent, common
        self.generation: int = parent.generation + 1 if parent is not None else 0


def in_common(one: Origin, other: Origin) -> int | None:
    """How many conditions the paths of two runs share at least; None: all of them."""
    a: Origin | None = one
    b: Origin | None = other
    least: int | None = None
    while a is not b:
        if a is None or (b is not None and b.generation > a.generation):
            a, b = b, a
        assert a is not None
        least = a.common if least is None else min(least, a.common)
        a = a.parent
    return least
