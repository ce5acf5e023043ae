"""The solver's parts one by one: queries, interrupts, equalities that take a search, what is forgotten, effort."""

from __future__ import annotations

import threading

import pytest

from score_embed.contract.words import Layer
from score_embed.engine._core import Slicer, select
from score_embed.formula import build, floats
from score_embed.formula.expr import Expr, Kind, Memo, evaluate, intern, intern_table
from score_embed.solve import chain, finite, smt, translate
from score_embed.solve import query as questions
from score_embed.solve.cache import CacheLayer
from score_embed.solve.chain import Chain, Gate, Late, ModelLayer, SolverStats, TablesLayer, default_chain
from score_embed.solve.choices import ChoicesLayer
from score_embed.solve.equality import EqualityLayer
from score_embed.solve.finite import FiniteLayer
from score_embed.solve.integral import integral
from score_embed.solve.query import Answer, Limit, Query, Result, Stopped
from score_embed.solve.smt import LearningLayer, PathLayer, SmtLayer
from score_embed.solve.terms import Z3Translator


def byte(index: int) -> Expr:
    return build.byte(index)


def const(value: int, width: int = 8) -> Expr:
    return build.const(value, width)


def equal(a: Expr, b: Expr) -> Expr:
    return build.binary(Kind.EQ, a, b)


def differ(a: Expr, b: Expr) -> Expr:
    return build.negate(equal(a, b))


def word(*indices: int) -> Expr:
    """These bytes, the lowest first."""
    return build.from_bytes([byte(index) for index in indices])


