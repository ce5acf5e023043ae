"""The site table: what each probe means, read back from the image.

The front-end emits every site as C initialisers into sections that are linked but never loaded, so that the
board's own compiler computes sizes, offsets and addresses; this module turns those words back into values.
The format is specified in docs/design/probes.md. No I/O here: sections come in as bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from score_embed.contract.coverage import Condition, Decision, Stretch, decision, stretch

MAGIC = 0x5C0E
FIRST_SITE = 16
MAIN = "sc_main"  # what `main` is called in an image
PROGRAM_MAIN = "__score_main"  # and the program's, where one of ours calls it; those of others have a number behind it
MODEL = "sc_libc_"  # so the names of models of the C library begin there
OWN = "sc_own_"  # so those of the program's that would be ours or the C library's, too


def is_main(name: str) -> bool:
    """Whether it is the `main` of an image, or of the user's."""
    return name == MAIN or name.startswith(PROGRAM_MAIN)


def shown(name: str) -> str:
    """The name of a function as the user knows it."""
    return "main" if is_main(name) else name.removeprefix(MODEL).removeprefix(OWN)


class SiteKind(IntEnum):
    ASSIGN = 1
    COND = 2
    SWITCH = 3
    CALL = 4
    RESULT = 5
    OPAQUE = 6
    COPY = 7
    PIN = 8
    ENTER = 9
    SYMBOLIC = 10
    SELECT = 11
    CHECK = 12
    RANGE = 13
    BOUNDS = 14
    STORE = 15
    VARIADIC = 16
    SPAN = 17
    SIZED = 18
    CONSTANT = 19  # a condition of a decision that the compiler decides: it has no probe
    MARK = 20  # tells that a test came by, where no branch does


# Flags of sites. They are looked at while events are decoded, and `&` of an IntFlag takes half a microsecond.


class CondFlag(IntEnum):
    ASSUMPTION = 1  # its false side is nobody's goal


class OpaqueFlag(IntEnum):
    HARMLESS = 1  # it writes nothing of the program


class InputFlag(IntEnum):
    """Of a symbolic object that is a number, or a text."""

    SIGNED = 1
    BOOLEAN = 2
    FLOAT = 4
    TEXT = 8


class SelectFlag(IntEnum):
    CONSTANT = 1  # its object is as the image has it


class Place(IntEnum):
    """Where a leaf or a destination lives."""

    SLOT = 0
    MEMORY = 1
    GLOBAL = 2
    NONE = 3


class Op(IntEnum):
    """Operators of a template, in postfix order."""

    LEAF = 1
    CONST = 2
    ADD = 3
    SUB = 4
    MUL = 5
    UDIV = 6
    SDIV = 7
    UREM = 8
    SREM = 9
    AND = 10
    OR = 11
    XOR = 12
    SHL = 13
    LSHR = 14
    ASHR = 15
    NOT = 16
    NEG = 17
    ZEXT = 18
    SEXT = 19
    TRUNC = 20
    EQ = 21
    NE = 22
    ULT = 23
    ULE = 24
    SLT = 25
    SLE = 26
    ADDRESS = 27  # a link-time address in one word; readers see it as CONST
    FADD = 28  # floating-point numbers of 32 or 64 bits, as their patterns
    FSUB = 29
    FMUL = 30
    FDIV = 31
    FNEG = 32
    FABS = 33
    FSQRT = 34
    FFLOOR = 35
    FCEIL = 36
    FTRUNC = 37
    FCONV = 38  # to another width
    SITOF = 39
    UITOF = 40
    FTOSI = 41
    FTOUI = 42
    FEQ = 43
    FLT = 44
    FLE = 45


@dataclass(frozen=True, slots=True)
class Leaf:
    """An operand of a template, or a destination: `where` is a slot index, or a global's address."""

    place: Place
    bits: int
    where: int


@dataclass(frozen=True, slots=True)
class Step:
    """One postfix step: `bits` is the result's width (the operands' for comparisons), `value` a constant or leaf
    index."""

    op: Op
    bits: int
    value: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """`floats`: it has operators of floating point."""

    leaves: tuple[Leaf, ...]
    steps: tuple[Step, ...]
    floats: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "floats", any(step.op >= Op.FADD for step in self.steps))


