"""What `--goal` asks for: the campaign ends when nothing of it is missing. Whether the rest is impossible, only its end tells."""

from __future__ import annotations

from collections.abc import Callable

from score_embed.campaign.vectors import VectorRuns
from score_embed.results.coverage import Coverage
from score_embed.results.sourcemap import is_users


def reached(criterion: str | None, coverage: Coverage, vectors: VectorRuns | None) -> Callable[[], bool]:
    """What tells whether it is reached; without a goal nothing is."""
    if criterion is None:
        return lambda: False
    wanted = {index for index, at in coverage.directions.items() if is_users(at.file, at.function)}

    def branches() -> bool:
        wanted.difference_update(coverage.covered)
        return not wanted

    if criterion == "branch":
        return branches
    assert vectors is not None
    return lambda: vectors.is_reached and branches()
