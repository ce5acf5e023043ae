"""The orders of the queue one by one, what two runs have in common, and where bounds cut."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import cast

import pytest
from events import Stream, compare, condition, replay, slot, symbolic, table
from exploring import answered, next_pair, record, search
from test_concolic import finish

from score_embed import config
from score_embed.contract.sites import Op, Site, SiteKind
from score_embed.engine._core import Origin
from score_embed.explore.bounds import BoundedPath, Bounds
from score_embed.explore.concolic import Explorer
from score_embed.explore.flips import Outcome
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.search import Search
from score_embed.explore.strategy import STRATEGIES, Deciding
from score_embed.solve.query import Stopped


def pair(depth: int, name: str = "", targets: range = range(0)) -> Pair:
    return Pair(name.encode().rjust(16), b"", depth, depth, depth, 0, 0, targets)


def queue(strategy: str, seed: int = 0, covered: set[int] | None = None) -> Queue:
    return Queue(STRATEGIES[strategy](seed, covered if covered is not None else set()))


def drain(waiting: Queue) -> str:
    names = ""
    while (taken := waiting.take()) is not None:
        names += taken.id.decode().strip()
    return names


def test_all_strategies_are_options() -> None:
    assert tuple(STRATEGIES) == config.STRATEGIES


@pytest.mark.parametrize(("strategy", "order"), [("dfs", "gfdcba"), ("exe", "fgabcd"), ("bfs", "abfcgd")])
def test_orders(strategy: str, order: str) -> None:
    waiting = queue(strategy)
    waiting.add([pair(1, "a"), pair(2, "b"), pair(4, "c"), pair(6, "d")])
    waiting.add([])
    waiting.add([pair(3, "f"), pair(5, "g")])
    assert drain(waiting) == order


def test_uncovered_directions_come_first_then_all_by_turns() -> None:
    covered = {1, 2}
    waiting = queue("coverage", covered=covered)
    one, two, three, four = range(1, 2), range(2, 3), range(3, 4), range(4, 6)
    waiting.add([pair(1, "a", one), pair(2, "b", one), pair(3, "c", two), pair(4, "d", three), pair(5, "e", three)])
    waiting.add([pair(1, "f", one), pair(6, "g", four)])
    covered.add(4)  # not all that g may lead to
    taken = waiting.take()
    assert taken is not None
    assert taken.id.strip() == b"g"
    taken = waiting.take()
    assert taken is not None
    assert taken.id.strip() == b"e"
    covered.add(3)  # so d has nothing new any more
    assert drain(waiting) == "dcabf"


def test_what_may_show_something_takes_a_quarter_of_a_turn() -> None:
    covered, two, three = {1, 2}, range(2, 3), range(3, 4)
    waiting = Queue(Deciding(covered, lambda pair: pair.id.strip().isupper()))
    waiting.add([pair(1, "x", three), pair(1, "Y", three)])
    waiting.add([pair(n, name, two) for n, name in enumerate("abcd", 1)])
    waiting.add([pair(n, name, two) for n, name in enumerate("EFGHIJ", 1)])
    taken = waiting.take()
    assert taken is not None
    assert taken.id.strip() == b"Y"  # to a direction that is new: before all others
    covered.add(3)  # so x has nothing new any more
    assert drain(waiting) == "GFEaxJIHbcd"


def test_random_takes_every_waiting_pair_alike() -> None:
    """Also those that have waited long: pairs come while others are taken."""
    times: Counter[int] = Counter()
    trials = 3000
    for seed in range(trials):
        waiting = queue("random", seed)
        waiting.add([pair(1, "0"), pair(1, "1")])
        first = waiting.take()
        assert first is not None
        waiting.add([pair(1, "2"), pair(1, "3")])
        left = [name for name in "0123" if name != first.id.decode().strip()]
        second = waiting.take()
        assert second is not None
        times[left.index(second.id.decode().strip())] += 1
    assert all(abs(times[place] - trials / 3) < 120 for place in range(3)), times  # 4.6 standard deviations


def owner(waiting: Queue) -> tuple[Pair, int]:
    """The next pair of a mixed queue, and which of the orders has it."""
    taken = waiting.take()
    assert taken is not None
    return taken, waiting.taken[1]


def covered_pairs(count: int, first: int = 0) -> list[Pair]:
    """Of a direction that tests have taken, with ids as evenly spread as real ones."""
    idents = [bytes([n % 256]) + n.to_bytes(15, "big") for n in range(first, first + count)]
    return [Pair(ident, b"", 1, 1, 1, 0, 0, range(1, 2)) for ident in idents]


def test_mixed_orders_take_turns_and_what_is_uncovered_belongs_to_the_first() -> None:
    covered = {1}
    waiting = queue("mixed", covered=covered)
    waiting.add([*covered_pairs(800), *(pair(1, str(n), range(2, 3)) for n in range(4))])
    taken = [owner(waiting) for _ in range(100)]
    assert [one.targets for one, _ in taken[:4]] == [range(2, 3)] * 4
    times = Counter(lane for _, lane in taken)
    assert times[0] > 40
    assert min(times[1], times[2]) >= 16


def test_mixed_goes_depth_first_while_nothing_new_is_covered() -> None:
    covered = {1}
    waiting = queue("mixed", covered=covered)
    waiting.add(covered_pairs(400))
    for _ in range(300):
        owner(waiting)
    waiting.add(covered_pairs(800, 1000))
    late = [owner(waiting) for _ in range(400)]
    assert sum(lane == 1 for _, lane in late) > 150  # in the beginning 50 of 400
    deep = [one.id for one, lane in late if lane == 1 and one.id[-2:] > b"\x03\x00"]
    assert deep == sorted(deep, key=lambda ident: ident[1:], reverse=True)
    covered.add(2)
    owner(waiting)
    waiting.add(covered_pairs(80, 2000))
    rest = [owner(waiting) for _ in range(len(waiting))]
    assert sum(lane == 0 for one, lane in rest if int.from_bytes(one.id[1:], "big") >= 2000) >= 50
    assert waiting.take() is None


@pytest.mark.parametrize(("something_new", "depth_first"), [(True, 1 / 4), (False, 4 / 6)])
def test_shares_of_a_mixed_queue_are_of_the_work(something_new: bool, depth_first: float) -> None:
    """A test that brings 20 others is as much work as six that bring none."""
    covered = {1}
    waiting = queue("mixed", covered=covered)
    waiting.add(covered_pairs(20_000))
    for _ in range(0 if something_new else 300):
        owner(waiting)
    work: Counter[int] = Counter()
    for number in range(3000):
        if something_new:
            covered.add(number)
        _, lane = owner(waiting)
        children = 0 if lane == 1 else 20
        work[lane] += 4 + children
        waiting.add(covered_pairs(children, 30_000 + 20 * number))
    assert abs(work[1] / work.total() - depth_first) < 0.02


def test_a_hard_question_is_the_end_of_a_mixed_turn() -> None:
    waiting = queue("mixed", covered={1})
    hard = [one.but(pending=1, targets=range(2, 3)) for one in covered_pairs(20, 5000)]
    waiting.add([*covered_pairs(200), *hard])
    taken = [owner(waiting) for _ in range(34)]
    assert sum(bool(one.pending) for one, _ in taken) <= 5


def test_what_was_put_off_more_often_is_not_the_next() -> None:
    found = Search(cast(Explorer, Later()), queue("dfs"))
    found.add(Outcome((covered_pairs(1)[0].but(pending=1),), (), False, False, {}))
    assert found.next(behind=0) is None  # asked once, and put off
    ((rank, waiting),) = found.waiting_in_memory()
    assert (rank[0], waiting.pending, waiting.behind) == (1, 2, 1)
    assert found.next(behind=0) is None
    assert found.waiting == 1
    assert found.next() is None  # asked for the last time
    assert found.waiting == 0


class Unsat:
    """An explorer whose flips have no other side."""

    def ask(self, flip: Pair) -> Outcome:
        return Outcome((), (), False, False, {})


class Later:
    """An explorer that has to ask each flip twice."""

    def ask(self, flip: Pair) -> Outcome:
        again = flip.but(id=flip.id[::-1], pending=2, behind=flip.behind + 1)
        return Outcome((again,) if flip.pending == 1 else (), (), False, False, {})


class Kept:
    """The backlog: what it was told."""

    def __init__(self) -> None:
        self.rows: dict[bytes, tuple[bytes, Pair]] = {}

    def add(self, pairs: Sequence[Pair], ranks: Sequence[bytes]) -> None:
        self.rows.update({one.id: (rank, one) for one, rank in zip(pairs, ranks, strict=True)})

    def waiting(self) -> int:
        return len(self.rows)

    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        return iter(sorted((row for row in self.rows.values() if row[0] > rank), key=itemgetter(0)))

    def unranked(self) -> Iterator[Pair]:
        return iter(())

    def rerank(self, pair: Pair, rank: bytes) -> None:
        self.rows[pair.id] = rank, pair


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_flips_that_wait_once_more_wait_where_memory_does_not_hold_them(strategy: str) -> None:
    kept = Kept()
    waiting = Queue(STRATEGIES[strategy](3, {1}), kept, 2000)
    made = Search(cast(Explorer, Later()), waiting)
    asked: list[bytes] = []

    def settle() -> None:
        for flip, brought in made.answered:
            asked.append(flip.id)
            del kept.rows[flip.id]
            kept.add(brought.outcome.children, brought.ranks)
        made.answered.clear()

    made.settle = settle
    flips = [pair(n, f"a{n}z").but(pending=1) for n in range(9)]
    flips += [pair(n, f"b{n}y").but(pending=2, behind=1) for n in range(9)]
    kept.add(flips, waiting.add(flips))
    assert made.next() is None
    settle()
    assert (len(asked), len(set(asked)), made.waiting, kept.rows) == (27, 27, 0, {})


class Sat:
    """An explorer whose flips all have another side."""

    def ask(self, flip: Pair) -> Outcome:
        return Outcome((flip.but(id=flip.id[::-1], pending=0),), (), False, False, {})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_answer_to_a_question_is_the_next_test(strategy: str) -> None:
    """It has waited already: it does not go to the end of the work list, and has its question's rank."""
    made = Search(cast(Explorer, Sat()), queue(strategy, 3, {1}))
    made.add(Outcome(tuple(one.but(pending=1) for one in covered_pairs(9)), (), False, False, {}))
    ranks = {one.id: rank for rank, one in made.waiting_in_memory()}
    for _ in range(9):
        found = made.next()
        assert found is not None
        ((flip, brought),) = made.answered
        made.answered.clear()
        assert (found.id, brought.ranks) == (flip.id[::-1], (ranks[flip.id],))
    assert made.waiting == 0


