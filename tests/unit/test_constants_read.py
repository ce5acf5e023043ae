"""Reads of constants at symbolic addresses: tables, tables of pointers, and what the host does where nobody knows the
object."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from events import Stream, assign, compare, condition, copy_template, leaf_step, memory, pin, slot, symbolic, table

from score_embed.contract.sites import Leaf, Op, SelectFlag, Site, SiteKind, Step, Template
from score_embed.engine import _core as reads
from score_embed.formula import build
from score_embed.formula.expr import Expr, Kind, evaluate
from score_embed.trace import trail as trails
from score_embed.trace.trail import MOST_VALUES, Condition, Forks, TraceError, Trail

I = symbolic(16, slot(1, 8), 1, "i")  # noqa: E741 - as the program calls it
SQUARES = 0x4000
AB, WXYZ, NAMES = 0x5000, 0x5003, 0x5100
POINTERS = b"".join(address.to_bytes(4, "little") for address in (AB, WXYZ, 0, 0x9000))


class Image:
    """Constants by their address. What `hidden` holds has no name, but can be read."""

    def __init__(self, named: Mapping[int, bytes], hidden: Mapping[int, bytes] | None = None) -> None:
        self._named, self._all = named, {**named, **(hidden or {})}

    def object_at(self, address: int) -> tuple[int, int] | None:
        return next(((at, len(found)) for at, found in self._named.items() if at <= address < at + len(found)), None)

    def read(self, address: int, size: int) -> bytes | None:
        for at, found in self._all.items():
            if at <= address and address + size <= at + len(found):
                return found[address - at :][:size]
        return None

    def initial(self, address: int, size: int) -> bytes | None:
        return Image.read(self, address, size)

    bounds = ()
    has_bounds = False


IMAGE = Image({SQUARES: bytes([0, 1, 4, 9, 16, 25]), AB: b"ab\0", WXYZ: b"wxyz\0", NAMES: POINTERS})


def place(base: int, stride: int) -> Template:
    """base + stride * i."""
    index = (leaf_step(0, 8), Step(Op.ZEXT, 32), Step(Op.CONST, 32, stride), Step(Op.MUL, 32))
    return Template((slot(1, 8),), (*index, Step(Op.CONST, 32, base), Step(Op.ADD, 32)))


def select(ident: int, dest: Leaf, template: Template, size: int = 0, flags: int = 0) -> Site:
    return Site(ident, SiteKind.SELECT, "a.c", ident, dest=dest, template=template, size=size, flags=flags)


SEEN = pin(30, slot(2, 8), "argument")
READ = select(20, slot(2, 8), place(SQUARES, 1))
DECLARED = select(21, slot(2, 8), place(SQUARES, 1), size=6, flags=SelectFlag.CONSTANT)
NAME = select(22, slot(3), place(NAMES, 4), size=16, flags=SelectFlag.CONSTANT)
SECOND = select(23, slot(2, 8), Template((slot(3),), (leaf_step(0, 32), Step(Op.CONST, 32, 1), Step(Op.ADD, 32))))


def follow(data: bytes, stream: Stream, *sites: Site, image: Image = IMAGE, values: int = MOST_VALUES) -> Trail:
    trail = Trail(table(I, SEEN, *sites), constants=image, forks=Forks(values))
    trail.follow(bytes(Stream().head(16)) + bytes(stream), data)
    return trail


def values(formula: Expr, count: int) -> list[int]:
    """By the values of i."""
    return [evaluate(formula, bytes([i])) for i in range(count)]


def test_which_constants_a_read_is_of_the_image_says() -> None:
    path = follow(b"\2", Stream().head(20, 1).varint(0).head(30), READ)
    (within,) = path.conditions
    assert values(within.formula, 8) == [1] * 6 + [0] * 2
    assert within.chosen is not None
    assert (within.chosen.base, within.chosen.size, within.loose) == (SQUARES, 6, False)
    assert (within.site, within.chain, within.direction, within.elsewhere) == (20, -1, 1, ())
    assert values(path.pins[0].value, 6) == [0, 1, 4, 9, 16, 25]
    assert not path.notes


def test_of_constants_with_a_size_the_target_says_where() -> None:
    path = follow(b"\2", Stream().head(21, 1).address(SQUARES).head(30), DECLARED)
    (within,) = path.conditions
    assert (within.chosen, values(within.formula, 8)) == (None, [1] * 6 + [0] * 2)
    assert values(path.pins[0].value, 6) == [0, 1, 4, 9, 16, 25]


def test_of_what_is_declared_constant_the_first_content_counts() -> None:
    """Also if it lies where a program can write. Of what the host finds itself, only what nobody can write."""

    class Begins(Image):
        def initial(self, address: int, size: int) -> bytes | None:
            return bytes([7] * size)

        def read(self, address: int, size: int) -> bytes | None:
            return bytes([8] * size)

    image = Begins({SQUARES: bytes(6)})
    for site, sent, found in (
        (DECLARED, Stream().head(21, 1).address(SQUARES).head(30), 7),
        (READ, Stream().head(20, 1).varint(0).head(30), 8),
    ):
        test = condition(31, compare(Op.EQ, slot(2, 8), found))
        path = follow(b"\2", sent.head(31, 1), site, test, image=image)
        assert not path.diverged


def test_a_read_through_a_table_of_pointers_follows_each() -> None:
    sent = Stream().head(22, 1).address(NAMES).head(23, 1).varint(0).head(30)
    path = follow(b"\1", sent, NAME, SECOND)
    _, constant = path.conditions
    # The third pointer is null and the fourth leads to no constant.
    assert values(constant.formula, 4) == [1, 1, 0, 0]
    assert constant.chosen is not None
    assert (constant.chosen.base, constant.chosen.size, constant.loose) == (0, 0, False)
    assert values(constant.chosen.inside(0, 0), 4) == [1, 1, 0, 0]
    assert values(path.pins[-1].value, 2) == [ord("b"), ord("x")]
    assert not path.notes


def rows_read(index: Expr, pointers: bytes, image: Image) -> tuple[Expr, Expr] | None:
    """`rows[i][…]`: what follows an entry of the table that byte 0 chooses from."""
    entry = reads.select(build.zext(build.binary(Kind.MUL, build.byte(0), build.const(4, 8)), 32), pointers, 4, None)
    assert entry is not None
    return reads.follow(build.binary(Kind.ADD, entry, index), 1, lambda at: image.read(at, 1))


def test_a_read_at_an_index_from_a_table_of_pointers_is_a_formula_of_both() -> None:
    """No place is an object of its own: `rows[i][j]` has the values that it has in C."""
    index = build.zext(build.binary(Kind.AND, build.byte(1), build.const(3, 8)), 32)
    found = rows_read(build.binary(Kind.ADD, index, build.const(1, 32)), POINTERS, IMAGE)
    assert found is not None
    there, value = found
    for i in range(4):
        for j in range(8):
            data = bytes([i, j])
            at = int.from_bytes(POINTERS[4 * i :][:4], "little") + (j & 3) + 1
            expected = IMAGE.read(at, 1) if i != 2 else None
            assert evaluate(there, data) == (expected is not None), (i, j)
            assert expected is None or evaluate(value, data) == expected[0], (i, j)


def test_an_index_with_more_values_than_a_table_has_entries_is_not_followed() -> None:
    known = POINTERS[:8] * 2
    assert rows_read(build.zext(build.byte(1), 32), known, IMAGE) is not None
    assert rows_read(build.zext(build.concat(build.byte(1), build.byte(2)), 32), known, IMAGE) is None


def test_an_index_that_is_a_table_itself_is_no_pointer() -> None:
    small = reads.select(build.zext(build.byte(1), 32), bytes([2, 0, 1, 1]), 1, None)
    assert small is not None
    found = rows_read(build.zext(small, 32), POINTERS[:8] * 2, IMAGE)
    assert found is not None
    assert [evaluate(found[1], bytes([i, j])) for i in range(2) for j in range(4)] == list(b"\0abbywxx")
    assert all(evaluate(found[0], bytes([i, j])) for i in range(2) for j in range(4))


def test_any_object_may_be_left_out_of_what_an_address_is_in() -> None:
    path = follow(b"\2", Stream().head(20, 1).varint(0), READ)
    (within,) = path.conditions
    assert within.chosen is not None
    assert values(within.chosen.inside(SQUARES, 2), 4) == [1, 1, 0, 0]
    assert values(within.chosen.inside(SQUARES + 2, 4), 4) == [0, 0, 1, 1]
    assert values(within.chosen.inside(0, 0), 4) == [0] * 4  # it is no entry of a table


@pytest.mark.parametrize(
    ("image", "data"),
    [
        (Image({}, {SQUARES: bytes([0, 1, 4, 9])}), b"\2"),  # nobody knows its name
        (Image({SQUARES + 1: b"\1", SQUARES + 2: b"\4"}), b"\2"),
    ],
)
def test_what_has_no_name_is_the_element_alone(image: Image, data: bytes) -> None:
    site = select(20, slot(2, 8), place(SQUARES, 1))
    sent = Stream().head(20, 1).varint(0).head(30)
    (each,) = follow(data, sent, site, image=image).conditions  # of few values each is an object
    assert (each.loose, each.chosen and (each.chosen.base, each.chosen.size)) == (False, (SQUARES + 2, 1))
    path = follow(data, sent, site, image=image, values=0)
    (within,) = path.conditions
    assert values(within.formula, 4) == [0, 0, 1, 0]
    is_known = image.object_at(SQUARES + 2) is not None
    assert within.loose is not is_known
    assert [p.site for p in path.pins] == ([] if is_known else [20])
    assert path.notes == ({} if is_known else {("symbolic address", 20): 1})


def test_an_element_that_reaches_beyond_its_object_is_alone() -> None:
    wide = select(20, slot(2, 16), place(SQUARES, 1))
    image = Image({SQUARES: b"\1\2\3"}, {SQUARES + 2: b"\3\4"})
    path = follow(b"\2", Stream().head(20, 1).varint(0), wide, image=image, values=0)
    assert values(path.conditions[0].formula, 4) == [0, 0, 1, 0]
    assert path.notes == {("symbolic address", 20): 1}


def test_a_table_too_large_for_a_formula_is_read_where_the_run_reads_it() -> None:
    wide = symbolic(17, slot(1, 32), 4, "i")
    index = (leaf_step(0, 32), Step(Op.CONST, 32, SQUARES), Step(Op.ADD, 32))
    site = select(20, slot(2, 8), Template((slot(1, 32),), index), size=140_000, flags=SelectFlag.CONSTANT)
    content = bytes(i % 251 for i in range(140_000))
    trail = Trail(
        table(wide, SEEN, site, condition(31, compare(Op.EQ, slot(2, 8), 21))), constants=Image({SQUARES: content})
    )
    sent = Stream().head(17).head(20, 1).address(SQUARES).head(31, 1)
    trail.follow(bytes(sent), (523).to_bytes(4, "little"))
    assert not trail.diverged
    within, concrete = trail.conditions
    assert evaluate(within.formula, (139_999).to_bytes(4, "little")) == 1
    assert evaluate(within.formula, (140_000).to_bytes(4, "little")) == 0
    assert concrete.concrete
    assert trail.notes == {("symbolic address", 20): 1}
    assert [evaluate(p.formula, n.to_bytes(4, "little")) for p in trail.pins for n in (522, 523)] == [0, 1]


@pytest.mark.parametrize("holds", [True, False])
def test_an_entry_that_the_path_knows_is_a_constant_though_its_index_is_not(holds: bool) -> None:
    """Classes of characters: several have the one that the path asked for."""
    kinds = Image({SQUARES: bytes([0, 4, 9, 4, 0, 4])})
    is_four = condition(31, compare(Op.EQ, slot(2, 8), 4))
    sent = Stream().head(21, 1).address(SQUARES).head(31, int(holds)).head(30)
    path = follow(b"\1" if holds else b"\2", sent, DECLARED, is_four, image=kinds)
    assert len(path.conditions) == 2
    assert bool(path.pins) is not holds


@pytest.mark.parametrize("compared", [compare(Op.EQ, slot(2, 8), 0), compare(Op.ULT, slot(2, 8), 1)])
@pytest.mark.parametrize("holds", [True, False])
def test_what_is_compared_is_a_constant_where_one_value_is_left(compared: Template, holds: bool) -> None:
    """`(given + 255) >> 8` that is not 0 is 1 for 255 values of `given`: what a harness's pointer is made of."""
    step = (leaf_step(0, 8), Step(Op.ZEXT, 32), Step(Op.CONST, 32, 255), Step(Op.ADD, 32), Step(Op.CONST, 32, 8))
    given = Template((slot(1, 8),), (*step, Step(Op.LSHR, 32), Step(Op.TRUNC, 8)))
    made = assign(32, slot(2, 8), given)
    sent = Stream().head(32).head(31, int(holds)).head(30)
    path = follow(b"\0" if holds else b"\7", sent, made, condition(31, compared))
    assert len(path.conditions) == 1
    assert path.pins == []


