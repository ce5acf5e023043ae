"""The layers on Z3 and Bitwuzla: what is learned, what is handed on, what is forgotten; and the judge of all layers."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

import pytest
import z3

from score_embed.contract.words import Layer
from score_embed.engine._core import Slicer
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind
from score_embed.solve import smt
from score_embed.solve.bitwuzla import BitwuzlaLayer
from score_embed.solve.chain import ArithmeticLayer, Chain, UnsoundAnswer, ValidatingLayer
from score_embed.solve.query import Answer, Limit, Query, Result, Stopped, interrupt
from score_embed.solve.smt import LearningLayer, PathLayer, SmtLayer
from score_embed.solve.terms import WORDS, Z3Translator
from score_embed.solve.translate import table_term

SIZE = 16
Staying = type[LearningLayer] | type[PathLayer] | type[BitwuzlaLayer]
STAYING = (LearningLayer, PathLayer, BitwuzlaLayer)


class Fixed:
    """Gives always the same answer, and remembers that it was asked."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked = 0

    def solve(self, query: Query) -> Answer:
        self.asked += 1
        return self._answer


def word(start: int, count: int = 8) -> Expr:
    return build.from_bytes([build.byte(i) for i in range(start, start + count)])


def below(a: Expr, b: Expr) -> Expr:
    return build.binary(Kind.ULT, a, b)


def constant(value: int, width: int = 64) -> Expr:
    return build.const(value, width)


def query(path: list[Expr], target: Expr) -> Query:
    slicer = Slicer()
    for condition in path:
        slicer.add(condition)
    return slicer.query(target, bytes(SIZE))


HARD = query(
    [below(constant(1), word(0)), below(constant(1), word(8))],
    build.binary(Kind.EQ, build.binary(Kind.MUL, word(0), word(8)), constant(0xD1CE5B4D3A291707)),
)
EASY = query([below(word(0), word(8))], build.binary(Kind.EQ, word(0), constant(5)))


@pytest.mark.parametrize("kind", STAYING)
def test_what_is_too_hard_goes_on_and_the_next_question_is_not_affected(kind: Staying) -> None:
    inner = Fixed(Answer(Result.UNKNOWN, Layer.MODEL))
    layer = kind(inner, Limit(5_000))
    for _ in range(3):
        assert layer.solve(EASY).result is Result.SAT
        assert layer.solve(HARD).layer == Layer.MODEL
    assert inner.asked == 3


@pytest.mark.parametrize("kind", STAYING)
def test_the_limit_is_a_question_s_not_a_campaign_s(kind: Staying) -> None:
    layer = kind(Fixed(Answer(Result.UNKNOWN, Layer.MODEL)), Limit(200_000 if kind is BitwuzlaLayer else 20_000))
    for limit in range(1, 400):
        asked = query([below(word(0), word(8))], below(word(8), constant(limit * 7)))
        assert layer.solve(asked).layer in (Layer.SMT, Layer.BITWUZLA)


@pytest.mark.parametrize("kind", STAYING)
def test_a_core_holds_what_was_needed_and_leaves_something_out(kind: Staying) -> None:
    a, b, c, d = (word(start, 4) for start in range(0, 16, 4))
    letter = below(build.byte(0), constant(65, 8))
    path = [below(a, b), below(b, c), below(c, d), letter]
    answer = kind(SmtLayer()).solve(query(path, below(c, a)))
    assert answer.result is Result.UNSAT
    assert {path[0], path[1], below(c, a)} <= set(answer.core) < {*path, below(c, a)}
    # A condition on one byte can be needed too.
    high = below(constant(66 << 24, 32), build.from_bytes([build.byte(i) for i in (3, 2, 1, 0)]))
    assert {letter, high} <= set(kind(SmtLayer()).solve(query(path, high)).core) < {*path, high}


@pytest.mark.parametrize("kind", STAYING)
def test_sets_without_their_conditions_are_not_overlooked(kind: Staying) -> None:
    target = below(word(0, 2), word(2, 2))
    unexplained = Query(target, {1: 1 << 255, 3: 0b11}, [], bytes(SIZE))
    assert kind(SmtLayer()).solve(unexplained).result is Result.UNSAT


TABLES = {
    "of XORs": [0x31, 0x31 ^ 7, 0x31 ^ 0x80, 0x31 ^ 0x87],
    "of XORs from nothing": [0, 9, 5, 12],
    "one value": [3, 3, 3, 3],
    "any": [1, 2, 3, 9],
    "the same rows": [1, 2, 1, 2],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_s_term_has_its_entries(name: str) -> None:
    index, entries = z3.BitVec("index", 2), TABLES[name]
    term = table_term(WORDS, index, 2, entries, 8)
    assert term.size() == 8
    for at, entry in enumerate(entries):
        assert z3.simplify(z3.substitute(term, (index, z3.BitVecVal(at, 2)))).as_long() == entry


def test_old_conditions_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "_LITERALS_KEPT", 20)
    layer = LearningLayer(SmtLayer())
    for limit in range(1, 100):
        path = [below(word(0), constant(limit * 3)), below(word(8), word(0))]
        expected = Result.UNSAT if limit == 1 else Result.SAT
        assert layer.solve(query(path, below(constant(limit + 1), word(0)))).result is expected
        assert len(layer._literals) <= 20 + 2 * 3 + 3
        assert len({str(literal) for literal in layer._literals.values()}) == len(layer._literals)


