"""What one target's worker derives from its tests, another one with another history finds complete; and it misses what
was left out. So nobody honest is accused, whatever each has cached, and who keeps flips back is found out."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from proof import FULL
from runner import explore_files

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign.folder import IMAGE, start_target
from score_embed.campaign.opening import recorded_settings
from score_embed.campaign.worker import Worker
from score_embed.explore.checking import mark, told
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.search import Search
from score_embed.explore.strategy import STRATEGIES
from score_embed.image.image import load_image
from score_embed.results.store import Store

ROOT = Path(__file__).parents[2]
TESTS = 400 if FULL else 60
PROGRAMS: dict[str, tuple[str, ...]] = {
    "examples/max3.c": (),
    "tests/programs/parser.c": (),
    "tests/programs/asserts.c": (),
    "tests/programs/float_values.c": (),
    "tests/programs/loops.c": ("--loop-bound", "2"),
    "tests/programs/tables.c": (),
    "tests/programs/pointed_objects.c": (),
    "tests/programs/lookup_traps.c": (),
    "tests/programs/function_pointers.c": (),
    "tests/programs/heap.c": (),
    "bench/tokenizer.c": (),
    "bench/arithmetic.c": (),
}


def never() -> bool:
    return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_who_tells_all_is_not_accused_and_who_keeps_back_is(name: str, tmp_path: Path) -> None:
    source, rng = ROOT / name, random.Random(name)
    explored = explore_files(tmp_path, [source], "--no-witness", "--max-tests", "1", *PROGRAMS[name])
    with Store.read(explored.folder) as record:
        settings, first = recorded_settings(record), record.test(1)
    assert first is not None
    image, board = load_image(explored.folder / IMAGE), find_board("native", None, None)
    targets = [start_target(board, image.elf, image.build_id) for _ in range(2)]
    try:
        author, witness = (Worker(target, settings, image) for target in targets)
        lies = run(author, witness, settings, first.input, rng)
    finally:
        for target in targets:
            target.close()
    print(f"{lies} lies")
    assert lies or name == "examples/max3.c"


def run(author: Worker, witness: Worker, settings: config.Settings, first: bytes, rng: random.Random) -> int:
    """Explore at random, and check each test and answer; returns how many times something was left out and found."""
    queue = Queue(STRATEGIES["random"](1, author.covered))
    search, lies = Search(author.explorer, queue, [first]), 0
    for number in range(1, TESTS + 1):
        pair = search.next()
        for flip, brought in search.answered:
            lies += check(witness, flip, brought.outcome.children, rng)
        search.answered.clear()
        if pair is None:
            break
        test = author.finish(pair, author.begin(pair, number))
        search.add(test.outcome)
        if not test.outcome.mispredicted:
            data = test.run.input[: test.finished.input_used]
            lies += check(witness, pair if pair.pending else with_input(pair, data), test.outcome.children, rng)
    return lies


def with_input(pair: Pair, data: bytes) -> Pair:
    return pair.but(input=data)


def check(witness: Worker, pair: Pair, children: tuple[Pair, ...], rng: random.Random) -> int:
    given = Pair.from_bytes(pair.to_bytes())  # what is known in memory only does not travel
    _, seen = witness.check(given, told(given, children), never)
    assert (seen.mispredicted, seen.missing) == (False, ())
    runnable = [child for child in children if not child.pending]
    if not runnable:
        return 0
    kept = rng.choice(runnable)
    _, seen = witness.check(given, told(given, [child for child in children if child is not kept]), never)
    assert seen.missing == (mark(kept),)
    return 1


def test_all_that_is_left_out_is_found(tmp_path: Path) -> None:
    """A client that says of everything that it is infeasible."""
    explored = explore_files(tmp_path, [ROOT / "examples/max3.c"], "--no-witness")
    with Store.read(explored.folder) as record:
        settings, first = recorded_settings(record), record.test(1)
    assert first is not None
    image = load_image(explored.folder / IMAGE)
    target = start_target(find_board("native", None, None), image.elf, image.build_id)
    try:
        worker = Worker(target, settings, image)
        search = Search(worker.explorer, Queue(STRATEGIES["dfs"](1, worker.covered)), [first.input])
        pair = search.next()
        assert pair is not None
        test = worker.finish(pair, worker.begin(pair, 1))
        _, seen = worker.check(pair, told(pair, ()), never)
        assert len(seen.missing) == len(test.outcome.children) > 0
    finally:
        target.close()
