"""The word for a campaign that has no test left: `exhausted`, or `drained` if anything escaped it on the way.

`exhausted` is a proof that every feasible path was run, so it is said here only, of all that could not be followed,
whoever noted it: the explorer (of values and paths), the books (of a first test that differs when it is run again, of a
fleet's lost or repeated tests), the tests that are set aside, the image (of what was known to be lost when it was built).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from score_embed.contract.words import Stop
from score_embed.results.sourcemap import SourceMap


def is_vacuous(summary: Mapping[str, Any]) -> bool:
    """Whether a campaign came to its end without any path: what is assumed holds for no input, so nothing was explored."""
    return summary["stopped"] in (Stop.EXHAUSTED, Stop.DRAINED) and not (summary["paths"] or summary["lost"])


def word(sources: SourceMap, lost: int, *noted: Mapping[Any, int]) -> Stop:
    """`sources`: of the program, with what its image is known to lose; `lost`: tests that are set aside; `noted`:
    everybody's notes, and how often each was made."""
    escaped = len(sources.losses) + lost + sum(sum(notes.values()) for notes in noted)
    return Stop.DRAINED if escaped else Stop.EXHAUSTED
