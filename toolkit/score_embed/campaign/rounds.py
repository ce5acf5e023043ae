"""Tests that the engine runs by itself, one after the other: those of which nothing is out of the ordinary.

A round is what `campaign.py` does with a pair: run it, derive what follows, put that into the work list and the test
into the record. In the engine (`rounds.cpp`) it takes a fraction of the time. It ends before a pair that has to be
asked of the solver, and with a test that is no ordinary one: a bug, new coverage, a note, more input asked for, no
answer. Such a test is finished in Python, from where it is.
"""

from __future__ import annotations

from typing import NamedTuple

from score_embed.campaign.ledger import Ledger
from score_embed.campaign.worker import Worker
from score_embed.contract.outcome import Run, Verdict
from score_embed.contract.wire import VERDICTS
from score_embed.contract.words import Came
from score_embed.device.wired import WiredTarget
from score_embed.engine import _core
from score_embed.engine._core import Alarm, Brought, Halt, Lent, PairBatch
from score_embed.explore.pair import Pair
from score_embed.explore.search import Search
from score_embed.results.store import Store
from score_embed.results.work import WorkNotes

_ORDINARY = {VERDICTS.index(verdict): verdict.value for verdict in (Verdict.RETURN, Verdict.EXIT)}
_IN_WORK = frozenset({Halt.SENT, Halt.TOLD, Halt.DERIVED})


class Begun(NamedTuple):
    """A test that is finished in Python."""

    pair: Pair
    run: Run


class Rounds:
    def __init__(
        self, worker: Worker, search: Search, record: Store, ledger: Ledger, work: WorkNotes, alarm: Alarm
    ) -> None:
        self._worker, self._search, self._record, self._ledger, self._work = worker, search, record, ledger, work
        batch = record.waiting.batch
        self._rounds = self._made(batch, alarm) if batch is not None else None

    def _made(self, batch: PairBatch, alarm: Alarm) -> _core.Rounds:
        worker, record = self._worker, self._record
        runner, explorer = worker.runner, worker.explorer
        return _core.Rounds(
            explorer=explorer,
            trail=explorer.trail,
            descent=explorer.descent,
            queue=self._search.queue,
            batch=batch,
            alarm=alarm,
            paths=self._ledger.paths,
            grow=runner.grown,
            layout=lambda: record.layout(worker.describer.named(explorer.trail.objects)),
            ends=_ORDINARY,
            new=Came.NEW.value,
            redundant=Came.REDUNDANT.value,
        )

    def go(self, pair: Pair, most: int, until: float) -> tuple[bool, Begun | None]:
        """Run this pair and what comes after it: at most so many tests, and none is begun after `until`. Says whether
        it was begun, and what is to be finished. Raises TargetError."""
        rounds, target, runner = self._rounds, self._worker.runner.target, self._worker.runner
        if rounds is None or pair.pending or self._work.has_deaths or not isinstance(target, WiredTarget):
            return False, None
        lent = self._worker.lend(target)
        if lent is None or len(pair.input) > target.info.input_capacity:
            return False, None
        return True, self._run(rounds, target, lent, pair, most, until, runner.longest)

    def _run(
        self, rounds: _core.Rounds, target: WiredTarget, lent: Lent, pair: Pair, most: int, until: float, longest: int
    ) -> Begun | None:
        record, runner, ledger = self._record, self._worker.runner, self._ledger
        record.begin()
        number = ledger.totals.runs + 1
        halt = None
        try:
            with self._work.lent() as place:
                halt = rounds.go(lent, place, pair, number, longest, most, min(until, record.due_at))
        finally:
            brought = rounds.take()
            target.take_back(brought.bytes_in, brought.bytes_out, rounds.rest, rounds.failure)
            self._book(brought)
        if brought.rows:
            runner.is_there()
        if halt is Halt.ASKED:
            assert rounds.pair is not None
            self._search.hold(rounds.pair)
        if halt not in _IN_WORK:
            return None
        if halt is Halt.DERIVED:
            assert rounds.derived is not None
            self._worker.explorer.take_over(rounds.derived)
        assert rounds.pair is not None
        return Begun(rounds.pair, runner.run_of(rounds.pair, ledger.totals.runs + 1, rounds.data, rounds.prefix))

    def _book(self, brought: Brought) -> None:
        explorer = self._worker.explorer
        explorer.count()
        explorer.unflipped.update(brought.unflipped)
        self._ledger.enter_ordinary(brought)
