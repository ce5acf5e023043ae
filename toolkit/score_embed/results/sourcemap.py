"""What the record keeps of the program under test: where its probes stand, its branches, and its source text.

Reports need it and must need nothing else: the image may be gone, the sources will have been edited, and a report
of a campaign says what was tested then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from score_embed.contract.coverage import Decision, Stretch
from score_embed.contract.sites import MODEL, SiteKind, SiteTable, shown
from score_embed.results.coverage import Direction, directions_of, function_name

MOST_TEXT = 4_000_000  # bytes of a source file; the lines of a longer one are not kept


class Position(Struct, frozen=True, array_like=True):
    """A line of the program and the function it belongs to."""

    file: str
    line: int
    function: str


class SourceMap(Struct, frozen=True):
    """The user's view of an image. File names are as the compiler was given them, relative to `root`."""

    root: str  # the working folder of the campaign
    sites: dict[int, Position]
    directions: dict[int, Direction]  # by coverage index
    entries: tuple[Position, ...]  # where functions begin
    main_parameters: int
    notes: tuple[tuple[str, str, int], ...]  # (what, file, line) left as written
    losses: tuple[tuple[str, str, int], ...]  # (what, file, line) that no test of this program can follow
    texts: dict[str, tuple[str, ...]]  # the lines of each file
    decisions: tuple[Decision, ...] = ()  # of the user's functions, those of several conditions
    stretches: tuple[Stretch, ...] = ()  # of the user's statements, if they are told
    marks: frozenset[int] = frozenset()  # coverage indices that no branch has

    def text(self, file: str, line: int) -> str:
        """A line of the source as it was, without its indentation; "" if it is not known."""
        lines = self.texts.get(file, ())
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def definition(self, function: str) -> Position | None:
        """Where a function begins, unless several files have one of that name."""
        found = [entry for entry in self.entries if entry.function == function]
        return found[0] if len(found) == 1 else None


def source_map(
    table: SiteTable, notes: Iterable[tuple[str, str, int]], losses: Iterable[tuple[str, str, int]], root: Path
) -> SourceMap:
    """The map of an image whose sources are read now."""
    sites = {ident: Position(site.file, site.line, function_name(site)) for ident, site in table.sites.items()}
    entries = [site for site in table.sites.values() if site.kind is SiteKind.ENTER]
    files = dict.fromkeys(position.file for position in sites.values() if position.file)
    return SourceMap(
        str(root),
        sites,
        directions_of(table),
        tuple(sites[site.id] for site in entries),
        next((site.size for site in entries if sites[site.id].function == "main"), 0),
        tuple(notes),
        tuple(losses),
        {file: lines for file in files if (lines := _lines(root / file))},
        users_decisions(table),
        tuple(dict.fromkeys(_users(table.stretches))),  # copies of a header's function share their coverage
        frozenset(site.coverage for site in table.sites.values() if site.kind is SiteKind.MARK),
    )


def users_decisions(table: SiteTable) -> tuple[Decision, ...]:
    """Those of the user's functions, in the order of the record."""
    return tuple(decision for decision in table.decisions if is_users(decision.file, decision.function))


def is_users(file: str, function: str) -> bool:
    """Not a model of the C library, nor what `--entry` makes."""
    return not function.startswith(MODEL) and not file.startswith("<")


def _users(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """By the functions' own names."""
    for one in stretches:
        if is_users(one.lines[0][0], one.function):
            yield one._replace(function=shown(one.function))


def _lines(path: Path) -> tuple[str, ...]:
    """The lines of a source file; none if it cannot be read: only reports are the poorer for it."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_TEXT:
            return ()
        return tuple(path.read_text(encoding="utf-8", errors="replace").split("\n"))
    except OSError:
        return ()
