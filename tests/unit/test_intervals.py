"""Intervals of formulas: none leaves out a value, and those of what only grows or falls are exact."""

from __future__ import annotations

import itertools
import random

import pytest

from score_embed.contract.words import Layer
from score_embed.engine._core import interval_of, is_excluded, is_refuted, most_values
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate, intern_table
from score_embed.solve.chain import default_chain
from score_embed.solve.query import Query, Result

WIDTH = 8
SAMPLES = 150
BINARY = (
    Kind.ADD, Kind.SUB, Kind.MUL, Kind.UDIV, Kind.SDIV, Kind.UREM, Kind.SREM, Kind.AND, Kind.OR, Kind.XOR, Kind.SHL,
    Kind.LSHR, Kind.ASHR, Kind.EQ, Kind.ULT, Kind.SLT,
)  # fmt: skip
EXACT = {Kind.MUL, Kind.UDIV, Kind.SHL, Kind.LSHR, Kind.EQ, Kind.ULT}  # if nothing is cut off, or divided by 0
WRAPS = {Kind.ADD, Kind.SUB}


def const(value: int, width: int = WIDTH) -> Expr:
    return build.const(value, width)


def between(index: int, least: int, most: int, width: int = WIDTH) -> tuple[Expr, list[bytes]]:
    """A formula of one byte that has these values, and inputs for all of them."""
    rest = build.binary(Kind.UREM, build.zext(build.byte(index), width), const(most - least + 1, width))
    inputs = [bytes(value if i == index else 0 for i in range(3)) for value in range(most - least + 1)]
    return build.binary(Kind.ADD, rest, const(least, width)), inputs


def values(expr: Expr, *inputs: list[bytes]) -> set[int]:
    return {evaluate(expr, bytes(map(max, *each, bytes(3)))) for each in itertools.product(*inputs)}


