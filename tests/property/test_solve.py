"""Formulas, byte sets and solver layers against Z3 on random expressions."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import z3
from bitwuzla import Bitwuzla
from bitwuzla import Result as Found
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.engine._core import Slicer, search, select
from score_embed.formula import build
from score_embed.formula.domain import byte_set, intervals, members
from score_embed.formula.expr import COMPARISONS, Expr, Kind, evaluate
from score_embed.solve.bitwuzla_terms import BitwuzlaTranslator
from score_embed.solve.chain import default_chain
from score_embed.solve.enumerate import EnumerateLayer
from score_embed.solve.query import Limit, Query, Result
from score_embed.solve.smt import SmtLayer
from score_embed.solve.terms import Z3Translator

BYTES = 3
WIDTHS = (8, 16, 32, 64)
BINARY = [k for k in Kind if Kind.ADD <= k <= Kind.ASHR]
Z3_BINARY: dict[Kind, Any] = {
    Kind.ADD: lambda a, b: a + b,
    Kind.SUB: lambda a, b: a - b,
    Kind.MUL: lambda a, b: a * b,
    Kind.UDIV: z3.UDiv,
    Kind.SDIV: lambda a, b: a / b,
    Kind.UREM: z3.URem,
    Kind.SREM: z3.SRem,
    Kind.AND: lambda a, b: a & b,
    Kind.OR: lambda a, b: a | b,
    Kind.XOR: lambda a, b: a ^ b,
    Kind.SHL: lambda a, b: a << b,
    Kind.LSHR: z3.LShR,
    Kind.ASHR: lambda a, b: a >> b,
    Kind.EQ: lambda a, b: z3.If(a == b, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)),
    Kind.ULT: lambda a, b: z3.If(z3.ULT(a, b), z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)),
    Kind.SLT: lambda a, b: z3.If(a < b, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)),
}
Both = tuple[Expr, Any]  # a formula as we simplify it, and as Z3 has it, not simplified


def constants(width: int) -> st.SearchStrategy[int]:
    edges = [0, 1, 2, 8, 0x7F, 0x80, 0xFF, (1 << width - 1) - 1, 1 << width - 1, (1 << width) - 1]
    return st.one_of(st.sampled_from(edges).map(lambda v: v & ((1 << width) - 1)), st.integers(0, (1 << width) - 1))


@st.composite
def formulas(draw: st.DrawFn, width: int, depth: int = 4, count: int = BYTES) -> Both:
    """A random formula of this width over `count` bytes."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        if width == 8 and draw(st.booleans()):
            index = draw(st.integers(0, count - 1))
            return build.byte(index), z3.BitVec(f"in{index}", 8)
        if width <= 8 or draw(st.booleans()):
            value = draw(constants(width))
            return build.const(value, width), z3.BitVecVal(value, width)
        index = draw(st.integers(0, count - 1))
        return build.zext(build.byte(index), width), z3.ZeroExt(width - 8, z3.BitVec(f"in{index}", 8))

    def below(width: int) -> Any:
        return draw(formulas(width, depth - 1, count))

    if width == 1:
        kind = draw(st.sampled_from([Kind.EQ, Kind.ULT, Kind.SLT, Kind.NOT, Kind.AND, Kind.OR, Kind.XOR]))
        if kind is Kind.NOT:
            a, za = below(1)
            return build.bit_not(a), ~za
        inner = draw(st.sampled_from(WIDTHS)) if kind in COMPARISONS else 1
        (a, za), (b, zb) = below(inner), below(inner)
        return build.binary(kind, a, b), Z3_BINARY[kind](za, zb)
    shape = draw(
        st.sampled_from(["binary", "binary", "binary", "unary", "extend", "extract", "concat", "bool", "ite", "table"])
    )
    if shape == "ite":
        (c, zc), (a, za), (b, zb) = below(1), below(width), below(width)
        return build.ite(c, a, b), z3.If(zc == z3.BitVecVal(1, 1), za, zb)
    if shape == "table":
        return draw(reads(width, depth, count))
    if shape == "binary":
        kind = draw(st.sampled_from(BINARY))
        (a, za), (b, zb) = below(width), below(width)
        return build.binary(kind, a, b), Z3_BINARY[kind](za, zb)
    if shape == "unary":
        a, za = below(width)
        return (build.bit_not(a), ~za) if draw(st.booleans()) else (build.neg(a), -za)
    if shape == "extend" and width > 8:
        inner = draw(st.sampled_from([w for w in WIDTHS if w < width]))
        a, za = below(inner)
        if draw(st.booleans()):
            return build.zext(a, width), z3.ZeroExt(width - inner, za)
        return build.sext(a, width), z3.SignExt(width - inner, za)
    if shape == "extract" and width < 64:
        outer = draw(st.sampled_from([w for w in WIDTHS if w > width]))
        low = draw(st.integers(0, outer - width))
        a, za = below(outer)
        return build.extract(a, low, width), z3.Extract(low + width - 1, low, za)
    if shape == "concat" and width > 8:
        (a, za), (b, zb) = below(width // 2), below(width // 2)
        return build.concat(a, b), z3.Concat(za, zb)
    a, za = below(1)
    return build.zext(a, width), z3.ZeroExt(width - 1, za)


@st.composite
def reads(draw: st.DrawFn, width: int, depth: int, count: int) -> Both:
    """An element of an object at an offset that is always in it: a remainder, perhaps times the size of an element."""
    size = width // 8
    stride = draw(st.sampled_from([1, size, 2 * size, 3 * size]))
    start = draw(st.integers(0, stride))
    number = draw(st.integers(1, 9))
    content = draw(st.binary(min_size=start + stride * number + size, max_size=start + stride * number + size))
    (index, zindex), (formula, zformula) = draw(formulas(32, depth - 1, count)), draw(formulas(width, 0, count))
    places = st.sampled_from(range(start, start + stride * number + 1, stride))
    held = draw(st.sets(places, max_size=draw(st.sampled_from([0, 1, number + 1]))))
    formula_at = {at: build.binary(Kind.ADD, formula, build.const(at, width)) for at in held}
    rest = build.binary(Kind.UREM, index, build.const(number + 1, 32))
    offset = build.binary(Kind.MUL, rest, build.const(stride, 32))
    offset = build.binary(Kind.ADD, offset, build.const(start, 32))
    found = select(offset, content, size, formula_at.get if held else None)
    assert found is not None
    term = z3.BitVecVal(0, width)
    for at in range(start, start + stride * number + 1, stride):
        value = zformula + at if at in held else z3.BitVecVal(int.from_bytes(content[at : at + size], "little"), width)
        zoffset = z3.URem(zindex, z3.BitVecVal(number + 1, 32)) * stride + start
        term = z3.If(zoffset == at, value, term)
    return found, term


def z3_value(term: Any, data: bytes) -> int:
    pairs = [(z3.BitVec(f"in{i}", 8), z3.BitVecVal(value, 8)) for i, value in enumerate(data)]
    value = z3.simplify(z3.substitute(term, *pairs))
    if z3.is_bool(value):
        return int(z3.is_true(value))
    return int(value.as_long())


def bitwuzla_value(condition: Expr, data: bytes) -> int:
    told = BitwuzlaTranslator()
    solver = Bitwuzla(told.manager)
    for index, value in enumerate(data):
        solver.assert_formula(told.among(index, 1 << value))
    solver.assert_formula(told.condition(condition))
    return int(solver.check_sat() == Found.SAT)


inputs = st.binary(min_size=BYTES, max_size=BYTES)


@settings(deadline=None, max_examples=600)
@given(st.sampled_from((1, *WIDTHS)).flatmap(formulas), inputs)
def test_simplified_formulas_have_the_value_z3_gives(both: Both, data: bytes) -> None:
    expr, term = both
    assert evaluate(expr, data) == z3_value(term, data)
    if expr.width == 1:
        assert evaluate(build.negate(expr), data) == 1 - z3_value(term, data)
        assert z3_value(Z3Translator().condition(expr), data) == z3_value(term, data)
        assert bitwuzla_value(expr, data) == z3_value(term, data)


@settings(deadline=None, max_examples=150)
@given(formulas(1))
def test_byte_sets_are_the_values_that_satisfy(both: Both) -> None:
    expr, _ = both
    index = expr.only_byte
    if index < 0:
        return
    data = bytearray(BYTES)
    found = byte_set(expr)
    for value in range(256):
        data[index] = value
        assert found >> value & 1 == evaluate(expr, data)
    assert members(found) == [v for first, last in intervals(found) for v in range(first, last + 1)]


@pytest.mark.parametrize("solver", ["z3", "bitwuzla"])
@settings(deadline=None, max_examples=150)
@given(st.lists(formulas(1, 3), min_size=1, max_size=6), inputs)
def test_every_layer_answers_as_plain_z3_does(solver: str, path: list[Both], data: bytes) -> None:
    chain = default_chain(rlimit=3_000_000, validate=True, solver=solver)
    slicer = Slicer()
    before: list[Expr] = []
    for expr, _ in path:
        held = expr if evaluate(expr, data) else build.negate(expr)
        if held.deps:
            answer = chain.solve(slicer.query(build.negate(held), data))
            if answer.result is Result.SAT:
                found = answer.apply(data)
                # The whole path before it still holds, not only the slice.
                assert all(evaluate(c, found) for c in before)
                assert not evaluate(held, found)
        slicer.add(held)
        before.append(held)
    stats = chain.stats
    assert stats.sat + stats.unsat + stats.unknown == sum(stats.by.values())


@settings(deadline=None, max_examples=150)
@given(
    st.integers(2, 4).flatmap(
        lambda count: st.tuples(
            st.lists(formulas(1, 4, count), min_size=1, max_size=4), st.tuples(*[st.integers(0, 2**256 - 1)] * count)
        )
    )
)
def test_enumeration_is_brute_force_is_z3(asked: tuple[list[Both], tuple[int, ...]]) -> None:
    conditions, sets = asked
    # Few values of each byte, for the sake of brute force; at the edges, where the operators are interesting.
    interesting = 0x8001 << 240 | 1 << 127 | (0x1FF if len(sets) == 2 else 3)
    allowed = [values & interesting | 1 for values in sets]
    exprs = [expr for expr, _ in conditions if expr.deps]
    if not exprs:
        return
    target, *rest = exprs
    several = [expr for expr in rest if expr.only_byte < 0]
    narrowed = dict(enumerate(allowed))
    for expr in rest:
        if expr.only_byte >= 0:
            narrowed[expr.only_byte] &= byte_set(expr)
    query = Query(target, narrowed, several, bytes(len(sets)))
    found = [
        dict(enumerate(values))
        for values in itertools.product(*map(members, allowed))
        if all(evaluate(expr, values) for expr in exprs)
    ]
    answer = EnumerateLayer(SmtLayer()).solve(query)
    assert (answer.result, answer.layer) == (Result.SAT if found else Result.UNSAT, "enumerate")
    assert not found or answer.assignment == found[0]
    judged = SmtLayer(Limit(3_000_000)).solve(query).result
    assert judged in (answer.result, Result.UNKNOWN)


@given(
    st.lists(formulas(1, 3), max_size=8), st.lists(st.tuples(st.integers(0, 8), st.lists(formulas(1, 3), max_size=3)))
)
def test_a_slicer_goes_back_to_what_it_was(path: list[Both], changes: list[tuple[int, list[Both]]]) -> None:
    slicer, added, marks = Slicer(), [], []
    for expr, _ in path:
        marks.append(slicer.mark())
        slicer.add(expr)
        added.append(expr)
    for keep, more in changes:
        if keep < len(marks):
            slicer.undo(marks[keep])
            del marks[keep:], added[keep:]
        for expr, _ in more:
            marks.append(slicer.mark())
            slicer.add(expr)
            added.append(expr)
        fresh = Slicer()
        for expr in added:
            fresh.add(expr)
        for index in range(BYTES):
            one, other = (s.query(build.byte(index), bytes(BYTES)) for s in (slicer, fresh))
            assert (one.sets, list(one.several), one.conditions) == (other.sets, list(other.several), other.conditions)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(WIDTHS).flatmap(lambda w: st.tuples(formulas(w, 2), constants(w), st.sampled_from(BINARY))))