def test_no_object_at_all_forks_on_an_address_of_few_values() -> None:
    path = follow(b"\2", Stream().head(20, 0), READ)
    (fork,) = path.conditions
    assert (fork.is_fork, fork.counted, path.counted, fork.after) == (True, 0, 0, fork.before)
    assert values(fork.formula, 4) == [0, 0, 1, 0]
    assert not path.pins
    assert not path.notes


def test_no_object_at_all_pins_the_address_of_many() -> None:
    path = follow(b"\2", Stream().head(20, 0), READ, values=255)
    assert not path.conditions
    assert values(path.pins[0].formula, 4) == [0, 0, 1, 0]
    assert path.notes == {("symbolic address", 20): 1}


@pytest.mark.parametrize("size", [0, 4])
def test_an_address_from_opaque_code_is_noted(size: int) -> None:
    """It is the same in every run, as far as anybody knows: nothing is pinned."""
    opaque = Site(40, SiteKind.OPAQUE, "a.c", 40, "main", "f", dest=slot(1, 8))
    site = select(20, slot(2, 8), place(SQUARES, 1), size=size)
    sent = Stream().head(40).signed(2).head(20, 0)
    path = follow(b"\2", sent.address(SQUARES + 8) if size else sent, opaque, site)
    assert path.notes[("opaque result in an address", 20)] == 1
    assert not path.pins


