"""Paths of many conditions: heavy questions wait, the rest of a long path waits, the end of a campaign is not held
up."""

from __future__ import annotations

import itertools

import pytest
from events import Stream, assign, compare, condition, leaf_step, replay, slot, symbolic, table
from exploring import next_pair, record, search
from test_concolic import finish

from score_embed.contract.sites import CondFlag, Op, Site, SiteKind, Step, Template
from score_embed.explore.bounds import Bounds
from score_embed.explore.checking import Checker, Seen, told
from score_embed.explore.concolic import Explorer
from score_embed.explore.flips import Route, Routes
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.search import Search
from score_embed.explore.strategy import DepthFirst
from score_embed.solve.chain import Chain, DomainLayer, Gate, default_chain
from score_embed.solve.query import Limit, Stopped
from score_embed.solve.smt import SmtLayer
from score_embed.trace.trail import Trail

X, Y = symbolic(16, slot(1, 16), 2, "x"), symbolic(17, slot(2, 16), 2, "y")
COUNTED = Template((slot(3, 16),), (leaf_step(0, 16), Step(Op.CONST, 16, 1), Step(Op.ADD, 16)))
BEGIN = assign(18, slot(3, 16), Template((slot(1, 16),), (leaf_step(0, 16),)))
NEXT = assign(19, slot(3, 16), COUNTED)
SAME = condition(20, Template((slot(3, 16), slot(2, 16)), (leaf_step(0, 16), leaf_step(1, 16), Step(Op.EQ, 16))))
ASSUMED = condition(21, compare(Op.NE, slot(1, 16), 5), flags=CondFlag.ASSUMPTION)
FLIPPED = [condition(30 + n, compare(Op.EQ, slot(1, 16), 30 + n)) for n in range(6)]
SITES = table(X, Y, BEGIN, NEXT, SAME, ASSUMED, *FLIPPED)
DATA = bytes([0, 0, 0xFF, 0xFF])


def wide(count: int) -> Trail:
    """`for (i = 0; i < count; i++) if (x + i == y) …`: each condition is about both numbers."""
    stream = Stream().head(16).head(17).head(18)
    for _ in range(count):
        stream.head(20, 0).varint(0b0101).head(19)
    return replay(SITES, bytes(stream), DATA)


def narrow(count: int, *flipped: int) -> Trail:
    """So many conditions, of which only these have another side."""
    stream = Stream().head(16).head(17)
    for index in range(count):
        if index in flipped:
            stream.head(30 + flipped.index(index), 0)
        else:
            stream.head(21, 1)
    return replay(SITES, bytes(stream), DATA)


def recorded(made: Search, pair: Pair, path: Trail) -> tuple[Pair, ...]:
    outcome = record(made, pair, finish(path), path.data).outcome
    assert not outcome.mispredicted
    return outcome.children


def test_a_question_of_very_many_conditions_waits_behind_all_others() -> None:
    made = search(SITES, DATA, default_chain())
    children = recorded(made, next_pair(made), wide(259))
    assert [child.behind for child in children] == [0] * 257 + [1] * 2
    assert all(child.pending for child in children[257:])
    assert [next_pair(made).depth for _ in range(2)] == [257, 256]  # the deepest of those that do not wait


def test_without_dear_layers_nothing_waits() -> None:
    made = search(SITES, DATA, Chain(DomainLayer(SmtLayer())))
    (child,) = recorded(made, next_pair(made).but(neg_limit=258), wide(259))
    assert (child.pending, child.behind, child.neg_limit) == (0, 0, 259)


# --- the rest of a long path ---------------------------------------------------------------------------------------

PART = 16384


def parts(path: Trail) -> list[tuple[int, list[int]]]:
    """Where each run of this path takes it up, and which of its conditions that flips."""
    made = search(SITES, DATA)
    waiting, found = next_pair(made), list[tuple[int, list[int]]]()
    while True:
        children = recorded(made, waiting, path)
        found.append((waiting.neg_limit, [child.neg_limit - 1 for child in children if not child.behind]))
        left = [child for child in children if child.behind]
        if not left:
            return found
        (waiting,) = left
        assert waiting.behind == len(found)


