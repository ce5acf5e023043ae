"""What the exploration of a project's functions came to, for the terminal."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import Protocol

from rich.table import Table
from rich.text import Text

from score_embed.contract.judged import ACCEPT, REFUSE
from score_embed.contract.words import Stop
from score_embed.errors import printable
from score_embed.report import kinds
from score_embed.report.text import set_apart


class Row(Protocol):
    """See `unit.rows.Row`."""

    function: str
    file: str
    line: int
    stopped: str
    within: tuple[str, ...]
    why: str
    paths: int
    covered: int
    branches: int
    bugs: int
    accepted: int
    refused: int
    unmatched: tuple[str, ...]


class Found(Protocol):
    """See `unit.rows.Found`."""

    kind: str
    file: str
    line: int
    function: str
    rests_on: tuple[str, ...]
    test: int
    id: str
    context: tuple[str, ...]
    firm: bool
    not_from: tuple[str, ...]
    confirmed: bool
    fingerprint: str


_MOST_BUGS = 20  # that are listed
_FEW = 3  # bounds that are shown of a function


def table(rows: Sequence[Row]) -> Table:
    """A line for each function, with its place below `shared_folder`."""
    shared = shared_folder(rows)
    made = Table("function", "at", "paths", "branches", "bugs", "ended")
    for row in rows:
        branches = f"{row.covered}/{row.branches}" if row.branches else "–"
        place = f"{os.path.relpath(row.file, shared) if shared else row.file}:{row.line}"
        cells = [row.function, place, str(row.paths), branches, str(row.bugs), ended(row)]
        made.add_row(*(Text(printable(cell), overflow="fold") for cell in cells))
    return made


def shared_folder(rows: Sequence[Row]) -> str:
    """The folder that all files are in or below, which in each line would leave no room for the rest; "" if paths are
    relative to the current one, which people know."""
    folders = {os.path.dirname(row.file) for row in rows}
    return os.path.commonpath(folders) if folders and all(map(os.path.isabs, folders)) else ""


def ended(row: Row) -> str:
    """How, within which bounds, and why not otherwise."""
    said = row.stopped or "not explored yet"
    if row.stopped == Stop.EXHAUSTED and row.within:
        more = len(row.within) - _FEW
        said += f" within {', '.join(row.within[:_FEW])}" + (f" and {more} more" if more > 0 else "")
    first, *others = row.why.split("; ")
    also = f" and {len(others)} more" if others else ""
    return f"{said}: {first}{also}" if first else said


def line(row: Row) -> str:
    """One function, when it is done."""
    branches = f", branches {row.covered}/{row.branches}" if row.branches else ""
    bugs = f", bugs {row.bugs}" if row.bugs else ""
    return printable(f"{row.function}: {row.paths} paths{branches}{bugs}; {ended(row)}")


def totals(rows: Sequence[Row], notes: Sequence[str], known: int = 0) -> Iterator[str]:
    """All functions together. `known`: how many of the bugs a baseline knows."""
    how = Counter(row.stopped or "not explored yet" for row in rows)
    covered, branches = sum(row.covered for row in rows), sum(row.branches for row in rows)
    percent = f" ({100 * covered // branches} %)" if branches else ""
    yield from (printable(note) for note in notes)
    ends = ", ".join(f"{count} {name}" for name, count in how.most_common()) or "none but main"
    yield (
        f"{len(rows)} functions: {ends}; {sum(row.paths for row in rows)} paths, "
        f"branches of their own {covered}/{branches}{percent}, bugs {sum(row.bugs for row in rows)}"
        f"{f', {known} of them known' if known else ''}"
        f"{set_apart({ACCEPT: sum(row.accepted for row in rows), REFUSE: sum(row.refused for row in rows)})}"
    )
    yield from (printable(f"said of no bug that was found: {line}") for line in unmatched(rows))


def bugs(ranked: Sequence[tuple[Row, Found]], baseline: Set[str] = frozenset()) -> Iterator[str]:
    """The bugs, the likeliest first, those of a baseline last: where, what, and whether a caller shows it, too. Each is
    a line that editors and servers know from compilers, as those of a campaign are."""
    ranked = sorted(ranked, key=lambda each: each[1].fingerprint in baseline)
    for row, bug in ranked[:_MOST_BUGS]:
        where = f"{bug.file}:{bug.line}" if bug.file else "unknown place"
        level = "note: known" if bug.fingerprint in baseline else "error" if bug.confirmed else "warning"
        said = f"{where}: {level}: {kinds.happened(bug.kind)}{f' in {bug.function}' if bug.function else ''}"
        if bug.context:
            firmly = "" if bug.firm else ", which rests on something, too"
            said += f"; confirmed in context: {', '.join(bug.context)}{firmly}"
        if bug.not_from:
            said += f"; not shown by its callers: {', '.join(bug.not_from)}"
        if bug.rests_on:
            said += f"; rests on: {'; '.join(bug.rests_on)}"
        yield printable(f"{said}; id {bug.id}, test {bug.test} of {row.function} [{bug.kind}]")
    if len(ranked) > _MOST_BUGS:
        yield f"… and {len(ranked) - _MOST_BUGS} more bugs: they are in unit.json"


def unmatched(rows: Sequence[Row]) -> list[str]:
    """The lines that no bug of any explored function is meant by."""
    explored = [row.unmatched for row in rows if row.paths]
    return [line for line in (explored[0] if explored else ()) if all(line in others for others in explored)]