class Below:
    """The layer below: says that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def solve(self, query: Query) -> Answer:
        self.asked += 1
        return Answer(Result.UNKNOWN, Layer.MODEL)


# Queries ----------------------------------------------------------------------------------------------------------


def test_a_query_holds_where_all_of_it_does() -> None:
    query = Query(
        build.binary(Kind.ULT, byte(0), byte(1)), {0: 0b1110, 1: 0b11111000}, [differ(byte(1), const(4))], b""
    )
    assert query.holds(b"\1\3")
    assert not query.holds(b"\0\3")  # a byte not in its set
    assert not query.holds(b"\1\2")
    assert not query.holds(b"\3\3")  # the target
    assert not query.holds(b"\1\4")  # the slice
    assert query.indices() == [0, 1]


def test_an_answer_changes_what_it_names() -> None:
    assert Answer(Result.SAT, Layer.DOMAIN, {0: 7, 2: 9}).apply(b"abc") == b"\7b\x09"


def test_a_slice_has_what_shares_bytes_with_the_target() -> None:
    target = equal(byte(0), byte(1))
    slicer = Slicer()
    slicer.add(build.binary(Kind.ULT, byte(0), const(9)))
    before = slicer.query(target, b"ab")
    assert (before.sets, before.several) == ({0: (1 << 9) - 1}, [])
    slicer.add(equal(byte(5), const(3)))  # of a byte that is not asked for
    after = slicer.query(target, b"ab")
    assert (after.sets, after.several) == (before.sets, before.several)
    slicer.add(equal(byte(1), const(3)))
    assert slicer.query(target, b"ab").sets[1] == 1 << 3
    less = build.binary(Kind.ULT, byte(0), byte(1))
    slicer.add(less)
    assert list(slicer.query(target, b"ab").several) == [less]


# Interrupts -------------------------------------------------------------------------------------------------------


def test_an_interrupt_reaches_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_running", [])
    ended: list[str] = []
    for name in ("one", "two"):
        questions.on_interrupt(lambda name=name: ended.append(name))  # type: ignore[misc]
    questions.interrupt()
    assert ended == ["one", "two"]


def test_z3_is_among_them() -> None:
    """A question that would take minutes ends when somebody else says so."""
    a, b = word(*range(8)), word(*range(8, 16))
    slicer = Slicer()
    for number in (a, b):
        slicer.add(build.binary(Kind.ULT, const(1, 64), number))
    hard = slicer.query(equal(build.binary(Kind.MUL, a, b), const(0xD1CE5B4D3A291707, 64)), bytes(16))
    over = threading.Event()

    def disturb() -> None:
        while not over.wait(0.02):
            questions.interrupt()

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        assert SmtLayer(Limit(2_000_000_000)).solve(hard).result is Result.UNKNOWN
    finally:
        over.set()
        thread.join()


# Tables of values -------------------------------------------------------------------------------------------------


class Asked:
    """A layer that says how often it was asked, and knows nothing."""

    def __init__(self) -> None:
        self.times = 0

    def solve(self, query: Query) -> Answer:
        self.times += 1
        return Answer(Result.UNKNOWN, Layer.SMT)


def ring(turns: int) -> Query:
    """`for (i = tail; i != head; i = next[i]) …`: each condition is about both bytes, and no turn is the last."""
    following = bytes((place + 1) % 16 for place in range(16))
    place, slicer = build.binary(Kind.AND, build.byte(0), const(15, 8)), Slicer()
    head = build.byte(1)
    for _ in range(turns):
        slicer.add(build.negate(build.binary(Kind.EQ, place, head)))
        found = select(build.zext(place, 32), following, 1, None)
        assert found is not None
        place = found
    return slicer.query(build.binary(Kind.EQ, place, head), bytes([0, 99]))


def test_tables_of_values_take_a_bounded_number_of_steps() -> None:
    inner, limit = Asked(), Limit()
    layer = FiniteLayer(inner, limit)
    assert layer.solve(ring(15)).result is Result.SAT
    few = layer.finite.steps
    assert layer.solve(ring(40)).result is Result.UNSAT
    assert few < layer.finite.steps < 5_000_000
    assert not limit.gave_up
    layer = FiniteLayer(inner, limit, steps=few)
    assert layer.solve(ring(15)).result is Result.SAT  # the same on every machine
    assert layer.solve(ring(40)).result is Result.UNKNOWN
    assert (inner.times, limit.gave_up) == (1, {Layer.FINITE: 1})


def test_thousands_of_conditions_are_left_to_others() -> None:
    """The joins would take seconds."""
    inner, limit = Asked(), Limit()
    layer = FiniteLayer(inner, limit)
    assert layer.solve(ring(6000)).result is Result.UNKNOWN
    assert (inner.times, limit.gave_up) == (1, {Layer.FINITE: 1})


def test_tables_of_values_end_with_the_campaign() -> None:
    inner, limit = Asked(), Limit()
    layer = FiniteLayer(inner, limit)
    limit.stop = lambda: True
    with pytest.raises(Stopped):
        layer.solve(ring(400))
    assert not inner.times
    limit.stop = lambda: False
    assert layer.solve(ring(400)).result is Result.UNSAT  # what was begun does no harm


def test_what_a_layer_left_is_counted_with_its_question() -> None:
    limit = Limit()
    chain = Chain(FiniteLayer(Asked(), limit, steps=100), limit=limit)
    for effort_, left in enumerate([1, 2, 3, 4]):
        chain.solve(ring(40), effort=effort_ % chain.efforts)
        assert chain.stats.gave_up.get(Layer.FINITE, 0) + limit.gave_up[Layer.FINITE] == left
    stats = SolverStats()
    stats.add(chain.stats)
    assert stats.gave_up == {Layer.FINITE: 4}


# Equalities -------------------------------------------------------------------------------------------------------


def ask(conditions: list[Expr], target: Expr, data: bytes, steps: int = 5000, depth: int = 300) -> Answer:
    slicer = Slicer()
    for condition in conditions:
        slicer.add(condition)
    query = slicer.query(target, data)
    answer = EqualityLayer(Below(), steps, depth=depth).solve(query)
    if answer.result is Result.SAT:
        assert query.holds(answer.apply(data))
    return answer


def test_one_of_several_bytes_has_to_differ() -> None:
    """`x != y` where all but one byte are the same: the choice is forced."""
    x, y = word(0, 1), word(2, 3)
    same_low = equal(byte(0), byte(2))
    answer = ask([same_low], differ(x, y), b"abab")
    assert answer.layer is Layer.EQUALITY
    changed = answer.apply(b"abab")
    assert changed[0] == changed[2]
    assert changed[1] != changed[3]
    assert ask([same_low, equal(byte(1), byte(3))], differ(x, y), b"abab").result is Result.UNSAT


def test_a_choice_is_taken_back_where_it_leads_nowhere() -> None:
    """Two numbers that differ, of which the first byte cannot: only trying says so."""
    x, y = word(0, 1), word(2, 3)
    few = [build.binary(Kind.ULT, byte(index), const(2)) for index in range(5)]
    # Bytes 0, 2 and 4 would need three values if the low bytes differed: both are unlike byte 4.
    path = [*few, differ(byte(0), byte(4)), differ(byte(2), byte(4))]
    answer = ask(path, differ(x, y), bytes([0, 0, 0, 0, 1]))
    assert (answer.result, answer.layer) == (Result.SAT, Layer.EQUALITY)
    changed = answer.apply(bytes([0, 0, 0, 0, 1]))
    assert changed[0] == changed[2]
    assert changed[1] != changed[3]
    both = [*path, *few, differ(byte(1), byte(4)), differ(byte(3), byte(4))]
    assert ask(both, differ(x, y), bytes([0, 0, 0, 0, 1])).result is Result.UNSAT
    assert ask(both, differ(x, y), bytes([0, 0, 0, 0, 1]), steps=2).layer is Layer.MODEL


def test_a_byte_that_no_constant_is_left_for() -> None:
    two = build.binary(Kind.ULT, byte(0), const(2))
    assert ask(
        [two, differ(byte(0), const(0)), equal(byte(0), byte(1))], differ(byte(1), const(1)), b"\1\1"
    ).result is (Result.UNSAT)


def all_differ(count: int) -> list[Expr]:
    return [differ(byte(a), byte(b)) for a in range(count) for b in range(a)]


def few(count: int, *indices: int) -> list[Expr]:
    """These bytes have so many values."""
    return [build.binary(Kind.ULT, byte(index), const(count)) for index in indices]


def test_more_bytes_than_a_search_may_take_go_on() -> None:
    path, target = all_differ(6) + few(5, *range(6)), differ(byte(0), byte(5))
    assert ask(path, target, bytes(6), depth=6).result is Result.UNSAT
    assert ask(path, target, bytes(6), depth=5).layer is Layer.MODEL


def test_choices_deeper_than_a_search_may_go_go_on() -> None:
    pairs = [(word(4 * k, 4 * k + 1), word(4 * k + 2, 4 * k + 3)) for k in range(4)]
    # Numbers that share bytes, so that they are one question.
    path = [differ(x, y) for x, y in pairs[1:]] + [equal(byte(4 * k + 3), byte(4 * k + 4)) for k in range(3)]
    assert ask(path, differ(*pairs[0]), bytes(16)).layer is Layer.EQUALITY
    assert ask(path, differ(*pairs[0]), bytes(16), depth=4).layer is Layer.EQUALITY
    assert ask(path, differ(*pairs[0]), bytes(16), depth=0).layer is Layer.MODEL


def test_the_steps_of_a_search_are_counted() -> None:
    """One for each class that is coloured by trying, and for each pair that is made to differ."""
    path = all_differ(4)
    for values, needed in (((0b1111, 0b1111, 0b111, 0b111), 0), ((0b111, 0b1011, 0b1101, 0b1110), 4)):
        query = Query(path[0], dict(enumerate(values)), path[1:], bytes(4))
        for steps in range(6):
            layer = Layer.EQUALITY if steps >= needed else Layer.MODEL
            assert EqualityLayer(Below(), steps).solve(query).layer is layer, steps
    x, y = word(0, 1), word(2, 3)
    assert ask([], differ(x, y), b"abab", steps=0).layer is Layer.MODEL
    assert ask([], differ(x, y), b"abab", steps=1).layer is Layer.EQUALITY
    assert ask([], differ(x, y), b"abac", steps=0).layer is Layer.EQUALITY, "they differ already"


def test_what_is_plain_takes_no_step() -> None:
    x, y = word(0, 1), word(2, 3)
    same = Query(differ(x, y), {0: 1 << 5, 2: 1 << 5}, (), b"\5a\5a")  # only one of the pairs can differ
    apart = Query(differ(byte(0), byte(1)), {0: 1 << 5, 1: 1 << 6}, (), b"aa")
    none_left = Query(differ(x, const(0x0100, 16)), {0: 0b11, 1: 0b10}, (differ(x, const(0x0101, 16)),), b"\0\1")
    for query, result in ((same, Result.SAT), (apart, Result.SAT), (none_left, Result.UNSAT)):
        answer = EqualityLayer(Below(), steps=0).solve(query)
        assert (answer.result, answer.layer) == (result, Layer.EQUALITY)


def test_a_constant_that_was_excluded_in_vain_is_allowed_again() -> None:
    """Byte 0 must not be 1, so it has to stay 0, and byte 1 changes."""
    query = Query(differ(word(0, 1), const(0, 16)), {0: 0b11, 2: 0b10}, (differ(byte(0), byte(2)),), b"\0\0\1")
    answer = EqualityLayer(Below()).solve(query)
    assert (answer.layer, answer.apply(query.data)) == (Layer.EQUALITY, b"\0\1\1")


def test_of_what_is_searched_those_with_the_fewest_values_come_first() -> None:
    """And of those the first of the input."""
    three = Query(differ(byte(1), byte(0)), {0: 0b110, 1: 0b11, 2: 0b110}, all_differ(3)[1:], b"\0\1\3")
    assert EqualityLayer(Below()).solve(three).apply(three.data) == b"\1\0\2"
    others = [differ(byte(a), byte(b)) for a, b in ((2, 0), (3, 0), (3, 1), (3, 2))]
    four = Query(differ(byte(1), byte(0)), {0: 0b1101, 1: 0b11, 2: 0b110, 3: 0b1110}, others, b"\1\3\3\3")
    assert EqualityLayer(Below()).solve(four).apply(four.data) == b"\2\0\1\3"


def test_what_equality_leaves_is_counted_and_said_again() -> None:
    limit, below = Limit(), Below()
    layer = EqualityLayer(below, 3, limit)
    hard = Query(differ(byte(0), byte(4)), dict.fromkeys(range(5), 0b1111), all_differ(5), bytes(5))
    for times in (1, 2):
        assert layer.solve(hard).layer is Layer.MODEL
        assert (below.asked, limit.gave_up) == (times, {Layer.EQUALITY: times})
    assert layer.solve(Query(differ(byte(0), byte(1)), {}, (), b"aa")).layer is Layer.EQUALITY
    other = Query(build.binary(Kind.ULT, byte(0), byte(1)), {}, (), b"aa")
    assert layer.solve(other).layer is Layer.MODEL
    assert limit.gave_up == {Layer.EQUALITY: 2}, "what is no such comparison is not given up"


def solve_again_and_again(layer: EqualityLayer, query: Query) -> None:
    """Ten milliseconds of search: it looks now and then."""
    for _ in range(10):
        layer.solve(query)


def test_long_searches_end_with_the_campaign() -> None:
    limit = Limit()
    layer = EqualityLayer(Below(), 5000, limit)
    sets = dict.fromkeys(range(30), (1 << 29) - 1)
    hard = Query(differ(byte(0), byte(29)), sets, all_differ(30), bytes(30))
    assert layer.solve(hard).layer is Layer.MODEL
    limit.stop = lambda: True
    with pytest.raises(Stopped):
        solve_again_and_again(layer, hard)
    limit.stop = lambda: False
    assert layer.solve(Query(differ(byte(0), byte(1)), {}, (), b"aa")).assignment == {0: ord("a"), 1: 0}


# Who is coloured first, and with what, is part of a campaign's repetition: bytes as the slice names them, neighbours in
# the input's order, the run's own value before the smallest.
@pytest.mark.parametrize(
    ("path", "target", "data", "found"),
    [
        ([], differ(byte(0), byte(1)), b"aa", b"a\0"),
        ([equal(byte(1), byte(2))], equal(byte(0), byte(1)), b"abc", b"aaa"),
        ([equal(byte(1), byte(2))], equal(byte(0), byte(2)), b"abb", b"bbb"),
        (all_differ(3)[:2], all_differ(3)[2], b"aaa", b"\1a\0"),
        ([differ(byte(0), byte(k)) for k in range(1, 6)], differ(byte(5), byte(6)), b"aaaaaaa", b"\1aaaa\0a"),
        ([differ(byte(k), byte(k + 1)) for k in range(5)], differ(byte(5), byte(0)), b"aaaaaa", b"\0a\0a\0a"),
        (all_differ(4) + few(4, *range(4)), differ(byte(3), byte(0)), bytes([1, 1, 1, 1]), bytes([1, 0, 2, 3])),
        (
            all_differ(4) + few(4, *range(4)) + few(3, 2),
            differ(byte(3), byte(0)),
            bytes([9, 2, 2, 2]),
            bytes([0, 2, 1, 3]),
        ),
        (
            [differ(byte(0), byte(1)), differ(byte(0), byte(2)), *few(4, 0), *few(3, 1, 2)],
            differ(byte(1), byte(2)),
            bytes([0, 0, 1]),
            bytes([0, 1, 2]),
        ),
        ([], differ(word(0, 1), word(2, 3)), b"abab", b"ab\0b"),
        (few(2, *range(4)), differ(word(0, 1), word(2, 3)), bytes([1, 0, 1, 0]), bytes([1, 0, 0, 0])),
        (
            [differ(word(0, 1), word(2, 3)), differ(word(2, 3), word(4, 5))],
            differ(word(0, 1), word(4, 5)),
            b"ababab",
            b"ab\1b\0b",
        ),
        (
            [*few(4, *range(8)), *(differ(byte(k), byte(k + 1)) for k in range(1, 7))]
            + [differ(byte(0), byte(k)) for k in range(1, 7)],
            differ(byte(7), byte(0)),
            bytes(8),
            bytes([0, 1, 2, 1, 2, 1, 2, 1]),
        ),
    ],
)
def test_the_same_question_has_the_same_answer(path: list[Expr], target: Expr, data: bytes, found: bytes) -> None:
    answer = ask(path, target, data)
    assert (answer.layer, answer.apply(data)) == (Layer.EQUALITY, found)


@pytest.mark.parametrize(
    "condition",
    [
        equal(build.concat(build.extract(byte(0), 4, 4), build.extract(byte(1), 0, 4)), byte(2)),
        equal(build.concat(build.binary(Kind.ADD, byte(0), byte(1)), byte(2)), word(2, 3)),
        equal(word(0, 1), build.concat(byte(2), build.binary(Kind.ADD, byte(0), byte(1)))),
        equal(word(0, 1), build.zext(build.binary(Kind.ADD, byte(0), byte(1)), 16)),
        build.binary(Kind.ULT, word(0, 1), word(2, 3)),
        # No simplification makes these:
        intern(Kind.EQ, 1, (intern(Kind.CONCAT, 24, (word(0, 1), byte(2))), word(1, 2, 3))),
        intern(Kind.EQ, 1, (intern(Kind.ZEXT, 12, (byte(0),)), intern(Kind.CONCAT, 12, (const(0, 4), byte(1))))),
    ],
)
def test_what_is_computed_is_no_equality_of_bytes(condition: Expr) -> None:
    assert ask([], condition, bytes(4)).layer is Layer.MODEL
    assert ask([condition], differ(byte(0), byte(2)), bytes(4)).layer is Layer.MODEL


def test_a_widened_byte_is_zero_above() -> None:
    wide = equal(build.zext(byte(0), 16), word(1, 2))
    assert ask([], wide, b"abc").apply(b"abc") == b"aa\0"
    assert ask([differ(byte(2), const(0))], wide, b"abc").result is Result.UNSAT
    assert ask([equal(byte(0), byte(1))], build.negate(wide), b"aa\0").apply(b"aa\0") == b"aa\1"


def test_a_target_on_one_byte_has_values_of_its_own() -> None:
    target, same = build.binary(Kind.ULT, byte(0), const(4)), (equal(byte(0), byte(1)),)
    layer = EqualityLayer(Below())
    assert layer.solve(Query(target, {0: 0b11110000}, same, b"zz")).result is Result.UNSAT
    for sets, value in (({0: 0b11111000}, 3), ({1: 0b11111000}, 3), ({}, 0)):
        assert layer.solve(Query(target, sets, same, b"zz")).assignment == {0: value, 1: value}


def test_constants_that_differ_decide_a_comparison() -> None:
    """The engine simplifies most of them away; one that it leaves is built by hand."""
    one, other = intern(Kind.CONCAT, 16, (const(1), byte(0))), intern(Kind.CONCAT, 16, (const(2), byte(1)))
    never = intern(Kind.EQ, 1, (one, other))
    assert ask([], never, b"aa").result is Result.UNSAT
    always = intern(Kind.NOT, 1, (never,))
    layer = EqualityLayer(Below())
    answer = layer.solve(Query(always, {}, (equal(byte(0), byte(1)),), b"ab"))
    assert (answer.layer, answer.apply(b"ab")) == (Layer.EQUALITY, b"aa")


# What is remembered ------------------------------------------------------------------------------------------------


class Told:
    """Says what it is told to, and counts."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked = 0

    def solve(self, query: Query) -> Answer:
        self.asked += 1
        return self._answers.pop(0)