def test_so_it_is_where_it_is_in_an_object() -> None:
    opaque = Site(40, SiteKind.OPAQUE, "a.c", 40, "main", "f", dest=slot(1, 8))
    path = follow(b"\2", Stream().head(40).signed(2).head(21, 1).address(SQUARES).head(30), opaque, DECLARED)
    assert path.notes[("opaque result in an address", 21)] == 1


def test_formulas_of_the_same_read_are_made_once() -> None:
    """Runs read the same tables again and again: the second run's conditions are the first one's objects."""
    trail = Trail(table(I, SEEN, READ), constants=IMAGE)
    sent = bytes(Stream().head(16).head(20, 1).varint(0).head(30))
    found: list[Condition] = []
    for data in (b"\2", b"\3"):
        trail.rewind(b"", b"", 0)
        trail.follow(sent, data)
        found += trail.conditions
    assert found[0].formula is found[1].formula


def damaged(site: Site, stream: Stream) -> str:
    with pytest.raises(TraceError) as caught:
        follow(b"\2", stream, site)
    return str(caught.value)


def test_what_no_probe_sends_is_refused() -> None:
    small = select(20, slot(2, 16), place(SQUARES, 1), size=1, flags=SelectFlag.CONSTANT)
    assert "site 20 reads more than its object has" in damaged(small, Stream().head(20, 1).address(SQUARES))
    unknown = Stream().head(21, 1).address(0x9999)
    assert "reads a constant at 0x9999, where the image has none" in damaged(DECLARED, unknown)
    variable = Stream().head(20, 1).varint(1 << 1).address(SQUARES).raw(b"\0\0\0")
    assert "reads more than its object has" in damaged(select(20, slot(2, 16), place(SQUARES, 1)), variable)
    never = Stream().head(20, 1).varint(4 << 1).address(SQUARES).raw(b"\1\0")
    assert f"the object at {SQUARES:#x} was never sent" in damaged(READ, never)
    for runs in (b"\1\5", b"\6\1", b"\1\0"):
        beyond = Stream().head(20, 1).varint(4 << 1).address(SQUARES).raw(b"\0abcd" + runs + b"\0")
        assert "a part of an object that it does not have" in damaged(READ, beyond)
    cut = Stream().head(20, 1).varint(4 << 1).address(SQUARES).raw(b"\0ab")
    assert "it ends within an event" in damaged(READ, cut)


