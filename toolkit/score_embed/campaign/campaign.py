"""One exploration from sources to summary: wires the steps together, owns Ctrl-C and resume.

The loop is: take the next pair, run it, rebuild its path, let the explorer derive new pairs, put all of it into the
record. The record is committed between tests only, so whatever ends a campaign, it can go on from there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from score_embed import config
from score_embed.board.profile import Board
from score_embed.campaign import first_test, opening
from score_embed.campaign.describing import Describer
from score_embed.campaign.ending import Result, how_to_go_on, result, sum_up
from score_embed.campaign.interrupt import Interrupt
from score_embed.campaign.ledger import REPEATED, Ledger
from score_embed.campaign.running import Runner, explorer_of
from score_embed.campaign.status import Status
from score_embed.contract.outcome import Finished, LinkCounters, Run, Target
from score_embed.contract.words import Note, Stop
from score_embed.errors import TargetError
from score_embed.explore.concolic import Outcome
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.search import Ranked, Search
from score_embed.explore.strategy import STRATEGIES
from score_embed.image.image import Image
from score_embed.results import completeness, summary
from score_embed.results.coverage import directions_of
from score_embed.results.parts import PROGRESS
from score_embed.results.progress import Memory, Progress
from score_embed.results.store import Store
from score_embed.solve.effort import interrupt as end_question
from score_embed.witness import witness
from score_embed.witness.witness import Witness


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A test that the explorer knows and the books do not yet."""

    test: Run
    finished: Finished
    outcome: Outcome
    fresh: list[int]  # coverage indices it was the first to set


def run(settings: config.Settings, record: Store | None = None) -> Result:
    """Start a campaign, or go on with that of `record`, until it ends or is told to."""
    with ExitStack() as stack:
        opened = opening.go_on(record, settings, stack) if record is not None else opening.begin(settings, stack)
        assert opened.target is not None
        return Campaign(opened.settings, opened.board, opened.image, opened.record, opened.target).run()