def test_it_follows_the_path_and_forgets_what_is_left() -> None:
    layer = PathLayer(SmtLayer())
    first = below(word(8), word(0))
    for limit in range(1, 100):
        path = [first, below(word(0), constant(limit * 3))]
        expected = Result.UNSAT if limit == 1 else Result.SAT
        assert layer.solve(query(path, below(constant(limit + 1), word(0)))).result is expected
        assert layer._scopes == [(condition,) for condition in path]
        assert layer._solver.num_scopes() == len(layer._names) == 2
    assert layer.solve(query([], below(word(0), word(8)))).result is Result.SAT
    assert layer._solver.num_scopes() == 0
    answer = layer.solve(query(path, below(word(0), word(8))))
    assert {first, below(word(0), word(8))} <= set(answer.core) <= {*path, below(word(0), word(8))}


def test_a_long_way_is_gone_in_portions_and_answers_as_a_short_one() -> None:
    inner, byte = Fixed(Answer(Result.UNKNOWN, Layer.SMT)), build.byte
    layer = PathLayer(inner)
    mixed = [build.binary(Kind.XOR, byte(i % 5), byte((i + 1) % 5)) for i in range(200)]
    path = [below(one, constant(255 - i, 8)) for i, one in enumerate(mixed)]

    def ask(conditions: Sequence[Expr], target: Expr) -> Answer:
        return layer.solve(Query(target, {}, conditions, bytes(SIZE), conditions))

    for length in (200, 199, 120, 200):
        assert ask(path[:length], below(constant(254, 8), mixed[0])).result is Result.UNSAT
        assert [condition for scope in layer._scopes for condition in scope] == path[:length]
    assert layer._solver.num_scopes() == len(layer._scopes) < 60
    assert len(layer._names) == 200
    answer = ask(path, below(constant(58, 8), mixed[0]))  # path[195] says that it is below 60
    assert answer.result is Result.SAT
    answer = ask(path, below(constant(59, 8), mixed[0]))
    assert answer.result is Result.UNSAT
    assert path[195] in answer.core  # the names are those of the conditions
    assert len(answer.core) < 10
    assert inner.asked == 0


