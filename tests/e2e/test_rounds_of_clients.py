"""Rounds of a client on a real target: what they run, in which order, and where they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from runner import explore_files

from score_embed.board.profile import find_board
from score_embed.campaign import rounds
from score_embed.campaign.engine_loop import EngineLoop
from score_embed.campaign.folder import IMAGE, start_target
from score_embed.campaign.opening import recorded_settings
from score_embed.campaign.rounds import ClientRounds, Most, Round
from score_embed.campaign.worker import Worker
from score_embed.engine._core import DepthFirst, Order
from score_embed.errors import TargetError
from score_embed.explore.pair import Pair, first_pair
from score_embed.explore.search import Search
from score_embed.explore.strategy import STRATEGIES
from score_embed.image.image import load_image
from score_embed.results.store import Store
from score_embed.results.work import WorkNotes

ROOT = Path(__file__).parents[2]
ROOM = Most(1000, 1 << 18, 1000, 1 << 18)
FIRST_LANE, DEPTH_FIRST = b"\0\0" + bytes(16), b"\0\1" + bytes(16)  # ranks of the order `mixed`


@contextmanager
def worker_of(source: str, folder: Path) -> Iterator[tuple[Worker, Pair]]:
    """A worker that has run one test, and one of the pairs that this test left."""
    explored = explore_files(folder, [ROOT / source], "--no-witness", "--max-tests", "1")
    with Store.read(explored.folder) as record:
        settings, first = recorded_settings(record), record.test(1)
    assert first is not None
    image, board = load_image(explored.folder / IMAGE), find_board("native", None, None)
    target = start_target(board, image.elf, image.build_id)
    try:
        worker, pair = Worker(target, settings, image), first_pair(first.input)
        outcome = worker.finish(pair, worker.begin(pair, 1)).outcome
        yield worker, outcome.children[0]
    finally:
        target.close()


def rounds_of(worker: Worker, order: Order | None = None, most: Most = ROOM, wants_end: bool = False) -> ClientRounds:
    return ClientRounds(worker, order or STRATEGIES["mixed"](0, worker.covered), None, most, lambda: wants_end)


@pytest.fixture(autouse=True)
def has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_SECONDS", 60)


def whole(found: Round | None) -> Round:
    assert found is not None
    return found


def large(worker: Worker, pair: Pair) -> Pair:
    """A pair below which there is much to run, and nothing new to cover."""
    of, number, pool = rounds_of(worker, most=ROOM._replace(tests=20)), 2, [pair]
    while True:
        pair = min((one for one in pool if not one.pending), key=lambda one: one.neg_limit)
        pool.remove(pair)
        found = whole(of.go(pair, FIRST_LANE, number, 1))
        if found.begun is None and len(found.tests) == 20:
            return pair
        pool += found.left
        number += len(found.tests)
        if found.begun is not None:
            assert found.begun.run.number == number
            number += 1
            pool += worker.finish(*found.begun).outcome.children


def undisturbed(worker: Worker, of: ClientRounds, pair: Pair, rank: bytes) -> Round:
    """A round below this pair in which nothing new is covered: what is, was covered by rounds before."""
    while (found := whole(of.go(pair, rank, 100, 1))).begun is not None:
        worker.finish(*found.begun)
    return found


def asked(worker: Worker) -> int:
    """Flips that were answered since this was last asked."""
    return sum(worker.counted().tally.solver.by.values())


def test_questions_are_asked_on_the_way(tmp_path: Path) -> None:
    """Each flip of the packet parser behind its first bytes is a question."""
    with worker_of("bench/packet.c", tmp_path) as (worker, pair):
        of, begin = rounds_of(worker), large(worker, pair)
        asked(worker)
        found = whole(of.go(begin, DEPTH_FIRST, 100, 1))
        assert len({test.path_hash for test in found.tests}) == len(found.tests) > 20
        assert asked(worker) > 20
        # Who is to end asks nothing more, and has told what was run; what is to be asked waits.
        ended = whole(rounds_of(worker, wants_end=True).go(begin, DEPTH_FIRST, 100, 1))
        assert 1 <= len(ended.tests) < 5
        assert any(left.pending for left in ended.left)


def test_a_round_follows_what_others_have_run(tmp_path: Path) -> None:
    """What was run again for somebody else is no test of the campaign, and the next test is not run apart for it."""
    with worker_of("bench/tokenizer.c", tmp_path) as (worker, pair):
        of, begin = rounds_of(worker, most=ROOM._replace(tests=40)), large(worker, pair)
        before = undisturbed(worker, of, begin, DEPTH_FIRST)
        worker.runner.replay(0, begin.input)
        after = whole(of.go(begin, DEPTH_FIRST, 100, 1))
        assert after.begun is None  # what it covered is known
        assert after.tests == before.tests


class Noted:
    """Stands for the notes of what is in work: the first question must not be asked."""

    has_deaths = False

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def begin(self, ident: bytes) -> bool:
        self.asked.append(ident)
        return len(self.asked) > 1

    @contextmanager
    def lent(self) -> Iterator[memoryview]:
        yield memoryview(bytearray(24))


def test_a_question_is_noted_before_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with worker_of("bench/packet.c", tmp_path) as (worker, pair):
        begin, noted = large(worker, pair), Noted()
        order: Order = STRATEGIES["mixed"](0, worker.covered)
        of = ClientRounds(worker, order, cast(WorkNotes, noted), ROOM, lambda: False)
        found = whole(of.go(begin, DEPTH_FIRST, 100, 1))
        assert len(noted.asked) == 1
        assert noted.asked[0] in [left.id for left in found.left if left.pending]
        # Of the next round it is none.
        monkeypatch.setattr(of, "_most", ROOM._replace(tests=1))
        other = next(left for left in found.left if not left.pending)
        again = whole(of.go(other, DEPTH_FIRST, 100, 1))
        assert len(again.tests) == 1
        assert not {left.id for left in found.left} & {left.id for left in again.left}


def test_where_depth_first_has_the_turn_a_round_goes_depth_first(tmp_path: Path) -> None:
    most = ROOM._replace(tests=40)
    with worker_of("bench/tokenizer.c", tmp_path) as (worker, pair):
        begin = large(worker, pair)
        deep, plain, mixed = (
            undisturbed(worker, rounds_of(worker, order, most), begin, rank)
            for order, rank in ((None, DEPTH_FIRST), (DepthFirst(), FIRST_LANE[:1] + bytes(16)), (None, FIRST_LANE))
        )
    assert [test.path_hash for test in deep.tests] == [test.path_hash for test in plain.tests]
    assert [test.path_hash for test in deep.tests] != [test.path_hash for test in mixed.tests]
    assert len(deep.left) < len(mixed.left)
    assert (len(deep.ranks), len(mixed.ranks)) == (0, len(mixed.left))
    assert [one.id for one in deep.left] == [one.id for one in plain.left]  # the next ones last
    depths = [one.neg_limit for one in deep.left]
    assert depths[-1] > depths[0]


def test_what_was_put_off_waits_for_what_others_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with worker_of("bench/tokenizer.c", tmp_path) as (worker, pair):
        begin = large(worker, pair)
        left = undisturbed(worker, rounds_of(worker, most=ROOM._replace(tests=40)), begin, DEPTH_FIRST).left
        late, last, begins = left[0].but(behind=1), left[-1], Search.begin
        while left := undisturbed(worker, rounds_of(worker), last, DEPTH_FIRST).left:
            last = left[-1]  # until all below it is run in one round

        def begins_with(search: Search, state: int) -> None:
            begins(search, state)
            search.queue.add([late])

        monkeypatch.setattr(Search, "begin", begins_with)
        found = undisturbed(worker, rounds_of(worker), last, DEPTH_FIRST)
        assert [one.id for one in found.left] == [late.id]
        assert 1 <= len(found.tests) < ROOM.tests
        found = undisturbed(worker, rounds_of(worker), last.but(behind=1), DEPTH_FIRST)
        assert late.id not in [one.id for one in found.left]


def test_no_more_wait_than_there_is_room_for(tmp_path: Path) -> None:
    with worker_of("bench/tokenizer.c", tmp_path) as (worker, pair):
        begin = large(worker, pair)
        for most in (ROOM._replace(pairs=30), ROOM._replace(waiting=30 * len(begin.input))):
            found = whole(rounds_of(worker, most=most).go(begin, FIRST_LANE, 100, 1))
            assert len(found.left) <= 30
            assert found.begun is not None  # its children go with its own result


def test_what_was_run_before_a_target_failed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with worker_of("bench/packet.c", tmp_path) as (worker, pair):
        of, begin = rounds_of(worker), large(worker, pair)
        lend, go, calls = worker.lend, EngineLoop.go, 0
        asked: list[Pair] = []

        def fails(target: object) -> object:
            nonlocal calls
            calls += 1
            if calls == 3:
                raise TargetError("the board is gone")
            return lend(target)  # type: ignore[arg-type]

        def goes(loop: EngineLoop, place: memoryview, pair: Pair, *others: Any) -> Any:
            asked.append(pair)
            return go(loop, place, pair, *others)

        monkeypatch.setattr(worker, "lend", fails)
        monkeypatch.setattr(EngineLoop, "go", goes)
        found = whole(of.go(begin, DEPTH_FIRST, 100, 1))
        assert found.begun is None
        assert 2 <= len(found.tests) < 100
        assert asked[-1].id in [left.id for left in found.left]  # which could not be run
        calls = 2
        with pytest.raises(TargetError):
            of.go(begin, DEPTH_FIRST, 100, 1)
