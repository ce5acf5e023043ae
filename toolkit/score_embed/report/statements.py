"""Statement coverage in words: for the terminal, the report and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from score_embed.contract.words import Statement

_WHY = {
    Statement.OPEN: "no test came there",
    Statement.UNREACHABLE: "proved to be unreachable",
    Statement.UNCERTAIN: "uncertain: tests that came near ended there, a call did not come back, or interrupts run it",
}


def lines(found: Mapping[str, Any], within: Sequence[str]) -> Iterator[str]:
    """All that the report says of it; nothing if statements are not told."""
    yield from totals(found)
    if found and found[Statement.UNREACHABLE] and within:
        yield f"unreachable: within {', '.join(within)}"
    rows = found["missing"] if found else ()
    for (file, function, why), some in groupby(rows, key=lambda row: (row["file"], row["function"], row["why"])):
        numbers = ", ".join(map(str, dict.fromkeys(row["line"] for row in some)))
        yield f"{file}:{numbers} in {function}: {_WHY[why]}"


def totals(found: Mapping[str, Any]) -> Iterator[str]:
    """The counts."""
    if found:
        rest = ", ".join(f"{found[word]} {word}" for word in Statement if found[word] and word is not Statement.REACHED)
        yield f"statements: {found[Statement.REACHED]}/{found['total']} reached" + (f"; {rest}" if rest else "")