def test_a_long_path_is_followed_in_parts() -> None:
    assert parts(narrow(PART + 1, 0, PART)) == [(0, [0, PART])]
    assert parts(narrow(PART + 2, 0, PART, PART + 1)) == [(0, [0, PART]), (PART + 1, [PART + 1])]


def test_each_part_is_as_long_as_all_before() -> None:
    second, third = PART + 1, 2 * PART + 3
    path = narrow(third + 1, second - 1, second, third - 1, third)
    assert parts(path) == [(0, [second - 1]), (second, [second, third - 1]), (third, [third])]


def test_links_of_one_switch_are_not_parted() -> None:
    site = Site(22, SiteKind.SWITCH, leaves=(slot(1, 16),), labels=tuple((n, n) for n in range(10, 14)), coverage=90)
    sites = table(X, Y, ASSUMED, site)
    stream = Stream().head(16).head(17)
    for _ in range(PART):
        stream.head(21, 1)
    path = replay(sites, bytes(stream.head(22).varint(4).head(21, 1)), DATA)
    made = search(sites, DATA)
    (*children, left) = recorded(made, next_pair(made), path)
    assert [child.neg_limit for child in children] == [PART + 1, PART + 2, PART + 3, PART + 4]
    assert (left.neg_limit, left.behind) == (PART + 4, 1)


def test_what_was_put_off_very_often_stays_last() -> None:
    """The class is a byte before the rank."""
    made = search(SITES, DATA)
    (left,) = recorded(made, next_pair(made).but(behind=255), narrow(PART + 2))
    assert (left.behind, left.neg_limit) == (255, PART + 1)


# --- the end of the campaign ---------------------------------------------------------------------------------------


def test_a_path_of_many_branches_does_not_hold_up_the_end() -> None:
    made = search(SITES, DATA)
    pair, path = next_pair(made), narrow(3000, 0, 2000)
    looks: list[bool] = []

    def stop() -> bool:
        looks.append(len(looks) > 0)  # one question is asked
        return looks[-1]

    made.explorer.stop_if(stop)
    (left,) = recorded(made, pair, path)
    assert looks == [False, True]
    assert (left.neg_limit, left.behind, left.pending) == (0, 0, 0)
    assert not made.explorer.unflipped
    made.explorer.stop_if(lambda: False)
    assert made.next() == left
    assert [child.neg_limit for child in recorded(made, left, path)] == [1, 2001]


def test_what_takes_longer_is_not_asked_between_any_two() -> None:
    """A client listens to its server then. Once it wants the end it is asked each time."""
    made = search(SITES, DATA, Chain(SmtLayer()))
    pair, path = next_pair(made), wide(4)
    looks: list[bool] = []

    def stop() -> bool:
        looks.append(len(looks) > 0)
        return looks[-1]

    made.explorer.stop_if(stop, pause=1000.0)
    assert len(recorded(made, pair, path)) == 4
    assert looks == [False]
    made.explorer.stop_if(stop, pause=1000.0)
    (left,) = recorded(made, pair, path)
    assert (looks, left.neg_limit) == ([False, True], 0)
    recorded(made, left, path)
    assert looks == [False, True, True]
    looks.clear()
    made.explorer.stop_if(stop, pause=0.0)
    assert len(recorded(made, left, path)) == 2  # a flip, and the rest of the path
    assert looks == [False, True]


def test_neither_does_the_way_to_a_flip_that_waits() -> None:
    """Its path is followed once more, and the end comes before its condition is there."""
    made = search(SITES, DATA, default_chain())
    first, path = next_pair(made), wide(3000)
    (*_, last) = recorded(made, first.but(neg_limit=2999), path)
    assert last.pending
    recorded(made, first, narrow(1))
    made.explorer.stop_if(lambda: True)
    (left,) = recorded(made, last, path)
    assert (left.pending, left.neg_limit, left.id == last.id) == (last.pending, last.neg_limit, False)


def test_neither_does_the_way_to_where_a_path_is_taken_up() -> None:
    made = search(SITES, DATA)
    path = narrow(3000, 2000)
    pair = next_pair(made).but(neg_limit=1999)
    made.explorer.stop_if(lambda: True)
    (left,) = recorded(made, pair, path)
    assert (left.neg_limit, left.place, left.input) == (1999, pair.place, pair.input)
    assert left.id not in (pair.id, b"")
    checker = Checker(Trail(SITES), default_chain(), Bounds(), told(pair, [left]))
    assert checker.check(pair, finish(path), DATA) == Seen(False, ())  # another client finds nothing wrong with it
    made.explorer.stop_if(lambda: False)
    assert [child.neg_limit for child in recorded(made, left, path)] == [2001]


