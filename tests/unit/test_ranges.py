"""Runs of one number that satisfy a condition, against trying values; which questions the range layer leaves to
others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from score_embed.contract.words import Layer
from score_embed.formula import build, floats
from score_embed.formula.expr import Expr, Kind, evaluate
from score_embed.solve import ranges
from score_embed.solve.query import Answer, Query, Result
from score_embed.solve.ranges import NotOneNumber, RangeLayer, satisfying

WORD = build.concat(build.byte(1), build.byte(0))
OTHER = build.concat(build.byte(3), build.byte(2))
SIGNED = build.float_unary(Kind.SITOF, WORD, 32)
UNSIGNED = build.float_unary(Kind.UITOF, WORD, 32)


def number(value: float) -> Expr:
    return build.const(floats.encode(value, 32), 32)


def integer(value: int, width: int = 16) -> Expr:
    return build.const(value % (1 << width), width)


def f(kind: Kind, a: Expr, b: Expr) -> Expr:
    return build.float_binary(kind, a, b)


def both(a: Expr, b: Expr) -> Expr:
    return build.binary(Kind.AND, a, b)


def either(a: Expr, b: Expr) -> Expr:
    return build.binary(Kind.OR, a, b)


def to_int(kind: Kind, a: Expr, width: int = 16) -> Expr:
    return build.float_unary(kind, a, width)


HALF = f(Kind.FMUL, SIGNED, number(0.5))
SQUARE = f(Kind.FMUL, SIGNED, SIGNED)
SHIFTED = f(Kind.FADD, SIGNED, number(100.5))
CONDITIONS: dict[str, Expr] = {
    "above": f(Kind.FLT, number(3.5), SIGNED),
    "below, of a falling line": f(Kind.FLE, f(Kind.FMUL, SIGNED, number(-2.0)), number(9.0)),
    "equal": f(Kind.FEQ, HALF, number(3.0)),
    "never equal": f(Kind.FEQ, HALF, number(3.25)),
    "unsigned": f(Kind.FLT, f(Kind.FDIV, UNSIGNED, number(7.0)), number(1000.0)),
    "both": both(f(Kind.FLT, number(-5.0), SIGNED), f(Kind.FLT, SIGNED, number(5.0))),
    "either": either(f(Kind.FLT, SIGNED, number(-5.0)), f(Kind.FLT, number(5.0), SIGNED)),
    "not": build.negate(both(f(Kind.FLT, number(-5.0), SIGNED), f(Kind.FLT, SIGNED, number(5.0)))),
    "a square": f(Kind.FLT, SQUARE, number(90.0)),
    "an absolute value": f(Kind.FLE, number(7.0), build.float_unary(Kind.FABS, SHIFTED, 32)),
    "a quotient of it": f(Kind.FLT, f(Kind.FDIV, number(100.0), SHIFTED), number(0.25)),
    "a root": f(Kind.FLT, build.float_unary(Kind.FSQRT, UNSIGNED, 32), number(9.0)),
    "a floor": f(Kind.FEQ, build.float_unary(Kind.FROUND, HALF, 32, floats.FLOOR), number(-3.0)),
    "a negative": f(Kind.FLT, build.float_unary(Kind.FNEG, SHIFTED, 32), number(0.0)),
    "an integer of it": build.binary(Kind.EQ, to_int(Kind.FTOSI, HALF), integer(-3)),
    "a signed integer": build.binary(Kind.SLT, to_int(Kind.FTOSI, HALF), integer(-3)),
    "an unsigned integer": build.binary(Kind.ULT, to_int(Kind.FTOUI, UNSIGNED, 32), integer(77, 32)),
    "no more than it": build.binary(Kind.SLT, integer(-3), to_int(Kind.FTOSI, HALF)),
    "wider": f(Kind.FLT, build.float_unary(Kind.SITOF, build.sext(WORD, 32), 32), number(-3.0)),
    "of more bits": f(Kind.FLT, build.float_unary(Kind.UITOF, build.zext(WORD, 32), 32), number(99.0)),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_runs_are_where_the_condition_holds(name: str) -> None:
    condition = CONDITIONS[name]
    runs = satisfying(condition, WORD)
    assert list(runs) == sorted(runs)
    assert all(first <= last for first, last in runs)
    borders = {at + by for run in runs for at in run for by in (-2, -1, 0, 1, 2)}
    special = {at + by for at in (0, 0x7FFF, 0xFFFF - 100, 0x10000 - 200, 0x10000 - 101) for by in range(3)}
    for value in sorted({v % 0x10000 for v in (*borders, *special, *range(0, 0x10000, 311))}):
        holds = bool(evaluate(condition, value.to_bytes(2, "little")))
        assert any(first <= value <= last for first, last in runs) is holds, hex(value)


REFUSED: dict[str, Expr] = {
    "two numbers": f(Kind.FLT, SIGNED, build.float_unary(Kind.SITOF, OTHER, 32)),
    "two numbers, each compared": both(
        f(Kind.FLT, SIGNED, number(5.0)), f(Kind.FLT, build.float_unary(Kind.SITOF, OTHER, 32), number(5.0))
    ),
    "of the sum of two": f(
        Kind.FLT, build.float_unary(Kind.SITOF, build.binary(Kind.ADD, WORD, OTHER), 32), number(5.0)
    ),
    "compared with itself": f(Kind.FLT, SIGNED, HALF),
    "of what grows and falls": f(Kind.FLT, f(Kind.FADD, SIGNED, HALF), number(3.0)),
    "a constant that is no number": f(Kind.FLT, f(Kind.FADD, SIGNED, number(float("inf"))), number(3.0)),
    "by zero": f(Kind.FLT, f(Kind.FMUL, SIGNED, number(0.0)), number(3.0)),
    "a pattern": build.binary(Kind.ULT, HALF, build.const(0x40000000, 32)),
    "signed, then unsigned": build.binary(Kind.ULT, to_int(Kind.FTOSI, HALF), integer(7)),
    "exclusive or": build.binary(Kind.XOR, f(Kind.FLT, SIGNED, number(5.0)), f(Kind.FLT, HALF, number(9.0))),
    "bits of it": f(
        Kind.FLT, build.float_unary(Kind.UITOF, build.binary(Kind.AND, WORD, integer(0xFF0)), 32), number(5.0)
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_about_one_number_is_left_to_others(name: str) -> None:
    condition = REFUSED[name]
    with pytest.raises(NotOneNumber):
        satisfying(condition, WORD)
    assert ask(condition).layer == Layer.MODEL


class Below:
    def solve(self, query: Query) -> Answer:
        return Answer(Result.UNKNOWN, Layer.MODEL)


def ask(target: Expr, *others: Expr, sets: dict[int, int] | None = None, layer: RangeLayer | None = None) -> Answer:
    return (layer or RangeLayer(Below())).solve(Query(target, sets or {}, others, bytes(4)))


def value(answer: Answer) -> int:
    assert (answer.result, answer.layer) == (Result.SAT, Layer.RANGE)
    return int.from_bytes(answer.apply(bytes(4))[:2], "little")


def test_an_answer_is_the_plainest_that_there_is() -> None:
    """Of integers the one next to zero, signed as a person reads it."""
    assert value(ask(CONDITIONS["above"])) == 4
    assert value(ask(CONDITIONS["either"])) == 6  # not -6, of which the pattern is larger, nor 65,530
    assert value(ask(f(Kind.FLT, SIGNED, number(-3.5)))) == 0x10000 - 4
    assert value(ask(CONDITIONS["both"], f(Kind.FLT, SIGNED, number(-1.0)))) == 0x10000 - 2


FLOAT = build.from_bytes([build.byte(i) for i in range(4)])


@pytest.mark.parametrize(
    ("condition", "plainest"),
    [
        (f(Kind.FLT, number(3.3), FLOAT), 4.0),
        (f(Kind.FLT, FLOAT, number(-3.3)), -4.0),
        (both(f(Kind.FLT, number(3.3), FLOAT), f(Kind.FLT, FLOAT, number(3.9))), 3.5),
        (both(f(Kind.FLT, number(0.3), FLOAT), f(Kind.FLT, FLOAT, number(0.6))), 0.5),
        (f(Kind.FLE, number(1e20), FLOAT), None),
        (f(Kind.FLT, FLOAT, number(5.0)), 0.0),
    ],
)
def test_of_floating_point_numbers_one_of_few_digits(condition: Expr, plainest: float | None) -> None:
    answer = ask(condition)
    assert (answer.result, answer.layer) == (Result.SAT, Layer.RANGE)
    found = answer.apply(bytes(4))
    assert evaluate(condition, found)
    if plainest is not None:
        assert floats.decode(int.from_bytes(found, "little"), 32) == plainest


def test_what_is_no_number_is_taken_only_if_nothing_else_fits() -> None:
    """`!(x < 5) && !(x >= 5)`."""
    neither = [build.negate(f(Kind.FLT, FLOAT, number(5.0))), build.negate(f(Kind.FLE, number(5.0), FLOAT))]
    answer = ask(neither[0], neither[1])
    found = int.from_bytes(answer.apply(bytes(4)), "little")
    assert (answer.layer, floats.is_nan(found, 32)) == (Layer.RANGE, True)
    plain = int.from_bytes(ask(neither[0]).apply(bytes(4)), "little")
    assert floats.decode(plain, 32) == 5.0


def test_what_excludes_each_other_has_no_answer() -> None:
    answer = ask(CONDITIONS["above"], f(Kind.FLT, SIGNED, number(2.0)))
    assert (answer.result, answer.layer) == (Result.UNSAT, Layer.RANGE)


def test_questions_of_other_kinds_go_on() -> None:
    above = CONDITIONS["above"]
    assert ask(build.binary(Kind.ULT, WORD, integer(5))).layer == Layer.MODEL  # no floating point: others are as quick
    assert ask(above, sets={0: 0b111}).layer == Layer.MODEL
    assert ask(above, f(Kind.FLT, build.float_unary(Kind.SITOF, OTHER, 32), number(5.0))).layer == Layer.MODEL
    assert ask(above, REFUSED["exclusive or"]).layer == Layer.MODEL
    twice = build.float_unary(Kind.SITOF, build.concat(build.byte(0), build.byte(0)), 32)
    assert ask(f(Kind.FLT, number(3.5), twice)).layer == Layer.MODEL


def test_bytes_may_lie_the_other_way_round() -> None:
    swapped = build.float_unary(Kind.UITOF, build.concat(build.byte(0), build.byte(1)), 32)
    assert ask(f(Kind.FLT, number(299.5), swapped)).apply(bytes(4))[:2] == (300).to_bytes(2, "big")


def test_conditions_are_remembered_but_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_CONDITIONS_KEPT", 3)
    worked = 0
    real: Callable[[Expr, Expr], ranges.Runs] = satisfying

    def counting(condition: Expr, of: Expr) -> ranges.Runs:
        nonlocal worked
        worked += 1
        return real(condition, of)

    monkeypatch.setattr(ranges, "satisfying", counting)
    layer = RangeLayer(Below())
    for _ in range(4):
        assert ask(CONDITIONS["above"], layer=layer).layer == Layer.RANGE
        assert ask(REFUSED["exclusive or"], layer=layer).layer == Layer.MODEL
    assert worked == 2
    for limit in range(4):
        ask(f(Kind.FLT, number(limit), SIGNED), layer=layer)
    assert worked == 6
    ask(CONDITIONS["above"], layer=layer)
    assert worked == 7
