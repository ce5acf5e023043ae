"""Branch coverage by direction, and for each direction not taken the reason why.

"Why was nothing generated for this branch?" is the question users ask most; each uncovered
direction gets one answer.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from score_embed.contract.program import HARNESS_FILE, STUBS_FILE
from score_embed.contract.sites import MODEL, Site, SiteKind, SiteTable, shown
from score_embed.contract.words import Unflipped

# A direction may have failed for several reasons; the one that most likely hides something is reported.
_BY_WEIGHT = (
    Unflipped.DIVERGED,
    Unflipped.UNKNOWN,
    Unflipped.MISPREDICTED,
    Unflipped.BOUND,
    Unflipped.CONCRETE,
    Unflipped.FIXED,
    Unflipped.UNSAT,
)


class Untaken(Struct, frozen=True):
    """A direction that no test took, for summary.json."""

    file: str
    line: int
    function: str
    direction: str
    reason: Unflipped
    count: int  # how often


class Direction(Struct, frozen=True, array_like=True):
    """One outcome of a branch: `true`/`false` of a condition, `case N`/`default` of a switch."""

    site: int
    file: str
    line: int
    function: str
    name: str


def directions_of(table: SiteTable) -> dict[int, Direction]:
    """All directions of an image by coverage index, but for those in models of the C library, in stubs and in the main
    that `--entry` makes."""
    found: dict[int, Direction] = {}
    for site in table.branches():
        if site.function.startswith(MODEL) or site.file in (STUBS_FILE, HARNESS_FILE):
            continue
        for outcome in range(site.outcomes):
            if site.is_assumption and outcome == 0:
                continue  # the false side of an assumption is nobody's goal
            name = _name(site, outcome)
            direction = Direction(site.id, site.file, site.line, function_name(site), name)
            found.setdefault(site.coverage + outcome, direction)  # copies of a header's function share theirs
    return found


def _name(site: Site, outcome: int) -> str:
    if site.kind is SiteKind.COND:
        return "true" if outcome else "false"
    if outcome == len(site.labels):
        return "default"
    first, last = site.labels[outcome]
    return f"case {first}" if first == last else f"case {first} ... {last}"


def function_name(site: Site) -> str:
    """The function's own name: the front-end renames some."""
    return shown(site.function)


class Coverage:
    """Which coverage indices some test has set. `marks`: those that are no branch's; `passed` has them."""

    def __init__(
        self, directions: Mapping[int, Direction], covered: Iterable[int] = (), marks: AbstractSet[int] = frozenset()
    ) -> None:
        self.directions, self._marks = directions, marks
        self.covered: set[int] = set()
        self.passed: set[int] = set()
        self.add(covered)
        self.grown = time.monotonic()  # when a test last set a new one

    @property
    def total(self) -> int:
        return len(self.directions)

    def add(self, indices: Iterable[int]) -> list[int]:
        """The indices among these that are new."""
        fresh = [
            i
            for i in indices
            if (i in self.directions and i not in self.covered) or (i in self._marks and i not in self.passed)
        ]
        if fresh:
            self.passed.update(self._marks & set(fresh))
            self.covered.update(i for i in fresh if i in self.directions)
            self.grown = time.monotonic()
        return fresh

    def unflipped(
        self, reasons: Mapping[tuple[int, Unflipped], int], waiting: Container[int] = ()
    ) -> list[Untaken]:
        """Every direction not covered, with its reason.

        `reasons`: (coverage index, reason) → how often; `waiting`: indices that a test still to run leads to.
        """
        rows: list[Untaken] = []
        reached = {self.directions[i].site for i in self.covered if i in self.directions}
        for index, direction in sorted(self.directions.items()):
            if index in self.covered:
                continue
            reason, count = Unflipped.CONCRETE if direction.site in reached else Unflipped.NOT_REACHED, 0
            if index in waiting:
                reason = Unflipped.WAITING
            else:
                for candidate in _BY_WEIGHT:
                    if seen := reasons.get((index, candidate), 0):
                        reason, count = candidate, seen
                        break
            rows.append(Untaken(direction.file, direction.line, direction.function, direction.name, reason, count))
        return rows
