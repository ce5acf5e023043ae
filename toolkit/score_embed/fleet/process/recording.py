"""The tree of a recorded campaign: which test brought which, and what each took.

The record keeps no parents: of a pair that was run it needs only the id. But the same image, first test and order give
the same tests again, so the campaign is explored once more, with a record that is thrown away, and somebody looks on.
That also tells what each test takes of who runs it: on the target and for deriving others from it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import structs

from score_embed.board.profile import find_board
from score_embed.campaign import campaign, opening, trust
from score_embed.campaign.folder import IMAGE, furnish
from score_embed.campaign.opening import Opened
from score_embed.config import Settings
from score_embed.contract.words import Stop
from score_embed.errors import ReplayMismatch, UsageError
from score_embed.explore.pair import Pair
from score_embed.fleet.simulation.recorded import Recording, two_digits
from score_embed.image.image import load_image
from score_embed.results import summary
from score_embed.results.parts import PROGRAM
from score_embed.results.store import Store

_FIRST = "first.bin"


def record_tree(
    folder: Path, most: int | None = None, port: str | None = None, trusted: bool = False
) -> Recording:
    """Explore the campaign in `folder` again: as many tests as it has, or `most`. `port`: where the board is now;
    `trusted`: see `trust.require`."""
    with Store.read(folder) as record:
        trust.require(record, trusted)
        settings, first, program = opening.recorded_settings(record), record.test(1), record.get(PROGRAM)
        if first is None or program is None:
            raise UsageError("the campaign in this folder has run no test", str(folder), "Start a new campaign.")
        if len(record.lost):
            hint = f"Repeat them first: score-embed run --resume {folder} --retry-lost"
            raise UsageError("this campaign has lost tests, so its tree is not known", str(folder), hint)
        wanted = min(summary.of(record).runs, most or sys.maxsize)
        paths = record.path_hashes()
    watch = _Watch()
    with TemporaryDirectory() as work, ExitStack() as stack:
        again = _again(folder, settings, first.input, wanted, port, Path(work), stack)
        is_complete = campaign.explore(again, watch) in (Stop.EXHAUSTED, Stop.DRAINED)
        same = again.record.path_hashes() == paths
    if is_complete and not same:
        hint = "Does the same input always take the same path? `score-embed replay` tells."
        raise ReplayMismatch("the campaign took other paths this time", str(folder), hint)
    described = program.name, program.board, program.strategy, is_complete
    return Recording(*described, watch.back, watch.depth, watch.microseconds)


def _again(
    folder: Path, settings: Settings, first: bytes, wanted: int, port: str | None, work: Path, stack: ExitStack
) -> Opened:
    """The same campaign at its beginning: its image, its first test, its order, a target and a record of its own."""
    board = find_board(settings.board, settings.run, port or settings.port)
    board.require_tools()
    image = load_image(folder / IMAGE)
    target = stack.enter_context(opening.ready_target(board, image))
    record = stack.enter_context(Store.create(work))
    furnish(work, image)
    is_folder = settings.first is not None and settings.first.is_dir()  # then all its files are first tests
    if settings.have is None and not is_folder:  # else it was not the first to run, or not alone
        (work / _FIRST).write_bytes(first)
        settings = structs.replace(settings, first=work / _FIRST)
    settings = structs.replace(
        settings, time=None, max_tests=wanted, until_bug=False, baseline=None, no_witness=True, retry_lost=False
    )
    return Opened(settings, board, image, record, target)


class _Watch:
    """Notes where each test came from, and how long it took."""

    def __init__(self) -> None:
        self.back: list[int] = []
        self.depth: list[int] = []
        self.microseconds: list[int] = []
        self._source: dict[bytes, int] = {}  # pair → the test that brought it
        self._since = 0.0

    def begins(self) -> None:
        self._since = time.perf_counter()

    def answered(self, flip: Pair, children: Sequence[Pair]) -> None:
        """What follows from a pending flip comes from the test that the flip is of."""
        source = self._source.pop(flip.id)
        self._source.update((child.id, source) for child in children)

    def ran(self, pair: Pair, children: Sequence[Pair]) -> None:
        here = len(self.back)
        self.back.append(here - self._source.pop(pair.id, 0))  # what none brought waits from the first test on
        self.depth.append(pair.neg_limit)
        self.microseconds.append(two_digits((time.perf_counter() - self._since) * 1e6))
        self._source.update((child.id, here) for child in children)
