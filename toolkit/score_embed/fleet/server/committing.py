"""The server's commits: one at a time, each with all that has come meanwhile. What waits for a commit is done after it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from score_embed.fleet.server.frontier import Commit, Frontier


class Committing:
    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._numbers = itertools.count(1)
        self._under_way: int | None = None
        self._waiting: list[Callable[[], None]] = []  # for the next commit …
        self._after: list[Callable[[], None]] = []  # … and for the one under way

    def then(self, action: Callable[[], None]) -> None:
        """Do this as soon as all that has changed until now is durable."""
        self._waiting.append(action)

    def begin(self, frontiers: Iterable[Frontier], always: bool = False) -> Commit | None:
        """The next commit, if none is under way and something has changed; without changes, nothing need wait."""
        if self._under_way is not None:
            return None
        writes = [frontier.take_changes() for frontier in frontiers if frontier.changed]
        if writes or always:
            self._under_way = next(self._numbers)
            self._after, self._waiting = self._waiting, []
            return Commit(self._under_way, self._epoch, writes)
        self._act(self._waiting)
        return None

    def end(self, number: int) -> None:
        """The commit of that number is durable."""
        assert number == self._under_way
        self._under_way = None
        self._act(self._after)

    @staticmethod
    def _act(actions: list[Callable[[], None]]) -> None:
        due = list(actions)
        actions.clear()
        for action in due:
            action()