class Ended:
    """An explorer that is stopped while it asks."""

    def ask(self, flip: Pair) -> Outcome:
        raise Stopped


def test_a_flip_whose_question_is_broken_off_waits_as_before() -> None:
    made = Search(cast(Explorer, Ended()), queue("dfs"))
    flip = covered_pairs(1)[0].but(pending=1)
    made.add(Outcome((flip,), (), False, False, {}))
    before = made.waiting_in_memory()
    assert made.next() is None
    assert made.waiting_in_memory() == before
    assert not made.answered


def test_what_must_not_be_asked_is_handed_out() -> None:
    asked: list[bytes] = []

    def may_ask(ident: bytes) -> bool:
        asked.append(ident)
        return False

    made = Search(cast(Explorer, Ended()), queue("dfs"), may_ask=may_ask)
    plain, flip = pair(1, "a"), pair(2, "b").but(pending=1)
    made.add(Outcome((plain, flip), (), False, False, {}))
    assert made.next() == flip
    assert made.next() == plain
    assert asked == [flip.id]


def test_what_is_held_is_next_and_forgotten_where_a_campaign_begins() -> None:
    made = Search(cast(Explorer, Unsat()), queue("dfs"))
    first, second = pair(1, "a"), pair(2, "b")
    made.add(Outcome((first, second), (), False, False, {}))
    taken = made.next()
    assert taken == second
    made.hold(taken)
    assert [one.id for _, one in made.waiting_in_memory()] == [first.id, second.id]
    assert made.next() == second
    made.hold(second)
    made.begin(0)
    assert made.waiting == 0
    assert made.next() is None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_pauses_between_questions_change_no_order(strategy: str) -> None:
    """They come when the record or a line on the screen is due: at any time."""

    def order(pause: int) -> list[bytes]:
        waiting = queue(strategy, 3, {1})
        made = Search(cast(Explorer, Unsat()), waiting)
        flips = [one.but(pending=1, id=bytes([n]) * 16) for n, one in enumerate(covered_pairs(60, 5000))]
        waiting.add([pair for both in zip(covered_pairs(60), flips, strict=True) for pair in both])
        times, found = 0, list[bytes]()

        def enough() -> bool:
            nonlocal times
            times += 1
            return times % pause == 0

        while made.waiting:
            taken = made.next(enough)
            found += [done.pair.id for done in made.answered]
            made.answered.clear()
            found += [taken.id] if taken is not None else []
        return found

    assert len(order(10_000)) == 120
    assert order(2) == order(3) == order(7) == order(10_000)