def test_a_store_needs_a_stride_or_to_know_that_there_is_none() -> None:
    stored = Template((slot(1, 8), slot(1, 8)), (leaf_step(1, 8), Step(Op.ZEXT, 32)))
    site = Site(24, SiteKind.STORE, "a.c", 24, dest=Leaf(slot(1).place, 8, 0), template=stored)
    sent = Stream().head(24, 1).varint(0b0101).varint(4 << 2)
    assert "store 24 knows no elements" in damaged(site, sent)


def test_a_store_where_nobody_knows_the_object_may_be_in_any_other() -> None:
    stored = Template((slot(1, 8), slot(1, 8)), (leaf_step(1, 8), Step(Op.ZEXT, 32)))
    for stride, told in ((2, 6 << 2), (0, 6 << 2 | 2)):
        site = Site(24, SiteKind.STORE, "a.c", 24, dest=memory(16), stride=stride, template=stored)
        sent = Stream().head(24, 1).varint(0b0101).varint(told).address(2).raw(b"\0abcdef\0")
        (within,) = follow(b"\4", sent, site).conditions
        assert values(within.formula, 10) == [0, 0, 1, 1, 1, 1, 1, 0, 0, 0]
        assert (within.chain, within.elsewhere, within.loose) == (-1, (), False)
        assert within.chosen is not None
        assert (within.chosen.base, within.chosen.size) == (2, 6)
        assert values(within.chosen.inside(4, 3), 10) == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
        known = Site(24, SiteKind.STORE, "a.c", 24, dest=memory(16), size=6, stride=2, template=stored)
        sent = Stream().head(24, 1).varint(0b0101).address(2).raw(b"\0abcdef\0")
        assert follow(b"\4", sent, known).conditions[0].chosen is None


