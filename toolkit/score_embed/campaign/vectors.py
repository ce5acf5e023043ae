"""MC/DC of a campaign: each test that took a path runs once more, and says how every condition came out.

The second run is in the same image, with the same input, and must take the same path. So also conditions are known of which
nothing is symbolic, and a board needs no second image.
"""

from __future__ import annotations

from collections.abc import Sequence

from score_embed.campaign.judging import is_doubtful
from score_embed.contract.outcome import Finished, Run, Target
from score_embed.contract.sites import SiteTable
from score_embed.explore.pair import Pair
from score_embed.results import criteria, mcdc
from score_embed.results.parts import VECTORS
from score_embed.results.store import Store
from score_embed.results.vectors import Taken, VectorBook
from score_embed.trace.cursor import TraceError
from score_embed.trace.path import Condition as PathCondition
from score_embed.trace.vectors import VectorReader

_LOOK_BACK = 64  # conditions of a path, for those of the same decision


class VectorRuns:
    """Of one campaign."""

    def __init__(self, target: Target, table: SiteTable, record: Store) -> None:
        self._target, self._record = target, record
        self._reader = VectorReader(table)
        self._decisions = record.sources().decisions
        self._numbers = _numbers(table, self._decisions)
        self._book = VectorBook(criteria.recorded(record))
        self._missing = [mcdc.possible(decision) for decision in self._decisions]
        self._answers: dict[tuple[int, tuple[tuple[int, bool], ...]], bool] = {}  # since a vector was new
        self._members = {
            condition.site: (number, at)
            for number, decision in enumerate(self._decisions)
            for at, condition in enumerate(decision.conditions)
            if condition.site
        }
        self._subtract(self._book.all())

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
        self._subtract(self._book.enter(number, taken, own))

    def keep(self) -> None:
        """Let the next commit have all of it."""
        self._record.put(VECTORS, self._book.state())

    def _subtract(self, fresh: Sequence[tuple[int, str]]) -> None:
        """What new vectors show is not missing any more."""
        for number, vector in fresh:
            self._missing[number] -= mcdc.items(self._decisions[number], vector)
        if fresh:
            self._answers.clear()

    def may_show(self, pair: Pair, conditions: Sequence[PathCondition]) -> bool:
        """Whether a flip of the path with these conditions may lead to a vector that shows something new: for all that is
        known of it, which is how the symbolic conditions of its decision before it came out."""
        index = pair.depth - 1
        if not 0 <= index < len(conditions) or conditions[index].site not in self._members:
            return False
        number, at = self._members[conditions[index].site]
        if not self._missing[number]:
            return False
        known = {at: not conditions[index].direction}
        for before in reversed(conditions[max(0, index - _LOOK_BACK) : index]):
            if not at:
                break
            other, earlier = self._members.get(before.site, (-1, 0))
            if other != number:
                continue  # a condition's operand contains it
            if earlier >= at:
                break
            at, known[earlier] = earlier, bool(before.direction)
        question = number, tuple(known.items())
        if question not in self._answers:
            shows = mcdc.possible(self._decisions[number], known)
            self._answers[question] = not self._missing[number].isdisjoint(shows)
        return self._answers[question]

    @property
    def is_reached(self) -> bool:
        """All that constants allow was shown."""
        return not any(self._missing)


def _numbers(table: SiteTable, kept: tuple[object, ...]) -> dict[int, int]:
    """The image's decisions by number, and what they are called in the record."""
    places = {decision: number for number, decision in enumerate(kept)}
    return {number: places[decision] for number, decision in enumerate(table.decisions) if decision in places}
