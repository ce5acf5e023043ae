"""Coverage criteria while a campaign runs: the vectors of MC/DC, and what `--goal` asks for.

For MC/DC each test that took a path runs once more, and says how every condition came out. The second run is in the
same image, with the same input, and must take the same path. So also conditions are known of which nothing is symbolic,
and a board needs no second image.

With a goal the campaign ends when nothing of it is missing. Whether the rest is impossible, only its end tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from score_embed.campaign.judging import is_doubtful
from score_embed.config import Settings
from score_embed.contract.coverage import Decision, Stretch
from score_embed.contract.outcome import Finished, Run, Target
from score_embed.contract.sites import SiteTable
from score_embed.explore.pair import Pair
from score_embed.results import criteria, mcdc
from score_embed.results.coverage import Coverage, directions_of
from score_embed.results.parts import VECTORS
from score_embed.results.sourcemap import SourceMap, is_users, users_decisions
from score_embed.results.store import Store
from score_embed.results.vectors import Taken, VectorBook
from score_embed.trace.trail import Condition as PathCondition
from score_embed.trace.trail import TraceError
from score_embed.trace.vectors import VectorReader

_LOOK_BACK = 64  # conditions of a path, for those of the same decision


def are_wanted(settings: Settings) -> bool:
    """Whether a campaign records vectors."""
    return "mcdc" in (settings.goal, settings.strategy) or settings.have is not None


class VectorBooks:
    """Where the record is: what all tests took, whoever ran them."""

    def __init__(self, record: Store) -> None:
        self._record, self._decisions = record, record.sources().decisions
        self._book = VectorBook(criteria.recorded(record))
        self._missing = [mcdc.possible(decision) for decision in self._decisions]
        _subtract(self._missing, self._decisions, self._book.all())

    def all(self) -> list[tuple[int, str]]:
        """The vectors so far, each with the number of its decision."""
        return self._book.all()

    def enter(self, number: int, taken: Taken | None, own: bool) -> list[tuple[int, str]]:
        """Put it into the books, for test `number`; returns the vectors that are new. `own`: it was the user's
        before."""
        if taken is None:
            self._book.skip()
            return []
        fresh = self._book.enter(number, taken, own)
        _subtract(self._missing, self._decisions, fresh)
        return fresh

    def keep(self) -> None:
        """Let the next commit have all of it."""
        self._record.put(VECTORS, self._book.state())

    @property
    def is_reached(self) -> bool:
        """All that constants allow was shown."""
        return not any(self._missing)


class VectorRuns:
    """Where a target is: what each test took, and what a flip may show that is new here."""

    def __init__(self, target: Target, table: SiteTable) -> None:
        self._target = target
        self._reader = VectorReader(table)
        self._decisions = users_decisions(table)  # as the record has them
        self._numbers = _numbers(table, self._decisions)
        self._directions = directions_of(table).keys()
        self._missing = [mcdc.possible(decision) for decision in self._decisions]
        self._answers: dict[tuple[int, tuple[tuple[int, bool], ...]], bool] = {}  # since a vector was new
        self._members = {
            condition.site: (number, at)
            for number, decision in enumerate(self._decisions)
            for at, condition in enumerate(decision.conditions)
            if condition.site
        }

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
        return Taken(tuple(vectors), tuple(sorted(found.directions & self._directions)), found.left)

    def learn(self, fresh: Sequence[tuple[int, str]]) -> None:
        """These vectors are known from now on."""
        _subtract(self._missing, self._decisions, fresh)
        if fresh:
            self._answers.clear()

    def may_show(self, pair: Pair, conditions: Sequence[PathCondition]) -> bool:
        """Whether a flip of the path with these conditions may lead to a vector that shows something new: for all that
        is known of it, which is how the symbolic conditions of its decision before it came out."""
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


class VectorReports:
    """What a client of a fleet tells of vectors: all that a test took if some of it is new here, else that it took
    nothing new."""

    def __init__(self, runs: VectorRuns) -> None:
        self._runs = runs
        self._vectors: set[tuple[int, str]] = set()
        self._directions: set[int] = set()

    def look(self, test: Run, finished: Finished) -> Taken | None:
        """See VectorRuns."""
        taken = self._runs.look(test, finished)
        if taken is None:
            return None
        fresh = [vector for vector in taken.vectors if vector not in self._vectors]
        if not fresh and self._directions.issuperset(taken.directions):
            return Taken((), (), taken.left)
        self._vectors.update(fresh)
        self._directions.update(taken.directions)
        self._runs.learn(fresh)
        return taken


def _subtract(
    missing: list[set[mcdc.Item]], decisions: Sequence[Decision], fresh: Sequence[tuple[int, str]]
) -> None:
    """What new vectors show is not missing any more."""
    for number, vector in fresh:
        missing[number] -= mcdc.items(decisions[number], vector)


def _numbers(table: SiteTable, kept: tuple[object, ...]) -> dict[int, int]:
    """The image's decisions by number, and what they are called in the record."""
    places = {decision: number for number, decision in enumerate(kept)}
    return {number: places[decision] for number, decision in enumerate(table.decisions) if decision in places}


class _Statements:
    """Those that no test has reached yet."""

    def __init__(self, stretches: Iterable[Stretch], coverage: Coverage) -> None:
        self._missing, self._coverage = list(stretches), coverage
        self._known = -1  # how many indices were covered when it was looked last

    def are_reached(self) -> bool:
        known = len(self._coverage.covered) + len(self._coverage.passed)
        if known != self._known:
            self._known = known
            covered = self._coverage.covered | self._coverage.passed
            self._missing = [one for one in self._missing if one.reached(covered) < len(one.lines)]
        return not self._missing


def reached(
    criterion: str | None, sources: SourceMap, coverage: Coverage, vectors: VectorBooks | None
) -> Callable[[], bool]:
    """What tells whether it is reached; without a goal nothing is."""
    if criterion is None:
        return lambda: False
    if criterion == "statement":
        return _Statements(sources.stretches, coverage).are_reached
    wanted = {index for index, at in coverage.directions.items() if is_users(at.file, at.function)}

    def branches() -> bool:
        wanted.difference_update(coverage.covered)
        return not wanted

    if criterion == "branch":
        return branches
    assert vectors is not None
    return lambda: vectors.is_reached and branches()
