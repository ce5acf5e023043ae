"""What exploration has counted: what makes it incomplete, why branches were not flipped, what the solver answered.

An explorer counts; whoever keeps the books adds up what explorers have counted since they were last asked. In the
record and on the wire a tally is `TallyRows`, in which pairs that are keys here are rows.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta, Struct, field

from score_embed.contract.words import Unflipped
from score_embed.solve.chain import SolverStats

Index = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Times = Annotated[int, Meta(ge=0)]


class TallyRows(Struct, frozen=True):
    """A tally as it is kept and sent."""

    notes: tuple[tuple[str, Index, Times], ...]  # what, site, how often
    unflipped: tuple[tuple[Index, Unflipped, Times], ...]  # coverage index, reason, how often
    divergences: Times
    concretized: Times
    solver: SolverStats
    forks: tuple[tuple[Index, Times], ...] = ()  # site, tests for another value of it


class Tally(Struct):
    """Running totals."""

    notes: Counter[tuple[str, int]] = field(default_factory=Counter)  # (what, site)
    unflipped: Counter[tuple[int, Unflipped]] = field(default_factory=Counter)  # (coverage index, reason)
    divergences: int = 0
    concretized: int = 0
    solver: SolverStats = field(default_factory=SolverStats)
    forks: Counter[int] = field(default_factory=Counter)  # by site: tests for another value of it

    def add(self, other: TallyRows) -> None:
        """What an explorer has counted."""
        self.notes.update({(what, site): count for what, site, count in other.notes})
        self.unflipped.update({(index, why): count for index, why, count in other.unflipped})
        self.divergences += other.divergences
        self.concretized += other.concretized
        self.solver.add(other.solver)
        self.forks.update(dict(other.forks))

    def rows(self) -> TallyRows:
        return TallyRows(
            tuple((*key, count) for key, count in self.notes.items()),
            tuple((*key, count) for key, count in self.unflipped.items()),
            self.divergences,
            self.concretized,
            self.solver,
            tuple(self.forks.items()),
        )
