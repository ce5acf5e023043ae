"""Runs inputs on a target, each with as much input as the program asks for."""

from __future__ import annotations

from score_embed import config
from score_embed.explore.pair import Pair
from score_embed.explore.prf import grow
from score_embed.target.base import Finished, Run, Target


class Runner:
    def __init__(self, target: Target, settings: config.Settings) -> None:
        self.target = target
        self._seed, self._max_branches = settings.seed, settings.max_branches
        self._longest = 0  # bytes of input that some test asked for: what every test is given
        self._attempted = False  # there were runs since the last test

    def attempt(self, data: bytes) -> Finished:
        """A run that is no test of the campaign: what it covers does not count."""
        self._attempted = True
        return self.target.run(Run(0, data, max_branches=self._max_branches))

    def grow(self, data: bytes, size: int) -> bytes:
        """`data` at least `size` bytes long; what a test does not say comes from the seed."""
        return grow(self._seed, data, size)

    def begin(self, pair: Pair, number: int, prefix: bytes) -> Run:
        """Let the target run a pair. `prefix`: the events it will most likely begin with."""
        data = self.grow(pair.input, self._longest)
        if self._attempted:
            self.target.forget_coverage()
            self._attempted = False
        test = Run(number, data, pair.predicted, pair.condition_hash, self._max_branches, prefix)
        self.target.begin(test)
        return test

    def finish(self, test: Run) -> tuple[Run, Finished]:
        """The end of the test that was begun, and the test as it was run in the end."""
        finished = self.target.finish()
        while finished.input_used > len(test.input):  # once more with as much input as the program asks for
            test = test._replace(input=self.grow(test.input, finished.input_used))
            self.target.forget_coverage()
            finished = self.target.run(test)
        self._longest = max(self._longest, finished.input_used)
        return test, finished

    def shows_again(self, data: bytes, finished: Finished) -> bool:
        """A bug that only shows after other tests may be ours: try it on a fresh target."""
        self.target.restart()
        again = self.attempt(data)
        return (again.verdict, again.path_hash) == (finished.verdict, finished.path_hash)
