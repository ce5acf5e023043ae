"""Runs inputs on a target, each with as much input as the program asks for, and sees each to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from score_embed import config
from score_embed.campaign.judging import Judge, is_doubtful
from score_embed.contract.outcome import Finished, Run, Target, Verdict
from score_embed.device.wired import WiredTarget
from score_embed.engine._core import Lent
from score_embed.errors import TargetError
from score_embed.explore.pair import Pair
from score_embed.explore.prf import grow
from score_embed.image.image import Image
from score_embed.trace.trail import TraceError

_POLL = 256  # bytes of input that a test which does not end gets, beside those of the function's arguments
_PIECE = 64  # bytes that are asked for at once, at most, where a program polls
_LOST_IN_A_ROW = 20  # tests: then it is not they that lose the target
_ROUNDS = 16  # of more and more input
_TOO_LONG = "it needs more input than the target's buffer can hold"
_LESS = "make less data symbolic, or give the runtime a larger buffer (SC_INPUT_CAPACITY)"
ENDLESS = frozenset({Verdict.HANG, Verdict.WATCHDOG})


Brought = TypeVar("Brought")


class Done(NamedTuple, Generic[Brought]):
    """A test as it was run in the end, and what it brought."""

    test: Run
    finished: Finished
    brought: Brought


class Runner:
    def __init__(self, target: Target, settings: config.Settings, image: Image) -> None:
        self.target = target
        self._judge = Judge(target, image)
        self._seed, self._max_branches = settings.seed, settings.max_branches
        self._poll = _POLL + (image.entry.asked if image.entry is not None else 0)
        self.longest = 0  # bytes of input that some test asked for: what every test is given
        self._attempted = False  # there were runs since the last test
        self._lost = 0  # tests in a row

    def attempt(self, data: bytes) -> Finished:
        """A run that is no test of the campaign: what it covers does not count."""
        return self.try_out(Run(0, data, max_branches=self._max_branches))

    def try_out(self, test: Run) -> Finished:
        """The same, of a run that was made before."""
        self._attempted = True
        return self._told(test, self.target.run(test))

    def complete(self, data: bytes) -> tuple[Run, Finished]:
        """The same, with as much input as the program asks for. Raises TargetError if the target cannot hold that."""
        test = Run(0, data, max_branches=self._max_branches)
        return self._see_through(test, self.try_out(test), strict=True)

    def grow(self, data: bytes, size: int) -> bytes:
        """`data` at least `size` bytes long; what a test does not say comes from the seed."""
        return grow(self._seed, data, size)

    def begin(self, pair: Pair, number: int, prefix: bytes) -> Run:
        """Let the target run a pair. `prefix`: the events it will most likely begin with."""
        data = self.grown(pair.input)
        self._leave_attempts()
        test = self.run_of(pair, number, data, prefix)
        self.target.begin(test)
        return test

    def run_of(self, pair: Pair, number: int, data: bytes, prefix: bytes) -> Run:
        """What the target is told of a pair."""
        return Run(number, data, pair.predicted, pair.condition_hash, self._max_branches, prefix)

    def grown(self, data: bytes) -> bytes:
        """As much input as some test asked for."""
        return self.grow(data, self.longest)

    def lend(self, target: WiredTarget) -> Lent | None:
        """The running target, for tests of the campaign. None: the next one has to be begun here."""
        self._leave_attempts()
        return target.lend(self._max_branches)

    def _leave_attempts(self) -> None:
        """A test of the campaign comes next."""
        if self._attempted:
            self.target.forget_coverage()
            self._attempted = False

    def is_there(self) -> None:
        """The target has just run a test to its end."""
        self._lost = 0

    def finish(self, record: Callable[[Pair, Finished, bytes], Brought], pair: Pair, begun: Run) -> Done[Brought]:
        """The end of the test that was begun, and what `record` makes of its pair, its end and its input.

        Raises TargetError if the target cannot be started again, or is lost in each test.
        """
        test, finished = self._see_through(begun, self._first(begun))
        try:
            brought = record(pair, finished, test.input)
        except TraceError as error:
            judged = self._judge.judge(test, _damaged(finished, error.what))
            test, finished = self._see_through(test, judged)
            brought = record(pair, finished, test.input)
        self._count_lost(finished)
        self.longest = max(self.longest, finished.input_used)
        return Done(test, finished, brought)

    def replay(self, number: int, data: bytes) -> Finished:
        """A recorded test once more, as in a campaign."""
        return self.repeat(Run(number, data, max_branches=self._max_branches))[1]

    def repeat_pair(self, pair: Pair) -> tuple[Run, Finished]:
        """A pair that somebody else has run, once more: it is no test of the campaign."""
        return self.repeat(Run(0, pair.input, pair.predicted, pair.condition_hash, self._max_branches))

    def repeat(self, test: Run) -> tuple[Run, Finished]:
        """A run once more, with as much input as it took in the end."""
        test, finished = self._see_through(test, self.try_out(test))
        return test, self._sensible(test, finished)

    def _sensible(self, test: Run, finished: Finished) -> Finished:
        """An end that the target told, judged if its events cannot be read."""
        if is_doubtful(finished) or self._judge.makes_sense(test, finished):
            return finished
        return self._judge.judge(test, _damaged(finished, ""))

    def shows_again(self, test: Run, finished: Finished) -> bool:
        """A bug that only shows after other tests may be ours: try it on a fresh target."""
        if is_doubtful(finished):
            return True  # it was
        self.target.restart()
        fresh = Run(0, test.input, max_branches=self._max_branches, bounded=test.bounded)
        again = self.try_out(fresh)
        if again.verdict is Verdict.STACK_OVERFLOW:  # at which call it is used up, the environment decides, too
            return finished.verdict is Verdict.STACK_OVERFLOW
        if _is_alike(again, finished):  # so are its events, and those of a path without an end take long to read
            return True
        return _is_alike(self._sensible(fresh, again), finished)

    @property
    def _capacity(self) -> int:
        """Bytes of input that the target can hold."""
        return self.target.info.input_capacity

    def _first(self, begun: Run) -> Finished:
        return self._told(begun, self.target.finish())

    def _again(self, test: Run) -> Finished:
        """The test with another input: all that it covers is of interest."""
        self.target.forget_coverage()
        return self._told(test, self.target.run(test))

    def _told(self, test: Run, finished: Finished) -> Finished:
        judged = is_doubtful(finished) or finished.verdict is Verdict.STACK_OVERFLOW  # which may end amid an event
        return self._judge.judge(test, finished) if judged else finished

    def _see_through(self, test: Run, finished: Finished, strict: bool = False) -> tuple[Run, Finished]:
        """Once more with as much input as the program asks for, until that is enough or it shows that nothing is.

        Raises TargetError if the target cannot hold that much and the caller is `strict`.
        """
        capacity, rounds = self._capacity, 0
        while (wanted := finished.input_used) > len(test.input):
            size, bounded, rounds = wanted, False, rounds + 1
            if test.bounded:
                if wanted - len(test.input) <= _PIECE or wanted > capacity or rounds > _ROUNDS:
                    return test, _without_end(test, finished)
            elif finished.verdict in ENDLESS and wanted > self._poll:
                size, bounded = max(len(test.input), min(self._poll, capacity)), True
            elif wanted > capacity or rounds > _ROUNDS:
                if strict:
                    what = f"a test needs {wanted} bytes of input, the target's buffer has {capacity}"
                    raise TargetError(what, "", _LESS)
                test = test._replace(input=self.grow(test.input, capacity), bounded=True)
                return test, _too_long(self._again(test), capacity)
            test = test._replace(input=self.grow(test.input, size), bounded=bounded)
            finished = self._again(test)
        return test, finished

    def _count_lost(self, finished: Finished) -> None:
        self._lost = self._lost + 1 if finished.verdict is Verdict.LOST and finished.why_lost != _TOO_LONG else 0
        if self._lost >= _LOST_IN_A_ROW:
            what = f"the target was lost in each of the last {self._lost} tests: {finished.why_lost}"
            raise TargetError(what, "", "Is something else ending it, or is the board short of power or memory?")


def _is_alike(one: Finished, other: Finished) -> bool:
    return (one.verdict, one.path_hash) == (other.verdict, other.path_hash)


def _damaged(finished: Finished, why: str) -> Finished:
    return finished._replace(verdict=Verdict.CORRUPTED, code=0, why_lost=why)


def _without_end(test: Run, finished: Finished) -> Finished:
    why = f"it asks for more than {len(test.input)} bytes of input and does not end"
    return finished._replace(input_used=len(test.input), why_lost=why)


def _too_long(finished: Finished, capacity: int) -> Finished:
    """It would end, with more input than the target can hold. What came before is known."""
    return finished._replace(verdict=Verdict.LOST, code=0, input_used=capacity, why_lost=_TOO_LONG)
