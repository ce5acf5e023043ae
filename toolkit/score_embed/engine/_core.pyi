"""What Python may call of the engine (toolkit/engine/src/module.cpp, tracing.cpp): formulas, and the trail.

Formulas are bit vectors over the bytes of a test's input; floating-point numbers are bit vectors, too: their patterns.
Equal formulas are one object (as long as someone holds it), so comparing, caching and sharing are by identity. A constant
may carry *origins*: the opaque calls whose concrete result it is. Such a constant computes like any other, but everything
derived from it remembers that it is true of this run only. Semantics are those of SMT-LIB's QF_BV, division by zero and
over-wide shifts included. A formula has 1 to 128 bits. What cannot be (widths that do not fit, bits that are not there) is
a ValueError, an input byte that the data does not have an IndexError.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, final

from score_embed.contract.sites import SiteTable
from score_embed.errors import ScoreError
from score_embed.trace.concrete import Forks
from score_embed.trace.path import Chosen as Choice
from score_embed.trace.path import Disagreement, Pin, SymbolicObject
from score_embed.trace.trail import Constants, Follower

SOURCES: str  # the hash of the sources that this was built from
WIDEST: int  # bits of a formula
MOST_ENTRIES: int  # of a table that `select` makes
TRUE: Expr
FALSE: Expr

class Kind(IntEnum):
    CONST = 0  # value
    BYTE = 1  # value: index into the input
    ADD = 2
    SUB = 3
    MUL = 4
    UDIV = 5
    SDIV = 6
    UREM = 7
    SREM = 8
    AND = 9
    OR = 10
    XOR = 11
    SHL = 12
    LSHR = 13
    ASHR = 14
    NOT = 15
    NEG = 16
    ZEXT = 17
    SEXT = 18
    EXTRACT = 19  # value: lowest bit
    CONCAT = 20  # high part, low part
    EQ = 21
    ULT = 22
    SLT = 23
    ITE = 24  # condition of one bit, then, else
    TABLE = 25  # an entry of a table of constants (TableRead); value: names the table by its content
    FADD = 26  # from here on: arguments or result are floating-point numbers of 32 or 64 bits
    FSUB = 27
    FMUL = 28
    FDIV = 29
    FNEG = 30
    FABS = 31
    FSQRT = 32
    FROUND = 33  # to a whole number; value: which way
    FCONV = 34  # to another width
    SITOF = 35  # an integer's value
    UITOF = 36
    FTOSI = 37  # to an integer, towards zero
    FTOUI = 38
    FEQ = 39
    FLT = 40
    FLE = 41

class Expr:
    """One formula. Made by the functions below only."""

    @property
    def kind(self) -> Kind: ...
    @property
    def width(self) -> int:
        """Bits."""
    @property
    def args(self) -> tuple[Expr, ...]: ...
    @property
    def value(self) -> int: ...
    @property
    def is_const(self) -> bool: ...
    @property
    def deps(self) -> int:
        """A bit mask of the input bytes that it depends on."""
    @property
    def only_byte(self) -> int:
        """The index of the only input byte that it depends on, else -1."""
    @property
    def origins(self) -> frozenset[int]: ...
    @property
    def floats(self) -> bool:
        """Whether there is a floating-point operator in it."""
    @property
    def products(self) -> bool:
        """Whether there is a product of unknowns, a quotient or a remainder in it."""
    @property
    def chooses(self) -> bool:
        """Whether there is an if-then-else in it, or a shift by an unknown number."""
    @property
    def reads(self) -> bool:
        """Whether there is a table in it."""
    @property
    def uid(self) -> int:
        """A number that no other formula ever had."""
    @property
    def byte_set(self) -> int:
        """What the function of this name found; -1: it was not asked yet."""
    integral: Expr | None  # what solve/integral.py made of it, said once

@final
class TableRead(Expr):
    """The entry of a table at an index: there are as many entries as the index has values, so that any is defined."""

    @property
    def entries(self) -> tuple[int, ...]: ...
    @property
    def largest(self) -> int: ...

# --- the arena -------------------------------------------------------------------------------------------------

def intern(
    kind: Kind, width: int, args: Sequence[Expr] = ..., value: int = ..., origins: frozenset[int] = ...
) -> Expr:
    """The one formula with these parts, not simplified."""

def intern_table(width: int, index: Expr, name: int, entries: Sequence[int]) -> TableRead:
    """The same, of a table. `name` stands for the entries: equal names, equal entries."""

def table_size() -> int:
    """Number of live formulas, for memory tests."""

def columns_kept() -> int:
    """Number of formulas whose values for each value of a byte are remembered, for memory tests."""

def columns_computed() -> int:
    """How many there ever were."""

# --- making ----------------------------------------------------------------------------------------------------

def const(value: int, width: int, origins: frozenset[int] = ...) -> Expr:
    """The value is taken modulo 2 to the power of its width."""

def byte(index: int) -> Expr: ...
def binary(kind: Kind, a: Expr, b: Expr, /) -> Expr:
    """Any operator of two arguments of equal width; comparisons have width 1, CONCAT is `concat`."""

def less_equal(kind: Kind, a: Expr, b: Expr, /) -> Expr:
    """a ≤ b as ¬(b < a); `kind` is ULT or SLT."""

def bit_not(a: Expr, /) -> Expr:
    """Also the boolean not, of a formula of one bit."""

def neg(a: Expr, /) -> Expr: ...
def zext(a: Expr, width: int, /) -> Expr: ...
def sext(a: Expr, width: int, /) -> Expr: ...
def extract(a: Expr, low: int, width: int, /) -> Expr:
    """Bits low … low + width − 1."""

def concat(high: Expr, low: Expr, /) -> Expr: ...
def from_bytes(parts: Sequence[Expr], /) -> Expr:
    """A little-endian value of bytes: the first is the lowest."""

def ite(condition: Expr, then: Expr, otherwise: Expr, /) -> Expr:
    """`then` if the condition holds, else `otherwise`."""

def float_binary(kind: Kind, a: Expr, b: Expr, /) -> Expr:
    """An operator or comparison of two floating-point numbers of equal width."""

def float_unary(kind: Kind, a: Expr, width: int, value: int = 0) -> Expr:
    """An operator or conversion with a result of that many bits."""

def member(value: Expr, first: int, last: int, /) -> Expr:
    """first ≤ value ≤ last, unsigned: a label of a switch."""

# --- values ----------------------------------------------------------------------------------------------------

class Memo:
    """Values of formulas under one input. It holds the formulas."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...

