"""One exploration from sources to summary, on one target: wires the steps together, owns Ctrl-C and resume.

The loop is: take the next pair, run it, rebuild its path, let the explorer derive new pairs, put all of it into the
record. The record is committed between tests only, so whatever ends a campaign, it can go on from there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple, Protocol

from score_embed import config
from score_embed.campaign import criteria, first_test, opening
from score_embed.campaign.criteria import VectorBooks, VectorRuns, are_wanted
from score_embed.campaign.ending import Result, conclude
from score_embed.campaign.interrupt import Interrupt
from score_embed.campaign.ledger import Ledger
from score_embed.campaign.opening import Built, Opened
from score_embed.campaign.rounds import Rounds
from score_embed.campaign.status import Status
from score_embed.campaign.worker import Tested, Worker
from score_embed.contract.outcome import Run
from score_embed.contract.words import Stop
from score_embed.errors import TargetError
from score_embed.explore.pair import Pair, first_pairs
from score_embed.explore.queue import Queue
from score_embed.explore.search import Ranked, Search
from score_embed.results.known_bugs import known_to
from score_embed.results.parts import PROGRESS
from score_embed.results.store import Store
from score_embed.results.testcase import read_own
from score_embed.results.vectors import Taken
from score_embed.results.work import WorkNotes
from score_embed.solve.query import interrupt as end_question
from score_embed.witness import witness


def run(settings: config.Settings, record: Store | None = None, built: Built | None = None) -> Result:
    """Start a campaign, or go on with that of `record`, until it ends or is told to. `built`: the program of a new
    one."""
    with ExitStack() as stack:
        if record is not None:
            opened = opening.go_on(record, settings, stack)
        else:
            opened = opening.begin(settings, stack, built=built)
        return conclude(lambda: explore(opened), [opened.record])[0]


class Observer(Protocol):
    """Who looks on while tests run."""

    def begins(self) -> None:
        """The next pair is about to be taken."""

    def answered(self, flip: Pair, children: Sequence[Pair]) -> None:
        """A pending flip was asked."""

    def ran(self, pair: Pair, children: Sequence[Pair]) -> None:
        """A test, and what its path brought."""


def explore(opened: Opened, observer: Observer | None = None) -> Stop:
    """Run tests until nothing is left or somebody wants an end; returns why. All of it is in the record then, also if
    TargetError is raised."""
    assert opened.target is not None
    title = f"{opened.image.program} on {opened.board.name}"
    notes = WorkNotes(opened.record.folder)
    with Interrupt(end_question) as interrupt, Status(title) as status, notes as work:
        work.count()  # of earlier sessions
        if opened.settings.retry_lost:
            work.pardon()
        worker = Worker(opened.target, opened.settings, opened.image)
        begin = _fresh if opened.record.get(PROGRESS) is None else _restored
        begun = begin(opened, worker, work)
        return _Campaign(opened, worker, work, begun, observer).run(interrupt, status)


_MANY = 1 << 32  # tests


class _Vectors(NamedTuple):
    runs: VectorRuns
    books: VectorBooks


class _Begun(NamedTuple):
    """What a session goes on with. `vectors`: if they are recorded; `own`: pairs of the user's tests."""

    ledger: Ledger
    search: Search
    vectors: _Vectors | None
    own: list[Pair]


def _fresh(opened: Opened, worker: Worker, work: WorkNotes) -> _Begun:
    """Find the first test, see that the program is deterministic, and begin with it."""
    inputs, difference = first_test.find(worker, opened.settings, opened.image, work)
    ledger = opening.begin_books(opened, difference)
    vectors = _vectors(opened)
    search = Search(
        worker.explorer, _queue(opened, worker, vectors), inputs, first_test.seeds(opened.settings), work.begin
    )
    ranks, firsts = zip(*search.waiting_in_memory(), strict=True)
    opened.record.waiting.add(firsts, ranks)
    return _Begun(ledger, search, vectors, _own_pairs(opened, inputs))


def _own_pairs(opened: Opened, inputs: Sequence[bytes]) -> list[Pair]:
    """The user's own tests, but for the first one: they run before all others, in whatever order these come."""
    if opened.settings.have is None:
        return []
    own = first_pairs(inputs, read_own(opened.settings.have).others)[len(inputs) :]
    opened.record.waiting.add(own, [b""] * len(own))
    return own