UNSAT, UNKNOWN = Answer(Result.UNSAT, Layer.SMT), Answer(Result.UNKNOWN, Layer.SMT)


def sat(**values: int) -> Answer:
    """b0=7: byte 0 is 7."""
    return Answer(Result.SAT, Layer.SMT, {int(name[1:]): value for name, value in values.items()})


def less(a: int, b: int) -> Expr:
    return build.binary(Kind.ULT, byte(a), byte(b))


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    """A core of two names takes three elements: three of them fit."""
    questions = [Query(less(k, k + 1), {}, (less(k + 1, k),), bytes(9)) for k in range(4)]
    layer = CacheLayer(Told(*[UNSAT] * 5), kept=9)
    for query in questions[:3]:
        assert layer.solve(query) is UNSAT
    assert layer.proved.cores == (3, 9, 3)
    assert layer.solve(questions[0]).layer is Layer.CACHE  # now the second is the oldest
    assert layer.solve(questions[3]) is UNSAT
    assert layer.proved.cores == (3, 9, 3)
    assert [layer.solve(questions[k]).layer for k in (0, 2, 3)] == [Layer.CACHE] * 3
    assert layer.solve(questions[1]) is UNSAT
    assert layer.proved.models == (0, 0, 0)


def test_models_that_were_used_stay() -> None:
    questions = [Query(less(k, k + 1), {}, (), bytes(9)) for k in range(4)]  # four elements each
    told = [sat(**{f"b{k + 1}": 1}) for k in (0, 1, 2, 3, 1)]
    layer = CacheLayer(Told(*told), kept=12)
    for query in questions[:3]:
        assert layer.solve(query).layer is Layer.SMT
    assert layer.proved.models == (3, 12, 3)
    assert layer.solve(questions[0]) == Answer(Result.SAT, Layer.CACHE, {0: 0, 1: 1})
    assert layer.solve(questions[3]).layer is Layer.SMT
    assert [layer.solve(questions[k]).layer for k in (0, 2, 3)] == [Layer.CACHE] * 3
    assert layer.solve(questions[1]).layer is Layer.SMT
    assert layer.proved.models == (3, 12, 3)
    assert layer.proved.cores == (0, 0, 0)


