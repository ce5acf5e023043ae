"""The site table of an image, read back from its sections `.sc_sites` and `.sc_meta` (docs/design/probes.md).

No I/O here: sections come in as bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from score_embed.contract.coverage import Condition, Decision, Stretch, decision, stretch
from score_embed.contract.meta import ConditionRow, DecisionRow, UnitText, read
from score_embed.contract.sites import FIRST_SITE, MAGIC, Leaf, Op, Place, Site, SiteKind, SiteTable, Step, Template


class SiteTableError(ValueError):
    """The sections do not hold a site table: the image was built by another tool version, or is damaged."""


def parse_site_table(words: bytes, meta: bytes, pointer_bits: int) -> SiteTable:
    """Read `.sc_sites` and `.sc_meta` (little endian, `pointer_bits` a word). Raises SiteTableError."""
    places, decided, stated = _parse_meta(meta)
    sites: dict[int, Site] = {}
    reader = _Words(words, pointer_bits // 8)
    while not reader.done():
        site = _parse_site(reader, places)
        if site.id in sites or site.id < FIRST_SITE:
            raise SiteTableError(f"site {site.id} is defined twice or reserved")
        sites[site.id] = site
    try:
        decisions = tuple(_decision(said, sites) for said in decided if _is_there(said.row, sites))
    except (ValueError, LookupError) as error:
        raise SiteTableError(f"the decisions in the section .sc_meta are damaged: {error}") from error
    stretches = tuple(row for enter, row in stated if enter in sites)  # else the compiler left the function out
    return SiteTable(pointer_bits, sites, decisions, stretches)


class _Words:
    """A cursor over the section's words."""

    def __init__(self, data: bytes, size: int) -> None:
        if len(data) % size:
            raise SiteTableError("the section's length is not a multiple of the word size")
        self._data, self._size, self._at = data, size, 0

    def done(self) -> bool:
        self._skip_padding()
        return self._at >= len(self._data)

    def _skip_padding(self) -> None:
        while self._data[self._at : self._at + self._size] == bytes(self._size):
            self._at += self._size

    def next(self) -> int:
        word = self._data[self._at : self._at + self._size]
        if len(word) < self._size:
            raise SiteTableError("the section ends in the middle of a site")
        self._at += self._size
        return int.from_bytes(word, "little")

    @property
    def per_long(self) -> int:
        """How many words hold a number of 64 bits: two halves, or four words of 16 bits."""
        return 4 if self._size == 2 else 2

    def long(self) -> int:
        bits = 64 // self.per_long
        return sum((self.next() & ((1 << bits) - 1)) << bits * i for i in range(self.per_long))


class _Said(NamedTuple):
    """A decision, with the text that names its file and function."""

    unit: UnitText
    row: DecisionRow


def _parse_meta(meta: bytes) -> tuple[dict[int, tuple[str, int, str, str]], list[_Said], list[tuple[int, Stretch]]]:
    """The places of sites, the decisions, and stretches, each with the `enter` site of its function."""
    places: dict[int, tuple[str, int, str, str]] = {}
    decisions: list[_Said] = []
    stretches: list[tuple[int, Stretch]] = []
    for text in meta.split(b"\0"):
        if not text:
            continue
        try:
            unit = read(text)
            for site in unit.sites:
                places[site.site] = (unit.files[site.file], site.line, unit.functions[site.function], site.name)
            decisions += [_Said(unit, row) for row in unit.decisions]
            stretches += [(row.enter, stretch(row, unit.files, unit.functions)) for row in unit.statements]
        except (ValueError, IndexError) as error:
            raise SiteTableError(f"the section .sc_meta is damaged: {error}") from error
    return places, decisions, stretches


def _is_there(row: DecisionRow, sites: Mapping[int, Site]) -> bool:
    """A function that nobody calls is left out by the compiler, with its sites; the text of its decisions stays."""
    idents = [condition.site for condition in row.conditions if condition.site]
    return not idents or any(ident in sites for ident in idents)


def _decision(said: _Said, sites: Mapping[int, Site]) -> Decision:
    unit, row = said
    conditions = [_condition(one, sites) for one in row.conditions]
    return decision(unit.files[row.file], row.line, unit.functions[row.function], row.postfix, conditions)


