"""The books of a campaign: totals, coverage and bugs, kept in memory and in the record.

All that one test brought is entered by one call, so that the record never holds half a test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from score_embed.campaign.describing import Entry
from score_embed.contract.outcome import LinkCounters, Verdict
from score_embed.contract.words import Came, Stop
from score_embed.explore.tally import ExplorerState
from score_embed.results.bugs import Bug, BugList, kind_of
from score_embed.results.coverage import Coverage, Direction
from score_embed.results.parts import VERSIONS
from score_embed.results.progress import Memory, Progress
from score_embed.results.storage import storage_error
from score_embed.results.store import Store, TestRow
from score_embed.results.testcase import TestCase, Value, named_inputs

SHOWN_OUTPUT = 80
UNCHECKED = "unchecked"  # among the totals: accesses through pointers of which nobody knows the bounds
REPEATED = "re-asked"  # among the totals: runs of a path for a flip of it whose question had been forgotten
LOST = "lost"  # among the totals: tests that the target did not survive, and not in the same way a second time


class Ledger:
    """What a campaign has found so far."""

    def __init__(self, record: Store, directions: Mapping[int, Direction]) -> None:
        self._record, self._versions = record, record.get(VERSIONS) or {}
        self.totals: Counter[str] = Counter()
        self.conditions_sum = self.conditions_max = 0
        self.notes: Counter[tuple[str, str, int]] = Counter()  # (what, file, line), besides the explorer's
        self.coverage = Coverage(directions)
        self.bugs = BugList()

    def restore(self, progress: Progress) -> None:
        """Go on from a record."""
        self.totals.update(progress.totals)
        self.conditions_sum, self.conditions_max = progress.conditions
        self.notes.update({(what, file, line): count for what, file, line, count in progress.notes})
        self.coverage.add(self._record.coverage())
        for bug in self._record.bugs():
            self.bugs.add(bug)

    def progress(
        self, stopped: Stop | None, seconds: float, explorer: ExplorerState, link: LinkCounters, memory: Memory
    ) -> Progress:
        """The running totals, for the record."""
        notes = tuple((*key, count) for key, count in self.notes.items())
        conditions = self.conditions_sum, self.conditions_max
        return Progress(dict(self.totals), conditions, notes, stopped, seconds, explorer, link, memory)

    def enter(self, number: int, entry: Entry, new_path: bool, fresh: Sequence[int]) -> Bug | None:
        """Book one executed test; returns the bug if it found a new one. `fresh`: the coverage it was the first to set."""
        verdict, place = entry.verdict, entry.place
        where = str(place) if verdict.is_bug else ""
        inputs = named_inputs(entry.objects, entry.input)
        came = _came(entry, new_path)
        self.totals["runs"] += 1
        self.totals[UNCHECKED] += entry.unchecked
        self.totals[came] += 1
        self.totals[LOST] += verdict is Verdict.LOST
        if new_path:
            self.totals["paths"] += 1
            self.conditions_sum += entry.conditions
            self.conditions_max = max(self.conditions_max, entry.conditions)
        bug = None
        if verdict.is_bug:
            bug = self.bugs.add(Bug.at(place, kind_of(verdict, entry.code), inputs, number, entry.confirmed))
        output = entry.output[:SHOWN_OUTPUT].decode("utf-8", "backslashreplace").partition("\n")[0]
        row = TestRow(number, entry.input, verdict.value, entry.code, entry.path_hash, came, where, inputs, output)
        self._record.add_test(row, new_path)
        self._record.add_coverage(fresh, number)
        if verdict.is_bug:
            known = bug or self.bugs.find(kind_of(verdict, entry.code), place)
            assert known is not None
            self._record.put_bug(known)
        if fresh or bug or number == 1 or verdict is Verdict.LOST:
            self._write_files(self._test(number, entry, inputs, where), bug is not None)
        return bug

    def _test(self, number: int, entry: Entry, inputs: Mapping[str, Value], where: str) -> TestCase:
        return TestCase(
            number=number,
            input=entry.input,
            inputs=inputs,
            verdict=entry.verdict.value,
            code=entry.code,
            path_hash=entry.path_hash,
            where=where,
            output=entry.output.decode("utf-8", "backslashreplace"),
            versions=self._versions,
        )

    def _write_files(self, test: TestCase, is_bug: bool) -> None:
        folder = self._record.folder / ("bugs" if is_bug else "tests")
        try:
            test.write(folder)
        except OSError as error:
            raise storage_error(error, self._record.folder) from error

    def note(self, what: str, file: str, line: int) -> None:
        """Something that makes the results incomplete."""
        self.notes[what, file, line] += 1


def _came(entry: Entry, new_path: bool) -> Came:
    if entry.mispredicted:
        return Came.MISPREDICTED
    if new_path:
        return Came.NEW
    return Came.REDUNDANT if entry.is_path else Came.NO_PATH