def test_what_is_larger_than_all_that_is_kept_is_not_kept() -> None:
    query = Query(less(0, 1), {}, (less(1, 0),), bytes(2))
    layer = CacheLayer(Told(UNSAT, UNSAT), kept=2)
    assert [layer.solve(query) for _ in range(2)] == [UNSAT] * 2
    assert layer.proved.cores == (0, 0, 0)


def test_an_unknown_answer_is_not_remembered() -> None:
    layer = CacheLayer(Told(UNKNOWN, UNKNOWN))
    query = Query(less(0, 1), {}, (), bytes(2))
    assert [layer.solve(query) for _ in range(2)] == [UNKNOWN] * 2
    assert (layer.proved.cores, layer.proved.models) == ((0, 0, 0), (0, 0, 0))


def test_the_latest_model_that_fits_answers_and_fifty_are_tried() -> None:
    """All are found under one condition; each other one tells them apart."""
    common = less(0, 1)
    told = [sat(b0=k, b1=k + 1) for k in range(60)]
    layer = CacheLayer(Told(*told, UNKNOWN))
    for k in range(60):
        query = Query(common, {0: 1 << k}, (), bytes(2))
        assert layer.solve(query).layer is Layer.SMT, k
    assert layer.solve(Query(common, {}, (), bytes(2))).assignment == {0: 59, 1: 60}
    assert layer.solve(Query(common, {1: 1 << 40}, (), bytes(2))).assignment == {0: 39, 1: 40}
    assert layer.solve(Query(common, {0: 1 << 10}, (), bytes(2))).assignment == {0: 10, 1: 11}
    assert layer.solve(Query(common, {0: 1 << 9}, (), bytes(2))) is UNKNOWN


