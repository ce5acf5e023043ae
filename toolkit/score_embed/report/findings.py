"""All that reports say, read from the record at one moment."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from score_embed.contract.entry import Array
from score_embed.contract.judged import Judged
from score_embed.results import summary, witnessed
from score_embed.results.bugs import Bug
from score_embed.results.fleet import FleetFigures
from score_embed.results.known_bugs import sort_out
from score_embed.results.parts import BASELINE, FLEET, JUDGED, PROGRAM, TIMELINE, VERSIONS, Moment, Program
from score_embed.results.sourcemap import SourceMap
from score_embed.results.store import Store
from score_embed.results.summary import Summary
from score_embed.results.test_rows import TestRow


class Findings(Struct, frozen=True):
    """A campaign as reports see it."""

    folder: Path
    summary: Summary
    program: Program
    versions: dict[str, str]
    sources: SourceMap
    covered: frozenset[int]  # coverage indices
    bugs: tuple[Bug, ...]  # of which the user has said nothing
    kept: tuple[TestRow, ...]  # the tests that brought coverage or a bug, in order
    paths: tuple[TestRow, ...]  # the first tests that took a new path
    witnessed: frozenset[int] = frozenset()  # tests in which the second witness saw something
    moments: tuple[Moment, ...] = ()  # its totals as it came along
    grown: tuple[tuple[int, int], ...] = ()  # tests that covered something new, and how many directions
    judged: tuple[tuple[Bug, Judged], ...] = ()  # bugs that the user has accepted or refused
    unmatched: tuple[Judged, ...] = ()  # lines of the user's that no bug is meant by
    waiting: int = 0  # tests that are known and were not run
    fleet: FleetFigures | None = None  # if clients shared it
    baseline: frozenset[str] | None = None  # fingerprints of bugs that are known, if it was given a baseline

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The inputs that are arrays, as far as the harness says so."""
        return self.program.entry.arrays if self.program.entry is not None else ()

    @property
    def own_directions(self) -> list[int]:
        """Of the branches of what was explored: of the function of `--entry`, or of the program."""
        entry = self.program.entry
        own = (entry.name, entry.header or entry.file) if entry is not None else None
        return [
            index
            for index, direction in self.sources.directions.items()
            if own is None or (direction.function, direction.file) == own
        ]

    def is_generated(self, file: str) -> bool:
        """Not a file of the user's, such as the harness that `--entry` makes."""
        return not file or file.startswith("<")

    def absolute(self, file: str) -> Path:
        """Where a source file lay."""
        return Path(os.path.normpath(Path(self.sources.root) / file))


def read(record: Store, most_paths: int = 0) -> Findings:
    """The findings of an open record, with up to `most_paths` of its paths."""
    found, program = summary.of(record), record.get(PROGRAM)
    assert program is not None  # else there is no summary
    found_elsewhere = record.found_by_witness()
    sources = record.sources()
    said, known = record.get(JUDGED), record.get(BASELINE)
    bugs = sort_out(witnessed.all_bugs(record.bugs(), found_elsewhere), said or (), sources)
    return Findings(
        record.folder,
        found,
        program,
        record.get(VERSIONS) or {},
        sources,
        frozenset(sources.directions.keys() & set(record.coverage())),
        bugs.open,
        tuple(record.kept_tests()),
        tuple(record.first_paths(most_paths)),
        frozenset(one.test for one in found_elsewhere),
        tuple(timeline.moments) if (timeline := record.get(TIMELINE)) else (),
        tuple(record.coverage_by_test(sources.marks)),
        bugs.judged,
        bugs.unmatched,
        record.pairs.waiting(),
        record.get(FLEET),
        None if known is None or known.known is None else frozenset(known.known),
    )
