"""Bitwuzla: it follows the path, its limit is how often it asks, and nothing that is raised meanwhile is lost."""

from __future__ import annotations

import importlib.util
import signal
import time
from typing import Any

import pytest
from bitwuzla import Bitwuzla
from bitwuzla import Result as Found
from test_smt import EASY, HARD, SIZE, Fixed, below, constant, query, word

from score_embed.contract.words import Layer
from score_embed.engine._core import Alarm, Terminator
from score_embed.errors import UsageError
from score_embed.formula import build
from score_embed.formula.domain import byte_set
from score_embed.formula.expr import Kind, evaluate
from score_embed.solve import chain
from score_embed.solve.bitwuzla import BitwuzlaLayer
from score_embed.solve.bitwuzla_terms import BitwuzlaTranslator
from score_embed.solve.chain import default_chain, solver_of
from score_embed.solve.query import Answer, Limit, Query, Result, Stopped, interrupt
from score_embed.solve.smt import SmtLayer

NOBODY = Answer(Result.UNKNOWN, Layer.SMT)
# The factors of a product of two primes: minutes.
FACTORS = query(
    [below(constant(1, 32), word(0, 4)), below(constant(1, 32), word(4, 4))],
    build.binary(
        Kind.EQ,
        build.binary(Kind.MUL, build.zext(word(0, 4), 64), build.zext(word(4, 4), 64)),
        constant(3_037_000_507 * 4_023_233_417),
    ),
)


def test_it_follows_the_path_and_forgets_what_is_left() -> None:
    layer = BitwuzlaLayer(Fixed(NOBODY))
    first = below(word(8), word(0))
    for limit in range(1, 60):
        path = [first, below(word(0), constant(limit * 3))]
        expected = Result.UNSAT if limit == 1 else Result.SAT
        assert layer.solve(query(path, below(constant(limit + 1), word(0)))).result is expected
        assert [held.condition for held in layer._held] == path
    assert layer.solve(query([], below(word(0), word(8)))).result is Result.SAT
    assert layer._held == []
    answer = layer.solve(query(path, below(word(0), word(8))))
    assert {first, below(word(0), word(8))} <= set(answer.core) <= {*path, below(word(0), word(8))}


def test_the_conditions_that_are_shared_are_told_once() -> None:
    layer = BitwuzlaLayer(Fixed(NOBODY))
    path = [below(word(8), word(0)), below(word(0), constant(900))]
    for limit in range(5):
        layer.solve(query(path, below(constant(limit), word(8))))
    assert layer._told == 2 + 5


def test_after_many_conditions_it_starts_anew() -> None:
    layer = BitwuzlaLayer(Fixed(NOBODY), told=20)
    path = [below(word(8), word(0)), below(word(0), constant(900))]
    for limit in range(100):
        answer = layer.solve(query(path, below(constant(limit), word(8))))
        assert answer.result is Result.SAT
        assert layer._told <= 20 + 2 * 2 + 3


@pytest.mark.parametrize("most", [0, 1, 2, 40])
def test_so_often_it_may_ask(most: int) -> None:
    ends = Terminator()
    assert ends()
    for _ in range(2):
        ends.begin(lambda: False)
        ends.allow(most)
        assert [ends() for _ in range(most + 2)] == [False] * most + [True, True]
    ends.end()
    assert ends()


def test_an_interrupt_ends_the_question_that_runs_and_no_other() -> None:
    ends = Terminator()
    interrupt()
    ends.begin(lambda: False)
    ends.allow(10)
    assert not ends()
    interrupt()
    assert ends()
    ends.begin(lambda: False)
    interrupt()  # while conditions are being told
    ends.allow(10)
    assert ends()
    ends.begin(lambda: False)
    ends.allow(10)
    assert not ends()


def test_the_end_of_the_campaign_ends_a_question() -> None:
    ends, alarm, answers = Terminator(), Alarm(0.0), iter([False, True])
    ends.begin(lambda: next(answers))
    ends.allow(10)
    assert [ends(), ends()] == [False, True]
    ends.begin(alarm)
    ends.allow(10)
    assert not ends()
    alarm.deadline = 0.0
    assert ends()


