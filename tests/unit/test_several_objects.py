"""Reads and stores at an address that may be in several objects (the engine's `several.cpp`)."""

from __future__ import annotations

import pytest
from events import Stream, copy_template, leaf_step, memory, pin, slot, symbolic, table

from score_embed.contract.sites import Op, SelectFlag, Site, SiteKind, Step, Template
from score_embed.formula.expr import Expr, evaluate
from score_embed.trace.trail import Forks, TraceError, Trail

I = symbolic(16, slot(1, 8), 1, "i")  # noqa: E741 - as the program calls it
A, B, C = 0x2000, 0x2100, 0x2200  # of one, two and four bytes
OUTS = 0x4000
_TABLE = b"".join(address.to_bytes(4, "little") for address in (A, B + 1, C, C + 2))


class Image:
    def object_at(self, address: int) -> tuple[int, int] | None:
        return (OUTS, len(_TABLE)) if OUTS <= address < OUTS + len(_TABLE) else None

    def read(self, address: int, size: int) -> bytes | None:
        return _TABLE[address - OUTS :][:size] if self.object_at(address) else None

    initial = read
    bounds = ()
    has_bounds = False


_INDEX = (leaf_step(0, 8), Step(Op.CONST, 8, 3), Step(Op.AND, 8), Step(Op.ZEXT, 32))
_PLACE = (*_INDEX, Step(Op.CONST, 32, 4), Step(Op.MUL, 32), Step(Op.CONST, 32, OUTS), Step(Op.ADD, 32))
POINTER = Site(
    20,
    SiteKind.SELECT,
    "a.c",
    20,
    dest=slot(2),
    size=16,
    flags=SelectFlag.CONSTANT,
    template=Template((slot(1, 8),), _PLACE),
)
READ = Site(21, SiteKind.SELECT, "a.c", 21, dest=slot(3, 8), template=copy_template(slot(2)))
_STORED = Template((slot(1, 8), slot(2)), (leaf_step(1, 32),))
STORE = Site(22, SiteKind.STORE, "a.c", 22, dest=memory(8), template=_STORED)
VALUE = pin(30, slot(3, 8), "argument")
PLACES = [A, B, B + 1, C, C + 1, C + 2, C + 3]
SHOWN = [pin(40 + i, memory(8), "argument") for i in range(len(PLACES))]
SITES = table(I, POINTER, READ, STORE, VALUE, *SHOWN)


def pointer() -> Stream:
    return Stream().head(16).head(20, 1).address(OUTS)


def said(stream: Stream, objects: dict[int, bytes]) -> Stream:
    stream.varint(len(objects) << 1 | 1)
    for base, content in objects.items():
        stream.varint(len(content)).address(base).raw(b"\0" + content + b"\0")
    return stream


ALL = {A: b"\x11", B: b"\x21\x22", C: b"\x31\x32\x33\x34"}


def follow(stream: Stream, index: int = 1) -> Trail:
    trail = Trail(SITES, constants=Image(), forks=Forks(0))
    trail.follow(bytes(stream), bytes([index]))
    return trail


def values(formula: Expr) -> list[int]:
    return [evaluate(formula, bytes([i])) for i in range(4)]


def test_a_read_is_a_choice_and_no_condition() -> None:
    path = follow(said(pointer().head(21, 1), ALL).head(30))
    assert [values(found.formula) for found in path.conditions] == [[1] * 4] * 2
    assert path.conditions[1].chosen is None
    assert values(path.pins[0].value) == [0x11, 0x22, 0x31, 0x33]


def test_a_store_changes_each_of_them_if_it_is_the_one() -> None:
    stream = said(pointer().head(22, 1).varint(0b0101), ALL)
    for i, address in enumerate(PLACES):
        stream.head(40 + i).address(address)
    path = follow(stream)
    assert [values(found.formula) for found in path.conditions] == [[1] * 4] * 2
    found = {PLACES[each.site - 40]: values(each.value) for each in path.pins}
    # The others are known not to change.
    assert found == {
        A: [0, 0x11, 0x11, 0x11],
        B + 1: [0x22, 1, 0x22, 0x22],
        C: [0x31, 0x31, 2, 0x31],
        C + 2: [0x33, 0x33, 0x33, 3],
    }


def test_where_it_may_be_elsewhere_that_is_the_other_side() -> None:
    path = follow(said(pointer().head(21, 1), {B: ALL[B], C: ALL[C]}).head(30))
    within = path.conditions[1]
    assert values(within.formula) == [0, 1, 1, 1]
    assert within.chosen is not None
    assert (within.chosen.base, within.chosen.size, within.chosen.others) == (B, 2, ((C, 4),))
    assert not within.loose
    assert values(path.pins[0].value)[1:] == [0x22, 0x31, 0x33]


def test_what_no_target_sends_is_refused() -> None:
    for stream, what in (
        (said(pointer().head(21, 1), {A: b"\0"}), "has no objects"),
        (said(pointer().head(21, 1), {A: b"\0", B: b""}), "reads more than its object has"),
        (said(pointer().head(21, 1), {2**32 - 16: bytes(A + 32), 2**31: b"\0"}), "memory has no room for"),
        (pointer().head(22, 1).varint(0b0101).varint(3 << 1 | 1).varint(1).address(A), "ends within an event"),
    ):
        with pytest.raises(TraceError) as error:
            follow(stream, 0)
        assert what in str(error.value)