@pytest.mark.parametrize(("each", "handed_on"), [(0, 0), (smt.LEARNING_RLIMIT // 10, 1)])
def test_a_way_that_takes_too_much_is_handed_on(each: int, handed_on: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Z3 simplifies at each scope what it holds, outside of its limit: here it says that `each` was spent for it."""
    spent = itertools.count(10**9, each)
    monkeypatch.setattr(smt, "_spent", lambda solver: next(spent))
    inner = Fixed(Answer(Result.UNKNOWN, Layer.SMT))
    layer = PathLayer(inner)
    path = [below(word(0), constant(1000 - i)) for i in range(60)]
    for turn in range(1, 3):
        layer.solve(Query(below(constant(3), word(0)), {}, path, bytes(SIZE), path))
        assert inner.asked == turn * handed_on
        assert bool(layer._scopes) == (not handed_on)


def test_to_each_arithmetic_its_solver() -> None:
    a, b = word(0), word(8)
    layers = [Fixed(Answer(Result.UNKNOWN, name)) for name in (Layer.DOMAIN, Layer.CACHE, Layer.MODEL)]
    layer = ArithmeticLayer(*layers)
    product, quotient, remainder = (build.binary(kind, a, b) for kind in (Kind.MUL, Kind.UDIV, Kind.SREM))
    threefold = build.binary(Kind.MUL, a, constant(3))
    asked = {
        Layer.DOMAIN: [build.float_binary(Kind.FLT, a, b)],
        Layer.CACHE: [below(product, b), below(quotient, a), below(constant(4), remainder)],
        Layer.MODEL: [below(threefold, b), below(a, b), below(build.byte(0), constant(9, 8))],
    }
    for name, targets in asked.items():
        for target in targets:
            assert layer.solve(query([], target)).layer == name
            assert layer.solve(query([target], below(a, constant(9)))).layer == name


def test_of_floating_point_on_one_byte_the_values_are_told() -> None:
    """Else one such condition of a path makes all its questions slow."""
    number = build.float_unary(Kind.UITOF, build.zext(build.byte(0), 32), 32)
    small = build.float_binary(Kind.FLT, number, constant(0x40400000, 32))  # 3.0
    asked = query([small], below(word(0, 2), word(2, 2)))
    assert small.floats
    assert not asked.floats
    assert Z3Translator().condition(small).sexpr() == "(not (bvult #x02 in0))"
    for kind in STAYING:
        answer = kind(SmtLayer()).solve(asked)
        assert answer.result is Result.SAT
        assert answer.apply(asked.data)[0] < 3
        assert small in kind(SmtLayer()).solve(query([small], below(constant(2, 8), build.byte(0)))).core


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize(("kind", "pattern"), [(Kind.FABS, 0x3FC), (Kind.FNEG, 0x3FC), (Kind.FNEG, 0xBFC)])
def test_bits_of_a_sign(kind: Kind, pattern: int, width: int) -> None:
    """1.5 and -1.5, as bits: of what a sign was taken away or turned, the other bits stay."""
    number = build.from_bytes([build.byte(index) for index in range(width // 8)])
    wanted = pattern << (width - 12)
    made = build.float_unary(kind, number, width)
    asked = query([], build.binary(Kind.EQ, made, constant(wanted, width)))
    answer = SmtLayer().solve(asked)
    assert answer.result is Result.SAT
    bits = int.from_bytes(answer.apply(asked.data)[: width // 8], "little")
    sign = 1 << (width - 1)
    assert bits & ~sign == wanted & ~sign
    if kind is Kind.FNEG:
        assert bits ^ sign == wanted
    negative = query([], build.binary(Kind.EQ, made, constant(wanted ^ sign, width)))
    assert (SmtLayer().solve(negative).result is Result.UNSAT) == (kind is Kind.FABS)


def test_a_quotient_of_one_byte_counts_if_it_is_in_the_slice() -> None:
    digit = [build.binary(Kind.UREM, build.byte(index), constant(10, 8)) for index in range(3)]
    conditions = [build.binary(Kind.EQ, each, constant(3, 8)) for each in digit]
    asked = below(word(0, 2), word(4, 2))
    assert query(conditions, asked).products
    assert not query(conditions[2:], asked).products
    assert query([], conditions[0]).products


@pytest.mark.parametrize("kind", [*STAYING, None], ids=["learning", "path", "bitwuzla", "plain"])
def test_an_interrupt_between_questions_changes_nothing(kind: Staying | None) -> None:
    layer = kind(SmtLayer()) if kind else SmtLayer()
    for _ in range(3):
        interrupt()
        assert layer.solve(EASY).result is Result.SAT


@pytest.mark.parametrize("kind", [*STAYING, None], ids=["learning", "path", "bitwuzla", "plain"])
def test_interrupts_at_any_time_raise_nothing(kind: Staying | None) -> None:
    layer, over = kind(SmtLayer()) if kind else SmtLayer(), threading.Event()

    def disturb() -> None:
        while not over.wait(0.0003):
            interrupt()

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for number in range(150):
            path = [below(word(0), word(8)), below(constant(number), word(0))]
            assert layer.solve(query(path, below(word(8), constant(999)))).result is not Result.UNSAT
    finally:
        over.set()
        thread.join()
    assert layer.solve(EASY).result is Result.SAT


def test_the_judge_finds_wrong_answers() -> None:
    path = [below(word(0), word(8))]
    contradiction = query(path, below(word(8), word(0)))
    possible = query(path, below(word(8), constant(9)))
    unsat, cored = Answer(Result.UNSAT, Layer.RANGE), Answer(Result.UNSAT, Layer.RANGE, core=(path[0],))
    for asked, answer, message in (
        (possible, unsat, "not unsat"),
        (contradiction, cored, "not unsat"),  # the conditions named do not exclude each other
        (contradiction, Answer(Result.UNSAT, Layer.RANGE, core=(build.FALSE,)), "not of this path"),
        (possible, Answer(Result.SAT, Layer.RANGE, {0: 200, 8: 100}), "does not satisfy"),
    ):
        with pytest.raises(UnsoundAnswer, match=message):
            ValidatingLayer(Fixed(answer)).solve(asked)
    assert ValidatingLayer(Fixed(unsat)).solve(contradiction) == unsat


def test_an_interrupted_answer_is_not_taken_for_a_wrong_one() -> None:
    """Z3 may have left out a condition by then."""
    wrong = Fixed(Answer(Result.SAT, Layer.SMT, {0: 9}))
    asked = query([], below(build.byte(0), constant(3, 8)))
    with pytest.raises(UnsoundAnswer):
        Chain(wrong).solve(asked)
    chain = Chain(wrong)
    chain.stop = lambda: wrong.asked > 1  # it comes while the question is being answered
    with pytest.raises(Stopped):
        chain.solve(asked)


def test_floating_point_has_a_limit_of_its_own() -> None:
    """What is too hard is given up, and the next question is not affected."""
    numbers = [build.from_bytes([build.byte(8 * k + i) for i in range(8)]) for k in range(2)]
    quotient = build.float_binary(Kind.FDIV, *numbers)
    target = build.float_binary(Kind.FEQ, quotient, build.const(0x3FF5555555555555, 64))
    not_that = build.float_binary(Kind.FLT, build.const(0x3FF0000000000000, 64), numbers[1])
    chain = SmtLayer(Limit(20_000))
    assert chain.solve(query([not_that], target)).result is Result.UNKNOWN
    assert chain.solve(EASY).result is Result.SAT
