"""What `--goal` asks for: the campaign ends when nothing of it is missing. Whether the rest is impossible, only its end tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from score_embed.campaign.vectors import VectorBooks
from score_embed.contract.statements import Stretch
from score_embed.results.coverage import Coverage
from score_embed.results.sourcemap import SourceMap, is_users


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
