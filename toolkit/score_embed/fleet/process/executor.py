"""A client's work on one campaign: a worker's tests, rounds and answers as the protocol's `Result`s."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import msgspec

from score_embed.campaign.criteria import VectorReports, VectorRuns, are_wanted
from score_embed.campaign.describing import Counted
from score_embed.campaign.folder import beside_target, start_target
from score_embed.campaign.rounds import ClientRounds, Most, Round
from score_embed.campaign.worker import Worker
from score_embed.contract.outcome import Finished, Run
from score_embed.contract.words import Unflipped
from score_embed.errors import ScoreError, TargetError
from score_embed.explore.checking import Seen, Told
from score_embed.explore.pair import Pair, asked_later
from score_embed.fleet import messages
from score_embed.fleet.client.reporting import ROOM
from score_embed.fleet.messages import MAX_PAYLOAD, MAX_ROUND, Result
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.job import ReadyJob
from score_embed.fleet.process.payload import AnswerPayload, RoundPayload, TestPayload
from score_embed.fleet.process.queue import StrategyQueue
from score_embed.fleet.service import MARK_BYTES, Check
from score_embed.results.pairs import LostTest
from score_embed.results.work import WorkNotes
from score_embed.solve.query import Stopped

_SELDOM = 0.1  # seconds between two reports of figures
_GLANCE = 0.002  # … and between two looks at what the server wants, while a test is in work


class Failed(NamedTuple):
    """The target was lost with the pair of this id."""

    id: bytes
    error: ScoreError


class Ran(NamedTuple):
    """What came of a pair: its result, and those of pairs below it that were done with at once."""

    results: tuple[Result, ...]
    failed: Failed | None = None


def _most() -> Most:
    """So that a round goes into a result."""
    return Most(MAX_ROUND, MAX_PAYLOAD, *ROOM)


class Executor:
    def __init__(
        self, client: str, job: ReadyJob, wants_end: Callable[[], bool], confined: bool, work: WorkNotes | None = None
    ) -> None:
        """Start a target. `wants_end`: asked before each question to the solver; if so, the rest of a run is left to
        a pair of its own. `work`: where pairs in work are noted, if the campaign's folder is here."""
        settings, image = job.settings, job.image
        self._client, self._work, self._in_work = client, work, False
        self._wants_end = wants_end
        with ExitStack() as stack:
            stack.enter_context(beside_target(job.board))
            self._target = start_target(job.board, image.elf, image.build_id, confined)
            stack.callback(self._target.close)
            self._worker = Worker(self._target, settings, image, ROOM)
            self._close = stack.pop_all().close
        self._worker.explorer.stop_if(wants_end, _GLANCE)
        vectors = VectorRuns(self._target, image.sites) if are_wanted(settings) else None
        self._vectors = VectorReports(vectors) if vectors is not None else None
        order = self._worker.order(vectors)
        self.queue = StrategyQueue(order)
        self._rounds = ClientRounds(self._worker, order, work, _most(), wants_end) if vectors is None else None
        self._tests = 0
        self._counted_at = 0.0
        self._unflipped: set[tuple[int, Unflipped]] = set()  # that were told of

    def run(self, pair: messages.Pair, may_round: bool) -> Ran:
        """Run the pair that was just taken from the queue, or answer it; `may_round`: and others below it, if that is
        quick.

        Raises TargetError if it cannot be run here.
        """
        mine = self.queue.taken
        assert mine is not None
        assert mine.id == pair.id
        if self._work is not None and not self._work.begin(mine.id):
            return Ran((self._result(mine, 0.0, False, (), self._worker.given_up(mine)),))
        self._in_work = True
        try:
            ran = Ran((self._answer(mine),)) if mine.pending else self._run(mine, may_round)
        except TargetError:
            self._in_work = False
            raise
        self._in_work = False
        return ran

    def rest(self) -> None:
        """Nothing waits here."""
        if self._work is not None:
            self._work.rest()

    def _run(self, pair: Pair, may_round: bool) -> Ran:
        began = time.perf_counter()
        found = None
        if self._rounds is not None and may_round:
            found = self._rounds.go(pair, self.queue.rank, self._tests + 1, self.queue.runs)
        if found is None:
            return Ran((self._test(pair, self._worker.begin(pair, self._tests + 1), began),))
        results: list[Result] = []
        if found.tests:
            self._tests += len(found.tests)
            results.append(self._round(pair, found, time.perf_counter() - began))
            began = time.perf_counter()
        failed = None
        if found.begun is not None:
            last, run = found.begun
            try:
                results.append(self._test(last, run, began))
            except TargetError as error:
                if not results:
                    raise
                failed = Failed(last.id, error)
        return Ran(tuple(results), failed)

    def _round(self, pair: Pair, found: Round, seconds: float) -> Result:
        """What the engine has brought, and the test that it has left to be finished, if any, is still to be done."""
        self.queue.runs = found.runs
        children = self.queue.derived(found.left, found.ranks)
        if found.begun is not None:
            children += self.queue.derived([found.begun.pair])
        counted = self._counted(children)
        told = RoundPayload(self._client, seconds, found.tests, found.layouts, found.unchecked, found.retried, counted)
        return Result(pair.id, payloads.encode(told), children, len(found.tests))

    def _test(self, pair: Pair, begun: Run, began: float) -> Result:
        self._tests += 1
        test = self._worker.finish(pair, begun)
        entry = self._worker.entry(test)
        if self._vectors is not None and test.outcome.is_path:
            entry = msgspec.structs.replace(entry, taken=self._vectors.look(test.run, test.finished))
        seconds = time.perf_counter() - began
        try:
            data = payloads.encode(TestPayload(self._client, seconds, entry, self._counted(test.outcome.children)))
        except ValueError as error:
            raise TargetError(str(error), "", "Make less data symbolic, or explore with one client.") from None
        return Result(pair.id, data, self.queue.derived(test.outcome.children))

    def _answer(self, flip: Pair) -> Result:
        """Ask a pending flip, after another run of its path if that is not known here."""
        began = time.perf_counter()
        again = False
        children: Sequence[Pair] = (asked_later(flip),)
        lost: LostTest | None = None
        try:
            outcome = self._worker.explorer.ask(flip)
            if outcome is None:
                again = True
                test = self._worker.finish(flip, self._worker.begin(flip, self._tests))
                outcome, lost = test.outcome, self._worker.lost(test)
            children = outcome.children
        except Stopped:
            pass
        return self._result(flip, time.perf_counter() - began, again, children, lost)

    def _result(
        self, pair: Pair, seconds: float, again: bool, children: Sequence[Pair], lost: LostTest | None
    ) -> Result:
        """Of a pair that was no test."""
        data = payloads.encode(AnswerPayload(self._client, seconds, again, self._counted(children), lost))
        return Result(pair.id, data, self.queue.derived(children), tests=0)

    def _counted(self, children: Sequence[object]) -> Counted | None:
        """What was counted. Mere figures wait for a later result, if there will be one: client and server would work on
        them with each test."""
        explorer, now = self._worker.explorer, time.monotonic()
        kinds = explorer.unflipped.keys() - self._unflipped
        has_more = bool(children) or bool(len(self.queue))
        if has_more and now < self._counted_at + _SELDOM and not kinds and not explorer.has_noted:
            return None
        self._unflipped |= kinds
        self._counted_at = now
        return self._worker.counted()

    def check(self, claim: Check) -> tuple[Finished, Seen]:
        """How somebody else's test ends here, and what is missing in what they told of it; it is no test of the
        campaign.

        Raises TargetError, and Stopped.
        """
        if claim.fresh:
            self._target.restart()
        if not claim.pair:
            return self._worker.runner.replay(0, claim.input), Seen(False, ())
        marks = {claim.told[at : at + MARK_BYTES] for at in range(0, len(claim.told), MARK_BYTES)}
        pair = Pair.from_bytes(claim.pair)
        return self._worker.check(pair, Told(marks, claim.until, claim.given_up), self._wants_end)

    def close(self) -> None:
        self._close()
        if self._work is not None:
            self._work.close(in_good_order=not self._in_work)