def test_models_are_looked_for_under_the_name_that_fewest_have() -> None:
    """Sixty newer ones hold the other condition."""
    common, rare = less(0, 1), less(1, 2)
    layer = CacheLayer(Told(sat(b1=1, b2=2), *[sat(b0=k, b1=k + 1) for k in range(60)]))
    layer.solve(Query(common, {}, (rare,), bytes(3)))
    for k in range(60):
        assert layer.solve(Query(common, {0: 2 << k}, (), bytes(3))).layer is Layer.SMT
    for target, several in ((common, (rare,)), (rare, (common,))):
        assert layer.solve(Query(target, {}, several, bytes(3))).assignment == {0: 0, 1: 1, 2: 2}


def test_a_model_says_nothing_of_bytes_it_does_not_name() -> None:
    """Of those the run's values count; what is not asked for is not changed."""
    layer = CacheLayer(Told(sat(b1=9, b2=9), UNKNOWN))
    layer.solve(Query(less(0, 1), {}, (less(0, 2),), bytes(4)))
    asked = {1: 1 << 9, 3: 1 << 5}
    assert layer.solve(Query(less(0, 1), asked, (), bytes([0, 0, 0, 5]))).assignment == {0: 0, 1: 9}
    assert layer.solve(Query(less(0, 1), asked, (), bytes([0, 0, 0, 6]))) is UNKNOWN


def test_a_model_is_found_under_each_of_its_conditions() -> None:
    conditions = [less(0, k) for k in range(1, 6)]
    layer = CacheLayer(Told(sat(b1=1, b2=1, b3=1, b4=1, b5=1)))
    layer.solve(Query(conditions[0], {}, conditions, bytes(9)))
    assert layer.proved.models == (1, 5 + 6 + 1, 5)  # a condition that comes twice is one
    for k, condition in enumerate(conditions, 1):
        # A byte between those of the model is not its; one behind those that are asked for is not wanted.
        asked = Query(condition, {k: 0b10, 7: 1}, (), bytes(9))
        assert layer.solve(asked).assignment == {0: 0, k: 1}
    apart = CacheLayer(Told(sat(b3=1)))
    apart.solve(Query(less(0, 1), {}, (less(0, 3),), b"\0\1\0\0"))
    assert apart.solve(Query(less(0, 1), {2: 1}, (), bytes(4))).assignment == {0: 0, 1: 1}


def test_a_model_has_bytes_that_only_sets_name() -> None:
    layer = CacheLayer(Told(sat(b1=1, b70=3)))
    layer.solve(Query(less(0, 1), {70: 0b1000}, (), bytes(71)))
    assert layer.proved.models == (1, 1 + 3 + 1, 1)
    assert layer.solve(Query(less(0, 1), {70: 0b1100}, (), bytes(71))).assignment == {0: 0, 1: 1, 70: 3}


def test_sets_may_come_in_any_order() -> None:
    pair = less(0, 2)
    layer = CacheLayer(Told(UNSAT, UNKNOWN))
    layer.solve(Query(pair, {2: 0b11, 0: 0b110}, (), bytes(3)))
    assert layer.solve(Query(pair, {0: 0b100, 2: 0b10}, (), bytes(3))).layer is Layer.CACHE
    assert layer.solve(Query(pair, {2: 0b10, 1: 0b10, 0: 0b100}, (), bytes(3))).layer is Layer.CACHE
    assert layer.solve(Query(pair, {2: 0b100, 0: 0b100}, (), bytes(3))) is UNKNOWN


def test_the_values_of_a_target_on_one_byte_are_part_of_a_core() -> None:
    layer = CacheLayer(Told(UNSAT, UNKNOWN))
    layer.solve(Query(build.binary(Kind.ULT, byte(0), const(4)), {}, (less(0, 1),), bytes(2)))
    assert layer.proved.cores == (1, 3, 1)
    assert layer.solve(Query(less(0, 1), {0: 0b11}, (), bytes(2))).layer is Layer.CACHE
    assert layer.solve(Query(less(0, 1), {}, (), bytes(2))) is UNKNOWN


