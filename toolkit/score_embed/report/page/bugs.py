"""Bugs as a page shows them: what was found, with its inputs and what to do; and what the user has accepted or
refused."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from score_embed.contract.judged import Judged
from score_embed.report import kinds, text
from score_embed.report.findings import Findings
from score_embed.report.page.sources import NEAR, Sources
from score_embed.results.bugs import Bug
from score_embed.results.shown import readable

MOST_BYTES = 256  # of an input that are shown


class Shown(Struct, frozen=True):
    """An input's value: as it is, and in other ways to read it."""

    name: str
    value: str
    also: str


class ShownBug(Struct, frozen=True):
    ident: str
    bug: Bug
    title: str  # what happened
    doubt: str
    hint: str
    anchor: str
    near: list[tuple[int, str]]  # lines around it
    inputs: list[Shown]
    commands: list[tuple[str, str]]  # what it does, and how
    is_known: bool  # to the baseline


def found_row(found: Findings, bug: Bug, number: int, shown: Sources, is_known: bool) -> ShownBug:
    place = bug.place
    lines = found.sources.texts.get(place.file, ())
    near = (
        range(max(1, place.line - NEAR), min(len(lines), place.line + NEAR) + 1) if 0 < place.line <= len(lines) else ()
    )
    return ShownBug(
        f"bug-{number + 1}",
        bug,
        kinds.happened(bug.kind),
        f"{text.doubt(bug)}{text.witness(bug)}".strip(),
        text.HINTS.get(bug.kind, ""),
        shown.anchor(place.file, place.line),
        [(at, lines[at - 1][:200]) for at in near],
        [_shown(name, value) for name, value in readable(bug.inputs, found.arrays).items()],
        _commands(found, bug),
        is_known,
    )


def _commands(found: Findings, bug: Bug) -> list[tuple[str, str]]:
    """What each does, and how it is written."""
    made = [("Run it again", f"score-embed replay {shlex.quote(str(found.folder))} {bug.test}")]
    made += [(f"In a debugger: {how}, then", command) for how, command in text.debugging(found, bug)]
    return made


def _shown(name: str, value: int | float | str) -> Shown:
    if isinstance(value, float):
        return Shown(name, repr(value), "")
    if isinstance(value, int):
        return Shown(name, str(value), hex(value) if abs(value) > 9 else "")
    try:
        data = bytes.fromhex(value)
    except ValueError:
        return Shown(name, value[: 2 * MOST_BYTES], "")
    more = f" … ({len(data)} bytes)" if len(data) > MOST_BYTES else ""
    data = data[:MOST_BYTES]
    letters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in data)
    return Shown(name, data.hex(" ") + more, f"“{letters}”" if letters.strip("·") else "")


class ShownJudged(Struct, frozen=True):
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


def judged_row(bug: Bug, line: Judged, file: str, anchor: str) -> ShownJudged:
    """`file`: as the page names it; `anchor`: of its line on the page."""
    done, title = text.DONE[line.word], kinds.happened(bug.kind)
    said = f"{line.word} {line.what}"
    return ShownJudged(done, bug.kind, title, bug.function, file, bug.line, anchor, line.why, said, line.at, line.word)


def judged_count(rows: Iterable[ShownJudged]) -> str:
    """How many, in words; mostly nothing."""
    counts: Mapping[str, int] = Counter(each.word for each in rows)
    return text.said_apart(counts)
