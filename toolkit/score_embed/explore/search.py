"""One exploration in one place: the explorer and its work list.

Who runs pairs and keeps the record is somebody else: `next` hands out a pair, `add` takes what came of its run. What
was asked in between needs no run and is in `answered`, for the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from score_embed.explore.concolic import Explorer
from score_embed.explore.flips import Outcome
from score_embed.explore.pair import Pair, first_pairs
from score_embed.explore.queue import Queue
from score_embed.solve.query import Stopped

_NO_LIMIT = 255  # of how often a pair is put off


class Ranked(NamedTuple):
    """What a pair brought, and the ranks of its children in the work list."""

    outcome: Outcome
    ranks: tuple[bytes, ...]


class Answered(NamedTuple):
    """A pending flip that is done with."""

    pair: Pair
    brought: Ranked


class Search:
    """Deterministic: the same runs in the same order give the same pairs."""

    def __init__(
        self,
        explorer: Explorer,
        queue: Queue,
        firsts: Sequence[bytes] = (),
        seeds: Sequence[bytes] = (),
        may_ask: Callable[[bytes], bool] = lambda ident: True,
    ) -> None:
        """`firsts`, `seeds`: as in `first_pairs`; none if the queue's backlog has pairs. `may_ask`: is told the id of
        each pending flip before it is asked; what must not be asked is handed out as if it had to be run."""
        self.explorer, self.queue, self._may_ask = explorer, queue, may_ask
        self._held: Pair | None = None
        self.answered: list[Answered] = []  # since somebody last took them
        # Takes them: a queue may have left it to its backlog to know what waits, before more are taken from it.
        self.settle: Callable[[], None] = lambda: None
        if firsts:
            queue.add(first_pairs(firsts, seeds))

    def next(self, enough: Callable[[], bool] = lambda: False, behind: int = _NO_LIMIT) -> Pair | None:
        """The pair to run now, or None if none is left or `enough`, which is asked before each question, says so. None,
        too, and it still waits, if the next one was put off more than `behind` times.

        A pending flip that comes back has to be run, too: again, as nobody remembers the path that it is of.
        """
        # Asked before one is taken: a pair that is put back has had its turn, and orders would depend on the clock.
        while not enough() and (pair := self._take()) is not None:
            if pair.behind > behind:
                self._held = pair
                return None
            if not pair.pending:
                return pair
            try:
                if not self._may_ask(pair.id):
                    return pair
                outcome = self.explorer.ask(pair)
            except Stopped:
                self.queue.put_back(pair)
                return None
            if outcome is None:
                return pair
            child = outcome.children[0] if outcome.children else None
            if child is None or child.pending:
                self.answered.append(Answered(pair, Ranked(outcome, self.queue.add(outcome.children))))
                if outcome.children:
                    self.settle()
                continue
            self.answered.append(Answered(pair, Ranked(outcome, (self.queue.taken,))))
            return child  # it is its question's turn
        return None

    def begin(self, state: int) -> None:
        """Nothing waits; `state`: as of a search before."""
        self._held = None
        self.answered.clear()
        self.queue.begin(state)

    def hold(self, pair: Pair) -> None:
        """A pair that was taken from the queue is the next one."""
        self._held = pair

    def _take(self) -> Pair | None:
        pair, self._held = self._held, None
        return pair or self.queue.take()

    def add(self, outcome: Outcome) -> Ranked:
        """Let what a run brought wait."""
        return Ranked(outcome, self.queue.add(outcome.children))

    def waiting_in_memory(self) -> list[tuple[bytes, Pair]]:
        """Rank and pair."""
        waiting = self.queue.in_memory()
        if self._held is not None:
            waiting.append((self.queue.taken, self._held))
        return waiting

    @property
    def waiting(self) -> int:
        return len(self.queue) + (self._held is not None)

    # Keeping and going on -----------------------------------------------------------------------------------

    def state(self) -> int:
        """What the queue's backlog does not know of it."""
        return self.queue.state()

    def restore(self, state: int) -> None:
        """Go on with the pairs that the queue's backlog knows."""
        self.queue.restore(state)
