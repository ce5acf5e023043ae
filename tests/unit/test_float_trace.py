"""Floating point in event streams: ranges of conversions, patterns of what is no number, templates that make no
sense."""

from __future__ import annotations

import struct

import pytest
from events import Stream, assign, condition, replay, slot, symbolic, table

from score_embed.contract.sites import Leaf, Op, Site, SiteKind, Step, Template
from score_embed.formula.floats import encode
from score_embed.trace.trail import TraceError, Trail

X = symbolic(16, slot(1), 4)  # float x in slot 1
LEAF = Step(Op.LEAF, 32, 0)


def number(value: float) -> Step:
    return Step(Op.CONST, 32, encode(value, 32))


def site(ident: int, kind: SiteKind, *steps: Step, dest: Leaf | None = None) -> Site:
    return Site(ident, kind, "a.c", ident, "f", dest=dest, template=Template((slot(1),), steps))


WITHIN = site(
    20, SiteKind.RANGE, number(-129), LEAF, Step(Op.FLT, 32), LEAF, number(128), Step(Op.FLT, 32), Step(Op.AND, 1)
)
DOUBLED = assign(21, slot(2), Template((slot(1),), (LEAF, number(2), Step(Op.FMUL, 32))))
BITS_ARE_5 = condition(22, Template((slot(2),), (LEAF, Step(Op.CONST, 32, 5), Step(Op.EQ, 32))))


def replay_x(value: float, stream: Stream, *sites: Site, verify: bool = False) -> Trail:
    return replay(table(X, *sites), bytes(stream), struct.pack("<f", value), verify)


def test_in_range_is_a_condition_that_pins_nothing() -> None:
    path = replay_x(-128.5, Stream().head(16).head(20, 1), WITHIN)
    assert [(c.site, c.direction, c.elsewhere) for c in path.conditions] == [(20, 1, ())]
    assert not path.pins
    assert not path.notes


def test_out_of_range_the_operand_is_used_as_it_is() -> None:
    path = replay_x(128.0, Stream().head(16).head(20, 0), WITHIN)
    assert [(c.site, c.direction) for c in path.conditions] == [(20, 0)]
    assert [pin.site for pin in path.pins] == [20]
    assert path.notes == {("conversion to an integer out of range", 20): 1}


def test_a_range_that_the_formula_denies_cuts_the_path() -> None:
    path = replay_x(128.0, Stream().head(16).head(20, 1), WITHIN)
    assert path.diverged == 20
    assert not path.pins


def test_bits_of_a_result_are_asked_for_of_numbers_only() -> None:
    path = replay_x(1.5, Stream().head(16).head(21).head(22, 0), DOUBLED, BITS_ARE_5)
    assert path.notes == {("pattern of a floating-point result", 22): 1}
    (pin,) = path.pins
    assert pin.formula.deps == 0b1111
    assert not path.diverged


def test_bits_of_what_is_no_number_end_the_path() -> None:
    for direction in (0, 1):
        path = replay_x(float("nan"), Stream().head(16).head(21).head(22, direction), DOUBLED, BITS_ARE_5)
        assert path.diverged == 22
        assert path.notes == {("pattern of a floating-point result", 22): 1}


@pytest.mark.parametrize(("stored", "agree"), [(0x7FC00000, True), (0xFFC00001 - (1 << 32), True), (0x7F800000, False)])
def test_verify_takes_two_that_are_no_numbers_as_equal(stored: int, agree: bool) -> None:
    path = replay_x(float("nan"), Stream().head(16).head(21).signed(stored), DOUBLED, verify=True)
    assert (path.disagreements == []) is agree


@pytest.mark.parametrize(
    "steps",
    [
        (LEAF, Step(Op.CONST, 32, 0), Step(Op.FADD, 32), Step(Op.FCONV, 16)),
        (LEAF, Step(Op.TRUNC, 16), Step(Op.SITOF, 8)),
        (LEAF, Step(Op.TRUNC, 16), Step(Op.FTOSI, 32)),
        (LEAF, Step(Op.TRUNC, 16), LEAF, Step(Op.TRUNC, 16), Step(Op.FADD, 16)),
        (LEAF, Step(Op.FNEG, 64)),
        (LEAF, Step(Op.FSQRT, 64)),
    ],
)
def test_a_malformed_template_is_an_error(steps: tuple[Step, ...]) -> None:
    bad = assign(30, slot(2), Template((slot(1),), steps))
    with pytest.raises(TraceError, match="malformed"):
        replay_x(0, Stream().head(16).head(30), bad)
