"""Enumeration of small slices, and the compiled conditions under it, against plain evaluation."""

from __future__ import annotations

import functools
import random
from array import array
from itertools import product

import pytest

from score_embed.contract.words import Layer
from score_embed.engine._core import Slicer
from score_embed.formula import build
from score_embed.formula.domain import FULL, all_rows, cost, rows_product, rows_within, split
from score_embed.formula.expr import COMPARISONS, Expr, Kind, evaluate
from score_embed.solve import enumerate
from score_embed.solve.enumerate import EnumerateLayer
from score_embed.solve.query import Answer, Limit, Query, Result

A, B = build.byte(3), build.byte(5)
INDICES = (3, 5)
EDGES = (0, 1, 2, 3, 7, 8, 31, 63, 64, 127, 128, 129, 200, 254, 255)


class Inner:
    """Stands for the layers below; remembers that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def solve(self, query: Query) -> Answer:
        self.asked += 1
        return Answer(Result.UNKNOWN, Layer.MODEL)


def holds(condition: Expr, row: int) -> bool:
    data = bytearray(6)
    data[3], data[5] = divmod(row, 256)
    return bool(evaluate(condition, data))


def wide(expr: Expr, width: int) -> Expr:
    return build.sext(expr, width)  # may be the byte itself


def constant(value: int, width: int) -> Expr:
    return build.const(value, width)


def binary_conditions(kind: Kind, width: int) -> list[Expr]:
    """The operator on two unknowns and on an unknown and constants, as conditions that tell values apart."""
    a, b = wide(A, width), wide(B, width)
    mixed = build.binary(Kind.ADD, build.binary(Kind.MUL, a, b), constant(3, width))
    others = [b, mixed, *(constant(value, width) for value in (0, 1, 3, 5, width - 1, width, -1, -7, 1 << width - 1))]
    made = [build.binary(kind, mixed, other) for other in others]
    made += [build.binary(kind, other, mixed) for other in others]
    made += [build.binary(kind, a, b), build.binary(kind, b, a)]
    if kind in COMPARISONS:
        return made
    # Compared with a value that is not constant: equality with one is rarely true.
    return [build.binary(Kind.ULT, value, build.binary(Kind.XOR, mixed, b)) for value in made]


@pytest.mark.parametrize("width", [8, 16, 32, 64, 128])
@pytest.mark.parametrize(
    "kind", [kind for kind in Kind if Kind.ADD <= kind <= Kind.ASHR or kind in {Kind.EQ, Kind.ULT, Kind.SLT}]
)
def test_every_operator_computes_what_the_evaluator_does(kind: Kind, width: int) -> None:
    rows = array("Q", sorted(high << 8 | low for high, low in product(EDGES, EDGES)))
    for condition in binary_conditions(kind, width):
        hits, misses = split(condition, INDICES, rows)
        assert list(hits) == [row for row in rows if holds(condition, row)], condition
        assert sorted([*hits, *misses]) == list(rows)


def test_the_other_operators_too() -> None:
    product_ = build.binary(Kind.MUL, wide(A, 32), wide(B, 32))
    rows = array("Q", sorted(high << 8 | low for high, low in product(EDGES, EDGES)))
    parts = [
        build.extract(product_, 3, 9),
        build.extract(product_, 24, 8),
        build.zext(build.extract(product_, 0, 16), 64),
        build.sext(build.extract(product_, 0, 16), 64),
        build.neg(product_),
        build.bit_not(product_),
        build.concat(product_, build.binary(Kind.XOR, A, B)),
        build.concat(build.extract(product_, 5, 3), constant(2, 5)),
        build.zext(build.binary(Kind.SLT, product_, wide(A, 32)), 32),
    ]
    for part in parts:
        for limit in (1, 77, (1 << part.width - 1) + 5):
            condition = build.binary(Kind.ULT, part, constant(limit, part.width))
            for asked in (condition, build.negate(condition)):
                hits, _ = split(asked, INDICES, rows)
                assert list(hits) == [row for row in rows if holds(asked, row)], asked


def test_few_rows_and_many_give_the_same() -> None:
    condition = build.binary(Kind.ULT, build.binary(Kind.MUL, wide(A, 16), wide(B, 16)), constant(999, 16))
    rows = all_rows((FULL, FULL))
    hits, misses = split(condition, INDICES, rows)
    for few in (rows[:5], hits[-3:], misses[:7], rows[:0]):
        assert list(split(condition, INDICES, few)[0]) == [row for row in few if row in hits]
    sets = (0b110, 1 << 255)
    assert list(rows_within(rows, sets)) == [1 << 8 | 255, 2 << 8 | 255] == list(all_rows(sets))


def test_conditions_of_one_byte() -> None:
    above = build.binary(Kind.ULT, constant(200, 8), B)
    assert cost(above) == 0
    rows = all_rows((FULL, FULL))
    assert list(split(above, INDICES, rows)[0]) == [row for row in rows if row & 255 > 200]
    only = all_rows((FULL,))
    squared = build.binary(Kind.MUL, wide(A, 32), wide(A, 32))
    hits, _ = split(build.binary(Kind.EQ, squared, constant(49, 32)), (3,), only)
    assert list(hits) == [7, 249]


@pytest.mark.parametrize("width", [32, 128])
def test_rows_of_four_bytes(width: int) -> None:
    """In any order, each byte at its place; of numbers wider than 64 bits row by row."""
    indices = (7, 2, 5, 3)
    total = functools.reduce(
        lambda sum_, byte: build.binary(Kind.ADD, build.binary(Kind.MUL, sum_, constant(10, width)), wide(byte, width)),
        map(build.byte, indices),
        constant(0, width),
    )
    wanted = build.binary(Kind.EQ, total, constant(1835, width))
    rows = all_rows(((1 << 10) - 1, 1 | 1 << 255, 1 << 3 | 1 << 250, (1 << 256) - (1 << 240)))
    hits, misses = split(wanted, indices, rows)

    def number(row: int) -> int:
        return functools.reduce(lambda sum_, v: 10 * sum_ + (v - 256 if v > 127 else v), row.to_bytes(4, "big"), 0)

    assert list(hits) == [row for row in rows if number(row) == 1835]
    assert hits
    assert sorted([*hits, *misses]) == list(rows)
    for wrong in ((), tuple(range(9))):
        with pytest.raises(ValueError, match="one byte to eight"):
            split(wanted, wrong, rows)


def ask(layer: EnumerateLayer, path: list[Expr], target: Expr) -> Answer:
    slicer = Slicer()
    for condition in path:
        slicer.add(condition)
    return layer.solve(slicer.query(target, bytes(8)))


TOTAL = build.binary(Kind.ADD, build.zext(A, 32), build.zext(B, 32))


def below(limit: int) -> Expr:
    return build.binary(Kind.ULT, TOTAL, constant(limit, 32))


def test_both_answers_and_the_sets_of_the_path() -> None:
    layer = EnumerateLayer(Inner())
    product_ = build.binary(Kind.MUL, build.zext(A, 32), build.zext(B, 32))
    factors = build.binary(Kind.EQ, product_, constant(7 * 13, 32))
    assert ask(layer, [], factors) == Answer(Result.SAT, Layer.ENUMERATE, {3: 1, 5: 91})
    above_ten = build.binary(Kind.ULT, constant(10, 8), A)
    assert ask(layer, [above_ten], factors) == Answer(Result.SAT, Layer.ENUMERATE, {3: 13, 5: 7})
    assert ask(layer, [above_ten, below(20)], factors) == Answer(Result.UNSAT, Layer.ENUMERATE)
    prime = build.binary(Kind.EQ, product_, constant(257, 32))
    assert ask(layer, [], prime) == Answer(Result.UNSAT, Layer.ENUMERATE)


def test_what_was_kept_changes_no_answer() -> None:
    """Random questions to one layer and to a fresh one: also where rows of another path are refined."""
    rng = random.Random(5)
    layer = EnumerateLayer(Inner())
    pool = [below(n) for n in (1, 5, 40, 78, 510)] + [build.negate(below(n)) for n in (1, 5, 40, 78)]
    pool += [build.binary(Kind.EQ, build.binary(Kind.UREM, TOTAL, constant(n, 32)), constant(1, 32)) for n in (2, 3, 7)]
    pool += [build.binary(Kind.ULT, constant(n, 8), byte) for n in (3, 38) for byte in (A, B)]
    small = [build.binary(Kind.ULT, byte, constant(40, 8)) for byte in (A, B)]
    rows = [high << 8 | low for high in range(40) for low in range(40)]
    for _ in range(150):
        *path, target = rng.sample(pool, rng.randint(2, 5))
        joined = [*path, below(500)]  # holds anyway, and puts both bytes into the slice
        known = ask(layer, joined, target)
        assert known == ask(EnumerateLayer(Inner()), joined, target)
        bounded = ask(layer, [*small, *joined], target)
        found = next((row for row in rows if all(holds(c, row) for c in (target, *path))), None)
        expected = None if found is None else dict(zip(INDICES, divmod(found, 256), strict=True))
        assert bounded == Answer(Result.UNSAT if found is None else Result.SAT, Layer.ENUMERATE, expected or {})


def test_larger_slices_and_too_much_work_go_on() -> None:
    inner = Inner()
    three = build.binary(Kind.ULT, build.binary(Kind.ADD, TOTAL, build.zext(build.byte(6), 32)), constant(9, 32))
    assert ask(EnumerateLayer(inner), [], three).layer == Layer.MODEL
    assert ask(EnumerateLayer(inner), [three], below(3)).layer == Layer.MODEL
    few = [build.binary(Kind.ULT, build.byte(index), constant(2, 8)) for index in range(9)]
    total = functools.reduce(lambda a, b: build.binary(Kind.ADD, a, b), map(build.byte, range(9)))
    assert ask(EnumerateLayer(inner), few, build.binary(Kind.EQ, total, A)).layer == Layer.MODEL
    assert ask(EnumerateLayer(inner, work=65_535), [], below(3)).layer == Layer.MODEL
    assert ask(EnumerateLayer(inner), [], build.TRUE).layer == Layer.MODEL
    assert inner.asked == 5
    # Where the sets leave few values, the same limit allows the question.
    small = build.binary(Kind.ULT, A, constant(9, 8))
    assert ask(EnumerateLayer(inner, work=65_535), [small], below(3)).result is Result.SAT
    assert inner.asked == 5


def test_work_on_three_bytes_and_more_is_earned() -> None:
    """Of four bytes two are bound together, and the others leave too many: that comes out when those two are done."""
    limit = Limit()
    layer = EnumerateLayer(Inner(), limit, work=4_000_000)
    others = build.binary(Kind.ADD, build.byte(6), build.byte(7))

    def in_vain(number: int) -> list[Expr]:
        both = build.binary(Kind.XOR, TOTAL, constant(number, 32))
        for _ in range(10):
            both = build.binary(Kind.XOR, build.binary(Kind.MUL, both, TOTAL), constant(number, 32))
        every = build.binary(Kind.ADD, build.zext(others, 32), build.binary(Kind.MUL, TOTAL, constant(number, 32)))
        return [build.binary(Kind.ULT, both, constant(1 << 30, 32)), build.binary(Kind.ULT, every, constant(77, 32))]

    def given_up(numbers: range) -> int:
        limit.gave_up.clear()
        for number in numbers:
            assert ask(layer, in_vain(number)[:1], in_vain(number)[1]).layer == Layer.MODEL
        return limit.gave_up[Layer.ENUMERATE]

    assert cost(in_vain(1)[0]) * 65_536 > 1_000_000  # more than a question may take that has earned nothing
    assert given_up(range(1, 5)) == 0
    given_up(range(5, 200))
    assert given_up(range(200, 210)) == 10
    # Two bytes are tried whatever was earned, and earn nothing for others.
    for number in range(300, 310):
        assert ask(layer, [], in_vain(number)[0]).layer == Layer.ENUMERATE
    assert given_up(range(210, 220)) == 10
    few = [build.binary(Kind.ULT, build.byte(index), constant(3, 8)) for index in (3, 5, 6, 7)]
    for number in range(400, 420):
        assert ask(layer, few, in_vain(number)[1]).layer == Layer.ENUMERATE
    assert given_up(range(420, 424)) == 0


def test_putting_groups_together_is_work_too() -> None:
    """Two groups of 400 rows: 160,000, of four bytes each."""
    limit = Limit()
    few = [build.binary(Kind.ULT, build.byte(index), constant(20, 8)) for index in (3, 5, 6, 7)]
    bonds = [
        build.binary(Kind.ULT, build.binary(Kind.XOR, build.byte(a), build.byte(b)), constant(200, 8))
        for a, b in ((3, 5), (6, 7))
    ]
    target = build.binary(Kind.ULT, build.byte(3), build.byte(6))
    assert cost(target) == 1
    assert ask(EnumerateLayer(Inner(), limit, work=1_000_000), [*few, *bonds], target).layer == Layer.ENUMERATE
    assert not limit.gave_up
    assert ask(EnumerateLayer(Inner(), limit, work=400_000), [*few, *bonds], target).layer == Layer.MODEL
    assert limit.gave_up[Layer.ENUMERATE] == 1


def test_of_three_bytes_where_the_path_leaves_them_few_values() -> None:
    """Digits: 1,000 assignments."""
    digits = [build.byte(index) for index in (1, 4, 6)]
    value = constant(0, 32)
    for digit in digits:
        value = build.binary(Kind.ADD, build.binary(Kind.MUL, value, constant(10, 32)), build.zext(digit, 32))
    value = build.binary(Kind.SUB, value, constant(48 * 111, 32))
    few = [build.binary(Kind.ULT, constant(47, 8), digit) for digit in digits]
    few += [build.binary(Kind.ULT, digit, constant(58, 8)) for digit in digits]
    layer = EnumerateLayer(Inner())
    at_least = build.binary(Kind.ULT, constant(640, 32), value)
    squared = build.binary(Kind.MUL, value, value)
    wanted = build.binary(Kind.EQ, build.binary(Kind.UREM, squared, constant(1000, 32)), constant(876, 32))
    found = next(n for n in range(641, 1000) if n * n % 1000 == 876)
    expected = dict(zip((1, 4, 6), str(found).encode(), strict=True))
    assert ask(layer, [*few, at_least], wanted) == Answer(Result.SAT, Layer.ENUMERATE, expected)
    never = build.binary(Kind.EQ, build.binary(Kind.UREM, squared, constant(10, 32)), constant(7, 32))
    assert ask(layer, [*few, at_least], never) == Answer(Result.UNSAT, Layer.ENUMERATE)


def test_bytes_that_are_bound_together_are_looked_at_first() -> None:
    """Two numbers of two bytes and two of one: 2^48 assignments, of which the path leaves some hundred thousand."""
    first, second = ((build.byte(high), build.byte(low)) for high, low in ((0, 3), (6, 1)))
    numbers = [build.binary(Kind.MUL, wide(high, 32), wide(low, 32)) for high, low in (first, second)]
    products = zip(numbers, (60, -128), strict=True)
    path = [build.binary(Kind.EQ, number, constant(value, 32)) for number, value in products]
    singles = [build.zext(build.byte(index), 32) for index in (2, 7)]
    path += [build.binary(Kind.ULT, build.binary(Kind.MUL, single, single), constant(250, 32)) for single in singles]
    total = functools.reduce(
        lambda a, b: build.binary(Kind.ADD, build.binary(Kind.MUL, a, constant(3, 32)), b),
        [*(wide(byte, 32) for byte in (*first, *second)), *singles],
    )
    path.append(build.binary(Kind.SLT, constant(-5000, 32), total))  # binds all: it waits for the others
    layer = EnumerateLayer(Inner(), work=100_000_000)
    wanted = build.binary(Kind.EQ, total, constant(1234, 32))
    answer = ask(layer, path, wanted)
    assert (answer.result, answer.layer) == (Result.SAT, Layer.ENUMERATE)
    found = answer.apply(bytes(8))
    assert all(evaluate(condition, found) for condition in path)
    assert evaluate(total, found) == 1234
    impossible = build.binary(Kind.EQ, build.binary(Kind.MUL, *numbers), constant(7, 32))
    assert ask(layer, path, impossible) == Answer(Result.UNSAT, Layer.ENUMERATE)
    # Without the second number's condition there are too many.
    assert ask(layer, [path[0], *path[2:]], wanted).layer == Layer.MODEL


def test_rows_are_put_together_at_their_places() -> None:
    few, many = array("Q", [0x0102, 0x0301]), array("Q", [0x05, 0x0A])
    assert list(rows_product([(few, (0, 2)), (many, (1,))])) == [0x010502, 0x010A02, 0x030501, 0x030A01]
    assert list(rows_product([(many, (2,)), (few, (1, 0))])) == [0x010305, 0x01030A, 0x020105, 0x02010A]
    none: list[tuple[array[int], tuple[int, ...]]] = []
    for wrong in ([(few, (0, 0))], [(few, (0, 2))], [(few, (0, 1)), (many, (1,))], none):
        with pytest.raises(ValueError, match=r"place of its own|one byte to eight"):
            rows_product(wrong)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumerate, "_ROWS_KEPT", 200_000)
    layer = EnumerateLayer(Inner())
    for n in range(1, 40):
        assert ask(layer, [], below(n)).result is Result.SAT
        assert layer._rows_kept == sum(map(len, layer._known.values())) <= 200_000
