"""What single events do: arguments of `...`, inputs of all kinds, results that nobody takes, and what is remembered of
them."""

from __future__ import annotations

import hashes
import pytest
from events import (
    NONE,
    Stream,
    assign,
    compare,
    condition,
    copy_template,
    leaf_step,
    memory,
    pin,
    replay,
    slot,
    symbolic,
)
from events import table as sites_of

from score_embed.contract.sites import Leaf, Op, Place, Site, SiteKind, Step, Template
from score_embed.formula.expr import evaluate
from score_embed.trace import trail as trails
from score_embed.trace.trail import Trail

X = symbolic(16, slot(1), 4)
X_IS_5 = condition(20, compare(Op.EQ, slot(1), 5))


def shown(trail: Trail) -> list[int]:
    """Of each pin the value under the run's input."""
    return [evaluate(found.value, trail.data) for found in trail.pins]


def test_arguments_of_an_ellipsis_lie_in_memory() -> None:
    variadic = Site(30, SiteKind.VARIADIC, "a.c", 30)
    read = assign(31, slot(2), copy_template(memory(32)))
    sent = Stream().frame(2).head(16).head(30).varint(1).address(0x100)
    sent.head(31).varint(1).address(0x100).head(32)
    path = replay(sites_of(X, variadic, read, pin(32, slot(2), "argument")), bytes(sent), bytes([7, 0, 0, 0]))
    assert shown(path) == [7]


def test_inputs_lie_where_their_site_says() -> None:
    buffer, number = symbolic(17, memory(8), 0, "buf"), symbolic(18, Leaf(Place.GLOBAL, 16, 0x300), 2, "")
    narrow = symbolic(19, slot(2, 8), 2, "flag")
    read = assign(31, slot(3, 16), copy_template(memory(16)))
    sent = Stream().head(17).address(0x200).varint(2).head(18).head(19).head(17).address(0x200).varint(0)
    for address in (0x200, 0x300):
        sent.head(31).varint(1).address(address).head(32)
    sites = sites_of(buffer, number, narrow, read, pin(32, slot(3, 16), "argument"), pin(33, slot(2, 8), "argument"))
    path = replay(sites, bytes(sent.head(33)), bytes([1, 2, 3, 4, 5, 6]))
    assert shown(path) == [0x0201, 0x0403, 5]
    assert [(o.name, o.offset, o.size, o.site) for o in path.objects] == [
        ("buf", 0, 2, 17),
        ("input", 2, 2, 18),
        ("flag", 4, 2, 19),
    ]  # nothing is no input
    assert path.consumed == 6


def test_a_result_that_nobody_takes_goes_nowhere() -> None:
    nowhere, result = assign(30, NONE, copy_template(slot(1))), Site(31, SiteKind.RESULT, dest=None)
    inner = assign(32, slot(0), copy_template(slot(1)))
    sent = Stream().frame(1).head(16).head(30).head(32).frame(0).head(31)
    path = replay(sites_of(X, nowhere, result, inner), bytes(sent), bytes(4), verify=False)
    assert not path.notes
    assert not path.conditions


@pytest.mark.parametrize("arguments", [0b01, 0b10, 0b11])
def test_arguments_are_those_that_the_mask_names(arguments: int) -> None:
    call = Site(30, SiteKind.CALL, leaves=(slot(1, 16), slot(2)))
    double = assign(31, slot(2), Template((slot(1),), (leaf_step(0, 32), leaf_step(0, 32), Step(Op.ADD, 32))))
    sent = Stream().frame(3).head(16).head(31).head(30).varint(arguments).frame(4)
    shown_ = [pin(40 + k, slot(k, width), "argument") for k, width in ((1, 16), (2, 32))]
    for k in (1, 2):
        if arguments >> (k - 1) & 1:
            sent.head(40 + k)
    path = replay(sites_of(X, call, double, *shown_), bytes(sent), bytes([1, 2, 3, 0]))
    expected = {1: 0x0201, 2: 2 * 0x030201}
    assert shown(path) == [expected[k] for k in (1, 2) if arguments >> (k - 1) & 1]


def test_results_of_opaque_code_are_constants_of_their_width() -> None:
    opaque = Site(30, SiteKind.OPAQUE, "a.c", 30, "main", "f", dest=slot(2, 16))
    test = condition(31, compare(Op.EQ, slot(2, 16), 0xFFFD))
    path = replay(sites_of(X, opaque, test), bytes(Stream().head(30).signed(-3).head(31, 1)), b"")
    (found,) = path.conditions
    assert found.concrete
    assert found.formula.origins == {30}


