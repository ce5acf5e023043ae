"""The explorer's judgement of single runs: predictions, soft pins, what makes a result incomplete."""

from __future__ import annotations

import struct
from collections import Counter

import pytest
from events import Stream, assign, compare, condition, copy_template, pin, replay, slot, symbolic, table
from exploring import answered, next_pair, record, search
from hashes import siphash

from score_embed.contract.outcome import Finished, Verdict
from score_embed.contract.sites import Op, Site, SiteKind, SiteTable, Step, Template
from score_embed.contract.words import Layer, Unflipped
from score_embed.engine._core import Slicer
from score_embed.errors import StorageError
from score_embed.explore.pair import LeftOut, Pair, decided, elsewhere_id, first_pair, first_pairs, once_more, set_aside
from score_embed.explore.search import Search
from score_embed.explore.tally import Tally
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate, table_size
from score_embed.solve.chain import Chain, Gate, SolverStats, UnsoundAnswer
from score_embed.solve.query import Answer, Limit, Query, Result
from score_embed.solve.smt import SmtLayer
from score_embed.trace.trail import Trail

X, Y = symbolic(16, slot(1), 4, "x"), symbolic(17, slot(2), 4, "y")
FOO = Site(18, SiteKind.OPAQUE, "a.c", 18, "main", "foo", dest=slot(3))
ARGUMENT = pin(19, slot(2), "argument")
_BOTH = (Step(Op.LEAF, 32, 0), Step(Op.LEAF, 32, 1), Step(Op.EQ, 32))
Z_IS_X = condition(20, Template((slot(3), slot(1)), _BOTH))
X_ABOVE_Y = condition(21, Template((slot(2), slot(1)), (*_BOTH[:2], Step(Op.SLT, 32))))
TABLE = table(X, Y, FOO, ARGUMENT, Z_IS_X, X_ABOVE_Y, condition(22, compare(Op.EQ, slot(3), 50)))


def finish(path: Trail, **changes: object) -> Finished:
    """A run that sent this path's events and agrees with it."""
    hash_ = path.condition_hash(len(path.conditions))
    whole = Finished(
        Verdict.RETURN, 0, 0, 0, 0, (), hash_, len(path.conditions), True, path.operand_hash, path.events, (), 9,
        len(path.data), b"",
    )  # fmt: skip
    return whole._replace(**changes)  # type: ignore[arg-type]


def ints(x: int, y: int) -> bytes:
    return x.to_bytes(4, "little") + y.to_bytes(4, "little")


def run_foo(data: bytes) -> Trail:
    """`z = foo(y); if (z == x) if (y < x) …` with an opaque foo(v) = v * v % 50, as its events."""
    x, y = (int.from_bytes(data[i : i + 4], "little") for i in (0, 4))
    z = y * y % 50
    stream = Stream().head(16).head(17).head(19).head(18).signed(z).head(20, int(z == x)).varint(0b0101)
    if z == x:
        stream.head(21, int(y < x)).varint(0b0101)
    return replay(TABLE, bytes(stream), data)


def exploration(first: bytes, sites: SiteTable = TABLE) -> tuple[Search, Pair]:
    made = search(sites, first)
    return made, next_pair(made)


def test_a_flip_keeps_the_arguments_of_opaque_calls_if_it_can() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    outcome = record(made, pair, finish(path), path.data).outcome
    (child,) = outcome.children
    assert child.input == ints(14, 8)  # y is pinned, so foo(y) stays 14
    follow = run_foo(child.input)
    assert follow.condition_hash(child.predicted) == child.condition_hash
    assert made.explorer.notes


def test_without_a_model_under_the_pins_they_are_dropped() -> None:
    made, pair = exploration(ints(14, 8))
    path = run_foo(pair.input)
    outcome = record(made, pair, finish(path), path.data).outcome
    flipped = {child.neg_limit: child.input for child in answered(made, outcome.children)}
    # x == 14 and y >= x needs another y than the pinned one.
    assert int.from_bytes(flipped[2][:4], "little") == 14
    assert int.from_bytes(flipped[2][4:], "little", signed=True) >= 14


