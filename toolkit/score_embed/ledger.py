"""The books of a campaign: totals, coverage and bugs, kept in memory and in the record.

All that one test brought is entered by one call, so that the record never holds half a test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from score_embed.build.image import Image
from score_embed.explore.concolic import Outcome
from score_embed.frontend.sites import Site, SiteKind
from score_embed.results.bugs import Bug, BugList, locate
from score_embed.results.coverage import Coverage, directions_of
from score_embed.results.lines import LineTable
from score_embed.results.store import Store, TestRow, storage_error
from score_embed.results.testcase import Named, TestCase, ValueKind
from score_embed.target.base import Finished, Run
from score_embed.trace.path import SymbolicObject

SHOWN_OUTPUT = 80


class Ledger:
    """What a campaign has found so far."""

    def __init__(self, image: Image, record: Store, versions: Mapping[str, str]) -> None:
        self._image, self._record, self._versions = image, record, versions
        files = {site.file for site in image.sites.sites.values() if site.file}
        self._lines = LineTable(image.elf, files)
        self.totals: Counter[str] = Counter()
        self.conditions_sum = self.conditions_max = 0
        self.notes: Counter[tuple[str, str, int]] = Counter()  # (what, file, line), besides the explorer's
        self.coverage = Coverage(directions_of(image.sites))
        self.bugs = BugList()

    def restore(self, progress: Mapping[str, Any]) -> None:
        """Go on from a record."""
        self.totals.update(progress["totals"])
        self.conditions_sum, self.conditions_max = progress["conditions"]
        self.notes.update({(what, file, line): count for what, file, line, count in progress["notes"]})
        self.coverage.add(self._record.coverage())
        for bug in self._record.bugs():
            self.bugs.add(bug)

    def progress(self) -> dict[str, Any]:
        """The running totals, for the record."""
        return {
            "totals": dict(self.totals),
            "conditions": [self.conditions_sum, self.conditions_max],
            "notes": [[*key, count] for key, count in self.notes.items()],
        }

    def named(self, objects: Iterable[SymbolicObject]) -> tuple[Named, ...]:
        """The symbolic objects of a path with the kind of value they hold."""
        named: list[Named] = []
        for item in objects:
            site = self._image.sites[item.site]
            assert site.kind is SiteKind.SYMBOLIC
            named.append(Named(item.name, item.offset, item.size, _value_kind(site)))
        return tuple(named)

    def enter(self, run: Run, finished: Finished, outcome: Outcome, fresh: list[int]) -> Bug | None:
        """Book one executed test; returns the bug if it found a new one. `fresh`: the coverage it was the first to set."""
        number = run.number
        place = locate(finished, self._image.sites, self._lines)
        verdict = finished.verdict
        test = TestCase(
            number=number,
            input=run.input[: finished.input_used],
            objects=self.named(outcome.objects),
            verdict=verdict.value,
            code=finished.code,
            path_hash=finished.path_hash,
            where=str(place) if verdict.is_bug else "",
            output=finished.output,
            versions=self._versions,
        )
        kind = _kind(outcome)
        self.totals["runs"] += 1
        self.totals[kind] += 1
        if outcome.new_path:
            self.totals["paths"] += 1
            self.conditions_sum += finished.conditions
            self.conditions_max = max(self.conditions_max, finished.conditions)
        bug = None
        if verdict.is_bug:
            bug = self.bugs.add(Bug(verdict.value, place, test.named_inputs(), number))
        row = TestRow(
            number,
            test.input,
            test.verdict,
            test.code,
            test.path_hash,
            kind,
            test.where,
            test.named_inputs(),
            test.output[:SHOWN_OUTPUT].decode("utf-8", "backslashreplace").partition("\n")[0],
        )
        self._record.add_test(row, outcome.new_path)
        self._record.add_coverage(fresh, number)
        if verdict.is_bug:
            known = bug or self.bugs.find(verdict.value, place)
            assert known is not None
            self._record.put_bug(known)
        if fresh or bug or number == 1:
            self._write_files(test, bug is not None)
        return bug

    def _write_files(self, test: TestCase, is_bug: bool) -> None:
        folder = self._record.folder / ("bugs" if is_bug else "tests")
        try:
            test.write(folder)
        except OSError as error:
            raise storage_error(error, self._record.folder) from error

    def note(self, what: str, file: str, line: int) -> None:
        """Something that makes the results incomplete."""
        self.notes[what, file, line] += 1


def _value_kind(site: Site) -> ValueKind:
    if site.size == 0:
        return "bytes"
    if site.flags & 2:
        return "boolean"
    return "signed" if site.flags & 1 else "unsigned"


def _kind(outcome: Outcome) -> str:
    if outcome.mispredicted:
        return "mispredicted"
    if outcome.redundant:
        return "redundant"
    return "new" if outcome.new_path else "no path"
