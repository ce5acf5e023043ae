"""Tests that the engine runs by itself, one after the other: those of which nothing is out of the ordinary.

A round is what otherwise is done with a pair in Python: run it, derive what follows, let that wait, and put the test
into the books. In the engine (`rounds.cpp`) it takes a fraction of the time. It ends before a pair that has to be asked
of the solver, and with a test that is no ordinary one: a bug, new coverage, a note, more input asked for, no answer.
Such a test is finished in Python, from where it is.

A campaign on one target has such rounds, and each client of a fleet: `rounds.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from score_embed.campaign.worker import Worker
from score_embed.contract.outcome import Run, Verdict
from score_embed.contract.wire import VERDICTS
from score_embed.contract.words import Came
from score_embed.device.wired import WiredTarget
from score_embed.engine._core import Alarm, Brought, Halt, HashSet, PairBatch, Rounds
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue

ORDINARY = (Verdict.RETURN, Verdict.EXIT)  # ends
_WORDS = {VERDICTS.index(verdict): verdict.value for verdict in ORDINARY}
_IN_WORK = frozenset({Halt.SENT, Halt.TOLD, Halt.DERIVED})


class Begun(NamedTuple):
    """A test that is finished in Python."""

    pair: Pair
    run: Run


class Halted(NamedTuple):
    """How rounds ended. `asked`: the pair that was taken last, and is for Python to begin."""

    begun: Begun | None
    asked: Pair | None


class EngineLoop:
    def __init__(
        self,
        worker: Worker,
        queue: Queue,
        batch: PairBatch | None,
        paths: HashSet,
        layout: Callable[[], int],
        alarm: Alarm,
        room: tuple[int, int] | None = None,
    ) -> None:
        """What the engine's `Rounds` says of these."""
        self._worker = worker
        explorer = worker.explorer
        self._rounds = Rounds(
            explorer=explorer,
            trail=explorer.trail,
            descent=explorer.descent,
            queue=queue,
            batch=batch,
            alarm=alarm,
            paths=paths,
            unanswered=worker.unanswered,
            covered=worker.covered,
            grow=worker.runner.grown,
            layout=layout,
            ends=_WORDS,
            new=Came.NEW.value,
            redundant=Came.REDUNDANT.value,
            room=room,
        )

    def go(
        self, place: memoryview, pair: Pair, number: int, most: int, until: float, book: Callable[[Brought], None]
    ) -> Halted | None:
        """Run this pair, and what the queue says after it: at most so many tests, and none is begun after `until`. What
        they brought is booked, however they end. None: the pair is not for the engine. Raises TargetError.

        `place`: where the pair in work is noted; `number`: of the first test.
        """
        worker, rounds = self._worker, self._rounds
        runner, target = worker.runner, worker.runner.target
        if pair.pending or not isinstance(target, WiredTarget):
            return None
        lent = worker.lend(target)
        if lent is None or len(pair.input) > target.info.input_capacity:
            return None
        halt = None
        ran = 0
        try:
            halt = rounds.go(lent, place, pair, number, runner.longest, most, until)
        finally:
            brought = rounds.take()
            sent, got = brought.bytes_out, brought.bytes_in
            target.take_back(got, sent, rounds.rest, rounds.failure, is_spent=rounds.is_spent)
            worker.explorer.count()
            worker.explorer.unflipped.update(brought.unflipped)
            book(brought)
            ran = len(brought.lengths)
        if ran:
            runner.is_there()
        if halt is Halt.DERIVED:
            assert rounds.derived is not None
            worker.explorer.take_over(rounds.derived)
        begun = None
        if halt in _IN_WORK:
            assert rounds.pair is not None
            begun = Begun(rounds.pair, runner.run_of(rounds.pair, number + ran, rounds.data, rounds.prefix))
        return Halted(begun, rounds.pair if halt is Halt.ASKED else None)
