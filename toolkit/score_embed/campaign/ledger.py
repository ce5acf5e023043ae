"""The books of a campaign: all that its tests brought, but for the pairs that wait. Kept in memory and in the record.

Whoever runs the tests, one worker here or the clients of a fleet, gives an `Entry` for each test and now and then what
it has counted. What is new in the campaign (a path, covered branches, a bug) is seen here, because a worker knows of
its own tests only. All that one test brought is entered by one call, so that the record never holds half a test.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from score_embed.campaign.describing import Counted, Entry, PathTest, Small
from score_embed.contract.outcome import LinkCounters, Verdict
from score_embed.contract.words import Came, Stop
from score_embed.engine._core import Brought, HashSet, shown_output
from score_embed.explore.tally import Tally
from score_embed.results import completeness, summary
from score_embed.results.bugs import Bug, BugList, kind_of
from score_embed.results.coverage import Coverage
from score_embed.results.known_bugs import OpenBugs
from score_embed.results.pairs import LostTest, signed
from score_embed.results.parts import (
    JUDGED,
    PROGRAM,
    PROGRESS,
    REFUSED,
    TIMELINE,
    VERSIONS,
    Memory,
    Moment,
    Progress,
    Timeline,
    Totals,
)
from score_embed.results.shown import guess_of, held, not_made, readable
from score_embed.results.sourcemap import SourceMap
from score_embed.results.storage import storage_error
from score_embed.results.store import Store
from score_embed.results.test_rows import Alike, RowsAlike, TestRow
from score_embed.results.testcase import Named, TestCase, named_inputs


class Ledger:
    """What a campaign has found so far; of a record that has progress, it goes on from there."""

    def __init__(self, record: Store, sources: SourceMap, known: frozenset[str] = frozenset()) -> None:
        """`known`: fingerprints of bugs at which no session ends."""
        self._record, self._sources = record, sources
        self._versions = record.get(VERSIONS) or {}
        program = record.get(PROGRAM)
        entry = program.entry if program is not None else None
        self._arrays, self._guesses = (entry.arrays, entry.guesses) if entry is not None else ((), ())
        self._unmade = entry.unmade if entry is not None else ()
        self._states = entry.states if entry is not None else ()
        self.totals = Totals()
        self.notes: Counter[tuple[str, str, int]] = Counter()  # (what, file, line), besides the explorers'
        self.tally = Tally()  # of all explorers
        self.coverage = Coverage(sources.directions, marks=sources.marks)
        self.bugs = BugList()
        self._open = OpenBugs(sources, record.get(JUDGED) or (), known)
        self.refused: Counter[tuple[str, str, int]] = Counter()  # calls, by confinement
        self.has_bug = False  # a confirmed and open one that was new in this session
        self.paths = HashSet()
        self._link, self._memory = LinkCounters(), Memory()
        self.queue = 0  # runs that the work list has seen
        self._seconds = 0.0  # of earlier sessions
        self._began = time.monotonic()
        self._ended: float | None = None
        self.stopped: Stop | None = None  # why no more tests follow
        self._timeline = record.get(TIMELINE) or Timeline()
        progress = record.get(PROGRESS)
        if progress is not None:
            self._restore(progress)

    def _restore(self, progress: Progress) -> None:
        self.totals = progress.totals
        self._record.require_totals(progress.totals)
        self.notes.update({(what, file, line): count for what, file, line, count in progress.notes})
        self.tally.add(progress.tally)
        self.coverage.add(self._record.coverage())
        for bug in self._record.bugs():
            self._open.has(self.bugs.add(bug))
        self.refused.update({(call, file, line): count for call, file, line, count in self._record.get(REFUSED) or ()})
        self.paths = HashSet(self._record.paths.all())
        self._link, self._memory = progress.link, progress.memory
        self.queue, self._seconds = progress.queue, progress.seconds

    # The session --------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The session's time begins now: who runs the tests is there."""
        self._began = time.monotonic()

    def end(self) -> None:
        """The session's time is over: no test follows."""
        self._ended = self._ended or time.monotonic()

    @property
    def seconds(self) -> float:
        """Of this session."""
        return (self._ended or time.monotonic()) - self._began

    @property
    def outcome(self) -> Stop:
        """What it means that nothing is left to run: all was explored, or something got lost on the way."""
        return completeness.word(self._sources, len(self._record.lost), self.tally.notes, self.notes)

    def commit(self) -> None:
        """Make durable what was entered, and the totals after it, in one transaction."""
        notes = tuple((*key, count) for key, count in self.notes.items())
        self._memory = self._memory.with_(Memory(summary.host_rss()))
        seconds = self._seconds + self.seconds
        counts = self.tally.rows(), self._link, self._memory
        found = len(self.coverage.covered), len(self.bugs)
        self._timeline.add(Moment(round(seconds, 3), self.totals.runs, self.totals.paths, *found))
        self._record.put(TIMELINE, self._timeline)
        if self.refused:
            self._record.put(REFUSED, tuple((*what, count) for what, count in sorted(self.refused.items())))
        self._record.commit(Progress(self.totals, notes, self.stopped, seconds, self.queue, *counts))

    # What is booked -----------------------------------------------------------------------------------------

    def enter(self, entry: Entry) -> None:
        """Book one executed test."""
        number = self.totals.runs + 1
        is_new = entry.is_path and self.paths.add(entry.path_hash)
        came = _came(entry, is_new)
        self._add_up(entry, came, is_new)
        fresh = self.coverage.add(entry.coverage)
        bug = self._bug(entry, number)
        where = str(entry.place) if entry.place else ""
        output = shown_output(entry.output)
        verdict, code = entry.verdict, entry.code
        row = TestRow(number, entry.input, verdict.value, code, entry.path_hash, came, where, entry.objects, output)
        self._record.add_test(row, is_new)
        if entry.lost is not None:
            self.set_aside(entry.lost.numbered(number))
        self._record.add_coverage(fresh, number)
        if bug is not None:
            self._record.put_bug(bug)
        is_first_of_bug = bug is not None and bug.test == number
        if bug is not None and is_first_of_bug:
            is_open = self._open.has(bug)
            self.has_bug = self.has_bug or (entry.confirmed and is_open)
        if fresh or is_first_of_bug or number == 1 or verdict is Verdict.LOST:
            test = self._test(number, entry, where)
            self._write_files(test, is_first_of_bug)
            if is_first_of_bug and entry.small is not None:
                self._write_files(self._small(test, entry.small), True)

    def enter_ordinary(self, brought: Brought) -> None:
        """Book tests that the engine ran here: they took paths, and there is nothing else to say of them."""
        self._enter_rows(brought.rows, len(brought.lengths), brought.hashes, brought.fresh)
        self._add_counts(brought.unchecked, brought.retried)

    def enter_round(
        self, tests: Sequence[PathTest], layouts: Sequence[tuple[Named, ...]], unchecked: int, retried: int
    ) -> None:
        """The same of tests that the engine ran elsewhere. `layouts`: what their inputs consist of."""
        numbers = [self._record.layout(objects) for objects in layouts]
        verdict, word = None, ""  # to ask an enum's member each time takes long
        new, redundant = Came.NEW.value, Came.REDUNDANT.value
        rows = RowsAlike()
        hashes, fresh = [], []
        for number, test in enumerate(tests, self.totals.runs + 1):
            is_new = self.paths.add(test.path_hash)
            if is_new:
                hashes.append(test.path_hash)
                fresh.append(test.conditions)
            if test.verdict is not verdict:
                verdict, word = test.verdict, test.verdict.value
            common = word, test.code, is_new, new if is_new else redundant, "", numbers[test.layout]
            rows.add(number, common, (bytearray(test.input), signed(test.path_hash), test.output))
        self._enter_rows(rows.rows, len(tests), hashes, fresh)
        self._add_counts(unchecked, retried)

    def _add_counts(self, unchecked: int, retried: int) -> None:
        self.totals.unchecked += unchecked
        self.totals.retried += retried

    def _enter_rows(self, rows: Sequence[Alike], tests: int, hashes: Sequence[int], fresh: Sequence[int]) -> None:
        """`rows`: of so many tests; `hashes`, `fresh`: of new paths, the second in conditions."""
        totals = self.totals
        totals.runs += tests
        totals.redundant += tests - len(hashes)
        totals.paths += len(hashes)
        totals.conditions += sum(fresh)
        totals.longest = max(totals.longest, *fresh, 0)
        self._record.add_tests(rows, hashes)

    def confirm(self, bug: Bug) -> None:
        """Somebody else has seen it, too."""
        if not bug.confirmed:
            bug.confirmed = True
            self._record.put_bug(bug)
        self.saw(bug)

    def saw(self, bug: Bug) -> None:
        """A bug at which a session may end, if it is open."""
        is_open = self._open.has(bug)
        self.has_bug = self.has_bug or is_open

    def set_aside(self, lost: LostTest) -> None:
        """A test that only runs again if somebody wants that."""
        self._record.lost.add(lost)

    def count(self, counted: Counted) -> None:
        """What a worker has counted since it was last asked."""
        self.tally.add(counted.tally)
        self._link = self._link.plus(counted.link)
        self._memory = self._memory.with_(counted.memory)
        self.refused.update({(call, file, line): count for call, file, line, count in counted.refused})

    def note(self, what: str, file: str = "", line: int = 0) -> None:
        """Something that makes the results incomplete."""
        self.notes[what, file, line] += 1

    # How ----------------------------------------------------------------------------------------------------

    def _add_up(self, entry: Entry, came: Came, is_new: bool) -> None:
        totals = self.totals
        totals.runs += 1
        totals.redundant += came is Came.REDUNDANT
        totals.mispredicted += came is Came.MISPREDICTED
        totals.retried += entry.retried
        totals.unchecked += entry.unchecked
        if entry.verdict is Verdict.ASSUMPTION and (left := _object(entry)):
            totals.left[left] = totals.left.get(left, 0) + 1
        if is_new:
            totals.paths += 1
            totals.conditions += entry.conditions
            totals.longest = max(totals.longest, entry.conditions)

    def _bug(self, entry: Entry, number: int) -> Bug | None:
        """The bug that a test has shown, perhaps not as the first one."""
        if entry.place is None:
            return None
        kind = kind_of(entry.verdict, entry.code)
        small = entry.small
        inputs = named_inputs(small.objects, small.input) if small else named_inputs(entry.objects, entry.input)
        bug = Bug.at(entry.place, kind, inputs, number, entry.confirmed, depends=entry.depends)
        if small is not None:
            bug.small, bug.objects = small.input.hex(), small.objects
        bug.guess = self._guess(entry)
        bug.held = held(inputs, entry.depends, self._states, self._arrays)
        if entry.verdict in (Verdict.NULL_DEREFERENCE, Verdict.INVALID_MEMORY_ACCESS) and not bug.rests_on_null:
            bug.guess = not_made(self._unmade)
        return self.bugs.add(bug)

    def _guess(self, entry: Entry) -> str:
        """What is guessed of the size of the object that a test left."""
        name = _object(entry) if entry.verdict is Verdict.OUT_OF_BOUNDS else ""
        return guess_of(name, self._guesses) if name else ""

    def _test(self, number: int, entry: Entry, where: str) -> TestCase:
        inputs = named_inputs(entry.objects, entry.input)
        return TestCase(
            number=number,
            input=entry.input,
            inputs=inputs,
            shown=readable(inputs, self._arrays),
            verdict=entry.verdict.value,
            code=entry.code,
            path_hash=entry.path_hash,
            where=where,
            output=entry.output.decode("utf-8", "backslashreplace"),
            versions=self._versions,
        )

    def _small(self, test: TestCase, small: Small) -> TestCase:
        """The same with the simpler input."""
        inputs = named_inputs(small.objects, small.input)
        shown = readable(inputs, self._arrays)
        return replace(
            test, input=small.input, inputs=inputs, shown=shown, path_hash=small.path_hash, output="", is_small=True
        )

    def _write_files(self, test: TestCase, is_bug: bool) -> None:
        folder = self._record.folder / ("bugs" if is_bug else "tests")
        try:
            test.write(folder)
        except OSError as error:
            raise storage_error(error, self._record.folder) from error


def _object(entry: Entry) -> str:
    """The object that a test left, by an input of it: the code says where that begins, and one more."""
    return next((item.name for item in entry.objects if item.offset == entry.code - 1), "")


def _came(entry: Entry, is_new: bool) -> Came:
    if entry.mispredicted:
        return Came.MISPREDICTED
    if is_new:
        return Came.NEW
    return Came.REDUNDANT if entry.is_path else Came.NO_PATH
