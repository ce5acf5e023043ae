"""The site table: what each probe means.

The front-end emits every site as C initialisers into sections that are linked but never loaded, so that the
board's own compiler computes sizes, offsets and addresses; `image/site_reader.py` turns those words back into values.
The format is specified in docs/design/probes.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from msgspec import Struct, structs

from score_embed.contract.coverage import Decision, Stretch

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


class Leaf(Struct, frozen=True):
    """An operand of a template, or a destination: `where` is a slot index, or a global's address."""

    place: Place
    bits: int
    where: int


class Step(Struct, frozen=True):
    """One postfix step: `bits` is the result's width (the operands' for comparisons), `value` a constant or leaf
    index."""

    op: Op
    bits: int
    value: int = 0


class Template(Struct, frozen=True):
    """`floats`: it has operators of floating point."""

    leaves: tuple[Leaf, ...]
    steps: tuple[Step, ...]
    floats: bool = False

    def __post_init__(self) -> None:
        structs.force_setattr(self, "floats", any(step.op >= Op.FADD for step in self.steps))


class Site(Struct, frozen=True):
    """One probe's meaning and place in the source. Fields that a kind does not have keep their defaults."""

    id: int
    kind: SiteKind
    file: str = ""
    line: int = 0
    function: str = ""
    name: str = ""
    dest: Leaf | None = None
    template: Template | None = None
    origin: Template | None = None  # bounds, span: what the pointer was made from
    leaves: tuple[Leaf, ...] = ()  # call: the arguments; switch: the one controlling leaf
    labels: tuple[tuple[int, int], ...] = ()  # switch: (first, last) value of each label, unsigned, `bits` wide
    coverage: int = 0  # cond: direction d has index coverage + d; switch: arm k has coverage + k; mark: its own
    flags: int = 0  # cond: CondFlag; opaque: OpaqueFlag; symbolic: InputFlag; select: SelectFlag
    # symbolic: bytes; enter: number of scalar parameters; constant: its value; select, store: bytes of the object, 0 =
    # not known; bounds: of the access
    size: int = 0
    stride: int = 0  # store: bytes from one element to the next, 0 = not known
    is_assumption: bool = False

    def __post_init__(self) -> None:
        assumption = self.kind is SiteKind.COND and bool(self.flags & CondFlag.ASSUMPTION)
        structs.force_setattr(self, "is_assumption", assumption)

    @property
    def is_branch(self) -> bool:
        return self.kind in (SiteKind.COND, SiteKind.SWITCH)

    @property
    def outcomes(self) -> int:
        """Number of coverage directions: 2 of a condition, labels + 1 of a switch."""
        if self.kind is SiteKind.COND:
            return 2
        return len(self.labels) + 1 if self.kind is SiteKind.SWITCH else 0


class SiteTable(Struct, frozen=True):
    """All sites of an image by id."""

    pointer_bits: int
    sites: Mapping[int, Site]
    decisions: tuple[Decision, ...] = ()  # those of several conditions
    stretches: tuple[Stretch, ...] = ()  # of the statements, if they were to be told

    def __getitem__(self, site: int) -> Site:
        return self.sites[site]

    def branches(self) -> Iterator[Site]:
        return (s for s in self.sites.values() if s.is_branch)
