"""Byte sets of formulas that grow: what a loop that adds to a value makes."""

from __future__ import annotations

import pytest

from score_embed.formula import build, domain
from score_embed.formula.expr import Expr, Kind, evaluate

TURNS = 2000


def grown() -> list[Expr]:
    """The conditions of a loop that takes its byte from a value, turn by turn."""
    step = build.zext(build.byte(3), 32)
    value, found = build.const(7, 32), []
    for turn in range(TURNS):
        value = build.binary(Kind.SUB, build.binary(Kind.XOR, value, build.const(turn | 1, 32)), step)
        found.append(build.binary(Kind.SLT, value, build.const(5, 32)))
    return found


def test_a_formula_that_grows_is_not_computed_anew_each_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[Expr] = []
    column = domain._column

    def counted(node: Expr, arguments: list[list[int]]) -> list[int]:
        computed.append(node)
        return column(node, arguments)

    monkeypatch.setattr(domain, "_column", counted)
    conditions = grown()
    sets = [domain.byte_set(condition) for condition in conditions]
    assert len(computed) < 8 * TURNS  # some five nodes a turn
    assert len(domain._columns) <= 2 * domain._COLUMNS_KEPT + 8
    for turn in (0, 1, TURNS // 2, TURNS - 1):
        expected = [evaluate(conditions[turn], bytes([0, 0, 0, value])) for value in range(256)]
        assert [sets[turn] >> value & 1 for value in range(256)] == expected


def test_what_is_kept_dies_with_its_formula() -> None:
    before = len(domain._columns)
    conditions = grown()[:100]
    domain.byte_set(conditions[-1])
    del conditions
    assert len(domain._columns) <= max(before, domain._COLUMNS_KEPT)
