"""Bugs beside what the user has said of them: which are still open, which are known, which cannot be.

A bug's id is made of what stays when code around it is edited or moved to another folder: kind, file name, function, callers
and the text of the line; never of line numbers, inputs or the campaign.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from score_embed.contract.judged import ACCEPT, SHORT, Judged
from score_embed.results.bugs import Bug
from score_embed.results.sourcemap import SourceMap


@dataclass(frozen=True)
class Sorted:
    """`open`: bugs of which nothing was said; `judged`: the others, with the line that says so; `unmatched`: lines that no bug of this
    campaign is meant by."""

    open: tuple[Bug, ...]
    judged: tuple[tuple[Bug, Judged], ...]
    unmatched: tuple[Judged, ...]

    @property
    def accepted(self) -> int:
        return sum(line.word == ACCEPT for _, line in self.judged)

    @property
    def refused(self) -> int:
        return len(self.judged) - self.accepted


def sort_out(bugs: Iterable[Bug], lines: Sequence[Judged], sources: SourceMap) -> Sorted:
    """Bugs in their order. A condition that never holds is in the harness; it means no bug."""
    left: list[Bug] = []
    judged: list[tuple[Bug, Judged]] = []
    for bug in bugs:
        line = meaning(bug, lines, sources) if lines else None
        if line is None:
            left.append(bug)
        else:
            judged.append((bug, line))
    used = {line for _, line in judged}
    unmatched = tuple(line for line in lines if line not in used and not line.is_condition)
    return Sorted(tuple(left), tuple(judged), unmatched)


def meaning(bug: Bug, lines: Iterable[Judged], sources: SourceMap) -> Judged | None:
    """The first line that is of a bug."""
    ident = identity(bug, sources)
    return next((line for line in lines if line.means(ident, bug.file, bug.line, bug.kind)), None)


def identity(bug: Bug, sources: SourceMap) -> str:
    """What is the same of a bug in any campaign, in hexadecimal."""
    place = bug.place
    line = "".join(sources.text(place.file, place.line).split())
    parts = [bug.kind, Path(place.file).name, place.function, *place.stack, line]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def short_id(bug: Bug, sources: SourceMap) -> str:
    """As much of it as people write."""
    return identity(bug, sources)[:SHORT]