class Campaign:
    """A campaign that is ready to run tests."""

    def __init__(self, settings: config.Settings, board: Board, image: Image, record: Store, target: Target) -> None:
        self._settings, self._board, self._image = settings, board, image
        self._record, self._target = record, target
        self._runner = Runner(target, settings, image)
        self._describer = Describer(image)
        self._ledger = Ledger(record, directions_of(image.sites))
        self._search: Search | None = None
        self._witness: Witness | None = None
        self._free_ram = target.info.free_ram
        self._tests = 0  # of this session
        self._before = 0.0  # seconds of earlier sessions
        self._link_before = LinkCounters()  # traffic of earlier sessions
        self._rss_before = 0
        self._began = time.monotonic()
        self._ended: float | None = None  # when the last test had ended

    def run(self) -> Result:
        """Run tests until nothing is left or somebody wants an end; then save and sum up."""
        stopped = Stop.ERROR
        title = f"{self._image.program} on {self._board.name}"
        try:
            with Interrupt(end_question) as interrupt, Status(title) as status:
                progress = self._record.get(PROGRESS)
                self._search = self._fresh() if progress is None else self._restored(progress)
                self._witness = witness.of(self._record, self._settings)
                stopped = self._loop(self._search, interrupt, status)
                self._ended = time.monotonic()
                if self._witness is not None:
                    self._commit(self._search, stopped)  # who is in a hurry loses nothing
                    self._witness.finish(hurried=stopped is Stop.INTERRUPTED)
        except TargetError:
            if self._search is not None:
                self._save(stopped)
                print(how_to_go_on(self._record.folder), file=sys.stderr)
            raise
        except KeyboardInterrupt:
            print(how_to_go_on(self._record.folder), file=sys.stderr)
            raise
        finally:
            if self._witness is not None:
                self._witness.close()
        found = self._save(stopped)
        if stopped is Stop.INTERRUPTED:
            print(how_to_go_on(self._record.folder), file=sys.stderr)
        return result(found, self._record.folder)

    def _fresh(self) -> Search:
        """Find the first test, see that the program is deterministic, and begin with it."""
        inputs, difference = first_test.find(self._runner, self._settings, self._image, self._describer)
        if difference is not None:
            self._ledger.note(Note.FIRST_DIFFERS, difference.file, difference.line)
        search = self._search_from(inputs)
        opening.describe(self._record, self._settings, self._board, self._image)
        self._record.add_pairs((pair.id, rank, pair.to_bytes()) for rank, pair in search.waiting_in_memory())
        self._commit(search)
        return search

    def _search_from(self, inputs: Sequence[bytes] = ()) -> Search:
        settings = self._settings
        order = STRATEGIES[settings.strategy](settings.seed, self._ledger.coverage.covered)
        return Search(explorer_of(self._image, settings), Queue(order, self._record), inputs)

    def _loop(self, search: Search, interrupt: Interrupt, status: Status) -> Stop:
        """Run pair after pair; returns why it ended."""
        self._began = time.monotonic()
        if self._settings.time is not None:
            interrupt.deadline = self._began + self._settings.time
        search.explorer.stop_if(interrupt.pressing)
        last: _Recorded | None = None  # is entered into the books while the target runs the next test
        while True:
            stopped = self._wants_end(interrupt)
            pair = None if stopped else search.next(lambda: self._has_chores(interrupt, status))
            self._settle(search)
            if pair is None or (last is not None and last.finished.verdict.is_bug):
                self._enter(last)
                last = None
            if pair is None and (stopped or not search.waiting):
                return stopped or self._ending(search)
            try:
                if pair is not None:
                    number = last.test.number + 1 if last else self._ledger.totals["runs"] + 1
                    test = self._runner.begin(pair, number, search.explorer.expected(pair))
            finally:
                self._enter(last)
            last = None
            if self._witness is not None:
                self._witness.turn()
            if self._record.due():
                self._commit(search)
            if status.due:
                self._show(search, status)
            if pair is not None:
                last = self._finish(search, pair, test)
                self._tests += 1

    def _has_chores(self, interrupt: Interrupt, status: Status) -> bool:
        """Whether anything has to be done before the next question."""
        return bool(self._wants_end(interrupt)) or self._record.due() or status.due

    def _ending(self, search: Search) -> Stop:
        """What it means that nothing is left to run."""
        return completeness.word(self._record.sources(), search.explorer.notes, self._ledger.notes)

    def _wants_end(self, interrupt: Interrupt) -> Stop | None:
        """Why no further test is to be run, if there is a reason."""
        settings = self._settings
        if interrupt.wanted:
            return Stop.INTERRUPTED
        if interrupt.deadline is not None and time.monotonic() >= interrupt.deadline:
            return Stop.TIME
        if settings.max_tests is not None and self._tests >= settings.max_tests:
            return Stop.MAX_TESTS
        return None

    def _show(self, search: Search, status: Status) -> None:
        ledger = self._ledger
        status.show(
            runs=ledger.totals["runs"],
            paths=ledger.totals["paths"],
            waiting=search.waiting,
            covered=len(ledger.coverage.covered),
            total=ledger.coverage.total,
            bugs=len(ledger.bugs),
        )

    def _finish(self, search: Search, pair: Pair, begun: Run) -> _Recorded | None:
        """The end of the test that was begun, and what it brought. None: it was run for its pending flip only."""
        test, finished, brought = self._runner.finish(search.record, pair, begun)
        outcome = brought.outcome
        if pair.pending:
            self._done(pair, brought)
            self._ledger.totals[REPEATED] += 1
            return None
        self._done(pair, brought, finished.path_hash if outcome.is_path else None)
        fresh = self._ledger.coverage.add(finished.coverage)
        return _Recorded(test, finished, outcome, fresh)

    def _settle(self, search: Search) -> None:
        """The record of the flips that were asked meanwhile."""
        for pair, brought in search.answered:
            self._done(pair, brought)
        search.answered.clear()

    def _done(self, pair: Pair, brought: Ranked, path: int | None = None) -> None:
        """A pair is done with, and these wait instead."""
        self._record.pair_done(pair.id, path)
        ranked = zip(brought.outcome.children, brought.ranks, strict=True)
        self._record.add_pairs((child.id, rank, child.to_bytes()) for child, rank in ranked)

    def _enter(self, done: _Recorded | None) -> None:
        """Put a test that was recorded into the books."""
        if done is None:
            return
        entry = self._describer.entry(done.test, done.finished, done.outcome, done.fresh)
        bug = self._ledger.enter(done.test.number, entry, done.outcome.new_path, done.fresh)
        if bug is not None:
            bug.confirmed = self._runner.shows_again(done.test, done.finished)
            self._record.put_bug(bug)

    def _commit(self, search: Search, stopped: Stop | None = None) -> None:
        """Put what was reached into the record; `stopped`: why no more tests follow."""
        seconds = self._before + (self._ended or time.monotonic()) - self._began
        memory = Memory(max(self._rss_before, summary.host_rss()), self._free_ram)
        link = self._link_before.plus(self._target.counters)
        self._record.commit(self._ledger.progress(stopped, seconds, search.state(), link, memory))

    def _restored(self, progress: Progress) -> Search:
        """Go on where the record ends."""
        self._before, self._link_before = progress.seconds, progress.link
        self._rss_before = progress.memory.host_rss
        self._ledger.restore(progress)
        self._record.free()
        search = self._search_from()
        search.restore(progress.explorer, self._record.path_hashes())
        return search

    def _save(self, stopped: Stop) -> dict[str, Any]:
        """Commit, and write the summary."""
        assert self._search is not None
        self._commit(self._search, stopped)
        return sum_up(self._record)
