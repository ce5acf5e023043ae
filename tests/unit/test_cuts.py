"""Questions through few values of a hash: what is proved of the values alone, and what is asked of the hash."""

from __future__ import annotations

import functools
import itertools
import random
from dataclasses import dataclass, field

import pytest

from score_embed.contract.words import Layer
from score_embed.engine._core import interval_of, substituted
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate, intern_table, nodes
from score_embed.solve.chain import default_chain
from score_embed.solve.cuts import CutLayer
from score_embed.solve.enumerate import EnumerateLayer
from score_embed.solve.query import Answer, Limit, Query, Result, Solver
from score_embed.solve.smt import SmtLayer

BUCKETS = 53
B = build.byte(1)
SIZE = 6
DATA = bytes(range(65, 65 + SIZE))


def const(value: int, width: int) -> Expr:
    return build.const(value, width)


def hashed(places: range, start: int = 0x811C9DC5) -> Expr:
    """FNV-1a of these input bytes, as 32 bits."""
    value = const(start, 32)
    for place in places:
        value = build.binary(Kind.XOR, value, build.zext(build.byte(place), 32))
        value = build.binary(Kind.MUL, value, const(0x01000193, 32))
    return value


def bucket(places: range = range(SIZE)) -> Expr:
    return build.binary(Kind.UREM, hashed(places), const(BUCKETS, 32))


def looked_up(index: Expr, entries: list[int]) -> Expr:
    """A table's entry, as 16 bits."""
    padded = [*entries, *[0] * (64 - len(entries))]
    return intern_table(16, build.extract(index, 0, 6), 0x5EED + sum(map(hash, entries)) % 10_000, padded)


def many(count: int) -> list[Expr]:
    """Buckets of as many hashes."""
    return [build.binary(Kind.UREM, hashed(range(SIZE), start), const(BUCKETS, 32)) for start in range(count)]


def equal(a: Expr, b: int) -> Expr:
    return build.binary(Kind.EQ, a, const(b, a.width))


@dataclass
class Asked:
    """A solver that writes down what comes to it."""

    inner: Solver = field(default_factory=SmtLayer)
    seen: list[Query] = field(default_factory=list)

    def solve(self, query: Query) -> Answer:
        self.seen.append(query)
        return self.inner.solve(query)


class Nobody:
    def solve(self, query: Query) -> Answer:
        return Answer(Result.UNKNOWN, Layer.SMT)


def cut(inner: Solver, of_parts: Solver) -> CutLayer:
    return CutLayer(EnumerateLayer(Nobody(), Limit()), inner, of_parts)


def test_what_no_bucket_has_is_proved_of_the_buckets() -> None:
    behind = Asked()
    entries = [3 * number for number in range(BUCKETS)]
    found = looked_up(bucket(), entries)
    answer = cut(behind, behind).solve(Query(equal(found, 100), {}, [], DATA))
    assert (answer.result, answer.layer, behind.seen) == (Result.UNSAT, Layer.CUT, [])
    # A remainder is never as large as its divisor, though the table has more entries.
    beyond = looked_up(bucket(), [*entries, 7777])
    answer = cut(behind, behind).solve(Query(equal(beyond, 7777), {}, [], DATA))
    assert (answer.result, behind.seen) == (Result.UNSAT, [])


def test_what_a_bucket_has_is_asked_of_the_hash_alone() -> None:
    whole, parts = Asked(Nobody()), Asked()
    entries = [3 * number for number in range(BUCKETS)]
    chain = [looked_up(bucket(), entries)]
    chain.append(looked_up(build.binary(Kind.UREM, chain[0], const(50, 16)), [number + 1 for number in range(50)]))
    answer = cut(whole, parts).solve(Query(equal(chain[1], 13), {}, [], DATA))
    assert (answer.result, answer.layer, whole.seen) == (Result.SAT, Layer.CUT, [])
    (asked,) = parts.seen
    assert not asked.reads
    assert asked.target is equal(bucket(), evaluate(bucket(), answer.apply(DATA)))
    assert evaluate(chain[1], answer.apply(DATA)) == 13


