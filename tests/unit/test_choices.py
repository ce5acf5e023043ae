"""Reads at symbolic places are first asked about with all choices as in the run: the slice of that question, its
answers."""

from __future__ import annotations

from score_embed.contract.words import Layer
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate
from score_embed.solve.choices import ChoicesLayer
from score_embed.solve.query import Answer, Limit, Query, Result
from score_embed.solve.smt import SmtLayer


def const(value: int) -> Expr:
    return build.const(value, 8)


def equal(a: Expr, b: Expr) -> Expr:
    return build.binary(Kind.EQ, a, b)


BYTES = [build.byte(index) for index in range(8)]
# b[0] chooses which of b[1], b[2] is read; so does b[4] of b[5], b[6].
READ = build.ite(equal(BYTES[0], const(1)), BYTES[1], BYTES[2])
OTHER = build.ite(equal(BYTES[4], const(1)), BYTES[5], BYTES[6])
SEVEN = equal(READ, const(7))


class Asked:
    """Z3, which remembers what it was asked."""

    def __init__(self) -> None:
        self.queries: list[Query] = []
        self._smt = SmtLayer()

    def solve(self, query: Query) -> Answer:
        self.queries.append(query)
        return self._smt.solve(query)


class Layers:
    def __init__(self, *, trial: bool = True) -> None:
        self.quick, self.inner = Asked(), Asked()
        limit = Limit()
        limit.trial = trial
        self.layer = ChoicesLayer(self.quick, self.inner, limit)

    def ask(self, target: Expr, *several: Expr, data: bytes = bytes(8), sets: dict[int, int] | None = None) -> Answer:
        return self.layer.solve(Query(target, sets or {}, several, data))


def test_the_run_s_choice_is_a_condition_of_the_answer() -> None:
    layers = Layers()
    answer = layers.ask(SEVEN)
    assert (answer.result, answer.layer) == (Result.SAT, Layer.CHOICES)
    assert not layers.inner.queries
    (asked,) = layers.quick.queries
    assert asked.target == equal(BYTES[2], const(7))
    assert answer.assignment is not None
    assert answer.assignment[2] == 7
    data = bytes(answer.assignment.get(index, 0) for index in range(8))
    assert evaluate(SEVEN, data) == 1


def test_of_another_run_it_is_the_other_choice() -> None:
    layers = Layers()
    layers.ask(SEVEN)
    answer = layers.ask(SEVEN, data=bytes([1, *bytes(7)]))
    assert answer.assignment is not None
    assert (answer.assignment.get(0, 1), answer.assignment[1]) == (1, 7)


def test_that_there_is_none_says_nothing() -> None:
    """What is read in this run cannot be 7; what is read elsewhere can."""
    layers = Layers()
    answer = layers.ask(SEVEN, sets={2: 1 << 5})
    assert (answer.result, answer.layer) == (Result.UNKNOWN, Layer.CHOICES)
    assert not layers.inner.queries


def test_later_it_is_asked_as_it_stands() -> None:
    layers = Layers(trial=False)
    answer = layers.ask(SEVEN, sets={2: 1 << 5})
    assert answer.result is Result.SAT
    assert not layers.quick.queries
    assert layers.inner.queries[0].target == SEVEN


def test_conditions_that_share_no_byte_are_left_out() -> None:
    layers = Layers()
    layers.ask(SEVEN, equal(OTHER, const(3)), build.binary(Kind.ULT, BYTES[2], BYTES[3]))
    (asked,) = layers.quick.queries
    deps = asked.target.deps
    for condition in asked.several:
        deps |= condition.deps
    assert deps & build.binary(Kind.ULT, BYTES[5], BYTES[6]).deps == deps & const(0).deps  # nothing of the other read
    assert [condition for condition in asked.several if condition.deps & BYTES[3].deps]


def test_conditions_are_followed_to_those_that_share_bytes_with_them() -> None:
    """`b2 < b3` is the target's, and `b3 < b5` is that one's; `b6 < b7` is nobody's."""
    layers = Layers()
    chain = [build.binary(Kind.ULT, BYTES[a], BYTES[b]) for a, b in ((3, 5), (6, 7), (2, 3))]
    layers.ask(SEVEN, *chain)
    (asked,) = layers.quick.queries
    assert set(asked.several) == {chain[0], chain[2]}


def test_what_a_choice_leaves_of_a_condition_may_be_of_one_byte() -> None:
    """In this run the condition is `b2 < 9`: a set of the byte's values, within the one that was there."""
    layers = Layers()
    layers.ask(SEVEN, build.binary(Kind.ULT, READ, const(9)), sets={2: (1 << 200) | 0xFFF})
    (asked,) = layers.quick.queries
    assert asked.sets[2] == 0x1FF
    assert not asked.several


def test_a_question_whose_choices_all_are_in_conditions() -> None:
    layers = Layers()
    layers.ask(equal(BYTES[2], const(7)), equal(READ, BYTES[3]))
    (asked,) = layers.quick.queries
    assert equal(BYTES[2], BYTES[3]) in asked.several or equal(BYTES[3], BYTES[2]) in asked.several
