"""MC/DC of a campaign: each test that took a path runs once more, and says how every condition came out.

The second run is in the same image, with the same input, and must take the same path. So also conditions are known of which
nothing is symbolic, and a board needs no second image.
"""

from __future__ import annotations

from collections.abc import Sequence

from score_embed.campaign.judging import is_doubtful
from score_embed.contract.outcome import Finished, Run, Target
from score_embed.contract.sites import SiteTable
from score_embed.results import criteria, mcdc
from score_embed.results.parts import VECTORS
from score_embed.results.store import Store
from score_embed.results.vectors import Taken, VectorBook
from score_embed.trace.cursor import TraceError
from score_embed.trace.vectors import VectorReader


class VectorRuns:
    """Of one campaign. `wanted`: coverage indices of the sides of conditions that may show something that is missing."""

    def __init__(self, target: Target, table: SiteTable, record: Store) -> None:
        self._target, self._table, self._record = target, table, record
        self._reader = VectorReader(table)
        self._decisions = record.sources().decisions
        self._numbers = _numbers(table, self._decisions)
        self._book = VectorBook(criteria.recorded(record))
        self._missing = [mcdc.possible(decision) for decision in self._decisions]
        self._leading: list[set[int]] = [set() for _ in self._decisions]
        self.wanted: set[int] = set()
        self._subtract(self._book.all(), set(range(len(self._decisions))))

    def look(self, test: Run, finished: Finished) -> Taken | None:
        """What a test took that has just run; None if that cannot be seen. Raises TargetError as a test does."""
        again = self._target.run(Run(test.number, test.input, max_branches=test.max_branches, vectors=True))
        if is_doubtful(again):
            self._target.restart()
            return None
        if (again.verdict, again.path_hash) != (finished.verdict, finished.path_hash):
            return None
        try:
            found = self._reader.read(again.events)
        except TraceError:
            return None
        vectors = sorted((self._numbers[number], vector) for number, vector in found.taken if number in self._numbers)
        return Taken(vectors, sorted(found.directions), found.left)

    def enter(self, number: int, taken: Taken | None, own: bool) -> None:
        """Put it into the books, for test `number`. `own`: it was the user's before."""
        if taken is None:
            self._book.skip()
            return
        self._subtract(self._book.enter(number, taken, own), set())

    def keep(self) -> None:
        """Let the next commit have all of it."""
        self._record.put(VECTORS, self._book.state())

    def _subtract(self, fresh: Sequence[tuple[int, str]], changed: set[int]) -> None:
        """What new vectors show is not missing any more; so other sides of conditions lead on, also in `changed`."""
        for number, vector in fresh:
            before = len(self._missing[number])
            self._missing[number] -= mcdc.items(self._decisions[number], vector)
            if len(self._missing[number]) < before:
                changed.add(number)
        for number in changed:
            self._leading[number] = self._leads(number)
        if changed:
            self.wanted.clear()
            self.wanted.update(*self._leading)

    def _leads(self, number: int) -> set[int]:
        """The sides of a decision's conditions that may show what it has not shown, as coverage indices."""
        decision, missing = self._decisions[number], self._missing[number]
        sites = [self._table.sites.get(condition.site) for condition in decision.conditions]
        leading = mcdc.leading(decision, missing) if missing else ()
        return {site.coverage + value for n, value in leading if (site := sites[n]) is not None}

    @property
    def is_reached(self) -> bool:
        """All that constants allow was shown."""
        return not any(self._missing)


def _numbers(table: SiteTable, kept: tuple[object, ...]) -> dict[int, int]:
    """The image's decisions by number, and what they are called in the record."""
    places = {decision: number for number, decision in enumerate(kept)}
    return {number: places[decision] for number, decision in enumerate(table.decisions) if decision in places}