def test_nothing_is_derived_from_a_mispredicted_run() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    outcome = record(made, pair, finish(path, condition_match=False, events=b""), path.data).outcome
    assert outcome.mispredicted
    assert outcome.is_path  # it counts all the same
    assert not outcome.children
    assert made.next() is None
    assert made.explorer.notes


def test_the_host_checks_the_prediction_itself() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    wrong = pair.but(place=1, predicted=1, condition_hash=1)
    assert record(made, wrong, finish(path), path.data).outcome.mispredicted


@pytest.mark.parametrize(
    ("verdict", "is_path", "children", "stopped"),
    [
        (Verdict.RETURN, True, 1, "exhausted"),
        (Verdict.ABORT, True, 1, "exhausted"),
        (Verdict.ASSUMPTION, False, 1, "exhausted"),
        (Verdict.HANG, True, 1, "exhausted"),
        (Verdict.WATCHDOG, False, 1, "drained"),
        (Verdict.DEVICE_WAIT, True, 1, "drained"),
        (Verdict.LOST, False, 1, "drained"),
    ],
)
def test_what_each_verdict_means(verdict: Verdict, is_path: bool, children: int, stopped: str) -> None:
    sites = table(X, condition(23, compare(Op.EQ, slot(1), 5)))
    made, pair = exploration(bytes(4), sites)
    path = replay(sites, bytes(Stream().head(16).head(23, 0)), pair.input)
    outcome = record(made, pair, finish(path, verdict=verdict), path.data).outcome
    assert (outcome.is_path, len(outcome.children)) == (is_path, children)
    assert bool(made.explorer.notes or outcome.set_aside) == (stopped == "drained")


def test_a_lost_run_is_not_called_mispredicted() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    outcome = record(
        made, pair, finish(path, verdict=Verdict.LOST, condition_match=False, events=b""), path.data
    ).outcome
    assert not outcome.mispredicted
    assert not outcome.children
    assert outcome.set_aside is not None


def test_a_missing_trace_is_noted() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    assert record(made, pair, finish(path, events=b""), path.data).outcome.notes == {("trace lost", 0): 1}


def test_a_path_depends_on_what_its_conditions_and_pins_ask_for() -> None:
    """What the last condition asks for comes first; a path that was not followed to its end depends on who knows what.
    That y was given to foo counts, too, though no condition asks for y."""
    for first, names in ((ints(14, 8), ("x", "y")), (ints(0, 8), ("x", "y"))):
        made, pair = exploration(first)
        path = run_foo(pair.input)
        finished = finish(path)
        record(made, pair, finished, path.data)
        assert made.explorer.depends(finished) == names
        assert made.explorer.depends(finished._replace(conditions=finished.conditions + 1)) is None
    sites = table(X, Y, condition(23, compare(Op.EQ, slot(1), 5)), condition(24, compare(Op.EQ, slot(2), 5)))
    made, pair = exploration(bytes(8), sites)
    path = replay(sites, bytes(Stream().head(16).head(17).head(23, 0).head(24, 0).head(23, 0)), pair.input)
    record(made, pair, finish(path), path.data)
    assert made.explorer.depends(finish(path)) == ("x", "y")
    made, pair = exploration(bytes(8), sites)
    path = replay(sites, bytes(Stream().head(16).head(17).head(23, 0).head(24, 0)), pair.input)
    record(made, pair, finish(path), path.data)
    assert made.explorer.depends(finish(path)) == ("y", "x")


def test_operands_that_differ_make_the_result_incomplete() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    record(made, pair, finish(path, operand_hash=1), path.data)
    assert made.explorer.divergences == 1


def test_what_was_counted_is_taken_once_and_adds_up() -> None:
    made, pair = exploration(ints(0, 8))
    path = run_foo(pair.input)
    answered(made, record(made, pair, finish(path, operand_hash=1), path.data).outcome.children)
    counted = made.explorer.take_tally()
    assert (counted.divergences, counted.solver.sat > 0) == (1, True)
    anew = made.explorer.take_tally()
    assert (anew.divergences, anew.concretized, anew.solver) == (0, 0, SolverStats())
    whole = Tally()
    for _ in range(2):
        whole.add(counted.rows())
    assert (whole.divergences, whole.solver.sat) == (2, 2 * counted.solver.sat)
    assert whole.notes == {what: 2 * count for what, count in counted.notes.items()}
    assert sum(whole.solver.by.values()) == 2 * sum(counted.solver.by.values())


