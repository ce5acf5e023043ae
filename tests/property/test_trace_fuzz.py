"""Bytes off the wire: whatever they are, the decoder and the replay give a path or a TraceError."""

from __future__ import annotations

import contextlib

from events import NONE, Stream, assign, compare, condition, copy_template, memory, pin, replay, slot, symbolic, table
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.sites import CondFlag, Leaf, Op, Place, Site, SiteKind, Step, Template
from score_embed.trace.trail import TraceError

GLOBAL = Leaf(Place.GLOBAL, 16, 0x2000)
STORED = Template((slot(6, 16), slot(1)), (Step(Op.LEAF, 32, 1),))  # the address is the second leaf
SITES = table(
    symbolic(16, slot(1), 4),
    symbolic(17, memory(8), 0, "buf"),
    symbolic(18, GLOBAL, 2, "g"),
    assign(19, slot(2), copy_template(slot(1))),
    assign(20, memory(32), copy_template(memory(32))),
    assign(
        21,
        GLOBAL,
        Template(
            (slot(1, 16), GLOBAL, memory(16)),
            (
                Step(Op.LEAF, 16, 0),
                Step(Op.LEAF, 16, 1),
                Step(Op.SDIV, 16),
                Step(Op.LEAF, 16, 2),
                Step(Op.SHL, 16),
            ),
        ),
    ),
    condition(22, compare(Op.SLT, slot(1), 5)),
    condition(23, compare(Op.NE, memory(8), 65), flags=CondFlag.ASSUMPTION),
    Site(24, SiteKind.SWITCH, leaves=(slot(1, 8),), labels=((1, 1), (5, 9), (250, 3)), coverage=90),
    Site(25, SiteKind.CALL, leaves=(slot(1), NONE, slot(2))),
    Site(26, SiteKind.RESULT, dest=slot(3)),
    Site(27, SiteKind.OPAQUE, dest=slot(4)),
    Site(28, SiteKind.COPY),
    pin(29, slot(1)),
    pin(30, slot(2), "argument"),
    Site(31, SiteKind.ENTER, size=2),
    Site(32, SiteKind.OPAQUE, dest=NONE),
    Site(33, SiteKind.SELECT, dest=slot(5), size=8, template=copy_template(slot(1))),
    Site(34, SiteKind.SELECT, dest=slot(5), template=copy_template(slot(1))),
    Site(35, SiteKind.STORE, dest=memory(16), size=8, stride=2, template=STORED),
    Site(36, SiteKind.STORE, dest=memory(16), stride=4, template=STORED),
    Site(37, SiteKind.BOUNDS, size=2, template=copy_template(slot(1)), origin=copy_template(slot(1))),
    Site(38, SiteKind.SPAN, template=STORED, origin=copy_template(slot(1))),
)
DATA = bytes([7, *range(1, 40)])  # the path of valid()


def valid() -> bytes:
    """A stream that makes sense, to mutate."""
    s = Stream()
    s.frame(1).head(16).head(17).address(0x3000).varint(8).head(18)
    s.head(19).head(20).varint(1).address(0x3000).address(0x3002)
    s.head(21).varint(0b01_01_01).address(0x3001)
    s.head(22).head(23, 1).address(0x3000).head(24).varint(1)
    s.head(25).varint(1).frame(2).head(29).frame(1).head(27).signed(-3)
    s.head(28).address(0x3004).address(0x3000).varint(4)
    x, content = int.from_bytes(DATA[:4], "little"), bytes(range(8))
    s.head(33, 1).address(x - 4).raw(b"\0" + content + b"\0")
    s.head(37, 1).address(x - 2).varint(4)
    s.head(35, 1).varint(0b01_00).signed(77).address(x - 4).raw(b"\1\0")
    s.head(36, 1).varint(0b01_00).signed(78).varint(8 << 2).address(x - 4).raw(b"\1").varint(1).varint(8).raw(b"\0")
    s.head(36, 1).varint(0b01_00).signed(78).varint(8 << 2 | 2).address(x - 4).raw(b"\1").varint(1).varint(8).raw(b"\0")
    s.head(33, 1).address(x - 4).raw(b"\1").varint(1).varint(8).raw(b"\0")
    for site, leaves in ((34, b""), (36, bytes([0b01_00, 78 << 1 & 127 | 128, 1]))):  # in one of two objects
        s.head(site, 1).raw(leaves).varint(2 << 1 | 1).varint(8).address(x - 4).raw(b"\1").varint(1).varint(8).raw(
            b"\0"
        )
        s.varint(4).address(x + 8).raw(b"\1\0" if site == 36 else b"\0" + content[:4] + b"\0")
    s.head(37).address(x - 1).varint((1 << 64) - 1).varint(2).raw(b"\0")  # a pointer that went astray
    return bytes(s)


def attempt(stream: bytes, verify: bool) -> None:
    with contextlib.suppress(TraceError):
        replay(SITES, stream, DATA, verify)


def test_the_stream_to_mutate_is_valid() -> None:
    path = replay(SITES, valid(), bytes(40))
    assert path.diverged or path.conditions
    path = replay(SITES, valid(), DATA)
    assert (len(path.conditions), path.diverged) == (13, 0)


@settings(deadline=2000, max_examples=1500)
@given(st.binary(max_size=80), st.booleans())
def test_random_bytes(stream: bytes, verify: bool) -> None:
    attempt(stream, verify)


@settings(deadline=2000, max_examples=1500)
@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255), st.integers(0, 2)), max_size=6), st.booleans())
def test_mutated_streams(changes: list[tuple[int, int, int]], verify: bool) -> None:
    stream = bytearray(valid())
    for at, byte, how in changes:
        at %= len(stream) + 1
        if how == 0:
            stream.insert(at, byte)
        elif at < len(stream):
            if how == 1:
                stream[at] = byte
            else:
                del stream[at]
    attempt(bytes(stream), verify)


@settings(deadline=2000, max_examples=500)
@given(st.lists(st.tuples(st.integers(0, 38), st.binary(max_size=12)), max_size=12))
def test_plausible_heads_with_random_bodies(events: list[tuple[int, bytes]]) -> None:
    attempt(b"".join(bytes(Stream().head(site)) + body for site, body in events), False)