def test_a_core_stands_under_the_name_that_fewest_stand_under() -> None:
    layer = CacheLayer(Told(*[UNSAT] * 3))
    common, others = less(0, 1), [less(k, k + 1) for k in range(1, 4)]
    for other in others:
        layer.solve(Query(common, {}, (other,), bytes(6)))
    assert layer.proved.cores == (3, 9, 3)  # the first under the target
    for other in others:
        assert layer.solve(Query(other, {}, (less(5, 0), common), bytes(6))).layer is Layer.CACHE


def test_a_core_of_single_bytes_alone_is_not_remembered() -> None:
    one = equal(byte(0), const(1))
    layer = CacheLayer(Told(*[Answer(Result.UNSAT, Layer.SMT, core=(one, differ(byte(0), const(1))))] * 2))
    for _ in range(2):
        assert layer.solve(Query(one, {0: 1}, (less(0, 1),), bytes(2))).layer is Layer.SMT
    assert layer.proved.cores == (0, 0, 0)


def test_sets_of_a_core_hold_what_the_question_leaves() -> None:
    """The target's own values count, too; a byte that the question leaves free has all of them."""
    small, pair = build.binary(Kind.ULT, byte(0), const(4)), less(1, 0)
    layer = CacheLayer(Told(UNSAT, UNKNOWN, UNKNOWN, UNKNOWN))
    layer.solve(Query(small, {0: 0b111, 1: 0b1000}, (pair,), bytes(2)))
    assert layer.solve(Query(pair, {0: 0b11, 1: 0b1000}, (), bytes(2))).layer is Layer.CACHE
    for sets in ({0: 0b111}, {0: 0b1000, 1: 0b1000}, {1: 0b1000}):
        assert layer.solve(Query(pair, sets, (), bytes(2))) is UNKNOWN


# What is forgotten --------------------------------------------------------------------------------------------------


def test_terms_are_kept_and_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "_TERMS_KEPT", 10)
    translator = Z3Translator()
    number = build.float_unary(Kind.UITOF, word(0, 1), 32)
    for limit in range(20):
        for condition in (
            build.binary(Kind.ULT, word(0, 1), const(limit, 16)),
            build.float_binary(Kind.FLT, number, const(0x40400000 + limit, 32)),
        ):
            said = translator.formula(condition)
            assert said.eq(Z3Translator().formula(condition))
            assert translator.formula(condition).eq(said)
    assert len(translator._terms) < 30
    assert len(translator._numbers) < 30


def test_layers_that_are_late_are_made_once() -> None:
    made: list[Below] = []

    def make() -> Below:
        made.append(Below())
        return made[-1]

    late = Late(make)
    assert not made
    query = Query(equal(byte(0), byte(1)), {}, (), b"ab")
    assert [late.solve(query).layer for _ in range(3)] == [Layer.MODEL] * 3
    assert [one.asked for one in made] == [3]


def test_tables_have_layers_of_their_own() -> None:
    tables, others = Below(), Below()
    layer = TablesLayer(tables, others)
    total = build.binary(Kind.ADD, build.binary(Kind.ADD, byte(0), byte(1)), byte(2))
    chosen = build.ite(equal(byte(0), byte(1)), byte(2), byte(3))
    read = intern_table(8, build.extract(word(0, 1, 2), 2, 3), 77, (3, 1, 4, 1, 5, 9, 2, 6))
    shifted = build.binary(Kind.SHL, byte(0), byte(1))
    for target, several, asked in (
        (equal(total, byte(3)), (), (0, 1)),
        (equal(byte(0), byte(1)), (), (1, 1)),  # few bytes
        (equal(chosen, byte(1)), (), (2, 1)),
        (equal(byte(1), byte(2)), (equal(chosen, byte(1)),), (3, 1)),
        (equal(read, byte(3)), (), (4, 1)),
        (equal(shifted, byte(2)), (), (5, 1)),
        (equal(build.binary(Kind.SHL, byte(0), const(3)), total), (), (5, 2)),
    ):
        layer.solve(Query(target, {}, several, bytes(4)))
        assert (tables.asked, others.asked) == asked


def test_a_condition_that_refuses_every_value_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[Expr] = []

    def counted(condition: Expr, data: bytes, memo: Memo) -> int:
        evaluated.append(condition)
        return evaluate(condition, data, memo)

    monkeypatch.setattr(chain, "evaluate", counted)
    total = build.binary(Kind.ADD, byte(0), byte(1))
    checksum, bound = equal(total, const(3)), build.binary(Kind.ULT, total, const(250))
    below = Below()
    layer = ModelLayer(below)
    query = Query(build.binary(Kind.ULT, const(99), byte(0)), {}, (checksum,), b"\1\2")
    for _ in range(10):
        assert layer.solve(query).result is Result.UNKNOWN
    assert below.asked == 10
    assert len(evaluated) == chain._REFUSED  # as many, whoever asks
    both = Query(query.target, {}, (bound, checksum), b"\1\2")
    layer.solve(both)
    assert len(evaluated) == chain._REFUSED
    # What held once is tried as long as there are values.
    tight = Query(query.target, {0: 1 << 200 | 1 << 201}, (bound,), b"\1\2")
    assert layer.solve(tight).assignment == {0: 200}
    full = Query(query.target, {0: 0b111111 << 100}, (bound,), b"\1\x96")  # 150 and 100 to 105
    for _ in range(chain._REFUSED):
        assert layer.solve(full).result is Result.UNKNOWN
    assert layer.solve(tight).assignment == {0: 200}


def test_without_choices_the_runs_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, inner, limit = Below(), Below(), Limit()
    limit.trial = True
    layer = ChoicesLayer(quick, inner, limit)
    read = intern_table(8, build.extract(byte(0), 0, 3), 77, (3, 1, 4, 1, 5, 9, 2, 6))
    monkeypatch.setattr(layer, "_simple", None)  # is not called
    layer.solve(Query(equal(read, byte(1)), {}, (), bytes(4)))
    assert (quick.asked, inner.asked) == (0, 1)
    monkeypatch.undo()
    layer.solve(Query(equal(build.ite(equal(read, byte(1)), byte(2), byte(3)), const(7)), {}, (), bytes(4)))
    assert (quick.asked, inner.asked) == (1, 1)


