"""Which tests the second witness runs again, when, and what becomes of its findings.

It works beside the campaign: whoever runs the campaign gives it a turn between tests, and in a turn it takes an answer
and hands out the next input, as long as its process was busy for at most a tenth of the time. So the tests of the
campaign are the same with and without it. What is left at the end has a bounded time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from msgspec import structs

from score_embed.config import Settings
from score_embed.errors import printable
from score_embed.results import parts
from score_embed.results.bugs import Bug, Place
from score_embed.results.known_bugs import OpenBugs, known_to
from score_embed.results.parts import digest_of
from score_embed.results.shown import readable
from score_embed.results.storage import storage_error
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import TestCase, named_inputs
from score_embed.results.witnessed import AGAIN, CLEAN, FOUND, LOST, Finding, WitnessState, all_bugs
from score_embed.witness.process import Answer, Died, WitnessProcess
from score_embed.witness.reports import Judge
from score_embed.witness.smaller import Again, made_small

PROGRAM = "witness.elf"  # in the campaign's folder
SHARE = 0.1  # of the campaign's time
KEPT_SECONDS, PATHS_SECONDS = 2.0, 1.0  # at the end: for kept tests, for other distinct paths; both together the longer
SMALL_SECONDS, HURRIED_SECONDS = 3.0, 1.0  # then: to make inputs of bugs small; the same for who is in a hurry
_BATCH = 16  # tests asked of the record at once: what is kept meanwhile waits no longer
_PAUSE = 0.005  # seconds between two looks at the process
_TURN = 0.5  # seconds to wait for an answer at the end; then we look whether the process still lives
_REST = 0.2  # seconds until the record is asked again when nothing was left
_MOST_DEATHS = 5  # of the process without an answer in between
_NO_CODE = 0


def wanted(record: Store, missing: str = "") -> None:
    """Write down that there is to be a second witness; `missing`: why there is none."""
    record.put(parts.WITNESS, WitnessState(0.0, missing))


def of(record: Store, settings: Settings) -> Witness | None:
    """The second witness of a campaign that is described in its record, if it has one."""
    state = record.get(parts.WITNESS)
    program = record.folder / PROGRAM
    if state is None or state.missing:
        return None
    origin = record.get(parts.PROVENANCE)
    if origin is None or digest_of(program) != origin.witness:
        gone = "is damaged, or another one" if program.exists() else "is not there any more"
        record.put(parts.WITNESS, WitnessState(state.seconds, f"{program} {gone}"))
        return None
    return Witness(record, settings, program)


class Witness:
    def __init__(self, record: Store, settings: Settings, program: Path) -> None:
        self._record, self._settings = record, settings
        self._process = WitnessProcess(program, not settings.unconfined)
        self._judged: Judge | None = None
        self.has_found = False  # in this session, a confirmed bug that is open
        self._open = OpenBugs(record.sources(), record.get(parts.JUDGED) or (), known_to(settings))
        self._known: set[tuple[str, Place]] = set()
        for found in record.found_by_witness():
            self._known.add((found.finding.kind, found.finding.place))
        state = record.get(parts.WITNESS)
        self._seconds = state.seconds if state else 0.0  # that the process was busy
        self._before = self._seconds
        self._began = time.monotonic()
        self.look_at = 0.0  # when it wants its next turn, by time.monotonic
        self._waiting: list[TestRow] = []
        self._are_kept = False  # those that wait
        self._past = state.past if state else 0  # distinct paths up to this number were asked of the record
        self._running: TestRow | None = None
        self._first: Finding | None = None  # of the test that runs for the second time
        self._deaths = 0

    def turn(self) -> None:
        """Take an answer if there is one, and hand out the next input if it is time for one."""
        now = time.monotonic()
        if now < self.look_at:
            return
        self.look_at = now + _PAUSE
        if self._running is not None:
            self._take(0.0)
        busy = self._seconds - self._before
        if self._running is None and busy <= SHARE * (now - self._began) and not self._next():
            self.look_at = now + _REST

    def finish(self, hurried: bool = False) -> None:
        """Run what is left, as far as the time for that goes; then end. `hurried`: only what is kept."""
        began = time.monotonic()
        while self._running is not None or (self._has_time(time.monotonic() - began, hurried) and self._next()):
            if self._running is not None:
                self._take(_TURN)
        if not self._settings.no_minimise:
            self._make_small(time.monotonic() + (HURRIED_SECONDS if hurried else SMALL_SECONDS))
        self._save()
        self.close()

    def _make_small(self, until: float) -> None:
        """The inputs of what only this witness saw. What there is no time for is made small when the campaign goes
        on."""
        found = {one.test: one.finding for one in self._record.found_by_witness()}
        for bug in all_bugs(self._record.bugs(), self._record.found_by_witness()):
            finding = found.get(bug.test)
            if not bug.witness or finding is None or finding.small is not None or self._deaths > _MOST_DEATHS:
                continue
            test = self._record.test(bug.test)
            assert test is not None
            again = Again(self._process, self._judged_finding, until)
            made = made_small(test.input, test.objects, finding, again)
            self._seconds += again.seconds
            if made is None:
                continue
            finding = structs.replace(finding, confirmed=True, small=made.data, depends=made.depends)
            self._record.put_witnessed(test.number, FOUND, finding)
            if made.data:
                self._write(test, finding)

    def _judged_finding(self, answer: Answer) -> Finding | None:
        """None, too, of a report that was cut off before it named a place: that test counts as lost."""
        finding = self._judge.finding(answer.text, self._process.span)
        return None if answer.was_killed and finding is not None and not finding.file else finding

    def _has_time(self, seconds: float, hurried: bool) -> bool:
        """At the end: for one more test?"""
        if not self._waiting:
            self._waiting = self._batch()
        return seconds < (KEPT_SECONDS if self._are_kept else 0.0 if hurried else PATHS_SECONDS)

    def close(self) -> None:
        self._process.close()

    # Tests --------------------------------------------------------------------------------------------------

    def _next(self) -> bool:
        """Hand out an input; False if none is left, or nobody to run it."""
        if self._deaths > _MOST_DEATHS:
            return False
        if not self._waiting:
            self._waiting = self._batch()
            self._save()
        if not self._waiting:
            return False
        self._run(self._waiting.pop(0))
        return True

    def _batch(self) -> list[TestRow]:
        """What is kept comes first."""
        kept = self._record.unwitnessed_kept(_BATCH)
        self._are_kept = bool(kept)
        if kept:
            return kept
        paths = self._record.unwitnessed_paths(self._past, _BATCH)
        if paths:
            self._past = paths[-1].number
        return paths

    def _run(self, test: TestRow) -> None:
        self._running = test
        try:
            self._process.send(test.input)
        except Died as error:
            self._lose(test, str(error))

    def _take(self, seconds: float) -> None:
        test = self._running
        assert test is not None
        try:
            answer = self._process.take(seconds)
        except Died as error:
            self._lose(test, str(error))
            return
        if answer is None:
            return
        self._deaths = 0
        self._seconds += answer.seconds
        self._book(test, answer)

    def _lose(self, test: TestRow, why: str) -> None:
        """The process is gone: that costs this test only, unless it goes on like this. (If the finding of a first run
        was to be confirmed, it stays as it is.)"""
        if self._first is not None:
            self._report(test, self._first)
            self._running = self._first = None
            return
        self._running = self._first = None
        self._record.put_witnessed(test.number, LOST)
        self._deaths += 1
        if self._deaths > _MOST_DEATHS:
            print(printable(f"warning: the second witness is given up: {why}"), file=sys.stderr)

    # Answers ------------------------------------------------------------------------------------------------

    def _book(self, test: TestRow, answer: Answer) -> None:
        finding = self._judged_finding(answer)
        first, self._first, self._running = self._first, None, None
        if first is not None:  # the second time
            confirmed = finding is not None and (finding.kind, finding.place) == (first.kind, first.place)
            self._report(test, structs.replace(first, confirmed=confirmed))
        elif finding is None:
            self._record.put_witnessed(test.number, LOST if answer.was_killed else CLEAN)
        elif (finding.kind, finding.place) in self._known:
            self._record.put_witnessed(test.number, AGAIN, finding)
        else:
            self._first = finding
            self._run(test)

    def _report(self, test: TestRow, finding: Finding) -> None:
        self._known.add((finding.kind, finding.place))
        if finding.confirmed and self._open.has(Bug.at(finding.place, finding.kind, {}, test.number)):
            self.has_found = True
        self._record.put_witnessed(test.number, FOUND, finding)
        self._write(test, finding)

    def _write(self, test: TestRow, finding: Finding) -> None:
        """The files of a finding, or of its simpler input."""
        program = self._record.get(parts.PROGRAM)
        arrays = program.entry.arrays if program is not None and program.entry is not None else ()
        data = finding.small or test.input
        versions = self._record.get(parts.VERSIONS) or {}
        inputs = named_inputs((part for part in test.objects if part.offset + part.size <= len(data)), data)
        case = TestCase(
            number=test.number,
            input=data,
            inputs=inputs,
            verdict=finding.kind,
            code=_NO_CODE,
            path_hash=test.path_hash,
            where=str(finding.place),
            output="" if finding.small else test.output,
            versions=versions,
            witness=finding.witness,
            is_small=bool(finding.small),
            shown=readable(inputs, arrays),
        )
        try:
            case.write(self._record.folder / "bugs")
        except OSError as error:
            raise storage_error(error, self._record.folder) from error

    @property
    def _judge(self) -> Judge:
        """Made for the first answer: what it needs is in the record by then."""
        if self._judged is None:
            settings = self._settings
            files = [*map(str, settings.sources), *map(str, settings.native)]
            self._judged = Judge(self._record.sources(), files)
        return self._judged

    def _save(self) -> None:
        asked = [self._running, *self._waiting] if self._running else self._waiting
        past = min((test.number - 1 for test in asked), default=self._past)
        self._record.put(parts.WITNESS, WitnessState(self._seconds, "", min(past, self._past)))
