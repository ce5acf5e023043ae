"""What formulas say as tables of values: against brute force and plain Z3. (The tables against the evaluator, and
joins: toolkit/engine/fuzz/fuzz.cpp.)"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from hypothesis import event, given, settings
from hypothesis import strategies as st

from score_embed.contract.words import Layer
from score_embed.engine._core import Slicer, interval_of, limit_of, most_values, replaced, select
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate, intern, nodes
from score_embed.solve.chain import ValidatingLayer
from score_embed.solve.finite import FiniteLayer
from score_embed.solve.query import Answer, Query, Result

BYTES = 3
WIDTHS = (1, 8, 13, 16, 32, 63, 64)
BINARY = [kind for kind in Kind if Kind.ADD <= kind <= Kind.ASHR]
COMPARING = (Kind.EQ, Kind.ULT, Kind.SLT)


def fitted(expr: Expr, width: int) -> Expr:
    return build.zext(expr, width) if expr.width < width else build.extract(expr, 0, width)


@st.composite
def formulas(draw: st.DrawFn, width: int, depth: int = 4, count: int = BYTES, few: bool = False) -> Expr:
    """A random formula over `count` bytes, of any width. Operators are simplified (build), or as they stand. `few`:
    bytes are masked, so that much of it has few values."""

    def below(width: int) -> Expr:
        return draw(formulas(width, depth - 1, count, few))

    shape = "leaf" if depth == 0 or not draw(st.integers(0, 6)) else draw(st.sampled_from(_SHAPES))
    if shape == "leaf":
        if draw(st.integers(0, 3)) == 0:
            edges = [0, 1, 2, width, (1 << width - 1) - 1, 1 << width - 1, (1 << width) - 1]
            value = draw(st.one_of(st.sampled_from(edges), st.integers(0, (1 << width) - 1)))
            return build.const(value & (1 << width) - 1, width)
        leaf = build.byte(draw(st.integers(0, count - 1)))
        if few:
            leaf = build.binary(Kind.AND, leaf, build.const(draw(st.sampled_from([1, 3, 6, 0x82])), 8))
        return build.sext(leaf, width) if width > 8 and draw(st.booleans()) else fitted(leaf, width)
    if shape == "binary":
        kind = draw(st.sampled_from(BINARY))
        a, b = below(width), below(width)
        is_raw = draw(st.booleans()) and not (a.is_const and b.is_const)
        return intern(kind, width, (a, b)) if is_raw else build.binary(kind, a, b)
    if shape == "compare":
        inner = draw(st.sampled_from(WIDTHS))
        made = build.binary(draw(st.sampled_from(COMPARING)), below(inner), below(inner))
        return fitted(made, width) if width > 1 else made
    if shape == "unary":
        return build.bit_not(below(width)) if draw(st.booleans()) else build.neg(below(width))
    if shape == "extend" and width > 1:
        inner = draw(st.sampled_from([w for w in WIDTHS if w < width]))
        return build.zext(below(inner), width) if draw(st.booleans()) else build.sext(below(inner), width)
    if shape == "extract" and width < 64:
        outer = draw(st.sampled_from([w for w in WIDTHS if w > width]))
        return build.extract(below(outer), draw(st.integers(0, outer - width)), width)
    if shape == "concat" and width > 1:
        low = draw(st.integers(1, width - 1))
        return build.concat(fitted(below(64), width - low), fitted(below(64), low))
    if shape == "table":
        number = draw(st.sampled_from([2, 8, 16, 256]))
        index = build.binary(Kind.AND, fitted(below(draw(st.sampled_from([8, 32]))), 32), build.const(number - 1, 32))
        content = draw(st.binary(min_size=2 * number, max_size=2 * number))
        found = select(build.binary(Kind.MUL, index, build.const(2, 32)), content, 2, None)
        assert found is not None
        return fitted(found, width)
    return build.ite(below(1), below(width), below(width))


_SHAPES = ("binary", "binary", "compare", "unary", "extend", "extract", "concat", "table", "table", "ite", "ite")
sources = st.lists(st.binary(min_size=BYTES, max_size=BYTES), min_size=1, max_size=20)
EDGES = [bytes(data) for data in itertools.product((0, 1, 0x7F, 0x80, 0xFF), repeat=BYTES)]


class Beyond:
    """The layer behind: it knows nothing."""

    def solve(self, query: Query) -> Answer:
        return Answer(Result.UNKNOWN, Layer.SMT)


def brute_force(query: Query, conditions: Sequence[Expr], sets: Mapping[int, int]) -> bool:
    """Is there an input?"""
    values = [[v for v in range(256) if sets[index] >> v & 1] for index in range(BYTES)]
    return any(all(evaluate(c, data) for c in conditions) for data in itertools.product(*values))


@settings(deadline=None, max_examples=200)
@given(
    st.lists(formulas(1, 3, few=True), min_size=1, max_size=5),
    st.lists(st.sets(st.sampled_from((0, 1, 2, 3, 6, 0x7F, 0x80, 0x82, 0xFF)), min_size=1, max_size=4), min_size=BYTES,
             max_size=BYTES),
    st.data(),
)  # fmt: skip
def test_values_decide_as_brute_force_does(path: list[Expr], allowed: list[set[int]], data: st.DataObject) -> None:
    sets = {index: sum(1 << v for v in values) for index, values in enumerate(allowed)}
    layer = FiniteLayer(Beyond())
    several: list[Expr] = []
    first = bytes(min(values) for values in allowed)
    for expr in path:
        for target in (expr, build.negate(expr)):
            query = Query(target, sets, tuple(c for c in several if c.only_byte < 0), first)
            answer = layer.solve(query)
            event(answer.result.name)
            if answer.result is not Result.UNKNOWN:
                assert (answer.result is Result.SAT) == brute_force(query, [target, *query.several], sets)
            if answer.result is Result.SAT:
                found = answer.apply(first)
                assert query.holds(found)
                assert all(found[index] in allowed[index] for index in range(BYTES))
        several.append(expr if data.draw(st.booleans()) else build.negate(expr))


@st.composite
def scanners(draw: st.DrawFn, steps: int) -> tuple[list[Expr], bytes]:
    """A chain of states, each from a table, the one before and one more byte; and conditions on some of them."""
    states = draw(st.sampled_from([2, 4, 8]))
    table = bytes(draw(st.lists(st.integers(0, states - 1), min_size=states * 4, max_size=states * 4)))
    classes = bytes(draw(st.lists(st.integers(0, 3), min_size=256, max_size=256)))
    state, conditions = build.const(0, 32), []
    data = draw(st.binary(min_size=steps, max_size=steps))
    for index in range(steps):
        kind = select(build.zext(build.byte(index), 32), classes, 1, None)
        assert kind is not None
        place = build.binary(Kind.ADD, build.binary(Kind.MUL, state, build.const(4, 32)), build.zext(kind, 32))
        following = select(place, table, 1, None)
        assert following is not None
        state = build.zext(following, 32)
        if draw(st.booleans()):
            conditions.append(build.binary(Kind.EQ, state, build.const(draw(st.integers(0, states)), 32)))
        if draw(st.integers(0, 3)) == 0:
            again = build.binary(Kind.ADD, state, build.zext(build.byte(draw(st.integers(0, index))), 32))
            conditions.append(build.binary(Kind.ULT, again, build.const(draw(st.integers(0, 300)), 32)))
    return [c if evaluate(c, data) else build.negate(c) for c in conditions], data


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_chains_of_tables_are_decided_as_plain_z3_does(data: st.DataObject) -> None:
    layer = FiniteLayer(Beyond())
    for _ in range(2):  # what is remembered of one path serves another
        path, first = data.draw(st.integers(2, 8).flatmap(scanners))
        slicer = Slicer()
        for condition in path:
            if condition.deps and condition.only_byte < 0:
                answer = ValidatingLayer(layer).solve(slicer.query(build.negate(condition), first))
                assert answer.layer is Layer.FINITE
            slicer.add(condition)


@st.composite
def walks(draw: st.DrawFn, steps: int) -> tuple[list[Expr], bytes]:
    """As `scanners`, but a state is where its row begins, and a row says how far it is to the next state's: of states
    and distances there are few, and of their sums, if any distance went with any state, too many."""
    chance = draw(st.randoms(use_true_random=False))
    rows = [300 * row + chance.randrange(45) for row in range(40)]
    table = bytearray(2 * 300 * 41)
    for row in rows:
        following = chance.sample(rows, 16)
        for value in range(256):
            distance = following[value * value >> 3 & 15] - row & 0xFFFF
            table[2 * (row + value) : 2 * (row + value) + 2] = distance.to_bytes(2, "little")
    state, conditions = build.const(rows[0], 32), []
    data = draw(st.binary(min_size=steps, max_size=steps))
    for index in range(steps):
        place = build.binary(Kind.ADD, state, build.zext(build.byte(index), 32))
        distance_to = select(build.binary(Kind.MUL, place, build.const(2, 32)), bytes(table), 2, None)
        assert distance_to is not None
        state = build.binary(Kind.ADD, state, build.sext(distance_to, 32))
        conditions.append(build.binary(Kind.ULT, state, build.const(draw(st.sampled_from(rows)), 32)))
    return [c if evaluate(c, data) else build.negate(c) for c in conditions], data


@settings(deadline=None, max_examples=40)
@given(walks(BYTES), st.lists(st.sets(st.integers(0, 255), min_size=1, max_size=6), min_size=BYTES, max_size=BYTES))
def test_walks_are_decided_as_brute_force_does(walk: tuple[list[Expr], bytes], allowed: list[set[int]]) -> None:
    path, first = walk
    sets = {index: sum(1 << v for v in values | {first[index]}) for index, values in enumerate(allowed)}
    layer = FiniteLayer(Beyond())
    for count, condition in enumerate(path):
        several = tuple(c for c in path[:count] if c.deps and c.only_byte < 0)
        if not condition.deps or condition.only_byte >= 0:
            continue
        query = Query(build.negate(condition), sets, several, first)
        answer = layer.solve(query)
        event(f"{count} {answer.result.name}")
        assert answer.result is not Result.UNKNOWN
        assert (answer.result is Result.SAT) == brute_force(query, [query.target, *several], sets)
        if answer.result is Result.SAT:
            assert query.holds(answer.apply(first))


@settings(deadline=None, max_examples=300)
@given(formulas(32, 5, few=True), sources, st.data())
def test_what_is_replaced_is_equal_where_the_path_holds(expr: Expr, inputs: list[bytes], data: st.DataObject) -> None:
    first = data.draw(st.binary(min_size=BYTES, max_size=BYTES))
    parts = [node for node in nodes([expr]) if node.deps and not node.is_const]
    if not parts:
        return
    fixed = data.draw(st.lists(st.sampled_from(parts), min_size=1, max_size=3))
    known = {part: build.const(evaluate(part, first), part.width) for part in fixed}
    reach = 0
    for part in known:
        reach |= part.deps
    found = replaced(expr, known, reach)
    event("changed" if found is not expr else "the same")
    assert found.width == expr.width
    assert not found.deps & ~expr.deps
    for sample in (first, *inputs, *EDGES):
        if all(evaluate(part, sample) == constant.value for part, constant in known.items()):
            assert evaluate(found, sample) == evaluate(expr, sample)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(WIDTHS).flatmap(lambda width: formulas(width, 4, 2, True)), st.data())
def test_no_formula_has_more_values_than_are_counted(expr: Expr, data: st.DataObject) -> None:
    parts = [node for node in nodes([expr]) if node.deps]
    limits: dict[Expr, int] = {}
    if parts:
        part = data.draw(st.sampled_from(parts))
        bound = build.const(data.draw(st.integers(0, min(255, (1 << part.width) - 1))), part.width)
        for condition in (build.binary(Kind.ULT, part, bound), build.negate(build.binary(Kind.ULT, bound, part))):
            limit = limit_of(condition)
            if limit is not None and limit[0] is part:
                limits = {part: limit[1]}
                kept = condition
    values = set()
    for sample in itertools.product((0, 1, 2, 3, 4, 6, 7, 0x7F, 0x80, 0x82, 0xFE, 0xFF), repeat=2):
        if not limits or evaluate(kept, sample):
            values.add(evaluate(expr, sample))
    assert len(values) <= most_values(expr, limits)
    least, most = interval_of(expr)
    assert least <= min(values, default=least)
    assert max(values, default=most) <= most