def test_the_seed_decides_a_random_order() -> None:
    orders = []
    for seed in (1, 1, 2):
        waiting = queue("random", seed)
        waiting.add([pair(1, name) for name in "abcdefghij"])
        orders.append(drain(waiting))
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_what_runs_have_in_common() -> None:
    """Against paths made of decisions: each run flips one condition of its parent's path."""
    chance = random.Random(3)
    length = 12
    runs: list[tuple[Origin, list[int], int]] = [(Origin(), [0] * length, 0)]
    for number in range(1, 60):
        origin, decisions, limit = chance.choice([run for run in runs if run[2] < length])
        at = chance.randrange(limit, length)
        rest = [number] * (length - at)  # elsewhere from there on
        runs.append((Origin(origin, at), decisions[:at] + rest, at + 1))
    for a, mine, _ in runs:
        for b, others, _ in runs:
            shared = next((i for i in range(length) if mine[i] != others[i]), None)
            found = a.in_common(b)
            if a is b:
                assert found is None
            else:
                assert found == shared
    assert Origin().in_common(Origin()) == 0


X = symbolic(16, slot(1), 1, "x")
SITES = table(X, *(condition(20 + i, compare(Op.EQ, slot(1), i)) for i in range(3)))


def explored(bounds: Bounds, directions: list[tuple[int, int]]) -> tuple[Search, list[int]]:
    """An explorer after the run x = 200 that took these (site, direction); the depths of its children."""
    stream = Stream().head(16)
    for site, direction in directions:
        stream.head(site, direction)
    path = replay(SITES, bytes(stream), b"\xc8")
    made = search(SITES, b"\xc8", bounds=bounds)
    return made, [child.neg_limit for child in record(made, next_pair(made), finish(path), path.data).outcome.children]


