"""One target's work on an exploration: it runs pairs, derives what follows, and says what came of it, for the books.

A campaign on one target has one worker and enters what it says into its books. Each client of a fleet has one and sends
what it says to the server, which enters it into the same books.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from score_embed import config
from score_embed.campaign.criteria import VectorRuns
from score_embed.campaign.describing import Counted, Describer, Entry
from score_embed.campaign.judging import is_doubtful
from score_embed.campaign.running import Runner
from score_embed.campaign.simpler import Simpler, Simplifier
from score_embed.contract.outcome import Finished, LinkCounters, Run, Target, Verdict
from score_embed.device.wired import WiredTarget
from score_embed.engine._core import Lent, Unanswered
from score_embed.errors import TargetError
from score_embed.explore.bounds import Bounds
from score_embed.explore.checking import Checker, Seen, Told
from score_embed.explore.concolic import Explorer
from score_embed.explore.flips import Outcome
from score_embed.explore.pair import Pair, set_aside
from score_embed.explore.strategy import STRATEGIES, Deciding, Order
from score_embed.image.image import Image
from score_embed.results import summary
from score_embed.results.bugs import Bug, Place, kind_of
from score_embed.results.pairs import LostTest
from score_embed.results.parts import Memory
from score_embed.results.testcase import Named
from score_embed.results.work import DEATHS
from score_embed.solve.chain import default_chain
from score_embed.trace.trail import Forks, TraceError, Trail


class Tested(NamedTuple):
    """A test that was run, and what it brought."""

    run: Run
    finished: Finished
    outcome: Outcome
    fresh: tuple[int, ...]  # coverage indices that this worker had not seen covered


class Worker:
    def __init__(
        self, target: Target, settings: config.Settings, image: Image, room: tuple[int, int] | None = None
    ) -> None:
        """`room`: see Explorer."""
        self._target = target
        self._free_ram = target.info.free_ram
        self.runner = Runner(target, settings, image)
        self.describer = Describer(image)
        self._simplifier = Simplifier(self.runner, self.describer)
        self._settings, self._image = settings, image
        self.explorer = Explorer(self._trail(), default_chain(solver=settings.solver), self._bounds(), room)
        self.covered: set[int] = set()
        self.unanswered = Unanswered()
        self._bugs: set[tuple[str, Place]] = set()
        self._said = LinkCounters()
        self._lost: TargetError | None = None
        self._minimises = not settings.no_minimise

    def knows(self, covered: Iterable[int], bugs: Iterable[Bug]) -> None:
        """What earlier sessions have seen."""
        self.covered.update(covered)
        self._bugs.update((bug.kind, bug.place) for bug in bugs)

    def order(self, vectors: VectorRuns | None) -> Order:
        """The order of the work list. `vectors`: if they are recorded; what decisions still lack is what these runs
        have not shown."""
        settings, explorer = self._settings, self.explorer
        if settings.strategy == "mcdc" and vectors is not None:
            return Deciding(self.covered, lambda pair: vectors.may_show(pair, explorer.conditions))
        return STRATEGIES[settings.strategy](settings.seed, self.covered)

    def begin(self, pair: Pair, number: int) -> Run:
        """Let the target run a pair. Raises TargetError if it cannot."""
        if self._lost is not None:
            raise self._lost
        return self.runner.begin(pair, number, self.explorer.expected(pair))

    def lend(self, target: WiredTarget) -> Lent | None:
        """The running target, for tests that the engine runs. None: the next one has to be begun here. Raises
        TargetError if it cannot."""
        if self._lost is not None:
            raise self._lost
        return self.runner.lend(target)

    def finish(self, pair: Pair, begun: Run) -> Tested:
        """The end of the run that was begun. Raises TargetError if the target cannot be started again."""
        run, finished, outcome = self.runner.finish(self.explorer.derive, pair, begun)
        if pair.pending:
            return Tested(run, finished, outcome, ())  # no test
        if not is_doubtful(finished) and self.unanswered.was_answered(pair):
            finished = finished._replace(retried=True)
        fresh = tuple(sorted(set(finished.coverage) - self.covered)) if finished.coverage else ()
        self.covered.update(fresh)
        return Tested(run, finished, outcome, fresh)

    def check(self, pair: Pair, told: Told, stop: Callable[[], bool]) -> tuple[Finished, Seen]:
        """Run what somebody else has run, and compare what follows from it with what they told; it is no test of the
        campaign, and nothing is counted. Raises TargetError, and Stopped if `stop` says so."""
        test, finished = self.runner.repeat_pair(pair)
        chain = default_chain(solver=self._settings.solver)
        chain.stop = stop
        try:
            seen = Checker(self._trail(), chain, self._bounds(), told).check(pair, finished, test.input)
        except TraceError as error:
            raise TargetError(f"a test that others have run makes no sense here: {error.what}") from None
        return finished, seen

    def _trail(self) -> Trail:
        image, settings = self._image, self._settings
        forks = Forks(settings.fork_values, settings.fork_arguments)
        return Trail(image.sites, image.verify, image.constants, forks)

    def _bounds(self) -> Bounds:
        return Bounds(self._settings.max_depth, self._settings.loop_bound)

    def entry(self, test: Tested) -> Entry:
        """A test in the books' words. A bug that is new here is tried once more, on a fresh target: so a bug has to be
        entered before anything else is run or asked."""
        run, finished, outcome, fresh = test
        verdict, place, confirmed, depends, small = finished.verdict, None, False, None, None
        objects = self.describer.named(outcome.objects)
        if verdict.is_bug:
            place = self.describer.place(finished)
            bug = kind_of(verdict, finished.code), place
            if bug not in self._bugs:
                self._bugs.add(bug)
                depends = self.explorer.depends(finished) if outcome.objects else None
                confirmed = self._shows_again(run, finished)
                if confirmed and self._minimises and not is_doubtful(finished):
                    small, depends = self._made_small(run, finished, objects, depends)
        return Entry(
            run.input if verdict is Verdict.LOST else run.input[: finished.input_used],
            verdict,
            finished.code,
            finished.path_hash,
            finished.conditions,
            outcome.is_path,
            outcome.mispredicted,
            objects,
            place,
            finished.output,
            fresh,
            confirmed,
            finished.unchecked,
            finished.retried,
            self.lost(test),
            depends,
            small,
        )

    def _made_small(
        self, run: Run, finished: Finished, objects: Sequence[Named], depends: tuple[str, ...] | None
    ) -> Simpler:
        try:
            return self._simplifier.of(run, finished, objects, depends)
        except TargetError as error:
            self._lost = error  # the bug is a bug; who runs the next test is told
            return None, depends

    def lost(self, test: Tested) -> LostTest | None:
        """What is to be repeated of a run whose targets died."""
        run, finished, outcome, _ = test
        if outcome.set_aside is None:
            return None
        return self.describer.lost(outcome.set_aside, run.input, finished.why_lost, finished.site)

    def _shows_again(self, run: Run, finished: Finished) -> bool:
        try:
            return self.runner.shows_again(run, finished)
        except TargetError as error:
            self._lost = error  # the bug is a bug; who runs the next test is told
            return False

    def given_up(self, pair: Pair) -> LostTest:
        """Of a pair that is not run any more, because processes died of it."""
        what = f"{DEATHS} processes of score-embed were killed while they had it in work"
        return self.describer.lost(set_aside(pair, pair.input), pair.input, what, pair.site)

    def counted(self) -> Counted:
        now, before = self._target.counters, self._said
        self._said = now
        memory = Memory(summary.host_rss(), self._free_ram)
        refused = self.describer.refused(self._target.take_refused())
        return Counted(self.explorer.take_tally().rows(), now.minus(before), memory, refused)
