"""Streams that no probes send, and site tables that no front-end writes: each is an error that says what is wrong."""

from __future__ import annotations

import pytest
from events import NONE, Stream, assign, condition, copy_template, leaf_step, memory, pin, replay, slot, symbolic, table

from score_embed.contract.sites import Leaf, Op, Place, Site, SiteKind, Step, Template
from score_embed.trace.trail import MAX_DEPTH, TraceError

X = symbolic(16, slot(1), 4)
TWO = Template((slot(1), slot(2)), (leaf_step(0, 32), leaf_step(1, 32), Step(Op.ADD, 32)))
THREE = Template((slot(1), slot(2), slot(3)), (*TWO.steps, leaf_step(2, 32), Step(Op.ADD, 32)))
WITH_NONE = Template((slot(1), Leaf(Place.NONE, 32, 0)), (leaf_step(1, 32),))
IN_MEMORY = Template((memory(32),), (leaf_step(0, 32),))


def template(*steps: Step) -> Template:
    return Template((slot(1),), steps)


LEAF, ONE = leaf_step(0, 32), Step(Op.CONST, 32, 1)
WIDE_GLOBAL = Leaf(Place.GLOBAL, 12, 0x4000)


@pytest.mark.parametrize(
    ("site", "body", "what"),
    [
        (assign(20, slot(4), TWO), Stream().varint(16), "site 20 has fewer leaves"),
        (assign(20, slot(4), THREE), Stream().varint(0b1_00_00_01).signed(0).signed(0), "site 20 has fewer leaves"),
        (assign(20, slot(4), TWO), Stream().varint(0b0010), "a leaf with an impossible taint"),
        (assign(20, slot(4), TWO), Stream().varint(0b0011), "a leaf with an impossible taint"),
        (assign(20, slot(4), WITH_NONE), Stream().varint(0b0101), "a leaf with an impossible taint"),
        (assign(20, slot(4), IN_MEMORY), Stream().varint(3), "a leaf with an impossible taint"),
        (assign(20, slot(4), IN_MEMORY), Stream().varint(2).address(0).varint(0), "with an impossible mask"),
        (assign(20, slot(4), IN_MEMORY), Stream().varint(2).address(0).varint(15), "with an impossible mask"),
        (assign(20, slot(4), IN_MEMORY), Stream().varint(1), "it ends within an event"),
        (assign(20, slot(4), IN_MEMORY), Stream().raw(b"\x80" * 10 + b"\1"), "more than 10 bytes"),
        (assign(20, slot(4), TWO), Stream().raw(b"\x80"), "it ends within an event"),
        (Site(20, SiteKind.CALL, "a.c", 20, leaves=(slot(1),)), Stream().varint(2), "call 20 has fewer arguments"),
        (
            Site(20, SiteKind.SWITCH, leaves=(slot(1),), labels=((1, 1), (2, 2))),
            Stream().varint(3),
            "switch 20 has no label 3",
        ),
        (Site(20, SiteKind.ENTER, size=1), Stream(), "site 20 sends no events"),
        (symbolic(20, NONE, 4), Stream(), "site 20 puts its input nowhere"),
        (Site(20, SiteKind.SYMBOLIC, size=4), Stream(), "site 20 puts its input nowhere"),
        (symbolic(20, slot(1), 1), Stream(), "site 20 takes more input than the test has"),
    ],
)
def test_events_that_no_probe_sends(site: Site, body: Stream, what: str) -> None:
    with pytest.raises(TraceError, match=what):
        replay(table(X, site), bytes(Stream().head(16).head(20)) + bytes(body), bytes(4))


@pytest.mark.parametrize("head", [Stream().head(20, 1), Stream().head(1), Stream().head(10), Stream().head(2, 1)])
def test_heads_that_no_probe_sends(head: Stream) -> None:
    with pytest.raises(TraceError, match=r"has no direction|there is no site"):
        replay(
            table(X, assign(20, slot(4), copy_template(slot(1)))), bytes(head.varint(16).varint(0).varint(0)), bytes(4)
        )


def test_a_loss_has_a_site() -> None:
    with pytest.raises(TraceError, match="there is no site 99"):
        replay(table(X), bytes(Stream().head(3).varint(99)), bytes(4))