def _condition(row: ConditionRow, sites: Mapping[int, Site]) -> Condition:
    site = sites[row.site] if row.site else None
    constant = bool(site.size) if site is not None and site.kind is SiteKind.CONSTANT else row.literal
    return Condition(row.site, row.text, constant)


def _parse_site(reader: _Words, places: Mapping[int, tuple[str, int, str, str]]) -> Site:
    if reader.next() != MAGIC:
        raise SiteTableError("a site does not begin with its magic number")
    ident = reader.next()
    try:
        kind = SiteKind(reader.next())
        reader.next()  # number of body words: for readers that skip
        file, line, function, name = places.get(ident, ("", 0, "", ""))
        return _parse_body(reader, Site(ident, kind, file, line, function, name))
    except ValueError as error:
        raise SiteTableError(f"site {ident}: {error}") from error


def _parse_body(reader: _Words, head: Site) -> Site:
    match head.kind:
        case SiteKind.ASSIGN:
            dest = _parse_leaf(reader)
            return replace(head, dest=dest, template=_parse_template(reader))
        case SiteKind.COND:
            coverage, flags = reader.next(), reader.next()
            return replace(head, coverage=coverage, flags=flags, template=_parse_template(reader))
        case SiteKind.SWITCH:
            coverage, _bits = reader.next(), reader.next()
            leaf = _parse_leaf(reader)
            labels = tuple((reader.long(), reader.long()) for _ in range(reader.next()))
            mask = (1 << leaf.bits) - 1
            return replace(
                head, coverage=coverage, leaves=(leaf,), labels=tuple((a & mask, b & mask) for a, b in labels)
            )
        case SiteKind.CALL:
            return replace(head, leaves=tuple(_parse_leaf(reader) for _ in range(reader.next())))
        case SiteKind.RESULT:
            return replace(head, dest=_parse_leaf(reader))
        case SiteKind.OPAQUE:
            dest = _parse_leaf(reader)
            return replace(head, dest=dest, flags=reader.next())
        case SiteKind.COPY | SiteKind.VARIADIC:
            return head
        case SiteKind.STORE:
            dest = _parse_leaf(reader)
            size, stride = reader.next(), reader.next()
            return replace(head, dest=dest, size=size, stride=stride, template=_parse_template(reader))
        case SiteKind.BOUNDS:
            return _parse_bounds(reader, replace(head, size=reader.next()))
        case SiteKind.SPAN:
            return _parse_bounds(reader, head)
        case SiteKind.PIN | SiteKind.CHECK | SiteKind.RANGE | SiteKind.SIZED:
            return replace(head, template=_parse_template(reader))
        case SiteKind.ENTER | SiteKind.CONSTANT:
            return replace(head, size=reader.next())
        case SiteKind.MARK:
            return replace(head, coverage=reader.next())
        case SiteKind.SELECT:
            dest = _parse_leaf(reader)
            size, flags = reader.next(), reader.next()
            return replace(head, dest=dest, size=size, flags=flags, template=_parse_template(reader))
        case SiteKind.SYMBOLIC:
            dest = _parse_leaf(reader)
            return replace(head, dest=dest, size=reader.next(), flags=reader.next())


def _parse_bounds(reader: _Words, head: Site) -> Site:
    template = _parse_template(reader)
    return replace(head, template=template, origin=_parse_template(reader))


def _parse_leaf(reader: _Words) -> Leaf:
    return Leaf(Place(reader.next()), reader.next(), reader.next())


def _parse_template(reader: _Words) -> Template:
    leaves = tuple(_parse_leaf(reader) for _ in range(reader.next()))
    count = reader.next()
    steps: list[Step] = []
    while count > 0:
        word = reader.next()
        count -= 1
        op, bits = Op(word & 0xFF), word >> 8 & 0xFFFF
        value = 0
        if op is Op.CONST:
            value = reader.long() & ((1 << bits) - 1)
            count -= reader.per_long
        elif op is Op.ADDRESS:
            op, value = Op.CONST, reader.next()
            count -= 1
        elif op is Op.LEAF:
            value = reader.next()
            count -= 1
        steps.append(Step(op, bits, value))
    return Template(leaves, tuple(steps))