def test_what_is_remembered_of_sites_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """And changes no formula."""
    monkeypatch.setattr(trails, "KEPT", 3)
    plus = assign(30, slot(2), Template((slot(2), slot(1)), (leaf_step(0, 32), leaf_step(1, 32), Step(Op.ADD, 32))))
    begin = assign(31, slot(2), copy_template(slot(1)))
    test = condition(32, compare(Op.ULT, slot(2), 100))
    switch = Site(33, SiteKind.SWITCH, leaves=(slot(2),), labels=((1, 1), (2, 2)), coverage=90)
    sites = sites_of(X, begin, plus, test, switch)
    sent = Stream().head(16).head(31)
    for _ in range(10):
        sent.head(30).varint(0b0101).head(32, 1).head(33).varint(2)
    trail = Trail(sites)
    trail.follow(bytes(sent), bytes([5, 0, 0, 0]))
    assert [evaluate(c.formula, bytes([7, 0, 0, 0])) for c in trail.conditions] == [1] * 30
    assert [evaluate(c.formula, bytes([10, 0, 0, 0])) for c in trail.conditions[24::3]] == [0, 0]
    assert 0 < trail.remembered <= 3


# Hashes of operands ---------------------------------------------------------------------------------------------------


FLOAT = symbolic(17, slot(2, 32), 4, "f")
SAME = Template((slot(2, 32),), (leaf_step(0, 32), Step(Op.CONST, 32, 0), Step(Op.FEQ, 32)))
AS_PATTERN = Template((slot(2, 32),), (leaf_step(0, 32), Step(Op.CONST, 32, 0), Step(Op.EQ, 32)))


def hash_of(value: int, template: Template) -> int:
    """The operand hash of a path whose one branch compares this number with 0."""
    sent = Stream().head(17).head(20, 0)
    path = replay(sites_of(FLOAT, condition(20, template)), bytes(sent), value.to_bytes(4, "little"))
    assert not path.diverged
    return path.operand_hash


@pytest.mark.parametrize(
    ("value", "is_number"),
    [(0x7F7FFFFF, True), (0x3F800000, True), (0x7F800000, False), (0x7FC00001, False), (0xFF812345, False)],
)
def test_what_may_be_no_number_is_hashed_alike(value: int, is_number: bool) -> None:
    """Machines differ in its pattern. Where no floating-point numbers are compared, a pattern is a number like
    others."""
    plain = hashes.folded(hashes.mix_operand(hashes.START, value, 32))
    assert hash_of(value, AS_PATTERN) == plain
    nothing = hashes.folded(hashes.mix_operand(hashes.START, 0, 32))
    assert hash_of(value, SAME) == (plain if is_number else nothing)


def expected(*operands: int) -> int:
    lanes = hashes.START
    for number in operands:
        lanes = hashes.mix_operand(lanes, number, 32)
    return hashes.folded(lanes)


def test_operands_of_64_bits_are_two_numbers() -> None:
    wide = symbolic(16, slot(1, 64), 8)
    test = condition(20, Template((slot(1, 64),), (leaf_step(0, 64), Step(Op.CONST, 64, 5), Step(Op.EQ, 64))))
    path = replay(sites_of(wide, test), bytes(Stream().head(16).head(20, 0)), bytes(range(1, 9)))
    assert path.operand_hash == hashes.folded(hashes.mix_operand(hashes.START, 0x0807060504030201, 64))


def test_operands_are_cut_and_computed_anew() -> None:
    y = symbolic(17, slot(2), 4, "y")
    sites = sites_of(X, y, X_IS_5, condition(21, compare(Op.EQ, slot(2), 5)))
    sent = Stream().head(16).head(17).head(20).head(21).head(20)
    trail = Trail(sites)
    assert trail.operand_hash == expected()
    trail.follow(bytes(sent), bytes([1, 0, 0, 0, 2, 0, 0, 0]))
    assert trail.operand_hash == expected(1, 2, 1)
    other = bytes([1, 0, 0, 0, 77, 0, 0, 0])
    assert trail.rewind(bytes(sent), other, 3) == 2  # the last event may go on another way
    assert trail.operand_hash == expected(1, 77)
    trail.extend(None)
    assert trail.operand_hash == expected(1, 77, 1)
    trail.follow(bytes(sent), bytes([9, 0, 0, 0, 77, 0, 0, 0]), 3)
    assert trail.operand_hash == expected(9, 77, 9)
    assert trail.rewind(bytes(sent), other, 1) == 1
    assert trail.operand_hash == expected(1)
    assert trail.rewind(bytes(Stream().head(16)), other, 1) == 0
    assert trail.operand_hash == expected()
