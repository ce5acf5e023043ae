"""A client's work on one campaign: a worker's tests and answers as the protocol's `Result`s."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from score_embed.campaign.folder import start_target
from score_embed.campaign.worker import Worker
from score_embed.contract.outcome import Finished
from score_embed.errors import TargetError
from score_embed.explore.pair import Pair, asked_later
from score_embed.explore.strategy import STRATEGIES
from score_embed.fleet import messages
from score_embed.fleet.client.reporting import room
from score_embed.fleet.messages import Result
from score_embed.fleet.process import payload as payloads
from score_embed.fleet.process.job import ReadyJob
from score_embed.fleet.process.payload import AnswerPayload, TestPayload
from score_embed.fleet.process.queue import StrategyQueue
from score_embed.solve.query import Stopped


class Executor:
    def __init__(self, client: str, job: ReadyJob, wants_end: Callable[[], bool]) -> None:
        """Start a target. `wants_end`: asked before each question to the solver; if so, the rest of a run is left to
        a pair of its own."""
        settings, image = job.settings, job.image
        self._client = client
        self._target = start_target(job.board, image.elf, image.build_id)
        try:
            self._worker = Worker(self._target, settings, image, room)
        except BaseException:
            self._target.close()
            raise
        self._worker.explorer.stop_if(wants_end)
        self.queue = StrategyQueue(STRATEGIES[settings.strategy](settings.seed, self._worker.covered))
        self._tests = 0

    def run(self, pair: messages.Pair) -> Result:
        """Run the pair that was just taken from the queue, or answer it.

        Raises TargetError if it cannot be run here.
        """
        mine = self.queue.taken
        assert mine is not None
        assert mine.id == pair.id
        return self._answer(mine) if mine.pending else self._test(mine)

    def _test(self, pair: Pair) -> Result:
        self._tests += 1
        began = time.perf_counter()
        test = self._worker.finish(pair, self._worker.begin(pair, self._tests))
        entry = self._worker.entry(test)
        seconds = time.perf_counter() - began
        try:
            data = payloads.encode(TestPayload(self._client, seconds, entry, self._worker.counted()))
        except ValueError as error:
            raise TargetError(str(error), "", "Make less data symbolic, or explore with one client.") from None
        return Result(pair.id, data, self.queue.derived(test.outcome.children))

    def _answer(self, flip: Pair) -> Result:
        """Ask a pending flip, after another run of its path if that is not known here."""
        began = time.perf_counter()
        again = False
        children: Sequence[Pair] = (asked_later(flip),)
        try:
            outcome = self._worker.explorer.ask(flip)
            if outcome is None:
                again = True
                outcome = self._worker.finish(flip, self._worker.begin(flip, self._tests)).outcome
            children = outcome.children
        except Stopped:
            pass
        data = payloads.encode(
            AnswerPayload(self._client, time.perf_counter() - began, again, self._worker.counted())
        )
        return Result(flip.id, data, self.queue.derived(children), is_test=False)

    def check(self, data: bytes, fresh: bool) -> Finished:
        """How the test of this input ends here; it is no test of the campaign. Raises TargetError."""
        if fresh:
            self._target.restart()
        return self._worker.runner.replay(0, data)

    def close(self) -> None:
        self._target.close()