def test_what_is_set_aside_has_the_decisions_of_its_pair() -> None:
    """Of which those below it are made, when it is run after all."""
    first = first_pairs([b"ab"])[0]
    other = first_pairs([b"ab", b"cd"])[1]
    assert set_aside(first, b"ab").decided == first.id
    assert set_aside(other, b"cd").decided == other.decided != other.id
    assert len({first.id, set_aside(first, b"ab").id, set_aside(set_aside(first, b"ab"), b"ab").id}) == 3


def test_concrete_conditions_keep_their_index_but_are_not_solved() -> None:
    made, pair = exploration(ints(0, 8))
    stream = Stream().head(16).head(17).head(18).signed(14).head(22, 0).head(20, 0).varint(0b0101)
    path = replay(TABLE, bytes(stream), pair.input)
    outcome = record(made, pair, finish(path), path.data).outcome
    (child,) = outcome.children
    assert (child.neg_limit, child.predicted) == (2, 2)
    assert made.explorer.unflipped == {(TABLE[22].coverage + 1, "concrete"): 1}


def test_unsat_flips_are_booked_under_what_they_did_not_reach() -> None:
    sites = table(X, condition(23, compare(Op.ULT, slot(1), 5)), condition(24, compare(Op.ULT, slot(1), 9)))
    made, pair = exploration(bytes(4), sites)
    path = replay(sites, bytes(Stream().head(16).head(23, 1).head(24, 1)), pair.input)
    outcome = record(made, pair, finish(path), path.data).outcome
    assert [child.neg_limit for child in answered(made, outcome.children)] == [1]
    assert made.explorer.unflipped == {(sites[24].coverage, "unsat"): 1}


class _GivesUp:
    def solve(self, query: Query) -> Answer:
        return Answer(Result.UNKNOWN, Layer.SMT)


class _Lies:
    def solve(self, query: Query) -> Answer:
        return Answer(Result.SAT, Layer.SMT, {})


def test_unknown_is_never_unsat() -> None:
    made = search(TABLE, ints(0, 8), Chain(_GivesUp()))
    pair = next_pair(made)
    path = run_foo(pair.input)
    record(made, pair, finish(path), path.data)
    assert made.explorer.notes["solver gave up", 20] == 1
    assert made.explorer.take_tally().solver.unknown == 1


def three_flips(chain: Chain | None = None) -> tuple[Search, Pair, Trail]:
    limits = [(23, 5), (24, 9), (25, 7)]
    sites = table(X, *(condition(site, compare(Op.ULT, slot(1), limit)) for site, limit in limits))
    made = search(sites, ints(6, 0)[:4], chain)
    pair = next_pair(made)
    path = replay(sites, bytes(Stream().head(16).head(23, 0).head(24, 1).head(25, 1)), pair.input)
    return made, pair, path


@pytest.mark.parametrize("questions", [0, 1, 2])
def test_flips_broken_off_are_taken_up_where_they_ended(questions: int) -> None:
    made, pair, path = three_flips(Chain(SmtLayer()))
    whole = record(made, pair, finish(path), path.data).outcome.children
    assert len(whole) == 3
    made, pair, path = three_flips(Chain(SmtLayer()))
    stops = iter([False] * questions)
    made.explorer.stop_if(lambda: next(stops, True))
    first = record(made, pair, finish(path), path.data).outcome
    assert not first.notes
    assert [child.id for child in first.children[:-1]] == [child.id for child in whole[:questions]]
    made.explorer.stop_if(lambda: False)
    left = made.next()
    assert left == first.children[-1]
    assert left.id not in {pair.id, *(child.id for child in whole)}
    assert path.condition_hash(left.predicted) == left.condition_hash
    again = record(made, left, finish(path), path.data).outcome
    assert [child.id for child in again.children] == [child.id for child in whole[questions:]]
    assert sum(made.explorer.take_tally().solver.by.values()) == 3