def test_a_constant_that_matters_leaves_its_origin(drawn: tuple[Both, int, Kind]) -> None:
    (expr, _), value, kind = drawn
    opaque = build.const(value, expr.width, frozenset({77}))
    other = build.const(value ^ 1, expr.width)
    for flip in (False, True):
        result = build.binary(kind, opaque, expr) if flip else build.binary(kind, expr, opaque)
        if result.origins:
            continue
        # Only a result that no other constant would change may forget it.
        changed = build.binary(kind, other, expr) if flip else build.binary(kind, expr, other)
        for sample in (b"\0\0\0", b"\1\xff\x80", b"abc"):
            assert evaluate(changed, sample) == evaluate(result, sample)


@pytest.mark.parametrize("depth", [20_000])
def test_deep_formulas_need_no_recursion(depth: int) -> None:
    total = build.zext(build.byte(0), 32)
    for i in range(depth):
        step = build.binary(Kind.XOR, total, build.zext(build.byte(i % BYTES), 32))
        total = build.binary(Kind.MUL, step, build.const(33, 32))
    low = build.extract(total, 0, 8)
    condition = build.binary(Kind.EQ, low, build.const(3, 8))
    assert evaluate(condition, b"abc") in (0, 1)
    Z3Translator().condition(condition)
    BitwuzlaTranslator().condition(condition)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(formulas(1, 4), min_size=1, max_size=5),
    inputs,
    st.tuples(*[st.integers(1, 2**256 - 1)] * BYTES),
    st.sampled_from([0, 1, 40, 2000]),
)
def test_what_local_search_finds_holds(drawn: list[Both], data: bytes, sets: tuple[int, ...], most: int) -> None:
    # The input satisfies neither the sets nor the conditions: who asks may be wrong, too.
    target, *several = (expr for expr, _ in drawn)
    found, used = search(target, several, list(enumerate(sets)), data, most)
    assert used <= most
    assert (found, used) == search(target, several, list(enumerate(sets)), data, most)
    if found is not None:
        assert all(sets[index] >> value & 1 for index, value in found.items())
        changed = bytes(found.get(index, value) for index, value in enumerate(data))
        assert all(evaluate(condition, changed) for condition in (target, *several))