@dataclass(frozen=True, slots=True)
class Site:
    """One probe's meaning and place in the source. Fields that a kind does not have keep their defaults."""

    id: int
    kind: SiteKind
    file: str = ""
    line: int = 0
    function: str = ""
    name: str = ""
    dest: Leaf | None = None
    template: Template | None = None
    leaves: tuple[Leaf, ...] = ()  # call: the arguments; switch: the one controlling leaf
    labels: tuple[tuple[int, int], ...] = ()  # switch: (first, last) value of each label, unsigned, `bits` wide
    coverage: int = 0  # cond: direction d has index coverage + d; switch: arm k has coverage + k; mark: its own
    flags: int = 0  # cond: CondFlag; opaque: OpaqueFlag; symbolic: InputFlag; select: SelectFlag
    # symbolic: bytes; enter: number of scalar parameters; constant: its value; select, store: bytes of the object, 0 =
    # not known; bounds: of the access
    size: int = 0
    stride: int = 0  # store: bytes from one element to the next, 0 = not known
    is_assumption: bool = field(init=False)

    def __post_init__(self) -> None:
        assumption = self.kind is SiteKind.COND and bool(self.flags & CondFlag.ASSUMPTION)
        object.__setattr__(self, "is_assumption", assumption)

    @property
    def is_branch(self) -> bool:
        return self.kind in (SiteKind.COND, SiteKind.SWITCH)

    @property
    def outcomes(self) -> int:
        """Number of coverage directions: 2 of a condition, labels + 1 of a switch."""
        if self.kind is SiteKind.COND:
            return 2
        return len(self.labels) + 1 if self.kind is SiteKind.SWITCH else 0


@dataclass(frozen=True)
class SiteTable:
    """All sites of an image by id."""

    pointer_bits: int
    sites: Mapping[int, Site]
    decisions: tuple[Decision, ...] = ()  # those of several conditions
    stretches: tuple[Stretch, ...] = ()  # of the statements, if they were to be told

    def __getitem__(self, site: int) -> Site:
        return self.sites[site]

    def branches(self) -> Iterator[Site]:
        return (s for s in self.sites.values() if s.is_branch)


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
        decisions = tuple(_parse_decision(row, sites) for row in decided if _is_there(row, sites))
    except (ValueError, KeyError, IndexError, TypeError) as error:
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


def _parse_meta(meta: bytes) -> tuple[dict[int, tuple[str, int, str, str]], list[Any], list[tuple[int, Stretch]]]:
    """The places of sites; the decisions: file, line, function, tree, conditions; and stretches, each with the `enter`
    site of its function."""
    places: dict[int, tuple[str, int, str, str]] = {}
    decisions: list[Any] = []
    stretches: list[tuple[int, Stretch]] = []
    for text in meta.split(b"\0"):
        if not text:
            continue
        try:
            unit = json.loads(text)
            for ident, file, line, function, name in unit.get("sites", ()):
                places[ident] = (unit["files"][file], line, unit["functions"][function], name)
            for file, line, function, tree, conditions in unit.get("decisions", ()):
                decisions.append((unit["files"][file], line, unit["functions"][function], tree, conditions))
            for enter, function, *row in unit.get("statements", ()):
                stretches.append((enter, stretch(unit["functions"][function], unit["files"], row)))
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise SiteTableError(f"the section .sc_meta is damaged: {error}") from error
    return places, decisions, stretches


def _is_there(row: Any, sites: Mapping[int, Site]) -> bool:
    """A function that nobody calls is left out by the compiler, with its sites; the text of its decisions stays."""
    idents = [ident for ident, *_ in row[-1] if ident]
    return not idents or any(ident in sites for ident in idents)


def _parse_decision(row: Any, sites: Mapping[int, Site]) -> Decision:
    file, line, function, tree, conditions = row
    return decision(
        file, line, function, tree, [_parse_condition(at, text, value, sites) for at, text, value in conditions]
    )


def _parse_condition(ident: int, text: str, literal: bool | None, sites: Mapping[int, Site]) -> Condition:
    site = sites[ident] if ident else None
    if site is not None and site.kind is SiteKind.CONSTANT:
        literal = bool(site.size)
    return Condition(ident, text, literal)


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
            return replace(head, size=reader.next(), template=_parse_template(reader))
        case SiteKind.PIN | SiteKind.CHECK | SiteKind.RANGE | SiteKind.SPAN | SiteKind.SIZED:
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
