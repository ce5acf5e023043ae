"""What exploration has counted: what makes its result incomplete, why branches were not flipped, what the solver answered.

An explorer counts; a fleet's server adds up what its clients' explorers counted; the record keeps the sum as an
`ExplorerState`, in which pairs that are keys here are rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from msgspec import Struct

from score_embed.contract.words import Unflipped
from score_embed.solve.chain import SolverStats


class ExplorerState(Struct, frozen=True):
    """All that an exploration has to know to go on, but the waiting pairs and the paths, which the record keeps itself."""

    queue: int  # runs that the queue has seen
    notes: tuple[tuple[str, int, int], ...]  # what, site, how often
    unflipped: tuple[tuple[int, Unflipped, int], ...]  # coverage index, reason, how often
    divergences: int
    concretized: int
    solver: SolverStats
    forks: tuple[tuple[int, int], ...] = ()  # site, tests for another value of it


@dataclass(slots=True)
class Tally:
    """Running totals."""

    notes: Counter[tuple[str, int]] = field(default_factory=Counter)  # (what, site)
    unflipped: Counter[tuple[int, Unflipped]] = field(default_factory=Counter)  # (coverage index, reason)
    divergences: int = 0
    concretized: int = 0
    solver: SolverStats = field(default_factory=SolverStats)
    forks: Counter[int] = field(default_factory=Counter)  # by site: tests for another value of it

    def add(self, other: Tally) -> None:
        """What somebody else has counted."""
        self.notes.update(other.notes)
        self.unflipped.update(other.unflipped)
        self.divergences += other.divergences
        self.concretized += other.concretized
        self.solver.add(other.solver)
        self.forks.update(other.forks)

    def state(self, queue: int) -> ExplorerState:
        return ExplorerState(
            queue,
            tuple((*key, count) for key, count in self.notes.items()),
            tuple((*key, count) for key, count in self.unflipped.items()),
            self.divergences,
            self.concretized,
            self.solver,
            tuple(self.forks.items()),
        )

    @staticmethod
    def of(state: ExplorerState) -> Tally:
        notes = Counter({(what, site): count for what, site, count in state.notes})
        unflipped = Counter({(index, why): count for index, why, count in state.unflipped})
        return Tally(notes, unflipped, state.divergences, state.concretized, state.solver, Counter(dict(state.forks)))
