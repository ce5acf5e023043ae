"""The equality layer against brute force, and its refusals."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.words import Layer
from score_embed.engine._core import Slicer
from score_embed.formula import build
from score_embed.formula.domain import byte_set
from score_embed.formula.expr import Expr, Kind, evaluate
from score_embed.solve.equality import EqualityLayer
from score_embed.solve.query import Answer, Query, Result

BYTES = 5
VALUES = (0, 1, 2)  # of each byte, for the sake of brute force


class Refused:
    """Stands for the layers below."""

    def solve(self, query: Query) -> Answer:
        return Answer(Result.UNKNOWN, Layer.MODEL)


def equal(a: Expr, b: Expr) -> Expr:
    return build.binary(Kind.EQ, a, b)


@st.composite
def words(draw: st.DrawFn, count: int) -> Expr:
    """A number of `count` bytes: input bytes, constants, or a widened byte."""
    if draw(st.integers(0, 5)) == 0:
        return build.zext(build.byte(draw(st.integers(0, BYTES - 1))), 8 * count)
    part = st.integers(0, BYTES - 1).map(build.byte)
    parts = [draw(part | st.sampled_from(VALUES).map(lambda value: build.const(value, 8))) for _ in range(count)]
    return build.from_bytes(parts)


@st.composite
def comparisons(draw: st.DrawFn) -> Expr:
    count = draw(st.sampled_from((1, 1, 2, 3, 4)))
    made = equal(draw(words(count)), draw(words(count)))
    return made if draw(st.booleans()) else build.negate(made)


@settings(deadline=None, max_examples=500)
@given(
    st.lists(comparisons(), min_size=1, max_size=9),
    st.lists(st.sampled_from((0b111, 0b111, 0b101, 0b11, 0b10)), min_size=BYTES, max_size=BYTES),
    st.binary(min_size=BYTES, max_size=BYTES),
)
def test_decides_every_slice_of_comparisons(drawn: list[Expr], sets: list[int], data: bytes) -> None:
    conditions = [condition for condition in drawn if condition.deps]
    if not conditions or any(not c.deps and not evaluate(c, data) for c in drawn):
        return
    target, *rest = conditions
    narrowed = dict(enumerate(sets))
    for condition in rest:
        if condition.only_byte >= 0:
            narrowed[condition.only_byte] &= byte_set(condition)
    query = Query(target, narrowed, [c for c in rest if c.only_byte < 0], data)
    possible = any(
        all(narrowed[i] >> value & 1 for i, value in enumerate(values)) and all(evaluate(c, values) for c in conditions)
        for values in product(VALUES, repeat=BYTES)
    )
    answer = EqualityLayer(Refused()).solve(query)
    assert (answer.result, answer.layer) == (Result.SAT if possible else Result.UNSAT, "equality")
    if possible:
        assert query.holds(answer.apply(data))


def ask(conditions: list[Expr], target: Expr, data: bytes, layer: EqualityLayer | None = None) -> Answer:
    slicer = Slicer()
    for condition in conditions:
        slicer.add(condition)
    return (layer or EqualityLayer(Refused())).solve(slicer.query(target, data))


def differ(a: int, b: int) -> Expr:
    return build.negate(equal(build.byte(a), build.byte(b)))


def among(index: int, count: int) -> Expr:
    return build.binary(Kind.ULT, build.byte(index), build.const(count, 8))


@pytest.mark.parametrize(("count", "values", "expected"), [(6, 5, Result.UNSAT), (6, 6, Result.SAT)])
def test_pigeons_are_searched(count: int, values: int, expected: Result) -> None:
    path = [differ(a, b) for a in range(count) for b in range(a)] + [among(a, values) for a in range(count)]
    answer = ask(path, differ(0, count - 1), bytes(count))
    assert (answer.result, answer.layer) == (expected, "equality")


def test_a_search_that_takes_too_long_goes_on() -> None:
    path = [differ(a, b) for a in range(12) for b in range(a)] + [among(a, 11) for a in range(12)]
    assert ask(path, differ(0, 11), bytes(12), EqualityLayer(Refused(), steps=500)).layer == Layer.MODEL


def test_bytes_keep_the_values_of_the_run_where_they_can() -> None:
    data = b"abcdef"
    answer = ask([differ(0, 1), differ(2, 3)], equal(build.byte(1), build.byte(2)), data)
    changed = answer.apply(data)
    assert changed[1] == changed[2]
    assert sum(a != b for a, b in zip(data, changed, strict=True)) == 1
    assert changed[0] == data[0]


def test_numbers_are_compared_byte_by_byte() -> None:
    x, y = (build.from_bytes([build.byte(i) for i in range(start, start + 4)]) for start in (0, 4))
    unlike = [build.negate(equal(x, build.const(value, 32))) for value in range(250)]
    number = ask(unlike, equal(x, y), bytes(8)).apply(bytes(8))
    assert number[:4] == number[4:]
    assert int.from_bytes(number[:4], "little") >= 250
    assert ask([equal(x, y), equal(y, build.const(7, 32))], build.negate(equal(x, y)), bytes(8)).result is Result.UNSAT


def test_other_conditions_go_on() -> None:
    order = build.binary(Kind.ULT, build.byte(0), build.byte(1))
    total = build.binary(Kind.ADD, build.byte(0), build.byte(1))
    for target in (
        order,
        equal(total, build.byte(2)),
        equal(build.extract(build.zext(total, 16), 4, 8), build.byte(3)),
    ):
        assert ask([], target, bytes(4)).layer == Layer.MODEL
        assert ask([target], differ(0, 1), bytes(4)).layer == Layer.MODEL
