"""The cache of proved slices: what it answers is true, what it can answer it does, and it stays small."""

from __future__ import annotations

import gc

from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.words import Layer
from score_embed.engine._core import Slicer
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, digest, evaluate, table_size
from score_embed.solve.cache import CacheLayer
from score_embed.solve.chain import ValidatingLayer
from score_embed.solve.query import Answer, Query, Result, Solver
from score_embed.solve.smt import LearningLayer, PathLayer, SmtLayer

SIZE = 4


class Counting:
    """A layer that counts what it hands on, and may hide the cores of the answers."""

    def __init__(self, inner: Solver, cores: bool = True) -> None:
        self._inner, self._cores = inner, cores
        self.asked = 0

    def solve(self, query: Query) -> Answer:
        self.asked += 1
        answer = self._inner.solve(query)
        return answer if self._cores else Answer(answer.result, answer.layer, answer.assignment)


def z3(kind: type[LearningLayer] | type[PathLayer] = PathLayer) -> Solver:
    return kind(SmtLayer())


def wide(index: int) -> Expr:
    return build.zext(build.byte(index), 16)


def total(*indices: int) -> Expr:
    result = wide(indices[0])
    for index in indices[1:]:
        result = build.binary(Kind.ADD, result, wide(index))
    return result


def below(value: Expr, limit: int) -> Expr:
    return build.binary(Kind.ULT, value, build.const(limit, 16))


def slice_query(path: list[Expr], target: Expr, data: bytes = bytes(SIZE)) -> Query:
    slicer = Slicer()
    for condition in path:
        slicer.add(condition)
    return slicer.query(target, data)


@st.composite
def conditions(draw: st.DrawFn) -> Expr:
    """Few different ones, so that slices often hold each other."""
    indices = draw(st.sampled_from([(0,), (1,), (2,), (0, 1), (1, 2), (2, 3), (0, 3), (0, 1, 2)]))
    made = below(total(*indices), draw(st.sampled_from((1, 7, 40, 200, 300))))
    return made if draw(st.booleans()) else build.negate(made)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.lists(conditions(), max_size=5), conditions()), min_size=2, max_size=12),
    st.sampled_from([LearningLayer, PathLayer]),
    st.booleans(),
)
def test_answers_as_the_layer_below_would(
    questions: list[tuple[list[Expr], Expr]], kind: type[LearningLayer] | type[PathLayer], cores: bool
) -> None:
    cached, plain = CacheLayer(Counting(z3(kind), cores)), SmtLayer()
    validated = ValidatingLayer(cached)
    for path, target in questions:
        if not target.deps:
            continue
        query = slice_query([condition for condition in path if condition.deps], target)
        answer = validated.solve(query)
        assert answer.result is plain.solve(query).result
        if answer.result is Result.SAT:
            assert query.holds(answer.apply(query.data))


def test_a_core_answers_for_every_slice_that_holds_it() -> None:
    inner = Counting(z3())
    layer = CacheLayer(inner)
    low, high = below(total(0, 1), 10), below(total(0, 1), 20)
    other = below(total(1, 2), 100)
    assert layer.solve(slice_query([low, other], build.negate(high))).result is Result.UNSAT
    # The core was {low, not high}: `other` is not needed, and more changes nothing.
    for path in ([low], [low, below(total(2, 3), 50), other], [low, below(wide(0), 3)]):
        assert layer.solve(slice_query(path, build.negate(high))) == Answer(Result.UNSAT, Layer.CACHE)
    assert layer.solve(slice_query([build.negate(high)], low)).layer == "cache"
    assert inner.asked == 1
    assert layer.solve(slice_query([other], build.negate(high))).result is Result.SAT


def test_without_a_core_the_whole_slice_is_one_and_sets_may_be_smaller() -> None:
    inner = Counting(z3(), cores=False)
    layer = CacheLayer(inner)
    large = build.negate(below(total(0, 1), 300))
    assert layer.solve(slice_query([below(wide(0), 9)], large)).result is Result.UNSAT
    assert layer.solve(slice_query([below(wide(0), 5)], large)) == Answer(Result.UNSAT, Layer.CACHE)
    assert layer.solve(slice_query([below(wide(0), 200)], large)).result is Result.SAT
    assert inner.asked == 2


def test_a_model_answers_for_every_slice_that_asks_for_less() -> None:
    inner = Counting(z3())
    layer = CacheLayer(inner)
    asked = [build.negate(below(total(0, 1), 300)), below(total(1, 2), 260)]
    first = layer.solve(slice_query([*asked, below(wide(1), 100)], build.negate(below(total(2, 3), 40))))
    assert first.result is Result.SAT
    for path in (asked, [asked[1]], [*asked, below(wide(1), 101)]):
        query = slice_query(path, asked[0])
        answer = layer.solve(query)
        assert (answer.result, answer.layer) == (Result.SAT, "cache")
        assert query.holds(answer.apply(query.data))
    assert inner.asked == 1
    assert layer.solve(slice_query([*asked, build.negate(below(wide(1), 100))], asked[0])).layer == "smt"


def test_formulas_are_named_by_content_and_not_kept_alive() -> None:
    layer = CacheLayer(Counting(SmtLayer()))  # which keeps no formulas either
    gc.collect()
    before = table_size()
    for limit in range(1, 60):
        assert layer.solve(slice_query([below(total(0, 1), 300)], below(total(1, 2), limit))).result is Result.SAT
    assert table_size() <= before + 5
    name = digest(below(total(0, 1), 3))
    assert name == digest(below(total(0, 1), 3))
    others = [below(total(0, 1), 4), below(total(0, 2), 3), build.negate(below(total(0, 1), 3)), below(wide(0), 3)]
    assert len({name, *map(digest, others)}) == 5
    opaque = build.const(3, 16, frozenset({7}))
    assert digest(build.binary(Kind.ULT, total(0, 1), opaque)) == name
    assert evaluate(others[0], bytes(SIZE)) == 1


def test_what_is_forgotten_takes_nothing_else_along() -> None:
    """Two models under one condition: the older one goes, and the other one still answers."""
    inner = Counting(SmtLayer())
    layer = CacheLayer(inner, kept=12)
    shared = below(total(0, 1), 300)
    for limit in (100, 50):
        assert layer.solve(slice_query([shared], below(total(1, 2), limit))).layer == Layer.SMT
    assert layer.proved.models == (2, 12, 3)
    assert layer.solve(slice_query([], below(total(2, 3), 9))).layer == Layer.SMT
    assert layer.proved.models == (2, 10, 3)
    asked = inner.asked
    assert layer.solve(slice_query([shared], below(total(1, 2), 50))).layer == Layer.CACHE
    assert inner.asked == asked
    assert layer.solve(slice_query([shared], below(total(1, 2), 100))).layer == Layer.SMT


def test_memory_is_bounded() -> None:
    layer = CacheLayer(Counting(SmtLayer()), kept=200)
    for limit in range(1, 100):
        wanted = below(total(0, 1), 2 * limit)
        layer.solve(slice_query([wanted], build.negate(below(total(1, 2), limit))))
        layer.solve(slice_query([wanted], build.negate(below(total(0, 1), 2 * limit + 1))))
    for entries, size, names in (layer.proved.cores, layer.proved.models):
        assert 0 < entries < size <= 200
        assert 0 < names <= 200