def evaluate(expr: Expr, data: Sequence[int], memo: Memo | None = None) -> int:
    """The value if the input is `data`. `memo` keeps values over calls with the same data."""

def compute(expr: Expr, /, *values: int) -> int:
    """What a formula's operator makes of these values of its arguments."""

def nodes(exprs: Sequence[Expr], /) -> list[Expr]:
    """Every node of the formulas once, arguments before what uses them."""

def bytes_of(mask: int, /) -> list[int]:
    """The input bytes of a dependency mask, in order."""

def changed_bytes(a: bytes, b: bytes, /) -> int:
    """Bit i is set if byte i differs, or only one of them has it."""

def digest(expr: Expr, /) -> bytes:
    """16 bytes that name the formula by its content."""

# --- one byte --------------------------------------------------------------------------------------------------

def byte_set(condition: Expr, /) -> int:
    """Bit v is set iff the condition holds when its only byte is v."""

def table(expr: Expr, /) -> list[int]:
    """The formula's value for each value of its only byte."""

def smallest(values: int, /) -> int:
    """The smallest member of a set that is not empty."""

def members(values: int, /) -> list[int]: ...
def intervals(values: int, /) -> list[tuple[int, int]]:
    """The set as runs of neighbouring values (first, last)."""

# --- two bytes -------------------------------------------------------------------------------------------------

def all_rows(first: int, second: int, /) -> array[int]:
    """Every pair of a value of the first byte's set and one of the second's."""

def rows_within(rows: array[int], first: int, second: int, /) -> array[int]:
    """The rows whose bytes are in these sets."""

def cost(condition: Expr, /) -> int:
    """Operations that `split` does for each row."""

def split(condition: Expr, indices: Sequence[int], rows: array[int], /) -> tuple[array[int], array[int]]:
    """The rows that satisfy the condition, and those that do not. `indices`: the bytes that a row is made of."""

# --- local search ----------------------------------------------------------------------------------------------

def search(
    target: Expr, several: Sequence[Expr], sets: Sequence[tuple[int, int]], data: bytes, most: int
) -> tuple[dict[int, int] | None, int]:
    """Input bytes to change so that `target`, `several` and the bytes' `sets` hold, or None, and how many inputs were
    evaluated: `most` at most, or fewer of large formulas, which count for several. `data` satisfies all but the target."""

