"""Local search before SMT: what it finds holds, the same question has the same answer, and it never says unsat."""

from __future__ import annotations

import pytest

from score_embed.contract.words import Layer
from score_embed.engine._core import Slicer, search
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate, intern_table
from score_embed.solve.chain import default_chain
from score_embed.solve.local import EARNED, LEAST, MOST, SHARE, SearchLayer
from score_embed.solve.query import Answer, Limit, Query, Result


def const(value: int, width: int) -> Expr:
    return build.const(value, width)


def word(first: int, width: int = 32) -> Expr:
    """The little-endian number that begins at this byte."""
    return build.from_bytes([build.byte(first + i) for i in range(width // 8)])


def op(kind: Kind, a: Expr, b: Expr | int) -> Expr:
    return build.binary(kind, a, const(b, a.width) if isinstance(b, int) else b)


def table(index: Expr) -> Expr:
    return intern_table(8, index, 991, [(i * 167 + 13) % 256 for i in range(256)])


TRUE = build.const(1, 1)
W, V, H = word(0), word(4), word(8, 16)
SQUARE = op(Kind.MUL, build.zext(H, 32), build.zext(H, 32))
FOUND: dict[str, list[Expr]] = {
    "a word": [op(Kind.EQ, W, 0xDEADBEEF)],
    "an order": [op(Kind.SLT, W, V), op(Kind.SLT, V, 0x80000010)],
    "a sum": [op(Kind.EQ, op(Kind.ADD, W, V), 7), op(Kind.ULT, W, V)],
    "a difference": [op(Kind.EQ, op(Kind.SUB, V, W), 0x12345678)],
    "an odd product": [op(Kind.EQ, op(Kind.MUL, W, 0x10001), 0xCAFEBABE)],
    "an even product": [op(Kind.EQ, op(Kind.MUL, W, 24), 24 * 1000)],
    "a quotient": [op(Kind.EQ, op(Kind.UDIV, W, 1461), 77)],
    "a signed quotient": [op(Kind.EQ, op(Kind.SDIV, W, 10), (-5) % 2**32)],
    "a remainder": [op(Kind.EQ, op(Kind.UREM, W, 1000), 999), op(Kind.ULT, const(70_000, 32), W)],
    "a signed remainder": [op(Kind.EQ, op(Kind.SREM, W, 1000), 999)],
    "a divisor": [op(Kind.EQ, op(Kind.UDIV, const(10_000, 32), W), 33)],
    "shifts": [op(Kind.EQ, op(Kind.SHL, W, 8), 0x11223300), op(Kind.EQ, op(Kind.LSHR, V, 24), 0x7F)],
    "a sign shifted": [op(Kind.EQ, op(Kind.ASHR, V, 24), 0xFFFFFF80)],
    "an unknown shift": [op(Kind.EQ, op(Kind.SHL, const(1, 32), build.zext(build.byte(0), 32)), 1 << 19)],
    "bits": [op(Kind.EQ, op(Kind.AND, W, 0xF0F0), 0x50A0), op(Kind.EQ, op(Kind.OR, V, 0xFF), 0x12FF)],
    "exclusive or": [op(Kind.EQ, op(Kind.XOR, W, V), 0x55AA55AA), op(Kind.EQ, build.bit_not(V), 3)],
    "a sign": [op(Kind.EQ, build.sext(H, 32), 0xFFFF8000), op(Kind.EQ, build.neg(W), 5)],
    "a table": [op(Kind.EQ, table(build.byte(0)), 99)],
    "a table of a table": [op(Kind.EQ, table(table(op(Kind.XOR, build.byte(0), build.byte(1)))), 99)],
    "a choice": [op(Kind.EQ, build.ite(op(Kind.ULT, W, 5), V, const(9, 32)), 0x01020304)],
    "both": [op(Kind.AND, op(Kind.EQ, W, 77), op(Kind.OR, op(Kind.EQ, V, 1), op(Kind.EQ, V, 2)))],
    "either": [op(Kind.XOR, op(Kind.EQ, W, 77), op(Kind.EQ, V, 78))],
    "another": [build.negate(op(Kind.EQ, W, V)), op(Kind.ULT, W, 3)],
    "a square": [op(Kind.EQ, SQUARE, 144)],
}


@pytest.mark.parametrize("what", FOUND)
def test_it_finds_what_inversion_and_small_moves_reach(what: str) -> None:
    target, *several = FOUND[what]
    for data in (bytes(10), bytes(range(1, 11)), b"\xff" * 10):
        found, used = search(target, several, [], data, MOST)
        assert found is not None
        assert used <= MOST
        changed = Answer(Result.SAT, Layer.SEARCH, found).apply(data)
        assert all(evaluate(condition, changed) for condition in (target, *several))
        assert all(changed[index] != data[index] for index in found)  # no byte is named that keeps its value
        assert (found, used) == search(target, several, [], data, MOST)


def test_bytes_keep_to_their_sets() -> None:
    even = sum(1 << value for value in range(0, 256, 2))
    target = op(Kind.ULT, const(1000, 16), op(Kind.ADD, word(0, 16), word(2, 16)))
    found, _ = search(target, [], [(0, even), (1, 0b1000), (2, 1 << 77)], b"\0\3\x4d\0", MOST)
    assert found is not None
    assert found.get(0, 0) % 2 == 0
    assert found.get(1, 3) == 3
    assert found.get(2, 77) == 77


def test_it_gives_up_within_its_bound() -> None:
    odd = op(Kind.EQ, op(Kind.AND, op(Kind.MUL, W, op(Kind.ADD, W, 1)), 1), 1)  # of two neighbours one is even
    for most in (0, 1, 32, 500):
        found, used = search(odd, [], [], bytes(4), most)
        assert found is None
        assert used <= most


def test_what_is_wider_than_a_word_of_the_machine_is_left_to_others() -> None:
    wide = op(Kind.EQ, build.zext(W, 128), 5)
    long = op(Kind.EQ, build.concat(word(0, 64), word(8, 64)), 5)
    assert search(op(Kind.AND, wide, long), [], [], bytes(16), MOST) == (None, 0)


def test_an_input_byte_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError):
        search(op(Kind.EQ, W, 5), [], [], bytes(3), MOST)


def test_conditions_without_bytes_end() -> None:
    assert search(TRUE, [], [], b"", MOST) == ({}, 0)
    found, used = search(build.negate(TRUE), [], [], b"", MOST)
    assert found is None
    assert used <= MOST


class _Below:
    """The layer below: says that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def solve(self, query: Query) -> Answer:
        self.asked += 1
        return Answer(Result.UNKNOWN, Layer.SMT)


IMPOSSIBLE = Query(op(Kind.EQ, op(Kind.AND, op(Kind.MUL, W, op(Kind.ADD, W, 1)), 1), 1), {}, (), bytes(4))
EASY = Query(op(Kind.EQ, W, 5), {}, (), bytes(4))


def test_what_is_in_vain_uses_up_what_answers_earn(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = []

    def seen(target: Expr, several: list[Expr], sets: list[tuple[int, int]], data: bytes, most: int) -> object:
        allowed.append(most)
        return search(target, several, sets, data, most)

    monkeypatch.setattr("score_embed.solve.local.search", seen)
    below = _Below()
    layer = SearchLayer(below)
    for _ in range(100):
        assert layer.solve(IMPOSSIBLE).result is Result.UNKNOWN
    assert below.asked == 100
    assert allowed[0] == MOST
    assert allowed == sorted(allowed, reverse=True)
    assert allowed[-1] == LEAST
    allowed.clear()
    for _ in range(100):
        assert layer.solve(EASY) == Answer(Result.SAT, Layer.SEARCH, {0: 5})
    layer.solve(EASY)
    assert allowed[1] <= allowed[0] + EARNED // SHARE
    assert allowed[-1] == MOST


def test_floating_point_is_left_to_others() -> None:
    below = _Below()
    number = build.float_binary(Kind.FLT, word(0), word(4))
    SearchLayer(below).solve(Query(number, {}, (), bytes(8)))
    assert below.asked == 1


def test_a_question_that_is_asked_again_was_searched_for() -> None:
    limit = Limit()
    layer = SearchLayer(_Below(), lambda: limit.trial)
    limit.trial = True
    assert layer.solve(EASY).layer is Layer.SEARCH
    limit.trial = False
    assert layer.solve(EASY).layer is Layer.SMT


def test_the_chain_counts_it() -> None:
    chain = default_chain(validate=True)
    slicer = Slicer()
    slicer.add(op(Kind.ULT, W, V))
    target = op(Kind.EQ, op(Kind.ADD, W, V), 0x10203)
    query = slicer.query(target, bytes([0, 0, 0, 0, 1, 0, 0, 0]))
    assert chain.answer_cheaply(query) is None  # it waits
    answer = chain.solve(query)
    assert answer.layer is Layer.SEARCH
    assert chain.stats.by[Layer.SEARCH] == 1


def test_who_may_try_more_inputs_meets_a_hash_by_chance() -> None:
    """Ten bits of a hash, and what it earns is a share of what it may try."""
    mixed = build.const(0x9E3779B9, 32)
    for index in range(6):
        turned = op(Kind.ADD, op(Kind.SHL, mixed, 5), op(Kind.LSHR, mixed, 2))
        mixed = op(Kind.XOR, mixed, op(Kind.ADD, turned, build.zext(build.byte(index), 32)))
    targets = [op(Kind.EQ, build.extract(mixed, 3, 14), number) for number in range(7, 15)]
    few, many = _Below(), _Below()
    searching, trying = SearchLayer(few, most=500), SearchLayer(many, most=1 << 18)
    for target in targets:
        searching.solve(Query(target, {}, [], bytes(6)))
        answer = trying.solve(Query(target, {}, [], bytes(6)))
        assert answer.result is Result.SAT
        assert evaluate(target, answer.apply(bytes(6)))
    assert many.asked == 0
    assert few.asked > 3
    before = trying._left = 0
    trying.solve(Query(op(Kind.EQ, word(0), 5), {}, [], bytes(6)))
    assert trying._left == before + EARNED * (1 << 18) // MOST
    trying._left = SHARE << 18
    trying.solve(Query(op(Kind.EQ, word(0), 6), {}, [], bytes(6)))
    assert trying._left == SHARE << 18