def test_activations_are_as_deep_as_memory_allows() -> None:
    replay(table(X), bytes(Stream().frame(MAX_DEPTH)), b"")
    for depth in (MAX_DEPTH + 1, -1):
        with pytest.raises(TraceError, match=f"an activation at depth {depth}"):
            replay(table(X), bytes(Stream().frame(depth)), b"")


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ((LEAF, LEAF), "it leaves no single value"),
        ((), "it leaves no single value"),
        ((LEAF, Step(Op.ADD, 32)), "pop from empty list"),
        ((leaf_step(1, 32),), "tuple index out of range"),
        ((LEAF, Step(Op.CONST, 16, 1), Step(Op.ADD, 32)), "operands of 32 and 16 bits"),
        ((LEAF, Step(Op.ZEXT, 16)), "ZEXT from 32 to 16 bits"),
        ((LEAF, Step(Op.SEXT, 31)), "SEXT from 32 to 31 bits"),
        ((LEAF, Step(Op.TRUNC, 33)), "TRUNC from 32 to 33 bits"),
        ((LEAF, Step(Op.TRUNC, 0)), "TRUNC from 32 to 0 bits"),
        ((LEAF, Step(Op.TRUNC, 16), LEAF, Step(Op.TRUNC, 16), Step(Op.FADD, 16)), "operands of 16 and 16 bits"),
        ((LEAF, Step(Op.TRUNC, 16), Step(Op.FNEG, 16)), "FNEG from 16 to 16 bits"),
        ((LEAF, Step(Op.FSQRT, 64)), "FSQRT from 32 to 64 bits"),
        ((LEAF, Step(Op.SITOF, 16)), "SITOF from 32 to 16 bits"),
        ((LEAF, Step(Op.TRUNC, 16), Step(Op.FTOSI, 32)), "FTOSI from 16 to 32 bits"),
        ((LEAF, Step(Op.FTOUI, 0)), "FTOUI from 32 to 0 bits"),
        ((LEAF, Step(Op.FCONV, 16)), "FCONV from 32 to 16 bits"),
    ],
)
def test_templates_that_make_no_sense(steps: tuple[Step, ...], what: str) -> None:
    with pytest.raises(TraceError, match=f"the template of site 20 is malformed: {what}"):
        replay(table(X, assign(20, slot(4), template(*steps))), bytes(Stream().head(16).head(20)), bytes(4))


@pytest.mark.parametrize("leaf", [slot(1, 0), memory(12), WIDE_GLOBAL])
def test_leaves_of_no_whole_bytes(leaf: Leaf) -> None:
    site = assign(20, slot(4), Template((leaf,), (leaf_step(0, leaf.bits),)))
    with pytest.raises(TraceError, match="a leaf of no whole bytes"):
        replay(table(X, site), bytes(Stream().head(16).head(20)), bytes(4))


@pytest.mark.parametrize("kind", [SiteKind.COND, SiteKind.CHECK, SiteKind.RANGE])
def test_what_decides_is_of_one_bit(kind: SiteKind) -> None:
    site = Site(20, kind, "a.c", 20, template=copy_template(slot(1)))
    with pytest.raises(TraceError, match="it is no condition"):
        replay(table(X, site), bytes(Stream().head(16).head(20)), bytes(4))


@pytest.mark.parametrize("kind", [SiteKind.ASSIGN, SiteKind.PIN, SiteKind.COND, SiteKind.SELECT, SiteKind.BOUNDS])
def test_sites_without_a_template(kind: SiteKind) -> None:
    with pytest.raises(TraceError, match="site 20 has no template"):
        replay(table(X, Site(20, kind, dest=slot(2))), bytes(Stream().head(16).head(20)), bytes(4))


def test_a_pin_of_nothing_is_a_note() -> None:
    """It says each time that something was lost which has no value: a call of what nobody can follow."""
    lost = Site(20, SiteKind.PIN, "a.c", 20, "main", "inline assembly", template=Template((), (ONE,)))
    path = replay(table(X, lost), bytes(Stream().head(20).head(20)), b"")
    assert path.notes == {("inline assembly", 20): 2}
    assert not path.pins


def test_a_pin_without_a_name_says_that_something_was_concretized() -> None:
    path = replay(table(X, pin(20, slot(1), "")), bytes(Stream().head(16).head(20)), bytes(4))
    assert path.notes == {("concretized value", 20): 1}
    assert [p.site for p in path.pins] == [20]


def test_an_operand_that_is_nowhere_has_its_value_in_the_event() -> None:
    site = assign(20, slot(4), WITH_NONE)
    test = condition(21, Template((slot(4),), (LEAF, Step(Op.CONST, 32, 77), Step(Op.EQ, 32))))
    path = replay(table(X, site, test), bytes(Stream().head(16).head(20).varint(1).signed(77).head(21, 1)), bytes(4))
    assert not path.diverged


def test_a_value_in_a_place_of_another_width_is_converted() -> None:
    wider = assign(20, slot(2, 64), copy_template(slot(1)))
    test = condition(21, Template((slot(2, 16),), (leaf_step(0, 16), Step(Op.CONST, 16, 0x5566), Step(Op.EQ, 16))))
    path = replay(table(X, wider, test), bytes(Stream().head(16).head(20).head(21, 1)), bytes.fromhex("66554433"))
    assert path.conditions[0].formula.deps == 0b11
    assert not path.diverged