# --- symbolic addresses ----------------------------------------------------------------------------------------

def within(offset: Expr, last: int, /) -> Expr:
    """offset ≤ last, if that is not known to be so."""

def select(
    offset: Expr, content: bytes, size: int, cell: Callable[[int], Expr | None] | None = None
) -> Expr | None:
    """The little-endian number of `size` bytes (1 to 16) that lies at `offset` in `content`; None if there are too many
    entries, or they have more than 8 bytes. `cell`: for objects that hold formulas; their bytes in `content` are not looked at."""

def changed(offset: Expr, last: int, place: int, /) -> Expr:
    """That the offset is `place`, where it is known to be no more than `last`."""

def follow(address: Expr, size: int, read: Callable[[int], bytes | None], /) -> tuple[Expr, Expr] | None:
    """A read through a table of pointers to constants (`names[i][0]`): that there is a constant, and its value.

    `read`: the `size` bytes at an address, if they are constants. None: the address is no entry of a table plus a
    constant. A null pointer leads to no constant, whatever lies at 0.
    """

# --- what the path says ----------------------------------------------------------------------------------------

def most_values(expr: Expr, limits: Mapping[Expr, int], /) -> int:
    """No more than so many values; of a formula that is too deep, 2 to the power of its width. `limits`: a dictionary."""

def limit_of(condition: Expr, /) -> tuple[Expr, int] | None:
    """What a condition that holds says of a formula as a whole: its largest value."""

def replaced(expr: Expr, known: Mapping[Expr, Expr], reach: int, /) -> Expr:
    """The formula, or one that is equal to it where each of the `known` (a dictionary) is its constant. `reach`: their
    input bytes."""

class Chosen:
    """Formulas as they are where every choice in them is made as in one run."""

    def __init__(self) -> None: ...
    def take(self, data: bytes, /) -> None:
        """From now on of the run with this input."""
    def of(self, formula: Expr, /) -> tuple[Expr, tuple[Expr, ...]]:
        """The formula without choices, and the conditions under which they are made so."""

# --- floating point --------------------------------------------------------------------------------------------

def pattern_uses(expr: Expr, *, whole: bool = False) -> tuple[Expr, ...]:
    """The results of arithmetic in a formula whose pattern, not only their number, it depends on.

    `whole`: the formula's own value is stored, so that its pattern is not looked at.
    """

def may_be_nan(expr: Expr, /) -> bool:
    """Whether a value may be no number. Without a search: sure are values of one byte, and those that stay small."""

def decode(pattern: int, width: int, /) -> float:
    """The number of a pattern; NaN for all that are none."""

def encode(number: float, width: int, /) -> int:
    """The pattern of a number, rounded if need be."""

def is_nan(pattern: int, width: int, /) -> bool: ...

# --- the trail -------------------------------------------------------------------------------------------------

MAX_DEPTH: int  # of activations
CONTRACT: Mapping[str, Any]  # the numbers and words that contract/ has, too, for a test

def damage_is(error: Callable[[str, str], ScoreError], /) -> None:
    """What is raised of a damaged stream: gets what and where."""

def parts_are(
    chosen: type[Choice], pin: type[Pin], object: type[SymbolicObject], disagreement: type[Disagreement], /
) -> None:
    """The classes of what a path is made of, beside its conditions."""

class Cursor:
    """A position in a stream, with what numbers are relative to: the last address and the current activation. The methods
    raise what `damage_is` says."""

    events: bytes
    def __init__(self, pointer_bits: int, /) -> None: ...
    @property
    def at(self) -> int:
        """Byte to be read next."""
    @property
    def address(self) -> int: ...
    def varint(self) -> int:
        """An unsigned number, LEB128."""
    def signed(self) -> int:
        """A zigzag varint."""
    def take(self, count: int, /) -> bytes:
        """Bytes as they are."""
    def next_address(self) -> int:
        """An address, sent as the difference from the one before."""
    def next_depth(self) -> int:
        """The activation that the following events belong to."""

@final
class Inside:
    """Of what was chosen at a condition."""

    def __call__(self, base: int, size: int, /) -> Expr:
        """That the address is in the object of that base and size, or that the formula has the value `base`."""