@pytest.mark.parametrize("kind", [SiteKind.SELECT, SiteKind.STORE])
def test_beyond_its_object_an_address_is_used_as_it_is(kind: SiteKind) -> None:
    leaves = (slot(1, 8), slot(1, 8)) if kind is SiteKind.STORE else (slot(1, 8),)
    template = Template(leaves, (leaf_step(len(leaves) - 1, 8), Step(Op.ZEXT, 32)))
    dest = memory(16) if kind is SiteKind.STORE else slot(2, 16)
    site = Site(24, kind, "a.c", 24, dest=dest, size=6, stride=2, template=template)
    sent = Stream().head(24, 0)
    sent = (sent.varint(0b0101) if kind is SiteKind.STORE else sent).address(2)
    _, fork = follow(b"\7", sent, site).conditions
    assert fork.is_fork
    path = follow(b"\7", sent, site, values=0)
    (beyond,) = path.conditions
    assert (beyond.chain, beyond.direction, beyond.elsewhere, beyond.chosen) == (-1, 0, (), None)
    assert values(beyond.formula, 10) == [1, 1, 0, 0, 0, 0, 0, 1, 1, 1]
    assert values(path.pins[0].formula, 10) == [0] * 7 + [1, 0, 0]
    assert path.notes == {("symbolic address outside of its object", 24): 1}


