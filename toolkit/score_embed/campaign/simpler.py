"""A simpler input for a bug, found by runs on the target that the bug was found on.

A hang takes as long as its budget of branches, so it is tried with a small part of that; only the input that is left in
the end gets the whole. Where the budget runs out in a loop depends on the number of branches before it. So the place of
a hang is each line where that loop stands when the budget is a little smaller.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from score_embed.campaign.describing import Describer, Small
from score_embed.campaign.judging import is_doubtful
from score_embed.campaign.running import ENDLESS, Runner
from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.results.bugs import Place, kind_of
from score_embed.results.minimising import MOST_RUNS, Enough, needed, smaller
from score_embed.results.testcase import Named

_MOST_ENDLESS = 2  # runs that do not end, while another bug is looked for: each takes long
_PART, _LEAST = 16, 2_000  # a hang is tried with this part of the budget, with so many branches at least
_LOOP = 8  # branches of a loop that are looked at for its lines
_MOST_HANGING = 60  # runs of a hang
_MOST_EVENTS = 8_000_000  # bytes, of all runs: a recursion without end sends millions each time
_FEWEST = 4  # runs of such a one
_LONGEST = 30.0  # seconds: of a copy of gigabytes each run takes long

Simpler = tuple[Small | None, tuple[str, ...] | None]  # and the inputs that the bug depends on, None: not known


class Simplifier:
    """Runs inputs that are no tests of the campaign."""

    def __init__(self, runner: Runner, describer: Describer) -> None:
        self._runner, self._describer = runner, describer

    def of(self, run: Run, finished: Finished, objects: Sequence[Named], depends: tuple[str, ...] | None) -> Simpler:
        """What is simpler than the input of a bug, if that can be found, and on what of it the bug depends: no null
        that might as well be none. Raises TargetError."""
        data = run.input[: finished.input_used]
        hangs = finished.verdict is Verdict.HANG
        budget = min(run.max_branches, max(_LEAST, run.max_branches // _PART)) if hangs else run.max_branches
        tried = run._replace(number=0, predicted=0, condition_hash=0, prefix=b"", max_branches=budget)
        places = self._places(tried._replace(input=data), finished) if hangs else {self._describer.place(finished)}
        kind = kind_of(finished.verdict, finished.code)

        def shows(done: Finished, size: int) -> bool:
            if is_doubtful(done) or kind_of(done.verdict, done.code) != kind:
                return False
            return self._describer.place(done) in places and (done.input_used <= size or run.bounded)

        def attempt(data: bytes) -> Finished:
            return self._runner.try_out(tried._replace(input=data))

        again = _Bounded(attempt, shows, hangs, max(_FEWEST, _MOST_EVENTS // max(1, len(finished.events))))
        made = smaller(data, objects, again, _MOST_HANGING if hangs else MOST_RUNS)
        rests = needed(depends, data, made, objects, again)
        if made == data:
            return None, rests
        self._runner.target.restart()  # as the bug itself was tried again
        done = self._runner.try_out(tried._replace(input=made, max_branches=run.max_branches))
        if not shows(done, len(made)):
            return None, depends
        begin = attempt(made) if hangs else done  # a million branches later no more input was asked for
        told = begin if begin.input_used == done.input_used else done
        return Small(made, done.path_hash, self._describer.layout(told, made)), rests

    def _places(self, tried: Run, finished: Finished) -> set[Place]:
        """The lines of the loop that a test does not leave."""
        found = {self._describer.place(finished)}
        for fewer in range(_LOOP):
            done = self._runner.try_out(tried._replace(max_branches=max(1, tried.max_branches - fewer)))
            if done.verdict is Verdict.HANG:
                found.add(self._describer.place(done))
        return found


class _Bounded:
    """Whether the bug comes of an input; raises Enough after `most` runs, after too many that do not end, and when it
    took long."""

    def __init__(
        self, attempt: Callable[[bytes], Finished], shows: Callable[[Finished, int], bool], hangs: bool, most: int
    ) -> None:
        self._attempt, self._shows, self._hangs, self._left = attempt, shows, hangs, most
        self._endless = 0
        self._until = time.monotonic() + _LONGEST

    def __call__(self, made: bytes) -> bool:
        if self._endless > _MOST_ENDLESS or time.monotonic() > self._until or not self._left:
            raise Enough
        self._left -= 1
        done = self._attempt(made)
        does = self._shows(done, len(made))
        self._endless += done.verdict in ENDLESS and not (self._hangs and done.verdict is Verdict.HANG)
        return does