@pytest.mark.parametrize("looks", [3, 300])
def test_neither_does_one_question_of_very_many_conditions(looks: int) -> None:
    """Each layer looks whether the end has come, also between two conditions of a question."""
    made = search(SITES, DATA, default_chain())
    (*_, last) = recorded(made, next_pair(made).but(neg_limit=999), wide(1000))
    last = last.but(pending=2)  # search is for the first time only
    asked = itertools.count()
    made.explorer.stop_if(lambda: next(asked) >= looks)
    with pytest.raises(Stopped):
        made.explorer.ask(last)
    assert next(asked) == looks + 1
    made.explorer.stop_if(lambda: False)
    outcome = made.explorer.ask(last)
    assert outcome is not None
    assert not made.explorer.unflipped


def test_a_run_brings_as_many_children_as_there_is_room_for() -> None:
    """And no more bytes of them: what is left is the rest of the path."""

    def explored(room: tuple[int, int]) -> list[tuple[int, int]]:
        explorer = Explorer(Trail(SITES), Chain(SmtLayer()), room=room)
        made = Search(explorer, Queue(DepthFirst()), [DATA])
        return [(child.neg_limit, len(child.targets)) for child in recorded(made, next_pair(made), wide(4))]

    assert explored((9, 99)) == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert explored((2, 99)) == [(1, 1), (2, 1), (2, 0)]
    assert explored((9, 9)) == [(1, 1), (2, 1), (3, 1), (3, 0)]
    assert explored((0, 99)) == [(0, 0)]


def test_flips_that_wait_take_room_too() -> None:
    gate = Gate(SmtLayer())
    explorer = Explorer(Trail(SITES), Chain(gate, gate=gate, limit=Limit()), room=(99, 9))
    made = Search(explorer, Queue(DepthFirst()), [DATA])
    children = recorded(made, next_pair(made), wide(4))
    assert [(child.neg_limit, child.pending) for child in children] == [(0, 1), (1, 1), (2, 1), (3, 0)]


# --- what is remembered for flips that wait ------------------------------------------------------------------------


class Kept:
    """A path of so many conditions."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def forget(self) -> None:
        self._length = 0


def routes(*lengths: int, limit: int | None = None) -> list[int]:
    """How much is left of paths of these lengths that were kept one after the other."""
    kept = Routes() if limit is None else Routes(limit)
    found = [kept.keep(Kept(length)) for length in lengths]
    return [len(route) for route in found]


def test_a_route_is_the_path_as_it_was() -> None:
    path = narrow(3)
    route = Route(path)
    path.follow(b"", b"")
    assert [route.condition(index).site for index in range(len(route))] == [21, 21, 21]
    route.forget()
    assert len(route) == 0
    with pytest.raises(IndexError):
        route.condition(0)


@pytest.mark.parametrize(
    ("lengths", "left"),
    [((3, 2), (3, 2)), ((3, 3), (0, 3)), ((2, 2, 2), (0, 2, 2)), ((3, 9), (0, 9)), ((9, 1), (0, 1)), ((9,), (9,))],
)
def test_beyond_a_limit_the_oldest_paths_are_forgotten(lengths: tuple[int, ...], left: tuple[int, ...]) -> None:
    assert routes(*lengths, limit=5) == list(left)


def test_an_explorer_keeps_so_many_conditions() -> None:
    assert routes(100_000, 100_000) == [100_000, 100_000]
    assert routes(100_000, 100_000, 1) == [0, 100_000, 1]


def test_paths_that_nobody_waits_for_are_no_burden() -> None:
    kept = Routes(5)
    for _ in range(3):
        kept.keep(Kept(4))
    assert len(kept.keep(Kept(5))) == 5


def test_flips_of_a_forgotten_path_need_another_run() -> None:
    made = search(SITES, DATA, default_chain())
    explorer = made.explorer
    (*_, child) = recorded(made, next_pair(made), wide(3))
    assert child.pending
    assert child.route is not None
    child.route.forget()
    assert explorer.ask(child) is None