class Hard:
    """Answers the question for which `x < 9` is false with the largest limit only."""

    def __init__(self, limit: Limit) -> None:
        self._limit, self._inner = limit, SmtLayer()
        self.asked: list[int] = []  # the limits of that question

    def solve(self, query: Query) -> Answer:
        if evaluate(query.target, bytes([10, 0, 0, 0])) and not evaluate(query.target, bytes([8, 0, 0, 0])):
            self.asked.append(self._limit.rlimit)
            if self._limit.rlimit < 1000:
                return Answer(Result.UNKNOWN, Layer.SMT)
        return self._inner.solve(query)


def _waiting() -> tuple[Search, Pair, Trail, Hard]:
    """As `three_flips`, where all flips wait, and one is hard."""
    limit = Limit(1000)
    hard = Hard(limit)
    gate = Gate(hard)
    return *three_flips(Chain(gate, gate=gate, limit=limit)), hard


def test_what_is_hard_comes_back_behind_all_others_with_more() -> None:
    made, pair, path, hard = _waiting()
    outcome = record(made, pair, finish(path), path.data).outcome
    assert [(child.pending, child.depth) for child in outcome.children] == [(1, 1), (1, 2), (1, 3)]
    assert not hard.asked
    run = [made.next() for _ in range(3)]
    assert [one and (one.pending, one.depth) for one in run] == [
        (0, 3),
        (0, 1),
        (0, 2),
    ]  # depth first, the hard one last
    assert made.next() is None
    assert hard.asked == [100, 100, 333, 1000]
    assert not made.explorer.notes
    assert made.explorer.take_tally().solver.sat == 3
    done = [flip.id for flip, _ in made.answered]
    known = [child.id for _, brought in made.answered for child in brought.outcome.children]
    assert len({*done, *known}) == len(done) + 3  # each question once


def test_what_stays_too_hard_is_given_up_at_the_end() -> None:
    limit = Limit(1000)
    gate = Gate(_GivesUp())
    made, pair, path = three_flips(Chain(gate, gate=gate, limit=limit))
    record(made, pair, finish(path), path.data)
    assert made.next() is None
    assert sum(count for (what, _), count in made.explorer.notes.items() if what == "solver gave up") == 3
    assert made.explorer.take_tally().solver.unknown == 3


def test_a_question_that_is_not_waited_for_stays_in_the_work_list() -> None:
    made, pair, path, _ = _waiting()
    record(made, pair, finish(path), path.data)
    assert made.next(lambda: True) is None
    assert (made.waiting, made.answered) == (3, [])
    made.explorer.stop_if(lambda: True)
    assert made.next() is None
    assert (made.waiting, made.answered) == (3, [])
    made.explorer.stop_if(lambda: False)
    assert next_pair(made).depth == 3


def test_a_flip_whose_path_nobody_remembers_is_run_for() -> None:
    made, pair, path, _ = _waiting()
    flips = record(made, pair, finish(path), path.data).outcome.children
    elsewhere, _, _, _ = _waiting()
    stranger = Pair.from_bytes(flips[0].to_bytes())
    assert stranger == flips[0]
    assert elsewhere.explorer.ask(stranger) is None
    (child,) = record(elsewhere, stranger, finish(path), path.data).outcome.children
    (mine,) = answered(made, flips[:1])
    assert (child.id, child.input) == (mine.id, mine.input)


def test_a_run_that_does_not_reach_its_flip_again_is_mispredicted() -> None:
    made, pair, path, _ = _waiting()
    (*_, deepest) = record(made, pair, finish(path), path.data).outcome.children
    elsewhere, _, _, _ = _waiting()
    short = replay(path.table, bytes(Stream().head(16).head(23, 0).head(24, 1)), pair.input)
    assert record(elsewhere, Pair.from_bytes(deepest.to_bytes()), finish(short), short.data).outcome.mispredicted
    assert elsewhere.explorer.notes["mispredicted", 25] == 1