def _restored(opened: Opened, worker: Worker, work: WorkNotes) -> _Begun:
    """Go on where the record ends."""
    ledger = Ledger(opened.record, opened.record.sources(), known_to(opened.settings))
    worker.knows(ledger.coverage.covered, ledger.bugs)
    opened.record.pairs.free()
    vectors = _vectors(opened)
    search = Search(worker.explorer, _queue(opened, worker, vectors), may_ask=work.begin)
    search.restore(ledger.queue)
    return _Begun(ledger, search, vectors, [])


def _queue(opened: Opened, worker: Worker, vectors: _Vectors | None) -> Queue:
    return Queue(worker.order(vectors.runs if vectors is not None else None), opened.record.waiting)


def _vectors(opened: Opened) -> _Vectors | None:
    """What records vectors, if somebody wants them."""
    if not are_wanted(opened.settings):
        return None
    assert opened.target is not None
    runs, books = VectorRuns(opened.target, opened.image.sites), VectorBooks(opened.record)
    runs.learn(books.all())
    return _Vectors(runs, books)


class _Campaign:
    """A campaign that is ready to run tests."""

    def __init__(
        self, opened: Opened, worker: Worker, work: WorkNotes, begun: _Begun, observer: Observer | None
    ) -> None:
        ledger, search, vectors, self._own = begun
        self._settings, self._record = opened.settings, opened.record
        self._worker, self._ledger, self._search = worker, ledger, search
        search.settle = self._settle
        self._work, self._observer = work, observer
        self._witness = witness.of(opened.record, opened.settings)
        self._vectors = vectors
        self._taken: Taken | None = None  # by the test that is entered next
        self._is_own = False  # it was the user's before
        books = vectors.books if vectors is not None else None
        self._is_reached = criteria.reached(opened.settings.goal, opened.record.sources(), ledger.coverage, books)
        self._tests = 0  # of this session
        self._rounds: Rounds | None = None  # the engine's loop; None: each test is looked at here

    def run(self, interrupt: Interrupt, status: Status) -> Stop:
        self._commit()
        self._ledger.begin()
        if self._settings.time is not None:
            interrupt.deadline = time.monotonic() + self._settings.time
        self._worker.explorer.stop_if(interrupt.pressing)
        if self._vectors is None and self._observer is None:
            self._rounds = Rounds(
                self._worker, self._search, self._record, self._ledger, self._work, interrupt.pressing
            )
        try:
            stopped = self._loop(interrupt, status)
            self._work.rest()
            self._ledger.end()
            self._commit(stopped)  # who is in a hurry loses nothing
            if self._witness is not None:
                self._witness.finish(hurried=stopped is Stop.INTERRUPTED)
                self._commit(stopped)
        except TargetError:
            self._commit(Stop.ERROR)
            raise
        finally:
            if self._witness is not None:
                self._witness.close()
        return stopped

    def _loop(self, interrupt: Interrupt, status: Status) -> Stop:
        """Run pair after pair; returns why it ended."""
        search = self._search
        last: Tested | None = None  # is entered into the books while the target runs the next test
        while True:
            if last is not None and last.finished.verdict.is_bug:
                self._enter(last)
                last = None
            if self._observer is not None:  # it may measure: the books are kept first, and not while the target runs
                self._keep_books(last, status)
                last = None
                self._observer.begins()
            stopped = self._wants_end(interrupt)
            pair = None if stopped else self._next(interrupt, status)
            self._settle()
            if pair is not None and not self._work.begin(pair.id):
                self._give_up(pair)
                continue
            if pair is None or self._rounds is not None:
                self._enter(last)
                last = None
            if pair is None and not search.waiting:
                self._ledger.count(self._worker.counted())
                return self._ledger.outcome
            if stopped is not None:
                return stopped
            try:
                if pair is not None:
                    pair, begun = self._begin(pair, status, last)
            finally:
                self._keep_books(last, status)
            last = None
            if pair is not None:
                assert begun is not None
                last = self._finish(pair, begun)

    def _keep_books(self, last: Tested | None, status: Status) -> None:
        """What has to be done beside running tests."""
        self._enter(last)
        if self._witness is not None:
            self._witness.turn()
        if self._record.due():
            self._commit()
        if status.due:
            status.show([self._ledger], self._search.waiting)

    def _begin(self, pair: Pair, status: Status, last: Tested | None) -> tuple[Pair | None, Run | None]:
        """Let the target run a pair, and others after it, up to one that is to be finished here."""
        if self._rounds is not None:
            until = min(status.due_at, self._witness.look_at if self._witness is not None else status.due_at)
            before, most = self._ledger.totals.runs, self._settings.max_tests
            left = most - self._tests if most is not None else _MANY
            # The user's own are not in the work list; and whether the goal is reached is asked before each test.
            left = 1 if self._own or self._is_reached() else left
            was_begun, begun = self._rounds.go(pair, left, until)
            if was_begun:
                self._tests += self._ledger.totals.runs - before
                return begun if begun is not None else (None, None)
        return pair, self._worker.begin(pair, self._ledger.totals.runs + (1 if last is None else 2))

    def _next(self, interrupt: Interrupt, status: Status) -> Pair | None:
        if self._own:
            return self._own.pop(0)
        return self._search.next(lambda: self._has_chores(interrupt, status))

    def _has_chores(self, interrupt: Interrupt, status: Status) -> bool:
        """Whether anything has to be done before the next question."""
        return bool(self._wants_end(interrupt)) or self._record.due() or status.due

    def _wants_end(self, interrupt: Interrupt) -> Stop | None:
        """Why no further test is to be run, if there is a reason."""
        settings = self._settings
        if interrupt.wanted:
            return Stop.INTERRUPTED
        if interrupt.deadline is not None and time.monotonic() >= interrupt.deadline:
            return Stop.TIME
        if settings.max_tests is not None and self._tests >= settings.max_tests:
            return Stop.MAX_TESTS
        if settings.until_bug and (self._ledger.has_bug or (self._witness is not None and self._witness.has_found)):
            return Stop.BUG
        if self._is_reached():
            return Stop.GOAL
        return None

    def _finish(self, pair: Pair, begun: Run) -> Tested | None:
        """The end of the run that was begun, and what it brought. None: it was run for its pending flip only."""
        test = self._worker.finish(pair, begun)
        brought = self._search.add(test.outcome)
        if self._observer is not None and not pair.pending:
            self._observer.ran(pair, test.outcome.children)
        if pair.pending:
            self._answered(pair, brought)
            self._ledger.totals.re_asked += 1
            lost = self._worker.lost(test)
            if lost is not None:
                self._ledger.set_aside(lost)
            return None
        self._done(pair, brought, test.finished.path_hash if test.outcome.is_path else None)
        self._tests += 1
        if self._vectors is not None and test.outcome.is_path:
            self._taken = self._vectors.runs.look(test.run, test.finished)
        self._is_own = not pair.place and self._settings.have is not None
        return test

    def _give_up(self, pair: Pair) -> None:
        """The host was killed too often with this pair in work."""
        self._record.waiting.done(pair)
        self._ledger.set_aside(self._worker.given_up(pair))

    def _settle(self) -> None:
        """The record of the flips that were asked meanwhile."""
        for flip, brought in self._search.answered:
            self._answered(flip, brought)
        self._search.answered.clear()

    def _answered(self, flip: Pair, brought: Ranked) -> None:
        self._done(flip, brought)
        if self._observer is not None:
            self._observer.answered(flip, brought.outcome.children)

    def _done(self, pair: Pair, brought: Ranked, path: int | None = None) -> None:
        """A pair is done with, and these wait instead."""
        waiting = self._record.waiting
        waiting.done(pair, path)
        waiting.add(brought.outcome.children, brought.ranks)

    def _enter(self, test: Tested | None) -> None:
        """Put a test that was run into the books."""
        if test is not None:
            self._ledger.enter(self._worker.entry(test))
            if self._vectors is not None and test.outcome.is_path:
                fresh = self._vectors.books.enter(self._ledger.totals.runs, self._taken, self._is_own)
                self._vectors.runs.learn(fresh)

    def _commit(self, stopped: Stop | None = None) -> None:
        """Put what was reached into the record; `stopped`: why no more tests follow."""
        self._ledger.count(self._worker.counted())
        self._ledger.queue = self._search.state()
        self._ledger.stopped = stopped
        if self._vectors is not None:
            self._vectors.books.keep()
        self._ledger.commit()
