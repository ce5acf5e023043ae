"""A client's work on one campaign: runs pairs on its target, and says what each brought as the protocol's `Result`."""

from __future__ import annotations

import time
from collections.abc import Callable

from score_embed.campaign.describing import Describer, Entry
from score_embed.campaign.folder import start_target
from score_embed.campaign.running import Runner, explorer_of
from score_embed.contract.outcome import LinkCounters, Verdict
from score_embed.errors import TargetError
from score_embed.explore.pair import Pair, asked_later
from score_embed.explore.strategy import STRATEGIES
from score_embed.explore.tally import Tally
from score_embed.fleet import messages
from score_embed.fleet import payload as payloads
from score_embed.fleet.client.reporting import room
from score_embed.fleet.messages import Result
from score_embed.fleet.payload import AnswerPayload, Tallied, TestPayload, Where
from score_embed.fleet.process.job import ReadyJob
from score_embed.fleet.process.queue import StrategyQueue
from score_embed.results import summary
from score_embed.results.bugs import Place
from score_embed.solve.query import Stopped

_MEMORY_EVERY = 256  # tests


class Executor:
    def __init__(self, client: str, job: ReadyJob, wants_end: Callable[[], bool]) -> None:
        """Start a target. `wants_end`: asked before each question to the solver; if so, the rest of a run is left to
        a pair of its own."""
        settings, image = job.settings, job.image
        self._client = client
        self._target = start_target(job.board, image.elf, image.build_id)
        try:
            self._free_ram = self._target.info.free_ram
        except BaseException:
            self._target.close()
            raise
        self._runner = Runner(self._target, settings, image)
        self._describer = Describer(image)
        self._covered: set[int] = set()
        self.queue = StrategyQueue(STRATEGIES[settings.strategy](settings.seed, self._covered))
        self._explorer = explorer_of(image, settings, room)
        self._explorer.stop_if(wants_end)
        self._bugs: set[tuple[Verdict, Place]] = set()
        self._link = LinkCounters()
        self._tests = 0

    def run(self, pair: messages.Pair) -> Result:
        """Run the pair that was just taken from the queue, or answer it.

        Raises TargetError if it cannot be run here.
        """
        mine = self.queue.taken
        assert mine is not None
        assert mine.id == pair.id
        if mine.pending:
            return self._answer(mine)
        self._tests += 1
        began = time.perf_counter()
        begun = self._runner.begin(mine, self._tests, self._explorer.expected(mine))
        test, finished, outcome = self._runner.finish(self._explorer.derive, mine, begun)
        coverage = set(finished.coverage) - self._covered
        self._covered |= coverage
        entry = self._describer.entry(test, finished, outcome, sorted(coverage))
        if entry.verdict.is_bug and (entry.verdict, entry.place) not in self._bugs:
            self._bugs.add((entry.verdict, entry.place))
            entry.confirmed = self._runner.shows_again(test, finished)
        children = self.queue.derived(outcome.children)
        return Result(
            pair.id, finished.path_hash.to_bytes(8, "little"), self._said(entry, time.perf_counter() - began), children
        )

    def _answer(self, mine: Pair) -> Result:
        """Ask a pending flip, after another run of its path if that is not known here."""
        began = time.perf_counter()
        again = False
        try:
            outcome = self._explorer.ask(mine)
            if outcome is None:
                again = True
                begun = self._runner.begin(mine, self._tests, self._explorer.expected(mine))
                outcome = self._runner.finish(self._explorer.derive, mine, begun).brought
            children = outcome.children
        except Stopped:
            children = (asked_later(mine),)
        payload = AnswerPayload(self._client, time.perf_counter() - began, again, _tallied(self._explorer.take_tally()))
        return Result(mine.id, bytes(8), payloads.encode(payload), self.queue.derived(children), is_test=False)

    def close(self) -> None:
        self._target.close()

    def _said(self, entry: Entry, seconds: float) -> bytes:
        now, before = self._target.counters, self._link
        self._link = now
        place = entry.place
        payload = TestPayload(
            self._client,
            seconds,
            entry.input,
            entry.verdict.value,
            entry.code,
            entry.conditions,
            entry.is_path,
            entry.mispredicted,
            tuple((named.name, named.offset, named.size, named.kind) for named in entry.objects),
            Where(place.file, place.line, place.function, place.stack) if entry.verdict.is_bug else None,
            entry.confirmed,
            entry.output,
            tuple(entry.coverage),
            _tallied(self._explorer.take_tally()),
            (
                now.bytes_in - before.bytes_in,
                now.bytes_out - before.bytes_out,
                now.crc_errors - before.crc_errors,
                now.reruns - before.reruns,
            ),
            (summary.host_rss(), self._free_ram) if self._tests % _MEMORY_EVERY == 1 else (0, 0),
            entry.unchecked,
        )
        try:
            return payloads.encode(payload)
        except ValueError as error:
            raise TargetError(str(error), "", "Make less data symbolic, or explore with one client.") from None


def _tallied(tally: Tally) -> Tallied:
    solver = tally.solver
    return Tallied(
        tuple((what, site, count) for (what, site), count in tally.notes.items()),
        tuple((index, why, count) for (index, why), count in tally.unflipped.items()),
        tally.divergences,
        tally.concretized,
        (solver.sat, solver.unsat, solver.unknown),
        solver.seconds,
        dict(solver.by),
        solver.seconds_by,
        tuple(tally.forks.items()),
    )