def test_a_question_broken_off_is_not_given_up() -> None:
    stopping = iter([False, True])
    made = search(TABLE, ints(0, 8), Chain(_GivesUp()))
    made.explorer.stop_if(lambda: next(stopping))
    pair = next_pair(made)
    path = run_foo(pair.input)
    (left,) = record(made, pair, finish(path), path.data).outcome.children
    assert left.neg_limit == 0
    assert "solver gave up" not in {what for what, _ in made.explorer.notes}
    assert made.explorer.take_tally().solver.unknown == 0
    assert not made.explorer.unflipped


def test_a_wrong_model_is_caught_before_use() -> None:
    made = search(TABLE, ints(0, 8), Chain(_Lies()))
    pair = next_pair(made)
    path = run_foo(pair.input)
    with pytest.raises(UnsoundAnswer):
        record(made, pair, finish(path), path.data)


def test_z3_gives_up_at_its_resource_limit() -> None:
    def wide(start: int) -> Expr:
        return build.from_bytes([build.byte(i) for i in range(start, start + 8)])

    product = build.binary(Kind.MUL, wide(0), wide(8))
    hard = build.binary(Kind.EQ, product, build.const(0xD1CE5B4D3A291707, 64))
    odd = build.binary(Kind.ULT, build.const(0xFFFFFFFF, 64), wide(0))
    slicer = Slicer()
    slicer.add(odd)
    answer = SmtLayer(Limit(5_000)).solve(slicer.query(hard, bytes(16)))
    assert answer.result is Result.UNKNOWN


# `objects[x & 3][1]`, where each object has 8 bytes and lies 0x1000 behind the one before.
_STEPS = (
    *(Step(Op.CONST, 32, 1), Step(Op.LEAF, 32, 0), Step(Op.CONST, 32, 3), Step(Op.AND, 32)),
    *(Step(Op.CONST, 32, 12), Step(Op.SHL, 32), Step(Op.ADD, 32)),
)
LOOK = Site(23, SiteKind.SELECT, "a.c", 23, "main", dest=slot(4, 8), template=Template((slot(1),), _STEPS))
IS_7 = condition(24, compare(Op.EQ, slot(4, 8), 7))
OBJECTS = table(X, LOOK, IS_7)


def run_objects(data: bytes) -> Trail:
    base = (int.from_bytes(data[:4], "little") & 3) << 12
    stream = (
        Stream()
        .head(16)
        .head(23, 1)
        .varint(8 << 1)
        .address(base)
        .raw(b"\0" + bytes([7, base >> 12, *bytes(6)]) + b"\0")
    )
    return replay(OBJECTS, bytes(stream), data)


def test_one_object_after_the_other_is_tried() -> None:
    made, pair = exploration(bytes(4), OBJECTS)
    seen: list[int] = []
    waiting: Pair | None = pair
    while waiting is not None:
        path = run_objects(waiting.input)
        assert not record(made, Pair.from_bytes(waiting.to_bytes()), finish(path), path.data).outcome.mispredicted
        seen.append(waiting.input[0] & 3)
        waiting = made.next()
    assert sorted(seen) == [0, 1, 2, 3]
    assert not made.explorer.notes


def run_pairs_of_objects(data: bytes) -> Trail:
    """Two belong together, and the other two."""
    first = (int.from_bytes(data[:4], "little") & 2) << 12
    stream = Stream().head(16).head(23, 1).varint(2 << 1 | 1)
    for base in (first, first + 0x1000):
        stream.varint(8).address(base).raw(b"\0" + bytes([7, base >> 12, *bytes(6)]) + b"\0")
    return replay(OBJECTS, bytes(stream), data)


def test_objects_that_belong_together_are_one_test() -> None:
    made, pair = exploration(bytes(4), OBJECTS)
    seen: list[int] = []
    waiting: Pair | None = pair
    while waiting is not None:
        path = run_pairs_of_objects(waiting.input)
        assert not record(made, Pair.from_bytes(waiting.to_bytes()), finish(path), path.data).outcome.mispredicted
        seen.append(waiting.input[0] & 2)
        waiting = made.next()
    assert sorted(seen) == [0, 2]
    assert not made.explorer.notes