def test_what_tables_remember_is_forgotten_and_nothing_else_changes() -> None:
    steps = [byte(0)]
    for index in range(1, 6):
        at = build.extract(build.binary(Kind.ADD, steps[-1], byte(index)), 0, 3)
        steps.append(intern_table(8, at, 77, (3, 1, 4, 1, 5, 9, 2, 6)))
    queries = [
        Query(equal(steps[-1], build.const(value, 8)), {}, (differ(steps[-2], build.const(9, 8)),), bytes(6))
        for value in (1, 2, 8)
    ]
    layer = finite.FiniteLayer(Below())
    answers = [layer.solve(query) for query in queries]
    assert [answer.result for answer in answers] == [Result.SAT, Result.SAT, Result.UNSAT]
    assert layer.finite.remembered
    layer = finite.FiniteLayer(Below(), kept=0)
    for query, answer in zip(queries * 2, answers * 2, strict=True):
        assert layer.solve(query) == answer
        assert layer.finite.remembered <= 2 * (2 * len(steps) + 6)  # of the last two questions


def test_bytes_that_a_table_treats_alike_keep_the_values_of_the_run() -> None:
    """Values are told apart by their two lowest bits only; the answer has other values where it must."""
    at = build.concat(build.extract(byte(0), 0, 2), build.extract(byte(1), 0, 2))
    read = intern_table(8, at, 79, tuple(n * 5 % 16 for n in range(16)))
    again = intern_table(8, build.concat(build.extract(byte(2), 0, 2), build.extract(read, 0, 2)), 80, tuple(range(16)))
    query = Query(equal(again, const(0b1101)), {1: (1 << 256) - (1 << 128)}, (differ(read, const(9)),), b"ZXa")
    answer = finite.FiniteLayer(Below()).solve(query)
    found = answer.apply(b"ZXa")
    assert (answer.layer, query.holds(found)) == (Layer.FINITE, True)
    kept = [index for index in range(3) if found[index] == b"ZXa"[index]]
    assert 0 in kept, "that value will do"
    assert found[1] >= 128
    assert found[2] & 3 == 3


def steps_of(layer: finite.FiniteLayer, query: Query) -> int:
    layer.solve(query)
    return layer.finite.steps


def test_what_is_asked_for_stays_remembered() -> None:
    def walk(first: int) -> Query:
        state = byte(first)
        for index in range(first + 1, first + 6):
            at = build.extract(build.binary(Kind.ADD, state, byte(index)), 0, 3)
            state = intern_table(8, at, 77, (3, 1, 4, 1, 5, 9, 2, 6))
        return Query(equal(state, const(9)), {}, (), bytes(first + 6))

    layer = finite.FiniteLayer(Below(), kept=1 << 18)
    common, others = walk(0), [walk(first) for first in range(10, 400, 6)]
    anew = steps_of(layer, common)
    for other in others:
        assert steps_of(layer, other) > anew / 2
        assert steps_of(layer, common) < anew / 4, "nothing of it was forgotten"
    assert layer.finite.remembered < 6 * len(others) / 2, "others were"
    assert steps_of(layer, others[-1]) < anew / 4
    assert steps_of(layer, others[0]) > anew / 4


# Effort -----------------------------------------------------------------------------------------------------------


