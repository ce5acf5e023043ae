"""Byte sets of formulas that grow: what a loop that adds to a value makes."""

from __future__ import annotations

from score_embed.engine._core import columns_computed, columns_kept
from score_embed.formula import build, domain
from score_embed.formula.expr import Expr, Kind, evaluate

TURNS = 2000
KEPT = 512  # columns, after there were twice as many


def grown() -> list[Expr]:
    """The conditions of a loop that takes its byte from a value, turn by turn."""
    step = build.zext(build.byte(3), 32)
    value, found = build.const(7, 32), []
    for turn in range(TURNS):
        value = build.binary(Kind.SUB, build.binary(Kind.XOR, value, build.const(turn | 1, 32)), step)
        found.append(build.binary(Kind.SLT, value, build.const(5, 32)))
    return found


def test_a_formula_that_grows_is_not_computed_anew_each_turn() -> None:
    before = columns_computed()
    conditions = grown()
    sets = [domain.byte_set(condition) for condition in conditions]
    assert columns_computed() - before < 8 * TURNS  # some five nodes a turn
    assert columns_kept() <= 2 * KEPT + 8
    for turn in (0, 1, TURNS // 2, TURNS - 1):
        expected = [evaluate(conditions[turn], bytes([0, 0, 0, value])) for value in range(256)]
        assert [sets[turn] >> value & 1 for value in range(256)] == expected


def test_what_is_kept_dies_with_its_formula() -> None:
    before = columns_kept()
    conditions = grown()[:100]
    domain.byte_set(conditions[-1])
    del conditions
    assert columns_kept() < before + 50  # of some 250: other tests hold the byte and some of the constants
