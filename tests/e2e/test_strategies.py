"""Whole campaigns in every order: the same paths, with and without elision, with a queue that spills, with bounds."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from one_by_one import send_all
from runner import explore, score_embed

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign import campaign
from score_embed.campaign import folder as campaign_folder
from score_embed.campaign.ending import conclude
from score_embed.campaign.opening import Opened
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.image.image import Image, build_image
from score_embed.results.parts import VERSIONS
from score_embed.results.store import Store
from score_embed.results.waiting import WaitingPairs

ROOT = Path(__file__).parents[2]
BOARD = find_board("native")
SMALL = 2400  # bytes of pairs: seven


def built(folder: Path, source: str, entry: str | None = None) -> Image:
    return build_image(
        BOARD, [ROOT / source], native=(), instrument=(), entry=entry, cflags=(), verify=False, keep=folder / "c"
    )


class Explored:
    """One campaign of an image that is built already."""

    def __init__(self, image: Image, folder: Path, **options: Any) -> None:
        settings = config.Settings(**options)
        target = campaign_folder.start_target(BOARD, image.elf, image.build_id)
        folder.mkdir()
        with closing(target), Store.create(folder) as record:
            for part in ("tests", "bugs"):
                (folder / part).mkdir()
            record.put(VERSIONS, {})
            opened = Opened(settings, BOARD, image, record, target)
            self.summary = conclude(lambda: campaign.explore(opened), [record])[0].summary
            self.paths = [test.path_hash for test in record.tests()]
        assert self.summary.strategy == settings.strategy


@pytest.fixture(params=["tests/programs/parser.c", "tests/programs/recursion.c", "tests/programs/lookup_traps.c"])
def image(request: pytest.FixtureRequest, tmp_path: Path) -> Image:
    return built(tmp_path, request.param)


def explored(image: Image, folder: Path, strategy: str, elided: bool, **options: Any) -> Explored:
    with pytest.MonkeyPatch.context() as patch:
        if not elided:
            send_all(patch)
        return Explored(image, folder, strategy=strategy, **options)


def test_every_order_finds_the_same_paths_elided_or_not(image: Image, tmp_path: Path) -> None:
    orders: dict[tuple[bool, tuple[int, ...]], set[int]] = {}
    for name in config.STRATEGIES:
        whole = explored(image, tmp_path / name, name, elided=False)
        found = whole.summary
        assert (found.stopped, found.redundant, found.mispredicted) == ("exhausted", 0, 0)
        elided = explored(image, tmp_path / f"{name}-elided", name, elided=True)
        assert elided.paths == whole.paths
        assert elided.summary.link.bytes_in < found.link.bytes_in
        # Where decisions show all that they can `mcdc` is `coverage`.
        orders[name == "mcdc", tuple(whole.paths)] = set(whole.paths)
    assert len(orders) == len(config.STRATEGIES)
    assert len(set(map(frozenset, orders.values()))) == 1


def test_elision_changes_nothing_where_results_are_incomplete(tmp_path: Path) -> None:
    """Symbolic addresses are concretized in this program, so orders differ in what they find; elision may not.

    Z3's models depend on what it was asked before, so both sides have a process of their own.
    """
    image = built(tmp_path, "examples/tlv.c", "tlv_sum")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, max_tasks_per_child=1) as fresh:
        whole, elided = (fresh.submit(first_paths, image, tmp_path, on).result(120) for on in (False, True))
    assert len(whole["dfs"]) == 40
    assert elided == whole


def first_paths(image: Image, folder: Path, elided: bool) -> dict[str, list[int]]:
    """Of 40 tests in each order."""
    return {
        name: explored(image, folder / f"{name}{elided}", name, elided, seed=1, max_tests=40).paths
        for name in config.STRATEGIES
    }


def test_a_queue_that_spills_to_the_store_keeps_the_order(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {name: Explored(image, tmp_path / name, strategy=name) for name in config.STRATEGIES}
    fetched: list[bytes] = []

    def waiting_after(record: WaitingPairs, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        fetched.append(rank)
        return original(record, rank)

    original = WaitingPairs.waiting_after
    monkeypatch.setattr(WaitingPairs, "waiting_after", waiting_after)
    monkeypatch.setattr(campaign, "Queue", partial(Queue, memory=SMALL))
    for name in config.STRATEGIES:
        fetched.clear()
        assert Explored(image, tmp_path / f"{name}-small", strategy=name).paths == whole[name].paths
        assert fetched


ALIKE = """
#include "score.h"
int main(void)
{
    unsigned char b[6];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'x')
            n++;
    return n == 20;
}
"""
THREE = """
#include "score.h"
int main(void)
{
    int x, y, z, n = 0;
    SYM_INT(x);
    SYM_INT(y);
    SYM_INT(z);
    if (x == 7)
        n++;
    if (y == 7)
        n++;
    if (z == 7)
        n++;
    return n == 20;
}
"""


@pytest.mark.parametrize("strategy", config.STRATEGIES)
def test_the_depth_bound_is_located_and_kept_on_resume(strategy: str, tmp_path: Path) -> None:
    options = ("--strategy", strategy, "--max-depth", "2", "--max-tests", "2")
    assert explore(tmp_path, {"p.c": THREE}, *options).summary["stopped"] == "max-tests"
    done = explore_on(tmp_path)
    assert (done["strategy"], done["stopped"], done["paths"]) == (strategy, "drained", 4)
    line = next(i for i, text in enumerate(THREE.splitlines(), 1) if "z == 7" in text)
    (cut,) = done["unflipped"]
    assert (cut["line"], cut["direction"], cut["reason"], cut["count"]) == (line, "true", "bound", 4)
    (lost,) = done["incomplete"]
    assert (lost["what"], lost["line"], lost["count"]) == ("bound (--max-depth)", line, 4)


def explore_on(folder: Path) -> dict[str, Any]:
    """Go on with the campaign that `explore` began in this folder; check that a bound cannot be changed."""
    refused = score_embed("run", "--resume", "out", "--max-depth", "9", cwd=folder)
    assert refused.returncode == 2
    assert "max-depth cannot be changed on resume" in refused.stderr
    done = score_embed("run", "--json", "--resume", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(folder / "out" / "campaign.db")) as record:
        waiting = "SELECT (SELECT count(*) FROM pairs) + (SELECT total(size) FROM packs) - (SELECT count(*) FROM ran)"
        assert record.execute(waiting).fetchone() == (0,)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_loop_bound(tmp_path: Path) -> None:
    """The first input has no x; paths are led to at most two, wherever they are: 1 + 6 + 15."""
    image = built(tmp_path, write(tmp_path, ALIKE))
    for strategy in config.STRATEGIES:
        found = Explored(image, tmp_path / strategy, strategy=strategy, loop_bound=2).summary
        assert (found.stopped, found.paths) == ("drained", 22)
        assert [lost.what for lost in found.incomplete] == ["bound (--loop-bound)"]
    found = Explored(image, tmp_path / "wide", loop_bound=6, max_depth=50).summary
    assert (found.stopped, found.paths, found.incomplete) == ("exhausted", 64, ())


def write(folder: Path, text: str) -> str:
    (folder / "p.c").write_text(text)
    return str(folder / "p.c")