def test_parts_that_exclude_each_other_are_asked_as_they_stand() -> None:
    """Of two numbers of one hash the solver behind says no; then the whole question counts."""
    whole, parts = Asked(), Asked()
    low, bits = bucket(), build.binary(Kind.UREM, hashed(range(SIZE)), const(2 * BUCKETS, 32))
    target = build.binary(Kind.AND, equal(low, 3), equal(bits, 4))
    answer = cut(whole, parts).solve(Query(target, {}, [], DATA))
    assert (answer.result, answer.layer) == (Result.UNSAT, Layer.SMT)
    assert (len(whole.seen), len(parts.seen)) == (1, 1)


@pytest.mark.parametrize("is_trial", [True, False])
def test_a_trial_is_not_asked_twice(is_trial: bool) -> None:
    whole = Asked()
    layer = CutLayer(EnumerateLayer(Nobody(), Limit()), whole, Nobody(), lambda: is_trial)
    answer = layer.solve(Query(equal(bucket(), 3), {}, [], DATA))
    assert (answer.result is Result.UNKNOWN, len(whole.seen)) == (is_trial, 0 if is_trial else 1)


def test_tries_are_earned() -> None:
    """After sixteen without an answer one question in sixteen is tried, until one answers again; each answer is worth
    four tries."""
    parts, question = Asked(Nobody()), Query(equal(bucket(), 3), {}, [], DATA)
    layer = cut(Asked(Nobody()), parts)

    def tried(questions: int) -> list[int]:
        """The numbers of those that were."""
        found = []
        for number in range(questions):
            before = len(parts.seen)
            layer.solve(question)
            found += [number] * (len(parts.seen) - before)
        return found

    assert tried(70) == [*range(16), 31, 47, 63]
    parts.inner = SmtLayer()  # of the questions left over from above the tenth is the next to be tried
    assert tried(30) == [*range(9, 30)]
    parts.inner = Nobody()
    assert tried(50) == [*range(16), 31, 47]
    parts.inner = SmtLayer()
    assert tried(14) == [13]
    parts.inner = Nobody()
    assert tried(20) == [0, 1, 2, 3, 19]


@pytest.mark.parametrize("is_trial", [True, False])
def test_a_trial_without_an_answer_earns_nothing(is_trial: bool) -> None:
    quick = Asked(EnumerateLayer(Nobody(), Limit()))
    layer = CutLayer(quick, Nobody(), Nobody(), lambda: is_trial)
    for _ in range(30):
        layer.solve(Query(equal(bucket(), 3), {}, [], DATA))
    assert len(quick.seen) == 16


def test_what_has_no_parts_uses_no_try() -> None:
    quick = Asked(EnumerateLayer(Nobody(), Limit()))
    layer = CutLayer(quick, Nobody(), Nobody())
    for _ in range(30):
        layer.solve(Query(equal(bucket(range(2)), 3), {}, [], DATA))
    layer.solve(Query(equal(bucket(), 3), {}, [], DATA))
    assert len(quick.seen) == 1


def test_a_byte_that_does_not_hold_in_the_run_is_no_set_of_the_search() -> None:
    """Local search takes sets for fulfilled."""
    parts = Asked()
    entries = [number % 2 for number in range(BUCKETS)]
    several = [equal(looked_up(bucket(), entries), evaluate(bucket(), DATA) % 2)]
    target = equal(build.byte(2), 200)
    answer = cut(Asked(), parts).solve(Query(target, {3: (1 << 256) - 2}, several, DATA))
    assert answer.result is Result.SAT
    assert parts.seen[0].target is target
    assert 2 not in parts.seen[0].sets
    assert answer.apply(DATA)[2] == 200
    assert evaluate(several[0], answer.apply(DATA)) == 1


def test_what_holds_in_the_run_is_answered_too() -> None:
    """As a check asks that may be violated already."""
    found = looked_up(bucket(), list(range(1, BUCKETS + 1)))
    target = equal(found, evaluate(found, DATA))
    answer = cut(Asked(Nobody()), Asked()).solve(Query(target, {}, [], DATA))
    assert (answer.result, evaluate(target, answer.apply(DATA))) == (Result.SAT, 1)