@final
class Condition:
    """A tainted branch, or one link of the chain that a tainted switch stands for. A trail makes it once."""

    @property
    def site(self) -> int: ...
    @property
    def chain(self) -> int:
        """A switch's label; -1 for a plain condition."""
    @property
    def direction(self) -> int:
        """Did it hold."""
    @property
    def formula(self) -> Expr:
        """True in this run."""
    @property
    def assumption(self) -> bool: ...
    @property
    def before(self) -> tuple[int, int]:
        """Condition hash of what came before: two lanes."""
    @property
    def after(self) -> tuple[int, int]:
        """And with it."""
    @property
    def elsewhere(self) -> tuple[int, ...]:
        """Coverage indices that only the other side leads to."""
    @property
    def chosen(self) -> Choice | None:
        """Of many objects or values: to be flipped on to the next one."""
    @property
    def is_fork(self) -> bool:
        """The host's own: the target does not count it."""
    @property
    def settled(self) -> bool:
        """Conditions before it leave it no other side."""
    @property
    def forked(self) -> int:
        """Input bytes of the forks before it."""
    @property
    def fixed(self) -> bool:
        """These have a say in what it compares."""
    @property
    def counted(self) -> int:
        """Conditions before it that the target counts, too."""
    @property
    def loose(self) -> bool:
        """The target cannot tell the other side from this one: nothing is derived from a run of that."""
    @property
    def start(self) -> int:
        """Event bytes before its branch: what a run that takes the other side has in common with this one."""
    @property
    def pins(self) -> int:
        """Of the path, that stand before it."""
    @property
    def flippable(self) -> bool:
        """The false side of an assumption is never asked for."""
    @property
    def concrete(self) -> bool:
        """The target took it for symbolic, but its formula depends on no input."""
    def hash(self, flipped: bool = False) -> int:
        """The condition hash up to and including this one, or its other side."""

class Trail:
    """The path of the last run."""

    def __init__(
        self, table: SiteTable, verify: bool, constants: Constants | None, forks: Forks, kept: int
    ) -> None:
        """`kept`: results of each kind that are remembered."""
    def register(self, follower: Follower, /) -> None:
        """From the next run on it follows the path."""
    def follow(
        self, events: bytes, data: bytes, limit: int = 0, visit: Callable[[int, Condition], object] | None = None
    ) -> None:
        """Take over the run with input `data` that sent `events`.

        At most the first `limit` conditions are kept; `visit` gets all others, each with its index before later ones are
        decoded. Raises TraceError if the events make no sense: then the trail is empty.
        """
    def rewind(self, events: bytes, data: bytes, limit: int) -> int:
        """Go back to the last branch event that this run shares; returns the number of conditions kept."""
    def extend(self, visit: Callable[[int, Condition], object] | None) -> None:
        """Decode the rest of the stream. Raises TraceError if it makes no sense: then the trail is empty.

        What `visit` raises ends it: the trail is before the event of the condition that was visited.
        """
    def site_at(self, events: bytes, data: bytes, offset: int) -> int:
        """The site whose event holds this byte of the stream of a run with input `data`."""
    def sound(self, events: bytes, data: bytes) -> int:
        """How many bytes of a stream that breaks off or was damaged are whole events that make sense, from its first on."""
    def condition_hash(self, count: int, /) -> int:
        """The condition hash over the first `count` conditions."""
    def shared(self, count: int, /) -> bytes:
        """The event bytes that a run repeats which goes the way of the first `count` conditions, as far as is sure."""
    @property
    def table(self) -> SiteTable: ...
    @property
    def data(self) -> bytes:
        """The run's input."""
    @property
    def events(self) -> bytes: ...
    @property
    def conditions(self) -> Sequence[Condition]: ...
    @property
    def pins(self) -> Sequence[Pin]: ...
    @property
    def objects(self) -> Sequence[SymbolicObject]: ...
    @property
    def notes(self) -> Mapping[tuple[str, int], int]:
        """(what, site) → how often; they make a campaign's result incomplete."""
    @property
    def disagreements(self) -> Sequence[Disagreement]: ...
    @property
    def diverged(self) -> int:
        """The site where the path was cut, or 0."""
    @property
    def diverged_elsewhere(self) -> tuple[int, ...]:
        """Coverage indices that could not be asked for there."""
    @property
    def consumed(self) -> int:
        """Bytes of input that the run asked for, as far as its events say."""
    @property
    def counted(self) -> int:
        """Conditions that the target counts, too."""
    @property
    def last_site(self) -> int:
        """Of the last event that was decoded; 0: there was none."""
    @property
    def operand_hash(self) -> int: ...
    @property
    def remembered(self) -> int:
        """Results of the kind of which there are most, for memory tests."""
