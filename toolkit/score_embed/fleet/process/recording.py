"""The tree of a recorded campaign: which test brought which, and what each took.

The record keeps no parents: of a pair that was run it needs only the id. But the same image, first test and order give
the same tests again, so the campaign is explored once more, without a record, and watched. That also tells what each
test takes of its client: on the target, and for deriving others from it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from score_embed.board.profile import find_board
from score_embed.campaign import trust
from score_embed.campaign.folder import IMAGE, start_target
from score_embed.campaign.opening import recorded_settings
from score_embed.campaign.worker import Worker
from score_embed.config import Settings
from score_embed.contract.outcome import Target
from score_embed.errors import ReplayMismatch, UsageError
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.search import Search
from score_embed.explore.strategy import STRATEGIES
from score_embed.fleet.simulation.recorded import Recording, two_digits
from score_embed.image.image import Image, load_image
from score_embed.results import summary
from score_embed.results.parts import PROGRAM
from score_embed.results.store import Store

TELL_SECONDS = 10.0


def record_tree(
    folder: Path, most: int | None = None, port: str | None = None, trusted: bool = False
) -> Recording:
    """Explore the campaign in `folder` again: as many tests as it has, or `most`. `port`: where the board is now;
    `trusted`: see `trust.require`."""
    with Store.read(folder) as record:
        trust.require(record, trusted)
        settings, first, program = recorded_settings(record), record.test(1), record.get(PROGRAM)
        if first is None or program is None:
            raise UsageError("the campaign in this folder has run no test", str(folder), "Start a new campaign.")
        if len(record.lost):
            hint = f"Repeat them first: score-embed run --resume {folder} --retry-lost"
            raise UsageError("this campaign has lost tests, so its tree is not known", str(folder), hint)
        wanted = min(summary.of(record).runs, most or sys.maxsize)
        paths = record.path_hashes()
    board = find_board(settings.board, settings.run, port or settings.port)
    board.require_tools()
    image = load_image(folder / IMAGE)
    target = start_target(board, image.elf, image.build_id)
    try:
        again = _Again(settings, image, target, first.input)
        is_complete = again.explore(wanted)
    finally:
        target.close()
    if is_complete and again.paths != paths:
        hint = "Does the same input always take the same path? `score-embed replay` tells."
        raise ReplayMismatch("the campaign took other paths this time", str(folder), hint)
    return Recording(
        program.name,
        program.board,
        program.strategy,
        is_complete,
        again.back,
        again.depth,
        again.microseconds,
    )


class _Again:
    """A campaign without a record that notes where each test came from."""

    def __init__(self, settings: Settings, image: Image, target: Target, first: bytes) -> None:
        self.back: list[int] = []
        self.depth: list[int] = []
        self.microseconds: list[int] = []
        self.paths: set[int] = set()  # hashes
        self._worker = Worker(target, settings, image)
        queue = Queue(STRATEGIES[settings.strategy](settings.seed, self._worker.covered))
        self._search = Search(self._worker.explorer, queue, [first])
        self._source: dict[bytes, int] = {}  # pair → the test that brought it

    def explore(self, wanted: int) -> bool:
        """Run so many tests; True if no more are left."""
        tell = time.monotonic() + TELL_SECONDS
        while len(self.back) < wanted:
            began = time.perf_counter()
            pair = self._search.next()
            for flip, brought in self._search.answered:
                self._follow(flip, brought.outcome.children)
            self._search.answered.clear()
            if pair is None:
                return True
            children = self._test(pair)
            if pair.pending:
                self._follow(pair, children)
            else:
                self._note(pair, children, time.perf_counter() - began)
            if time.monotonic() > tell:
                tell += TELL_SECONDS
                print(f"{len(self.back)} of {wanted} tests", file=sys.stderr, flush=True)
        return not self._search.waiting

    def _test(self, pair: Pair) -> tuple[Pair, ...]:
        """Run a pair; returns its children."""
        test = self._worker.finish(pair, self._worker.begin(pair, len(self.back) + 1))
        self._search.add(test.outcome)
        if test.outcome.is_path:
            self.paths.add(test.finished.path_hash)
        return test.outcome.children

    def _follow(self, flip: Pair, children: Sequence[Pair]) -> None:
        """The answer to a pending flip comes from the test that the flip is of."""
        source = self._source.pop(flip.id)
        self._source.update((child.id, source) for child in children)

    def _note(self, pair: Pair, children: tuple[Pair, ...], seconds: float) -> None:
        here = len(self.back)
        self.back.append(here - self._source.pop(pair.id, here))
        self.depth.append(pair.neg_limit)
        self.microseconds.append(two_digits(seconds * 1e6))
        self._source.update((child.id, here) for child in children)