def test_a_run_that_finds_another_object_is_not_the_predicted_one() -> None:
    """The target's hash knows directions only, not where an object begins and ends."""
    table_ = table(X, LOOK, condition(25, compare(Op.EQ, slot(1), 9)))

    def run(data: bytes, size: int) -> Trail:
        base = (int.from_bytes(data[:4], "little") & 3) << 12
        stream = Stream().head(16).head(23, 1).varint(size << 1).address(base).raw(b"\0" + bytes(size) + b"\0")
        return replay(table_, bytes(stream.head(25, data == bytes([9, 0, 0, 0]))), data)

    for size, is_the_same in ((8, True), (16, False)):
        made, pair = exploration(bytes([1, 0, 0, 0]), table_)
        path = run(pair.input, 8)
        children = record(made, pair, finish(path), path.data).outcome.children
        (to_nine,) = (child for child in children if child.input == bytes([9, 0, 0, 0]))
        path = run(to_nine.input, size)
        assert record(made, to_nine, finish(path), path.data).outcome.mispredicted is not is_the_same


def test_pairs_survive_the_store() -> None:
    pair = Pair(bytes(range(16)), b"input", 3, 4, 5, 2**64 - 1, 77)
    assert Pair.from_bytes(pair.to_bytes()) == pair
    assert Pair.from_bytes(first_pair(b"").to_bytes()) == first_pair(b"")
    other = pair.but(left_out=LeftOut(bytes(16), ((0x20000000, 16), (0, 0))))
    assert Pair.from_bytes(other.to_bytes()) == other
    more = other.but(decided=bytes(range(16, 32)))
    assert Pair.from_bytes(more.to_bytes()) == more
    assert Pair.from_bytes(more.to_bytes()).decided == more.decided
    for damaged in (b"", pair.to_bytes()[:20], b"\xff" + pair.to_bytes()[1:], other.to_bytes()[:80]):
        with pytest.raises(StorageError):
            Pair.from_bytes(damaged)


def test_formulas_die_with_their_path() -> None:
    path = run_foo(ints(14, 8))
    del path
    before = table_size()
    for x in range(50):
        run_foo(ints(x, 8))
    assert table_size() <= before + 5


# Forks: X is used as it is where it has few values.
A, B, AT_A = symbolic(16, slot(1, 8), 1, "a"), symbolic(17, slot(2, 8), 1, "b"), pin(19, slot(1, 8))
_A_AND_B = (Step(Op.LEAF, 8, 0), Step(Op.LEAF, 8, 1))
A_ABOVE_B = condition(20, Template((slot(2, 8), slot(1, 8)), (*_A_AND_B, Step(Op.ULT, 8))))
AT_LEAST_B = condition(21, Template((slot(2, 8), slot(1, 8)), (*_A_AND_B, Step(Op.ULE, 8))))
A_IS_3, A_IS_4, B_IS_4 = (
    condition(22, compare(Op.EQ, slot(1, 8), 3)),
    condition(23, compare(Op.EQ, slot(1, 8), 4)),
    condition(24, compare(Op.EQ, slot(2, 8), 4)),
)
C_IS_A = assign(25, slot(3, 8), copy_template(slot(1, 8)))
C_IS_4, C_IS_C = (
    condition(26, compare(Op.EQ, slot(3, 8), 4)),
    condition(27, Template((slot(1, 8),), (*_A_AND_B[:1], *_A_AND_B[:1], Step(Op.EQ, 8)))),
)
FORKING = table(A, B, AT_A, A_ABOVE_B, AT_LEAST_B, A_IS_3, A_IS_4, B_IS_4, C_IS_A, C_IS_4, C_IS_C)


