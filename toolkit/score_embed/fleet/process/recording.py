"""The tree of a recorded campaign: which test brought which, and what each took.

The record keeps no parents: of a pair that was run it needs only the id. But the same image, first test and order give the
same tests again, so the campaign is explored once more, without a record, and watched. That also tells what each test
takes of its client: on the target, and for deriving others from it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from score_embed.board.profile import find_board
from score_embed.campaign import folder as workplace
from score_embed.campaign.opening import recorded_settings
from score_embed.config import Settings
from score_embed.contract.outcome import Run, Target
from score_embed.errors import ReplayMismatch, UsageError
from score_embed.explore.bounds import Bounds
from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair
from score_embed.explore.prf import grow
from score_embed.explore.queue import Queue
from score_embed.explore.strategy import STRATEGIES
from score_embed.fleet.simulation.recorded import Recording, two_digits
from score_embed.image.image import Image, load_image
from score_embed.results import summary
from score_embed.results.store import Store
from score_embed.solve.chain import default_chain
from score_embed.trace.trail import Trail

TELL_SECONDS = 10.0


def record_tree(folder: Path, most: int | None = None, port: str | None = None) -> Recording:
    """Explore the campaign in `folder` again: as many tests as it has, or `most`. `port`: where the board is now."""
    with Store.read(folder) as record:
        settings, first, program = recorded_settings(record), record.test(1), record.get("program")
        if first is None:
            raise UsageError("the campaign in this folder has run no test", str(folder), "Start a new campaign.")
        wanted = min(summary.of(record)["runs"], most or sys.maxsize)
        paths = record.path_hashes()
    board = find_board(settings.board, settings.run, port or settings.port)
    board.require_tools()
    image = load_image(folder / workplace.IMAGE)
    target = workplace.start_target(board, image.elf, image.build_id)
    try:
        again = _Again(settings, image, target, first.input)
        is_complete = again.explore(wanted)
    finally:
        target.close()
    if is_complete and again.paths != paths:
        hint = "Does the same input always take the same path? `score-embed replay` tells."
        raise ReplayMismatch("the campaign took other paths this time", str(folder), hint)
    return Recording(
        program["name"],
        program["board"],
        program["strategy"],
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
        self._settings, self._target = settings, target
        self._covered: set[int] = set()
        queue = Queue(STRATEGIES[settings.strategy](settings.seed, self._covered))
        bounds = Bounds(settings.max_depth, settings.loop_bound)
        trail = Trail(image.sites, image.verify, image.constants)
        self._explorer = Explorer(trail, default_chain(), settings.seed, first, queue, bounds)
        self._source: dict[bytes, int] = {}  # pair → the test that brought it
        self._longest = 0  # bytes of input that some test asked for

    def explore(self, wanted: int) -> bool:
        """Run so many tests; True if no more are left."""
        tell = time.monotonic() + TELL_SECONDS
        while len(self.back) < wanted and (pair := self._explorer.next()) is not None:
            began = time.perf_counter()
            children = self._test(pair)
            self._note(pair, children, time.perf_counter() - began)
            if time.monotonic() > tell:
                tell += TELL_SECONDS
                print(f"{len(self.back)} of {wanted} tests", file=sys.stderr, flush=True)
        return not self._explorer.waiting

    def _test(self, pair: Pair) -> tuple[Pair, ...]:
        """Run a pair; returns its children."""
        settings, explorer = self._settings, self._explorer
        number, data = len(self.back) + 1, grow(settings.seed, pair.input, self._longest)
        prefix = explorer.expected(pair)
        test = Run(number, data, pair.predicted, pair.condition_hash, settings.max_branches, prefix)
        finished = self._target.run(test)
        while finished.input_used > len(test.input):  # once more with as much input as the program asks for
            test = test._replace(input=grow(settings.seed, test.input, finished.input_used))
            finished = self._target.run(test)
        self._longest = max(self._longest, finished.input_used)
        self._covered.update(finished.coverage)
        outcome = explorer.record(pair, finished, test.input)
        if outcome.new_path:
            self.paths.add(finished.path_hash)
        return outcome.children

    def _note(self, pair: Pair, children: tuple[Pair, ...], seconds: float) -> None:
        here = len(self.back)
        self.back.append(here - self._source.pop(pair.id, here))
        self.depth.append(pair.neg_limit)
        self.microseconds.append(two_digits(seconds * 1e6))
        self._source.update((child.id, here) for child in children)
