"""Branch coverage by direction, and for each direction not taken the reason why.

"Why was nothing generated for this branch?" is the question users ask most; each uncovered
direction gets one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from score_embed.frontend.sites import SiteKind, SiteTable

# A direction may have failed for several reasons; the one that most likely hides something is reported.
_BY_WEIGHT = ("diverged", "unknown", "bound", "concrete", "unsat")


@dataclass(frozen=True, slots=True)
class Direction:
    """One outcome of a branch: `true`/`false` of a condition, `case N`/`default` of a switch."""

    site: int
    file: str
    line: int
    name: str


class Coverage:
    """Which coverage indices some test has set."""

    def __init__(self, table: SiteTable) -> None:
        self.directions: dict[int, Direction] = {}
        for site in table.branches():
            for outcome in range(site.outcomes):
                if site.kind is SiteKind.COND:
                    if site.flags & 1 and outcome == 0:
                        continue  # the false side of an assumption is nobody's goal
                    name = "true" if outcome else "false"
                elif outcome == len(site.labels):
                    name = "default"
                else:
                    name = f"case {site.labels[outcome][0]}"
                direction = Direction(site.id, site.file, site.line, name)
                self.directions[site.coverage + outcome] = direction
        self.covered: set[int] = set()

    @property
    def total(self) -> int:
        return len(self.directions)

    def add(self, indices: Iterable[int]) -> list[int]:
        """The indices among these that are new."""
        fresh = [i for i in indices if i in self.directions and i not in self.covered]
        self.covered.update(fresh)
        return fresh

    def unflipped(self, reasons: Mapping[tuple[int, str], int]) -> list[dict[str, Any]]:
        """Every direction not covered, with its reason; `reasons`: (coverage index, reason) → how often."""
        reached = {self.directions[i].site for i in self.covered}
        rows: list[dict[str, Any]] = []
        for index, direction in sorted(self.directions.items()):
            if index in self.covered:
                continue
            reason, count = "concrete" if direction.site in reached else "not-reached", 0
            for candidate in _BY_WEIGHT:
                seen = reasons.get((index, candidate), 0)
                if seen:
                    reason, count = candidate, seen
                    break
            rows.append(
                {
                    "file": direction.file,
                    "line": direction.line,
                    "direction": direction.name,
                    "reason": reason,
                    "count": count,
                }
            )
        return rows