def test_conditions_deeper_than_the_bound_are_not_flipped() -> None:
    path = [(20, 0), (21, 0), (22, 0)]
    made, children = explored(Bounds(depth=2), path)
    assert children == [1, 2]
    assert made.explorer.notes == {("bound (--max-depth)", 22): 1}
    assert made.explorer.unflipped == {(SITES[22].coverage + 1, "bound"): 1}
    assert explored(Bounds(depth=3), path)[1] == [1, 2, 3]


def test_a_bounded_search_is_never_exhausted() -> None:
    for bounds, stopped in ((Bounds(depth=1), "drained"), (Bounds(), "exhausted")):
        made, _ = explored(bounds, [(20, 0), (21, 0)])
        while made.next() is not None:
            pass
        assert bool(made.explorer.notes) == (stopped == "drained")


def test_a_path_goes_through_one_direction_at_most_so_often() -> None:
    path = BoundedPath(Bounds(loop=2))
    turns = replay(SITES, bytes(Stream().head(16).head(20, 0).head(21, 0).head(20, 0).head(20, 0)), b"\xc8").conditions
    for turn in turns:
        assert path.option(turn) == ""  # the other direction was not taken yet
        path.pass_by(turn)
    back = replay(SITES, bytes(Stream().head(16).head(20, 1)), b"\x00").conditions[0]
    assert path.option(back) == "--loop-bound"
    path.cut(3)
    assert path.option(back) == "--loop-bound"
    path.cut(2)
    assert path.option(back) == ""
    path.cut(0)
    for turn in turns[:3]:
        assert path.option(back) == ""
        path.pass_by(turn)
    assert path.option(back) == "--loop-bound"


BRANCHES = table(
    X, condition(20, compare(Op.ULT, slot(1), 200)), condition(22, compare(Op.EQ, slot(1), 9)),
    Site(21, SiteKind.SWITCH, leaves=(slot(1),), labels=((1, 20), (30, 60)), coverage=90),
)  # fmt: skip


def test_what_a_run_repeats_of_the_last_is_not_sent_again() -> None:
    """Also of a run that it was not derived from: both share what their common ancestor had."""
    made = search(BRANCHES, b"d")

    def run(pair: Pair, arm: int, follows: bool = True) -> list[Pair]:
        stream = Stream().head(16).head(20, 1).head(21).varint(arm).head(22, 0)
        path = replay(BRANCHES, bytes(stream), pair.input)
        assert path.events.startswith(made.explorer.expected(pair))
        found = record(made, pair, finish(path, condition_match=follows), path.data).outcome.children
        return list(answered(made, found))

    to_arm_0, to_arm_1 = (child for child in run(next_pair(made), 2) if child.site == 21)
    before_switch, before_second = (bytes(Stream().head(16).head(20, 1)), bytes(Stream().head(16)))
    assert made.explorer.expected(to_arm_0) == before_switch
    assert made.explorer.expected(to_arm_1) == before_switch
    (back,) = (child for child in run(to_arm_0, 0) if child.site == 22)
    assert made.explorer.expected(to_arm_1) == before_switch
    assert made.explorer.expected(back) == bytes(Stream().head(16).head(20, 1).head(21).varint(0))
    # nobody knows where it is from
    assert made.explorer.expected(Pair.from_bytes(to_arm_1.to_bytes())) == before_second
    run(to_arm_1, 1, follows=False)  # nothing was learned of where that run went
    assert made.explorer.expected(back) == bytes(Stream().head(16).head(20, 1).head(21).varint(0))