def whole(kind: Kind, a: tuple[int, int], b: tuple[int, int]) -> list[int]:
    """The results at the corners, not reduced to the width; [-1, 256] if there is none."""
    if kind is Kind.UDIV:
        return [x // y for x in a for y in b] if b[0] else [-1, 256]
    if kind is Kind.SHL:
        return [x << y for x in a for y in b] if b[1] < WIDTH else [-1, 256]
    made = {Kind.ADD: int.__add__, Kind.SUB: int.__sub__, Kind.MUL: int.__mul__}
    return [made[kind](x, y) for x in a for y in b] if kind in made else [0]


@pytest.mark.parametrize("kind", BINARY, ids=lambda kind: kind.name)
def test_an_interval_holds_all_values_and_no_more_than_it_must(kind: Kind) -> None:
    draw, exact = random.Random(kind.value), 0
    for _ in range(SAMPLES):
        a, b = (sorted(draw.choices((0, 1, 2, 5, 7, 8, 9, 100, 127, 128, 130, 200, 255), k=2)) for _ in "ab")
        a[1], b[1] = min(a[1], a[0] + 15), min(b[1], b[0] + 15)
        (one, ones), (other, others) = between(0, *a), between(1, *b)
        expr = build.binary(kind, one, other)
        found, (least, most) = values(expr, ones, others), interval_of(expr)
        assert least <= min(found)
        assert max(found) <= most
        assert len(found) <= most_values(expr, {})
        assert expr.width > 1 or not is_refuted(expr) or found == {0}
        corners = whole(kind, (a[0], a[1]), (b[0], b[1]))
        is_whole = min(corners) >= 0 and max(corners) <= 255
        is_turned = len({corner >> WIDTH for corner in corners}) == 1
        if (kind in EXACT and is_whole) or (kind in WRAPS and is_turned):
            assert (least, most) == (min(found), max(found))
            exact += 1
    assert exact > 5 or kind not in EXACT | WRAPS


@pytest.mark.parametrize(
    ("least", "most", "signed", "part", "turned", "refused"),
    [
        (3, 9, (3, 9), (0, 2), (0xF6, 0xFC), (247, 253)),
        (120, 127, (120, 127), (30, 31), (128, 135), (129, 136)),
        (120, 130, (0, 0xFFFF), (30, 32), (125, 135), (126, 136)),
        (130, 140, (0xFF82, 0xFF8C), (32, 35), (115, 125), (116, 126)),
        (0, 3, (0, 3), (0, 0), (252, 255), (0, 255)),
    ],
)
def test_operators_of_one_number(
    least: int, most: int, signed: tuple[int, int], part: tuple[int, int], turned: tuple[int, int],
    refused: tuple[int, int],
) -> None:  # fmt: skip
    number, inputs = between(0, least, most)
    for expr, expected in (
        (build.zext(number, 16), (least, most)),
        (build.sext(number, 16), signed),
        (build.extract(number, 2, 6), part),
        (build.bit_not(number), turned),
        (build.neg(number), refused),
    ):
        found = values(expr, inputs)
        assert interval_of(expr) == expected, expr
        assert expected[0] <= min(found)
        assert max(found) <= expected[1]


def test_choices_tables_and_neighbours() -> None:
    one, other = between(0, 3, 7)[0], between(1, 100, 103)[0]
    choice = build.ite(build.binary(Kind.ULT, build.byte(2), const(9)), one, other)
    assert interval_of(choice) == (3, 103)
    assert interval_of(build.concat(other, one)) == (100 << 8 | 3, 103 << 8 | 7)
    table = intern_table(16, build.byte(2), 0x1234, list(range(5, 261)))
    assert interval_of(table) == (0, 260)
    assert interval_of(build.binary(Kind.OR, other, one)) == (100, 127)
    # The lower bits of what crosses a border of the higher ones are anything.
    assert interval_of(build.extract(between(0, 14, 17)[0], 0, 4)) == (0, 15)
    assert interval_of(build.extract(between(0, 17, 19)[0], 0, 4)) == (1, 3)


def test_bits_that_a_mask_leaves_are_counted() -> None:
    word = build.concat(*(build.byte(i) for i in range(2)))
    assert most_values(build.binary(Kind.AND, word, const(0x8421, 16)), {}) == 16
    assert most_values(build.binary(Kind.UREM, word, const(31, 16)), {}) == 31


@pytest.mark.parametrize("pinned", [False, True])
def test_that_an_entry_of_a_table_is_null_is_asked_of_nobody(pinned: bool) -> None:
    word = build.concat(build.byte(0), build.byte(1))
    offset = build.binary(Kind.MUL, build.zext(build.binary(Kind.UREM, word, const(31, 16)), 64), const(8, 64))
    null = build.binary(Kind.EQ, build.binary(Kind.ADD, offset, const(0x628240, 64)), const(0, 64))
    chain = default_chain()
    several = [build.binary(Kind.ULT, build.byte(0), build.byte(1))] if pinned else []
    answer = chain.answer_cheaply(Query(null, {}, several, b"ab", tuple(several)))
    assert answer is not None
    assert (answer.result, answer.layer) == (Result.UNSAT, Layer.DOMAIN)


WORD = build.concat(build.byte(0), build.byte(1))


@pytest.mark.parametrize(
    ("wide", "number", "narrow", "at"),
    [
        (build.binary(Kind.MUL, build.zext(WORD, 64), const(8, 64)), 0x220, WORD, 0x44),
        (build.binary(Kind.MUL, build.zext(WORD, 64), const(24, 64)), 24 * 77, WORD, 77),
        (build.binary(Kind.MUL, WORD, const(5, 16)), 5 * 20_000 & 0xFFFF, WORD, 20_000),
        (build.binary(Kind.XOR, WORD, const(0x1234, 16)), 0x1200, WORD, 0x34),
        (build.concat(WORD, const(5, 4)), 0x12345, WORD, 0x1234),
    ],
)
def test_what_equals_a_constant_is_said_of_what_it_is_computed_from(
    wide: Expr, number: int, narrow: Expr, at: int
) -> None:
    assert build.binary(Kind.EQ, wide, const(number, wide.width)) is build.binary(
        Kind.EQ, narrow, const(at, narrow.width)
    )


def test_what_no_step_leads_to_equals_nothing() -> None:
    scaled = build.binary(Kind.MUL, build.zext(WORD, 64), const(8, 64))
    for number in (0x221, 8 << 16, 0xFFFFFFFF9FFF7860):
        assert build.binary(Kind.EQ, scaled, const(number, 64)) is build.FALSE
    assert build.binary(Kind.EQ, build.concat(WORD, const(5, 4)), const(0x12346, 20)) is build.FALSE


@pytest.mark.parametrize("limit", [30, 31, 32])
def test_what_the_interval_decides_is_no_condition(limit: int) -> None:
    rest = build.binary(Kind.UREM, WORD, const(31, 16))
    assert (build.binary(Kind.EQ, rest, const(limit, 16)) is build.FALSE) == (limit > 30)
    assert (build.binary(Kind.ULT, rest, const(limit, 16)) is build.TRUE) == (limit > 30)
    assert (build.binary(Kind.ULT, const(limit, 16), rest) is build.FALSE) == (limit >= 30)
    more = build.binary(Kind.ADD, rest, const(100, 16))
    assert (build.binary(Kind.ULT, const(limit + 69, 16), more) is build.TRUE) == (limit < 31)
    assert (build.binary(Kind.ULT, more, const(limit + 69, 16)) is build.FALSE) == (limit < 32)


def test_what_opaque_code_said_decides_nothing() -> None:
    """It may be another number in other runs."""
    opaque = build.const(31, 16, frozenset({3}))
    rest = build.binary(Kind.UREM, WORD, opaque)
    for wanted in (
        build.binary(Kind.EQ, rest, const(40, 16)),
        build.binary(Kind.ULT, rest, const(40, 16)),
        build.binary(Kind.EQ, build.binary(Kind.XOR, WORD, opaque), const(40, 16)),
        build.binary(Kind.ULT, build.binary(Kind.UREM, WORD, const(31, 16)), build.const(40, 16, frozenset({3}))),
    ):
        assert wanted.deps
        assert wanted.origins == {3}


NUMBER = build.concat(build.byte(0), build.byte(1))
COMPARED = (Kind.EQ, Kind.ULT, Kind.SLT)
BORDERS = (0, 1, 2, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF)


def comparisons(draw: random.Random) -> Expr:
    limit = const(draw.choice(BORDERS), 16)
    sides = (NUMBER, limit) if draw.random() < 0.5 else (limit, NUMBER)
    made = build.binary(draw.choice(COMPARED), *sides)
    return made if draw.random() < 0.5 else build.negate(made)


def test_comparisons_of_one_number_exclude_each_other_exactly_where_no_number_is_left() -> None:
    """Also at the ends of signed and unsigned numbers: all inputs near a border are tried."""
    draw, excluded = random.Random(5), 0
    near = {(border + step) % 0x10000 for border in BORDERS for step in (-1, 0, 1)}
    for _ in range(2000):
        target, *several = [made for _ in range(6) if (made := comparisons(draw)).deps][: draw.randint(1, 6)]
        inputs = (number.to_bytes(2, "big") for number in near)
        has_one = any(all(evaluate(each, data) for each in (target, *several)) for data in inputs)
        assert is_excluded(target, several) == (not has_one), (target, several)
        excluded += not has_one
    assert 500 < excluded < 1500


def test_what_is_said_of_other_numbers_excludes_nothing() -> None:
    below, other = build.binary(Kind.ULT, NUMBER, const(5, 16)), build.concat(build.byte(1), build.byte(2))
    assert not is_excluded(below, [build.binary(Kind.ULT, const(9, 16), other)])
    assert is_excluded(below, [build.binary(Kind.ULT, const(9, 16), NUMBER)])
    assert is_excluded(below, [build.binary(Kind.ULT, const(9, 16), other), build.negate(below)])
    product = build.binary(Kind.MUL, NUMBER, other)
    assert is_excluded(build.binary(Kind.SLT, product, const(3, 16)), [build.binary(Kind.SLT, const(2, 16), product)])
    # The interval of the number itself counts, too.
    rest = build.binary(Kind.UREM, NUMBER, const(7, 16))
    assert is_excluded(
        build.binary(Kind.ULT, const(5, 16), rest), [build.negate(build.binary(Kind.EQ, rest, const(6, 16)))]
    )


def test_more_gaps_than_are_kept_exclude_nothing_that_is_there() -> None:
    gaps = [build.negate(build.binary(Kind.EQ, NUMBER, const(2 * number, 16))) for number in range(300)]
    inside = build.binary(Kind.ULT, NUMBER, const(200, 16))
    assert not is_excluded(inside, gaps)
    assert is_excluded(inside, [*gaps, build.binary(Kind.ULT, const(199, 16), NUMBER)])


def test_that_nothing_is_between_two_neighbours_is_asked_of_nobody() -> None:
    above, below = build.binary(Kind.SLT, const(0xFFFF, 16), NUMBER), build.binary(Kind.SLT, NUMBER, const(0, 16))
    answer = default_chain().answer_cheaply(Query(below, {}, [above], bytes(2), (above,)))
    assert answer is not None
    assert (answer.result, answer.layer) == (Result.UNSAT, Layer.DOMAIN)
