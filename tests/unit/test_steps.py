"""What single events do: arguments of `...`, inputs of all kinds, results that nobody takes, and what is remembered of them."""

from __future__ import annotations

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
from score_embed.trace import hash as hashes
from score_embed.trace import steps, template
from score_embed.trace.operands import Operands
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
    for module in (steps, template):
        monkeypatch.setattr(module, "KEPT", 3)
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
    made = trail._steps
    assert max(len(made._conditions), len(made._programs._values)) <= 3
    assert len(made._links) * 2 <= 4


# Hashes of operands ---------------------------------------------------------------------------------------------------


def operands(*branches: tuple[int, bool], width: int = 32) -> Operands:
    """Branches that compare these values; and whether they may be floating-point numbers."""
    path = replay(sites_of(X, X_IS_5), bytes(Stream().head(16).head(20, 0)), bytes(4))
    value = path.conditions[0].formula.args[0].args[0]
    assert value.width == width
    made = Operands()
    for number, floats in branches:
        made.add((value,), (number,), floats)
    return made


@pytest.mark.parametrize(
    ("value", "is_number"),
    [(0x7F7FFFFF, True), (0x3F800000, True), (0x7F800000, False), (0x7FC00001, False), (0xFF812345, False)],
)
def test_what_may_be_no_number_is_hashed_alike(value: int, is_number: bool) -> None:
    """Machines differ in its pattern. Where no floating-point numbers are compared, a pattern is a number like others."""
    plain = hashes.mix_operand(hashes.START, value, 32)
    assert operands((value, False)).lanes == plain
    nothing = hashes.mix_operand(hashes.START, 0, 32)
    assert operands((value, True)).lanes == (plain if is_number else nothing)


def test_operands_are_cut_and_computed_anew() -> None:
    made = operands((1, False), (2, False), (3, False))
    whole = made.lanes
    assert made.first_reached(1) == 0
    assert made.first_reached(1 << 9) == 3
    made.recompute(1 << 9, lambda expr: 77)
    assert made.lanes == whole
    made.recompute(1, lambda expr: 77)
    assert made.lanes == operands((77, False), (77, False), (77, False)).lanes
    made.cut(3)
    assert made.lanes == operands((77, False), (77, False), (77, False)).lanes
    made.cut(1)
    assert made.lanes == operands((77, False)).lanes
    assert made.first_reached(1 << 9) == 1
    made.cut(0)
    assert made.lanes == hashes.START
