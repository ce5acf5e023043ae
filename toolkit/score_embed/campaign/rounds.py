"""Rounds of the engine: for the record of a campaign on one target, and for a fleet's client, which keeps no record.

A fleet's client says of each pair what came of it, and the server writes it down; for a test of a twentieth of a
millisecond that is several times the test. So there the engine goes on from a pair in a work list of its own. All that
was run, and the pairs that wait in the end, are what that pair has brought.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from score_embed.campaign.describing import PathTest
from score_embed.campaign.engine_loop import ORDINARY, Begun, EngineLoop
from score_embed.campaign.ledger import Ledger
from score_embed.campaign.worker import Worker
from score_embed.engine._core import Alarm, Brought, HashSet
from score_embed.errors import TargetError
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.search import Search
from score_embed.explore.strategy import DepthFirst, Order
from score_embed.results.pairs import unsigned
from score_embed.results.store import Store
from score_embed.results.test_rows import COMMON, of_each
from score_embed.results.testcase import Named
from score_embed.results.work import WorkNotes

_SECONDS = 0.05  # in which the tests of a client's round begin: then it listens, and others may have what is left
_OVERHEAD = 384  # bytes that are told of a test besides its input, at most: its output, hash, verdict
_ENDS = {verdict.value: verdict for verdict in ORDINARY}
_NOTE = 24  # bytes in which the engine notes what is in work


class Rounds:
    """What the engine's tests brought goes into the record at once."""

    def __init__(
        self, worker: Worker, search: Search, record: Store, ledger: Ledger, work: WorkNotes, alarm: Alarm
    ) -> None:
        self._search, self._record, self._ledger, self._work = search, record, ledger, work

        def layout() -> int:
            return record.layout(worker.describer.named(worker.explorer.trail.objects))

        batch = record.waiting.batch
        self._loop = EngineLoop(worker, search.queue, batch, ledger.paths, layout, alarm) if batch is not None else None

    def go(self, pair: Pair, most: int, until: float) -> tuple[bool, Begun | None]:
        """Run this pair and what comes after it: at most so many tests, and none is begun after `until`. Says whether
        it was begun, and what is to be finished. Raises TargetError."""
        if self._loop is None or self._work.has_deaths:
            return False, None
        self._record.begin()
        number, until = self._ledger.totals.runs + 1, min(until, self._record.due_at)
        with self._work.lent() as place:
            halted = self._loop.go(place, pair, number, most, until, self._ledger.enter_ordinary)
        if halted is None:
            return False, None
        if halted.asked is not None:
            self._search.hold(halted.asked)
        return True, halted.begun


class Most(NamedTuple):
    """What a round may bring: tests, bytes of what is told of them, pairs that wait in the end and bytes of these."""

    tests: int
    told: int
    pairs: int
    waiting: int


class Round(NamedTuple):
    """`layouts`: what the inputs of its tests consist of; `left`: the pairs that wait, `begun` not among them, and
    `ranks`, theirs; without ranks, the next ones are last; `runs`: that have brought pairs."""

    tests: tuple[PathTest, ...]
    layouts: tuple[tuple[Named, ...], ...]
    unchecked: int
    retried: int
    left: Sequence[Pair]
    ranks: Sequence[bytes]
    begun: Begun | None
    runs: int


class _Way(NamedTuple):
    """Rounds in one order."""

    search: Search
    loop: EngineLoop


class ClientRounds:
    def __init__(
        self, worker: Worker, order: Order, work: WorkNotes | None, most: Most, wants_end: Callable[[], bool]
    ) -> None:
        """`work`: where pairs in work are noted, if the campaign's folder is here; `wants_end`: asked before each
        question."""
        self._worker, self._order, self._work, self._most = worker, order, work, most
        self._wants_end = wants_end
        self._layouts: dict[tuple[Named, ...], int] = {}
        self._as_ordered, self._deep = self._way(order), self._way(DepthFirst())
        self._brought: list[Brought] = []

    def go(self, pair: Pair, rank: bytes, number: int, runs: int) -> Round | None:
        """Run this pair, and others below it. None: the pair is not for the engine. Raises TargetError.

        `rank`: the pair's; `number`: of the first test; `runs`: that have brought pairs here before.
        """
        if self._work is not None and self._work.has_deaths:
            return None
        is_deep = self._order.is_depth_first(rank[1:])
        search, loop = self._deep if is_deep else self._as_ordered
        search.begin(runs)
        self._brought = []
        begun = self._go_on(search, loop, pair, number)
        if begun is None and not any(brought.lengths for brought in self._brought):
            return None
        left = search.waiting_in_memory()
        if is_deep:
            left.sort(key=lambda waiting: waiting[0], reverse=True)
        pairs, ranks = [waiting for _, waiting in left], () if is_deep else [rank for rank, _ in left]
        unchecked = sum(brought.unchecked for brought in self._brought)
        retried = sum(brought.retried for brought in self._brought)
        return Round(*self._told(), unchecked, retried, pairs, ranks, begun, search.state())

    def _go_on(self, search: Search, loop: EngineLoop, pair: Pair, number: int) -> Begun | None:
        """From this pair on, until there is something to be finished, or enough. Questions are answered on the way:
        where a program has one for each test, a round would be one test. What was put off waits for what others have,
        too."""
        until = time.monotonic() + _SECONDS
        most = self._most.told // (max(self._worker.runner.longest, len(pair.input)) + _OVERHEAD)
        left = max(1, min(most, self._most.tests))
        following: Pair | None = pair
        while following is not None:
            try:
                with self._place() as place:
                    halted = loop.go(place, following, number, left, until, self._brought.append)
            except TargetError:
                if not self._brought:
                    raise
                halted = None  # what was run is told first
            if halted is None:
                search.hold(following)
                return None
            if halted.asked is not None:
                search.hold(halted.asked)
            ran = len(self._brought[-1].lengths)
            number, left = number + ran, left - ran
            if halted.begun is not None or left <= 0:
                return halted.begun
            following = search.next(lambda: time.monotonic() >= until or self._wants_end(), pair.behind)
            search.answered.clear()
        return None

    def _way(self, order: Order) -> _Way:
        room, queue = (self._most.pairs, self._most.waiting), Queue(order)
        loop = EngineLoop(self._worker, queue, None, HashSet(), self._layout, Alarm(0.0), room)
        return _Way(Search(self._worker.explorer, queue, may_ask=self._may_ask), loop)

    def _may_ask(self, ident: bytes) -> bool:
        return self._work is None or self._work.begin(ident)

    def _told(self) -> tuple[tuple[PathTest, ...], tuple[tuple[Named, ...], ...]]:
        """The tests, and the layouts of their inputs."""
        known = list(self._layouts)
        places: dict[int, int] = {}
        tests = []
        for brought in self._brought:
            lengths = iter(brought.lengths)
            for rows in brought.rows:
                _, word, code, _, _, _, layout = rows[:COMMON]
                place = places.setdefault(layout, len(places))
                end = _ENDS[word]
                for data, path, output in of_each(rows):
                    tests.append(PathTest(bytes(data), end, code, unsigned(path), next(lengths), place, output))
        return tuple(tests), tuple(known[layout] for layout in places)

    def _layout(self) -> int:
        """The number of what the input of the path at hand consists of."""
        objects = self._worker.describer.named(self._worker.explorer.trail.objects)
        return self._layouts.setdefault(objects, len(self._layouts))

    @contextmanager
    def _place(self) -> Iterator[memoryview]:
        if self._work is None:
            yield memoryview(bytearray(_NOTE))
        else:
            with self._work.lent() as place:
                yield place