@pytest.mark.parametrize(
    ("events", "site", "why"),
    [
        (Stream().head(19).head(23, 0), 23, "fixed by value"),
        (Stream().head(22, 1).head(23, 0), 23, "unsat"),
        (Stream().head(19).head(22, 1).head(23, 0), 23, "fixed by value"),
        (Stream().head(19).head(25).head(26, 0), 26, "fixed by value"),
        (Stream().head(22, 1).head(25).head(26, 0), 26, "concrete"),
        (Stream().head(27, 1), 27, "unsat"),
        # b is 4 or not, and then the other side of b <= 3: what the fork says of a has a say.
        (Stream().head(19).head(20, 1).varint(5).head(21, 1).varint(5), 21, "fixed by value"),
        (Stream().head(20, 1).varint(5).head(21, 1).varint(5), 21, "unsat"),
        # A fork of other bytes has none.
        (Stream().head(19).head(24, 0).head(24, 0), 24, "unsat"),
    ],
)
def test_what_a_fork_decided_is_fixed_by_value(events: Stream, site: int, why: str) -> None:
    data = bytes([3, 1])
    made, pair = exploration(data, FORKING)
    path = replay(FORKING, bytes(Stream().head(16).head(17)) + bytes(events), data)
    answered(made, record(made, pair, finish(path, conditions=path.counted), data).outcome.children)
    reasons = {reason for (index, reason) in made.explorer.unflipped if index // 2 == site}
    assert reasons == {why}
    assert not made.explorer.divergences


def test_forks_are_counted_where_they_are() -> None:
    made, pair = exploration(bytes([3, 1]), FORKING)
    seen: list[int] = []
    for _ in range(300):
        path = replay(FORKING, bytes(Stream().head(16).head(17).head(19)), pair.input)
        assert not record(made, pair, finish(path, conditions=0), path.data).outcome.mispredicted
        seen.append(pair.input[0])
        following = made.next()
        if following is None:
            break
        pair = following
    assert sorted(seen) == list(range(256))
    assert made.explorer.forks == {AT_A.id: 255}
    assert made.explorer.take_tally().forks == {AT_A.id: 255}
    assert not made.explorer.notes


# --- what others know a pair and a tally by -------------------------------------------------------------------------


def test_a_pair_that_is_done_again_has_a_name_of_its_own() -> None:
    made, pair = exploration(ints(0, 8))
    outcome = record(made, pair, finish(run_foo(pair.input)), pair.input).outcome
    pairs = [pair, *answered(made, outcome.children)]
    again = [once_more(each) for each in pairs]
    assert len({each.id for each in (*pairs, *again, *map(once_more, again))}) == 3 * len(pairs)
    for each, other in zip(pairs, again, strict=True):
        decisions = each.decided or each.id
        assert other == each.but(id=other.id, decided=decisions)
        assert once_more(other).decided == decisions  # its children are called as the first one's


def test_decisions_are_named_by_a_hash_whose_key_is_the_name_of_those_before() -> None:
    # The example of the authors' test vectors, which have the key 00 01 … 0f.
    key = bytes(range(16))
    assert siphash(key, b"").hex() == "a3817f04ba25a8e66df67214c7550293"
    first, second = run_foo(ints(0, 8)).conditions[0], run_foo(ints(14, 8)).conditions[1]
    for each in (first, second):
        for flipped in (False, True):
            text = struct.pack("<IiB", each.site, each.chain, each.direction ^ flipped)
            assert decided(key, each, flipped=flipped) == siphash(key, text)


def test_of_one_object_the_other_side_is_named_as_any_flip() -> None:
    path = run_foo(ints(0, 8))
    first, before = path.conditions[0], bytes(range(16))
    flipped = decided(before, first, flipped=True)
    one, two, other = (
        elsewhere_id(before, first, LeftOut(b"a" * 16, objects))
        for objects in (((16, 4),), ((16, 4), (32, 4)), ((16, 4), (64, 4)))
    )
    assert one == flipped
    assert flipped != decided(before, first)
    assert len({one, two, other}) == 3


def test_a_tally_s_rows_say_all_of_it() -> None:
    tally = Tally(Counter({("note", 1): 2}), Counter({(3, Unflipped.UNSAT): 4}), 5, 6, SolverStats(), Counter({7: 8}))
    rows = tally.rows()
    assert (rows.notes, rows.unflipped) == ((("note", 1, 2),), ((3, Unflipped.UNSAT, 4),))
    assert (rows.divergences, rows.concretized, rows.forks) == (5, 6, ((7, 8),))