def test_what_has_few_bytes_or_many_values_is_no_part() -> None:
    for target in (
        equal(bucket(range(2)), 3),
        equal(build.binary(Kind.UREM, hashed(range(SIZE)), const(257, 32)), 3),
        build.negate(equal(hashed(range(SIZE)), 5)),
        build.extract(hashed(range(SIZE)), 0, 1),
        build.float_binary(Kind.FLT, build.float_unary(Kind.UITOF, bucket(), 64), build.float_unary(Kind.UITOF, B, 64)),
        functools.reduce(functools.partial(build.binary, Kind.AND), [equal(part, 3) for part in many(17)]),
    ):
        whole, quick = Asked(Nobody()), Asked(Nobody())
        CutLayer(quick, whole, Nobody()).solve(Query(target, {}, [], DATA))
        assert (len(whole.seen), quick.seen) == (1, [])


def test_sixteen_parts_are_not_too_many() -> None:
    quick = Asked(Nobody())
    target = functools.reduce(functools.partial(build.binary, Kind.AND), [equal(part, 3) for part in many(16)])
    CutLayer(quick, Nobody(), Nobody()).solve(Query(target, {}, [], DATA))
    assert len(quick.seen) == 1


def test_parts_of_three_bytes_are_some() -> None:
    whole, parts = Asked(Nobody()), Asked()
    answer = cut(whole, parts).solve(Query(equal(bucket(range(3)), 3), {}, [], DATA))
    assert (answer.result, len(parts.seen)) == (Result.SAT, 1)


@pytest.mark.parametrize("seed", range(30))
def test_answers_are_those_of_all_inputs(seed: int) -> None:
    """Random tables over two buckets and a byte, with few values for each byte."""
    draw = random.Random(seed)
    values = [sorted(draw.sample(range(256), 4)) for _ in range(4)]
    data = bytes(draw.choice(each) for each in values)
    sets = {place: sum(1 << value for value in each) for place, each in enumerate(values)}
    indices = [build.binary(Kind.UREM, hashed(range(first, 4)), const(draw.choice((7, 53)), 32)) for first in (0, 1)]
    entries = [draw.randrange(5) for _ in range(BUCKETS)]
    found = [looked_up(index, entries) for index in indices]
    conditions = [
        equal(found[0], draw.randrange(6)),
        build.binary(Kind.ULT, found[1], const(draw.randrange(1, 6), 16)),
        build.binary(Kind.EQ, found[0], build.zext(build.binary(Kind.AND, build.byte(2), const(3, 8)), 16)),
        build.negate(equal(build.binary(Kind.ADD, found[0], found[1]), draw.randrange(9))),
    ]
    held = [c if evaluate(c, data) else build.negate(c) for c in conditions if c.deps]
    number = draw.randrange(len(held))
    target, several = build.negate(held[number]), [*held[:number], *held[number + 1 :]]
    expected = any(all(evaluate(c, bytes(each)) for c in (target, *several)) for each in itertools.product(*values))
    answer = default_chain().solve(Query(target, sets, several, data))
    assert answer.result is (Result.SAT if expected else Result.UNSAT)
    plain = cut(SmtLayer(), SmtLayer()).solve(Query(target, sets, several, data))
    assert plain.result is (Result.SAT if expected else Result.UNSAT)
    if expected:
        assert all(evaluate(c, plain.apply(data)) for c in (target, *several))
        assert all(plain.apply(data)[place] in each for place, each in enumerate(values))


def test_parts_are_replaced_however_deep_they_lie() -> None:
    index = bucket()
    deep = index
    for _ in range(40):
        deep = build.binary(Kind.XOR, build.binary(Kind.MUL, deep, const(5, 32)), build.zext(build.byte(0), 32))
    number = build.zext(build.byte(9), 32)
    other = substituted(deep, {index: number})
    assert index not in nodes([other])
    assert other.deps == 1 | 1 << 9
    data = DATA + bytes(3) + bytes([evaluate(index, DATA)])
    assert evaluate(other, data) == evaluate(deep, data)
    assert substituted(deep, {}) is deep
    assert interval_of(index) == (0, BUCKETS - 1)
