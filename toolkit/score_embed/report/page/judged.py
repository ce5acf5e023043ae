"""Bugs that the user has accepted or refused, as rows of a page: what they are, and the line that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from score_embed.contract.judged import Judged
from score_embed.report import kinds, text
from score_embed.results.bugs import Bug


@dataclass(frozen=True)
class ShownJudged:
    done: str  # accepted or refused
    kind: str
    title: str  # what happened
    function: str
    file: str
    line: int
    anchor: str
    why: str
    said: str  # the user's line, without the reason
    at: str  # where that stands
    word: str


def row(bug: Bug, line: Judged, file: str, anchor: str) -> ShownJudged:
    """`file`: as the page names it; `anchor`: of its line on the page."""
    done, title = text.DONE[line.word], kinds.happened(bug.kind)
    said = f"{line.word} {line.what}"
    return ShownJudged(done, bug.kind, title, bug.function, file, bug.line, anchor, line.why, said, line.at, line.word)


def count(rows: Iterable[ShownJudged]) -> str:
    """How many, in words; mostly nothing."""
    counts: Mapping[str, int] = Counter(each.word for each in rows)
    return text.said_apart(counts)
