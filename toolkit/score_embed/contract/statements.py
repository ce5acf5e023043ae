"""Which statements of C ran, told by coverage indices: those of branch directions, and of marks where these do not tell.

A *stretch* is a run of statements that nothing enters or leaves in its midst. What it has done is known by two sets of
indices. Some index of `begun` is covered exactly if a test has come to its beginning; then its first `sure` statements have
begun, as nothing before them can end a test. Some index of `ended` is covered only if a test has come to its end; then all of
them have. A test that ends between the two (by a fault, say) leaves the rest uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple


class Stretch(NamedTuple):
    """`lines`: of its statements, in the order in which they run, each with its file. `beside`: interrupts may come to it,
    too, which no index tells."""

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


def stretch(function: str, files: Sequence[str], row: Sequence[Any]) -> Stretch:
    """One as the section `.sc_meta` has it: its statements as pairs of file and line, `sure`, `begun`, `ended`, `beside`.
    Raises ValueError, TypeError or IndexError if it is none."""
    places, sure, begun, ended, beside = row
    lines = tuple((files[file], int(line)) for file, line in places)
    if not 0 <= sure <= len(lines):
        raise ValueError("a stretch of statements is sure of more than it has")
    return Stretch(function, lines, int(sure), tuple(map(int, begun)), tuple(map(int, ended)), bool(beside))