def test_what_is_kept_is_in_the_object_until_it_is_told_anew() -> None:
    """An object's bytes are sent once; what lies there is read with the bytes that were sent last."""
    first = Stream().head(20, 1).varint(4 << 1).address(2).raw(b"\0\x07\x08\x09\x0a\0").head(30)
    second = first.head(20, 1).varint(4 << 1).address(2).raw(b"\1\0").head(30)
    third = second.head(20, 1).varint(4 << 1).address(2).raw(b"\0\x11\x12\x13\x14\0").head(30)
    site = select(20, slot(2, 8), place(0, 1))
    path = follow(b"\3", third.head(20, 1).varint(4 << 1).address(2).raw(b"\1\0").head(30), site)
    read = [[evaluate(p.value, bytes([i])) for i in (2, 3, 4, 5)] for p in path.pins]
    assert read == [[7, 8, 9, 10]] * 2 + [[0x11, 0x12, 0x13, 0x14]] * 2


def test_a_copy_of_what_was_read_is_that_formula() -> None:
    copy = assign(31, slot(2, 8), copy_template(slot(2, 8)))
    path = follow(b"\2", Stream().head(20, 1).varint(0).head(31).head(30), READ, copy)
    assert values(path.pins[0].value, 6) == [0, 1, 4, 9, 16, 25]


@pytest.mark.parametrize("site", [READ, DECLARED])
def test_without_an_image_there_are_no_constants(site: Site) -> None:
    sent = Stream().head(16).head(site.id, 1)
    sent = sent.address(SQUARES) if site.size else sent.varint(0)
    with pytest.raises(TraceError, match="where the image has none"):
        Trail(table(I, site)).follow(bytes(sent), b"\2")


def test_what_is_remembered_of_tables_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trails, "KEPT", 2)
    bases = [0x6000 + 16 * n for n in range(5)]
    image = Image(
        {
            **{base: bytes(range(n, n + 8)) for n, base in enumerate(bases)},
            AB: b"ab\0",
            WXYZ: b"wxyz\0",
            NAMES: POINTERS,
        }
    )
    sites = [select(50 + n, slot(2, 8), place(base, 1)) for n, base in enumerate(bases)]
    pointed = [
        select(60 + n, slot(2, 8), Template((slot(3),), (leaf_step(0, 32), Step(Op.CONST, 32, n), Step(Op.ADD, 32))))
        for n in range(2)
    ]
    sent = Stream().head(22, 1).address(NAMES)
    for _ in range(2):
        for site in (*sites, *pointed):
            sent.head(site.id, 1).varint(0).head(30)
    trail = Trail(table(I, SEEN, NAME, *sites, *pointed), constants=image)
    trail.follow(bytes(Stream().head(16)) + bytes(sent), b"\0")
    expected = [*range(5), ord("a"), ord("b")]
    assert [evaluate(p.value, b"\0") for p in trail.pins] == expected * 2
    assert 0 < trail.remembered <= 2


@pytest.mark.parametrize("last", [2**64 - 1, 2**64, 2**63])
def test_no_offset_is_beyond_an_object_of_unknown_end(last: int) -> None:
    """Of a pointer whose object's end nobody knows, the room is a number of 64 bits without a sign."""
    offset = build.zext(build.byte(0), 64)
    assert reads.within(offset, last) is build.TRUE
    assert reads.within(offset, 255) is build.TRUE
    assert reads.within(offset, 254) is not build.TRUE