class Limited:
    """Remembers with what limit it was asked."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self.asked: list[tuple[int, bool, bool]] = []

    def solve(self, query: Query) -> Answer:
        self.asked.append((self._limit.rlimit, self._limit.trial, self._limit.again))
        return Answer(Result.UNKNOWN, Layer.SMT)


@pytest.mark.parametrize(
    ("rlimit", "shares"), [(3000, [300, 1000, 3000]), (20_000_000, [2_000_000, 6_666_666, 20_000_000]), (2, [1, 1, 2])]
)
def test_a_question_is_asked_with_a_tenth_a_third_and_all(rlimit: int, shares: list[int]) -> None:
    limit = Limit(rlimit)
    below = Limited(limit)
    chain = Chain(below, limit=limit)
    query = Query(equal(byte(0), byte(1)), {}, (), b"ab")
    assert chain.efforts == 4
    for number in range(4):
        chain.solve(query, effort=number)
        assert chain.stats.unknown == int(number == 3)  # what is asked again is not given up
    tenth, third, whole = shares
    assert below.asked == [(tenth, True, False), (tenth, False, False), (third, False, True), (whole, False, True)]


def test_without_a_limit_a_question_is_asked_once() -> None:
    chain = Chain(Below())
    assert (chain.efforts, chain.may_wait) == (1, False)
    chain.solve(Query(equal(byte(0), byte(1)), {}, (), b"ab"))
    assert chain.stats.unknown == 1
    assert (default_chain().efforts, default_chain().may_wait) == (4, True)


@pytest.mark.parametrize("kind", [LearningLayer, PathLayer])
def test_solvers_that_stay_are_not_asked_again(kind: type[LearningLayer] | type[PathLayer]) -> None:
    """They have given the question up before, and would only begin anew."""
    limit, below = Limit(), Below()
    layer = kind(below, limit)
    query = Slicer().query(build.binary(Kind.ULT, word(0, 1), word(2, 3)), bytes(4))
    assert layer.solve(query).layer is Layer.SMT
    limit.again = True
    assert layer.solve(query).layer is Layer.MODEL
    limit.again = False
    assert layer.solve(query).layer is Layer.SMT


def test_the_gate_is_open_again_whatever_came() -> None:
    below = Below()
    gate = Gate(below)
    chain = Chain(gate, gate=gate, limit=Limit())
    query = Query(equal(byte(0), byte(1)), {}, (), b"ab")
    assert chain.answer_cheaply(query) is None
    assert below.asked == 0
    assert chain.stats.seconds > 0
    assert chain.solve(query, effort=2).result is Result.UNKNOWN
    assert below.asked == 1


def test_what_others_counted_is_added() -> None:
    mine, theirs = SolverStats(), SolverStats()
    mine.count(Answer(Result.SAT, Layer.DOMAIN), 1.0)
    for result, layer in ((Result.SAT, Layer.DOMAIN), (Result.UNSAT, Layer.SMT), (Result.UNKNOWN, Layer.SMT)):
        theirs.count(Answer(result, layer), 0.5)
    theirs.seconds = 1.5
    mine.add(theirs)
    assert (mine.sat, mine.unsat, mine.unknown, mine.seconds) == (2, 1, 1, 1.5)
    assert (mine.by[Layer.DOMAIN], mine.by[Layer.SMT], mine.by[Layer.CACHE]) == (2, 2, 0)
    assert (mine.seconds_by[Layer.DOMAIN], mine.seconds_by[Layer.SMT]) == (1.5, 1.0)


def test_a_record_may_not_know_of_a_layer_yet() -> None:
    old = SolverStats(by={Layer.SMT: 3}, seconds_by={Layer.SMT: 1.0})
    old.count(Answer(Result.SAT, Layer.RANGE), 0.5)
    assert (old.by, old.seconds_by) == ({Layer.SMT: 3, Layer.RANGE: 1}, {Layer.SMT: 1.0, Layer.RANGE: 0.5})
    mine = SolverStats()
    mine.add(old)
    assert (mine.by[Layer.RANGE], mine.by[Layer.SMT], mine.seconds_by[Layer.RANGE]) == (1, 3, 0.5)


def test_a_limit_is_taken_by_the_solver_that_is_asked() -> None:
    assert Limit().rlimit == questions.DEFAULT_RLIMIT
    assert smt.LEARNING_RLIMIT * 10 == questions.DEFAULT_RLIMIT


# Floating point ---------------------------------------------------------------------------------------------------


def number(value: float, width: int = 32) -> Expr:
    return const(floats.encode(value, width), width)


def of_float(kind: Kind, a: Expr, b: Expr) -> Expr:
    return build.float_binary(kind, a, b)


SIGNED, UNSIGNED = (build.float_unary(kind, word(0, 1), 32) for kind in (Kind.SITOF, Kind.UITOF))
PATTERN = word(0, 1, 2, 3)
EITHER = build.ite(build.binary(Kind.ULT, byte(4), const(7)), PATTERN, build.float_unary(Kind.FNEG, PATTERN, 32))
SAID = {
    "signed": of_float(Kind.FLT, SIGNED, number(0.0)),
    "unsigned": of_float(Kind.FLT, number(40000.0), UNSIGNED),
    "one of two": of_float(Kind.FLT, of_float(Kind.FADD, EITHER, number(1.0)), number(0.0)),
    "its absolute value": of_float(Kind.FLE, number(2.0), build.float_unary(Kind.FABS, PATTERN, 32)),
    "its root": of_float(Kind.FLT, build.float_unary(Kind.FSQRT, UNSIGNED, 32), number(9.5)),
    "rounded down": of_float(
        Kind.FEQ,
        build.float_unary(Kind.FROUND, of_float(Kind.FMUL, SIGNED, number(0.5)), 32, floats.FLOOR),
        number(-2.0),
    ),
    "rounded up": of_float(
        Kind.FEQ,
        build.float_unary(Kind.FROUND, of_float(Kind.FMUL, SIGNED, number(0.5)), 32, floats.CEIL),
        number(-1.0),
    ),
    "to an integer": equal(
        build.float_unary(Kind.FTOSI, of_float(Kind.FDIV, SIGNED, number(2.0)), 16), const(0xFFFF, 16)
    ),
    "of another width": of_float(Kind.FLT, build.float_unary(Kind.FCONV, SIGNED, 64), number(-1.5, 64)),
}
INPUTS = [
    value.to_bytes(2, "little") + high + bytes([chosen])
    for value in (0, 3, 90, 91, 0x7FFF, 0x8000, 0x9C41, 0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF)
    for high, chosen in ((b"\x20\xc0", 6), (b"\x20\xc0", 7), (b"\x80\x3f", 7))
]


@pytest.mark.parametrize("name", SAID)
def test_z3_is_told_what_the_evaluator_computes(name: str) -> None:
    condition, layer = SAID[name], SmtLayer()
    for data in INPUTS:
        fixed = [equal(byte(index), const(value)) for index, value in enumerate(data)]
        holds = layer.solve_plain(Query(condition, {}, (), data), [condition, *fixed]).result is Result.SAT
        assert holds is bool(evaluate(condition, data)), data.hex()


@pytest.mark.parametrize("main", [0, 1])
def test_a_condition_of_two_bytes_is_said_by_the_one_that_matters(main: int) -> None:
    """It is in few runs of the number whose high byte that is."""
    large = build.float_unary(Kind.UITOF, byte(main), 32)
    small = of_float(Kind.FMUL, build.float_unary(Kind.UITOF, byte(1 - main), 32), number(0.004))
    condition = of_float(Kind.FLT, of_float(Kind.FADD, large, small), number(100.5))
    said = integral(condition)
    assert not said.floats
    for value in (*range(0, 65536, 89), *range(100 << 8, 102 << 8, 5)):
        data = value.to_bytes(2, "big")
        for each in (data, data[::-1]):
            assert evaluate(said, each) == evaluate(condition, each)


def test_without_the_pins_a_cheap_answer_counts() -> None:
    """With them there is none: it is not taken for impossible."""
    strict, loose = Slicer(), Slicer()
    strict.add(equal(byte(0), const(5)))
    target, data = equal(byte(0), const(7)), bytes([5])
    made = default_chain()
    answer = made.answer_cheaply(strict.query(target, data), loose.query(target, data))
    assert answer is not None
    assert (answer.result, answer.apply(data)) == (Result.SAT, bytes([7]))
    alone = made.answer_cheaply(strict.query(target, data))
    assert alone is not None
    assert alone.result is Result.UNSAT