def test_what_is_raised_meanwhile_is_raised_at_the_end_of_the_question_once() -> None:
    def stop() -> bool:
        raise Stopped

    ends = Terminator()
    ends.begin(stop)
    ends.allow(10)
    assert [ends(), ends()] == [True, True]
    with pytest.raises(Stopped):
        ends.end()
    ends.end()
    ends.begin(lambda: False)
    ends.allow(10)
    assert not ends()


def test_a_question_is_broken_off_by_the_campaign_s_end() -> None:
    limit = Limit(10**12)
    layer, began = BitwuzlaLayer(Fixed(NOBODY), limit), time.monotonic()
    layer.solve(EASY)
    limit.stop = lambda: time.monotonic() > began + 0.2
    assert layer.solve(FACTORS) == NOBODY
    assert time.monotonic() < began + 30


def test_what_a_signal_raises_comes_out_and_the_layer_goes_on() -> None:
    class Raised(Exception):
        pass

    def end(signum: int, frame: Any) -> None:
        raise Raised

    limit = Limit(10**12)
    layer = BitwuzlaLayer(Fixed(NOBODY), limit)
    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Raised):
            layer.solve(FACTORS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert layer.solve(EASY).result is Result.SAT


@pytest.mark.parametrize("values", [1, 1 << 255, 0b1110, 1 << 7 | 0b11 << 60, (1 << 256) - 2])
def test_a_set_of_a_byte_is_told_by_its_runs(values: int) -> None:
    for value in (0, 1, 3, 4, 7, 60, 61, 62, 254, 255):
        told = BitwuzlaTranslator()
        solver = Bitwuzla(told.manager)
        solver.assert_formula(told.among(3, values))
        solver.assert_formula(told.among(3, 1 << value))
        assert (solver.check_sat() == Found.SAT) == bool(values >> value & 1)


def test_many_runs_of_floating_point_on_one_byte_are_a_set() -> None:
    """They stay floating point in the path, which Bitwuzla is not told of."""
    tenth = build.binary(Kind.UREM, build.byte(0), constant(5, 8))
    number = build.float_unary(Kind.UITOF, build.zext(tenth, 32), 32)
    small = build.float_binary(Kind.FLT, number, constant(0x40000000, 32))  # 2.0
    assert small.only_byte == 0
    assert byte_set(small).bit_count() > 60
    asked = query([small], below(word(0, 2), word(2, 2)))
    answer = BitwuzlaLayer(Fixed(NOBODY)).solve(asked)
    assert answer.result is Result.SAT
    assert evaluate(small, answer.apply(bytes(SIZE)))
    wrong = Query(build.negate(small), {}, [], bytes(SIZE), [small])
    assert BitwuzlaLayer(Fixed(NOBODY)).solve(wrong).result is Result.UNSAT


def test_where_more_is_held_it_may_ask_less_often() -> None:
    """Between two times it does more: a chain of 1,500 sums took a minute for what a product has in a fraction of a
    second."""
    allowed = []

    class Counted(Terminator):
        def allow(self, most: int) -> None:
            allowed.append(most)
            super().allow(most)

    layer = BitwuzlaLayer(Fixed(NOBODY), Limit(2_000_000))
    layer._terminator = Counted()
    total, path = word(0, 4), []
    for index in range(300):
        total = build.binary(Kind.ADD, build.binary(Kind.XOR, total, word(4, 4)), constant(index | 1, 32))
        path.append(below(total, constant(0xFFFFFFF0 - index, 32)))
    for length in (1, 30, 300, 30, 300):
        layer.solve(query(path[:length], below(word(4, 4), word(0, 4))))
    assert 20_000 > allowed[0] > 2 * allowed[1] > 20 * allowed[2] > 2_000
    assert allowed[3:] == allowed[1:3]  # also where its conditions were told before


def test_z3_is_asked_what_is_given_up() -> None:
    assert BitwuzlaLayer(SmtLayer(), Limit(1)).solve(HARD).layer == Layer.SMT
    asked = query([below(word(0), word(8))], build.binary(Kind.EQ, word(0), word(8)))
    assert BitwuzlaLayer(SmtLayer(), Limit(10**7)).solve(asked).layer == Layer.BITWUZLA


def test_what_was_broken_off_is_not_held() -> None:
    limit = Limit(10**12)
    layer = BitwuzlaLayer(Fixed(NOBODY), limit)
    asked = iter([False] * 200)  # so it is raised while Bitwuzla works

    def stop() -> bool:
        if next(asked, True):
            raise Stopped
        return False

    path = [below(constant(1, 32), word(0, 4)), below(constant(1, 32), word(4, 4))]
    total = build.binary(Kind.ADD, word(0, 4), word(4, 4))
    possible = query(path, build.binary(Kind.EQ, total, constant(12, 32)))
    assert layer.solve(possible).result is Result.SAT
    limit.stop = stop
    with pytest.raises(Stopped):
        layer.solve(FACTORS)
    limit.stop = lambda: False
    for _ in range(2):  # that of the factors is not
        assert layer.solve(possible).result is Result.SAT


def test_an_interrupt_while_conditions_are_told_ends_the_question() -> None:
    limit, calls = Limit(), iter([interrupt])
    limit.stop = lambda: bool(next(calls, bool)())
    assert BitwuzlaLayer(Fixed(NOBODY), limit).solve(EASY) == NOBODY
    assert BitwuzlaLayer(Fixed(NOBODY), limit).solve(EASY).result is Result.SAT


def test_a_question_that_is_given_up_frees_what_was_held() -> None:
    layer = BitwuzlaLayer(Fixed(NOBODY), Limit(1000))
    assert layer.solve(FACTORS) == NOBODY
    assert layer._held == []
    assert layer._told == 0


def test_a_long_path_is_held_however_few_conditions_may_be_kept() -> None:
    layer = BitwuzlaLayer(Fixed(NOBODY), told=5)
    path = [below(constant(index), word(0)) for index in range(20)]
    for number in range(5):
        layer.solve(query(path, below(word(0), constant(100 + number))))
        assert layer._told == 20 + number + 1


def test_the_campaign_s_end_is_seen_while_conditions_are_told_again() -> None:
    limit = Limit()
    layer = BitwuzlaLayer(Fixed(NOBODY), limit)
    asked = query([below(word(8), word(0)), below(word(0), constant(900))], below(constant(7), word(8)))
    layer.solve(asked)
    layer.solve(query([], below(word(0), word(8))))
    limit.stop = lambda: True
    with pytest.raises(Stopped):
        layer.solve(asked)


def test_which_solver_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [solver_of(wanted) for wanted in ("auto", "z3", "bitwuzla")] == ["bitwuzla", "z3", "bitwuzla"]
    monkeypatch.setattr(chain, "find_spec", lambda name: None if name == "bitwuzla" else importlib.util.find_spec(name))
    assert [solver_of(wanted) for wanted in ("auto", "z3")] == ["z3", "z3"]
    with pytest.raises(UsageError, match="not installed"):
        solver_of("bitwuzla")
    with pytest.raises(UsageError, match="not installed"):
        default_chain(solver="bitwuzla")


@pytest.mark.parametrize("solver", ["z3", "bitwuzla"])
def test_the_solver_that_is_wanted_answers(solver: str) -> None:
    """A checksum of sixteen bits, which no layer before finds."""
    crc = build.const(0xFFFF, 16)
    for index in range(6):
        crc = build.binary(Kind.XOR, crc, build.zext(build.byte(index), 16))
        for _ in range(8):
            bit = build.zext(build.extract(crc, 0, 1), 16)
            half = build.binary(Kind.LSHR, crc, build.const(1, 16))
            turned = build.binary(Kind.MUL, bit, build.const(0xA001, 16))
            crc = build.binary(Kind.XOR, half, turned)
    made = default_chain(solver=solver)
    target = build.binary(Kind.EQ, crc, build.const(0x1234, 16))
    asked = query([below(build.byte(index), build.byte(index + 1)) for index in range(5)], target)
    data = bytes(range(SIZE))
    answer = made.solve(Query(*asked[:3], data, list(asked.conditions)), effort=1)
    assert answer.layer == (Layer.SMT if solver == "z3" else Layer.BITWUZLA)
    assert answer.result is Result.SAT
    assert evaluate(target, answer.apply(data))
