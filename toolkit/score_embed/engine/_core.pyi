"""What Python may call of the engine (toolkit/engine/src: module.cpp and what it adds): formulas, the
trail, what exploration does along a path, and the host's side of the link.

Formulas are bit vectors over the bytes of a test's input; floating-point numbers are bit vectors, too: their patterns.
Equal formulas are one object (as long as someone holds it), so comparing, caching and sharing are by identity. A
constant may carry *origins*: the opaque calls whose concrete result it is. Such a constant computes like any other, but
everything derived from it remembers that it is true of this run only. Semantics are those of SMT-LIB's QF_BV, division
by zero and over-wide shifts included. A formula has 1 to 128 bits. What cannot be (widths that do not fit, bits that
are not there) is a ValueError, an input byte that the data does not have an IndexError.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, IntEnum
from typing import Any, Protocol, Self, final, overload

from score_embed.contract.sites import SiteTable
from score_embed.contract.words import Unflipped
from score_embed.errors import ScoreError
from score_embed.explore.flips import Flips
from score_embed.explore.pair import LeftOut
from score_embed.explore.queue import Backlog
from score_embed.solve.query import Query, Stopped
from score_embed.trace.trail import Chosen as Choice
from score_embed.trace.trail import Constants, Disagreement, Follower, Forks, Pin, SymbolicObject

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

def intern(kind: Kind, width: int, args: Sequence[Expr] = ..., value: int = ..., origins: frozenset[int] = ...) -> Expr:
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

# --- a few bytes -----------------------------------------------------------------------------------------------

def all_rows(sets: Sequence[int], /) -> array[int]:
    """Every choice of one value of each byte's set: of one byte to eight."""

def rows_product(parts: Sequence[tuple[array[int], Sequence[int]]], /) -> array[int]:
    """Every choice of one row of each part. With each part: where its bytes are among all."""

def rows_within(rows: array[int], sets: Sequence[int], /) -> array[int]:
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
    evaluated: `most` at most, or fewer of large formulas, which count for several. `data` satisfies all but the
    target."""

# --- what decides some questions -------------------------------------------------------------------------------

class Found(Enum):
    LEFT = 0  # it is of another kind, or too large
    GAVE_UP = 1  # it took too many steps
    UNSAT = 2
    SAT = 3

class Finite:
    """Decides slices by the values of the few variables that they depend on; remembers what it made of them."""

    def __init__(self, kept: int, most: int, look: Callable[[], None]) -> None:
        """`kept`: cells of all rows that are remembered, about; `most`: steps of a question. `look` is called each few
        ten thousand steps; what it raises ends the question."""
    @property
    def remembered(self) -> int:
        """Joins, for memory tests."""
    @property
    def steps(self) -> int:
        """That the last question took."""
    def solve(
        self, target: Expr, several: Sequence[Expr], sets: Sequence[tuple[int, int]], data: bytes
    ) -> tuple[Found, dict[int, int]]:
        """Input bytes so that `target`, `several` and the bytes' `sets` hold: those of `data` where they are as good
        as others."""

class Equality:
    """Decides slices of byte sets and comparisons of bytes for equality."""

    def __init__(self, steps: int, depth: int, look: Callable[[], None]) -> None:
        """`steps`: of the search for one question; `depth`: classes of equal bytes that it may search, and choices
        above one another. `look` is called now and then in long searches; what it raises ends the question."""
    def solve(
        self, target: Expr, several: Sequence[Expr], sets: Mapping[int, int], data: bytes
    ) -> tuple[Found, dict[int, int]]:
        """A value for each input byte so that `target`, `several` and the bytes' `sets` (a dictionary) hold: that of
        `data` where it may be."""

class Conjunction:
    """Conditions as `Proved` remembers them: by content, those on one byte as the values that they leave. It holds no
    formulas."""

    def __init__(self, conditions: Sequence[Expr], sets: Mapping[int, int] = ...) -> None:
        """`sets`: a dictionary."""

class Proved:
    """What was proved sat or unsat, and is used for other questions. What was not used for longest is forgotten."""

    def __init__(self, most: int) -> None:
        """`most`: names of conditions, sets and values that are kept of cores, and of models."""
    def find(self, asked: Conjunction, data: bytes, /) -> tuple[Found, dict[int, int]]:
        """UNSAT if it holds a core; SAT with input bytes if a model with those, and else `data`, satisfies it."""
    def add_core(self, core: Conjunction, /) -> None:
        """These conditions exclude each other."""
    def add_model(self, satisfied: Conjunction, data: bytes, /) -> None:
        """This input satisfies these conditions."""
    @property
    def cores(self) -> tuple[int, int, int]:
        """How many there are, what they take, and under how many names they are found, for memory tests."""
    @property
    def models(self) -> tuple[int, int, int]: ...

# --- symbolic addresses ----------------------------------------------------------------------------------------

def within(offset: Expr, last: int, /) -> Expr:
    """offset ≤ last, if that is not known to be so."""

def select(offset: Expr, content: bytes, size: int, cell: Callable[[int], Expr | None] | None = None) -> Expr | None:
    """The little-endian number of `size` bytes (1 to 16) that lies at `offset` in `content`; None if there are too many
    entries, or they have more than 8 bytes. `cell`: for objects that hold formulas; their bytes in `content` are not
    looked at."""

def changed(offset: Expr, last: int, place: int, /) -> Expr:
    """That the offset is `place`, where it is known to be no more than `last`."""

def follow(address: Expr, size: int, read: Callable[[int], bytes | None], /) -> tuple[Expr, Expr] | None:
    """A read through a table of pointers to constants (`names[i][0]`, `rows[i][j]`): that there is a constant, and its
    value.

    `read`: the `size` bytes at an address, if they are constants. None: the address is no entry of a table plus what
    has few values. A null pointer leads to no constant, whatever lies at 0.
    """

# --- what the path says ----------------------------------------------------------------------------------------

def interval_of(expr: Expr, /) -> tuple[int, int]:
    """Between which numbers all values of a formula lie, whatever the input is."""

def is_refuted(condition: Expr, /) -> bool:
    """Whether no input makes the condition true, by the intervals of what it compares. False: not known."""

def is_excluded(target: Expr, several: Sequence[Expr], /) -> bool:
    """Whether no input satisfies the target and these conditions: the target by itself, with its opposite among them,
    or by what comparisons with constants leave of the number that it compares. False: not known."""

def most_values(expr: Expr, limits: Mapping[Expr, int], /) -> int:
    """No more than so many values; of a formula that is too deep, 2 to the power of its width. `limits`: a
    dictionary."""

def limit_of(condition: Expr, /) -> tuple[Expr, int] | None:
    """What a condition that holds says of a formula as a whole: its largest value."""

def replaced(expr: Expr, known: Mapping[Expr, Expr], reach: int, /) -> Expr:
    """The formula, or one that is equal to it where each of the `known` (a dictionary) is its constant. `reach`: their
    input bytes."""

def substituted(expr: Expr, others: Mapping[Expr, Expr], /) -> Expr:
    """The formula with other ones of the same width for some of its parts (a dictionary), however deep these lie."""

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
ASTRAY: int  # in the size of a chosen object: the access was wrong there

def damage_is(error: Callable[[str, str], ScoreError], /) -> None:
    """What is raised of a damaged stream: gets what and where."""

def parts_are(
    chosen: type[Choice], pin: type[Pin], object: type[SymbolicObject], disagreement: type[Disagreement], /
) -> None:
    """The classes of what a path is made of, beside its conditions."""

class Cursor:
    """A position in a stream, with what numbers are relative to: the last address and the current activation. The
    methods raise what `damage_is` says."""

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
    def none_of(self, objects: Sequence[tuple[int, int]], /) -> Expr:
        """That it is in none of these, or has none of these values."""

@final
class Condition:
    """A tainted branch, or one link of the chain that a tainted switch stands for. Equal are those that a trail made
    once."""

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

    def __init__(self, table: SiteTable, verify: bool, constants: Constants | None, forks: Forks, kept: int) -> None:
        """`kept`: results of each kind that are remembered."""
    def register(self, follower: Follower | Descent, /) -> None:
        """From the next run on it follows the path."""
    def follow(
        self, events: bytes, data: bytes, limit: int = 0, visit: Callable[[int, Condition], object] | None = None
    ) -> None:
        """Take over the run with input `data` that sent `events`.

        At most the first `limit` conditions are kept; `visit` gets all others, each with its index before later ones
        are decoded. Raises TraceError if the events make no sense: then the trail is empty.
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
        """How many bytes of a stream that breaks off or was damaged are whole events that make sense, from its first
        on."""
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
    def length(self) -> int:
        """Of these, how many there are."""
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
    def nothing_there(self) -> bool:
        """Whether what `sound` stopped at reads a constant where the image has none."""
    @property
    def last_site(self) -> int:
        """Of the last event that was decoded; 0: there was none."""
    @property
    def operand_hash(self) -> int: ...
    @property
    def remembered(self) -> int:
        """Results of the kind of which there are most, for memory tests."""

# --- pairs -----------------------------------------------------------------------------------------------------

def pairs_are(left_out: type[LeftOut], damaged: Callable[[], ScoreError], /) -> None:
    """The class of what a pair may leave out, and what is raised of a serialised pair that is none."""

class Origin:
    """A run: the run it was derived from, and how many conditions it has in common with that."""

    def __init__(self, parent: Origin | None = None, common: int = 0) -> None: ...
    def in_common(self, other: Origin, /) -> int | None:
        """How many conditions the paths of two runs share at least; None: all of them."""

@final
class Pair:
    """A test case, and from where on its path is flipped.

    A path's conditions are more than the target counts: forks are the host's own. So there are two numbers for what is
    predicted: the first `place` conditions of the path, and the first `predicted` that the target counts.
    """

    def __init__(
        self,
        id: bytes,
        input: bytes,
        neg_limit: int,
        place: int,
        predicted: int,
        condition_hash: int,
        site: int,
        targets: range = range(0),
        left_out: LeftOut | None = None,
        decided: bytes | None = None,
        pending: int = 0,
        behind: int = 0,
        route: Route | None = None,
        origin: Origin | None = None,
    ) -> None:
        """Ids are of 16 bytes, `pending` and `behind` below 256, the other numbers below 2 to the power of 32."""
    @property
    def id(self) -> bytes:
        """Of the predicted decisions: the same pair derived twice has the same id."""
    @property
    def input(self) -> bytes: ...
    @property
    def neg_limit(self) -> int:
        """Conditions before it are not flipped."""
    @property
    def place(self) -> int: ...
    @property
    def predicted(self) -> int: ...
    @property
    def condition_hash(self) -> int: ...
    @property
    def site(self) -> int:
        """The branch whose other side it is; 0: the first."""
    @property
    def targets(self) -> range:
        """The coverage indices it may lead to; none if that is not known."""
    @property
    def left_out(self) -> LeftOut | None: ...
    @property
    def decided(self) -> bytes | None:
        """The id of the predicted decisions, if it is not `id`."""
    @property
    def pending(self) -> int:
        """The flip of condition `neg_limit` that nobody has an input for yet, which is asked for the `pending`-th time
        when its turn comes; `input` is that of the run whose condition it is."""
    @property
    def behind(self) -> int:
        """How often it was put off: those that were put off less come first."""
    @property
    def route(self) -> Route | None:
        """Of a pending flip; in memory only, and no part of what makes pairs equal."""
    @property
    def origin(self) -> Origin | None:
        """The same."""
    @property
    def depth(self) -> int:
        """The number of conditions of its path that are decided, with the one that is flipped."""
    @property
    def row(self) -> int:
        """By which the record knows it; 0: it is not there (yet)."""
    @row.setter
    def row(self, number: int, /) -> None: ...
    def keep(self, route: Route, /) -> None:
        """A pending flip's path is known from now on."""
    def but(self, **changes: Any) -> Pair:
        """The pair with other parts."""
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes, /) -> Pair:
        """Raises what `pairs_are` says."""

def decided(before: bytes, condition: Condition, flipped: bool = False) -> bytes:
    """The id of the decisions `before` followed by this condition's direction, or its other side."""

def other_side(decisions: bytes, input: bytes, index: int, condition: Condition, origin: Origin, /) -> Pair:
    """The pair for the other side of condition `index`. Where the target cannot tell that it is, the run is for its end
    only. `decisions`: the id of those before."""

def own_part(data: bytes, /) -> int:
    """How many bytes of a serialised pair are its own: a pending flip ends with its run's input, as others do."""

def is_serialised(data: bytes, ident: bytes, /) -> bool:
    """Are these the bytes of a pair of this id, as far as can be seen without reading it?"""

# --- the work list ---------------------------------------------------------------------------------------------

class Order:
    """An order of waiting pairs. `run`, `flip`: where a pair comes from: the number of the run that it was derived
    from, and of the flip within that run, the shallowest first; both below 2 to the power of 32."""

    def rank(self, pair: Pair, run: int, flip: int, /) -> bytes:
        """The rank of a new pair; no two are equal."""
    def on_top(self, pair: Pair, rank: bytes, /) -> bytes:
        """The rank of the next pair as it is now. If it is another one than before, the pair goes back."""
    def turn(self, lanes: list[int], /) -> int:
        """Whose turn it is, of the first bytes of the ranks of pairs that wait (in order, at least one)."""
    def is_depth_first(self, rank: bytes, /) -> bool:
        """Whether the pair with this rank had its turn depth first: then what lies below it comes next."""

class DepthFirst(Order):
    """The deepest flip of the newest path: the order of the recursive Algorithm 1."""

class OtherBranchFirst(Order):
    """The shallowest flip of the newest path."""

class BreadthFirst(Order):
    """The shallowest flip of all paths, the oldest of equally deep ones: the execution tree level by level."""

class Random(Order):
    """Each waiting pair is as likely to be the next as any other; the seed decides.

    Each pair has a clock that rings after an exponentially distributed time from now, and *now* is when the last one
    rang. Such clocks have no memory, so which of them rings next does not depend on how long it has waited.
    """

    def __init__(self, seed: int, /) -> None: ...

class UncoveredFirst(Order):
    """Pairs that lead to a branch direction no test has taken; then the directions by turns. The newest pair of each.

    By turns means: the n-th pair that leads to some direction comes before the n + 1-st of any other.
    """

    def __init__(self, covered: set[int], /) -> None:
        """`covered`: coverage indices; it grows while the campaign goes on."""

class Deciding(Order):
    """For MC/DC: `coverage`, but a pair that may complete a vector which shows something new takes a quarter of a turn.

    How the earlier conditions of the decision came out is known of a pair, the later ones are not: these are found by
    turns, too. What a decision cannot show takes turns as long as nobody knows.
    """

    def __init__(self, covered: set[int], may_show: Callable[[Pair], bool], /) -> None:
        """`may_show`: is asked once, of a pair that is new."""

class Mixed(Order):
    """Orders that take turns, each with pairs of its own: no order stays in its corner for longer than the others'
    turns.

    While tests still cover something new, nearly all pairs are those of `coverage`. When that has not happened for a
    while, they go to `dfs`, which runs them fastest; but for those that lead to a direction that no test has taken. A
    turn lasts for several pairs: neighbours in an order have more of their paths in common.
    """

    def __init__(self, seed: int, covered: set[int], /) -> None: ...

class Queue:
    def __init__(self, order: Order, backlog: Backlog | None, memory: int) -> None:
        """`memory`: bytes of pairs that stay there, about."""
    @property
    def taken(self) -> bytes:
        """The rank of the pair that was taken last."""
    def add(self, pairs: Sequence[Pair], /) -> tuple[bytes, ...]:
        """Pairs derived from one run, the shallowest flip first; returns their ranks, for the backlog."""
    def take(self) -> Pair | None:
        """The next pair, or None if none waits."""
    def begin(self, runs: int, /) -> None:
        """Nothing waits any more; the next run that brings pairs has this number."""
    def put_back(self, pair: Pair, /) -> None:
        """The pair that was taken last was not run."""
    def __len__(self) -> int: ...
    def in_memory(self) -> list[tuple[bytes, Pair]]:
        """Rank and pair of those that memory has."""
    def state(self) -> int:
        """What the backlog does not know: how many runs have brought pairs."""
    def restore(self, runs: int, /) -> None:
        """Go on with what waits in the backlog."""

class PairBatch:
    """What became of pairs since the record was last written: those that wait, and those that it has and that are
    done."""

    def __init__(self) -> None: ...
    def add(self, pairs: Sequence[Pair], ranks: Sequence[bytes], /) -> None:
        """These wait from now on; `ranks`: theirs, in the same order."""
    def done(self, pair: Pair, /) -> None: ...
    def rerank(self, pair: Pair, rank: bytes, /) -> bool:
        """Its rank is another one from now on. False: the record has it, and has to be told."""
    def take(
        self, number: int, most: int, apart: Callable[[bytes], int], /
    ) -> tuple[list[tuple[int, int, bytes, bytes, bytes]], list[tuple[int]]]:
        """Packs of those that wait, in order of rank, with at most so many pairs of one lane each: the number of its
        first pair, from this one on; how many it has; the first and the last rank; the pack, for `Unpacked`. And the
        numbers of the pairs that the record has and that are done. `apart` says the number, above 0, of an input that
        is kept elsewhere, since other flips of its run have it, too. The batch is empty then."""

class Unpacked:
    """Rank and pair of those in a pack, in order. Raises StorageError, now or later, if it is damaged."""

    def __init__(self, pack: bytes, apart: Callable[[int], bytes], /) -> None:
        """`apart`: the input with a number."""
    def __iter__(self) -> Unpacked: ...
    def __next__(self) -> tuple[bytes, Pair]: ...

def ranked(order: Order, pair: Pair, run: int, flip: int, /) -> bytes:
    """The pair's rank in this order, after how often it was put off."""

def next_lane(order: Order, lanes: Iterable[bytes], /) -> bytes:
    """Of these names of lanes, of which there is at least one: what was put off least, then what the order says."""

# --- along a path ----------------------------------------------------------------------------------------------

def questions_are(query: type[Query], stopped: type[Stopped], /) -> None:
    """The class of questions, and what is raised when no more answers are wanted."""

def reasons_are(concrete: Unflipped, fixed: Unflipped, unsat: Unflipped, /) -> None:
    """Why a condition has no other side."""

class Passed(Sequence[Expr]):
    """The conditions of a slicer's path that say something new; good until the slicer changes."""

    @overload
    def __getitem__(self, index: int) -> Expr: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __len__(self) -> int: ...
    def about(self, deps: int, /) -> list[Expr]:
        """Those that depend on any of these input bytes, in order."""

class Slicer:
    """The conditions so far. `mark` names a state, `undo` goes back to it."""

    def __init__(self) -> None: ...
    def mark(self) -> int: ...
    def undo(self, mark: int, /) -> None: ...
    def add(self, condition: Expr, /) -> None:
        """A condition that holds on the path. What is constant, or already known, says nothing new."""
    def weight(self, target: Expr, /) -> int:
        """How many conditions over two bytes or more the slice of this target has."""
    def slice_of(self, target: Expr, /) -> int:
        """The input bytes of this target's slice."""
    def query(self, target: Expr, data: bytes, /) -> Query:
        """The question for `target` after the conditions added so far; its path is good until the next change."""

class Route:
    """The path of a run as it is now, for flips of it that wait."""

    def __init__(self, trail: Trail, /) -> None: ...
    def __len__(self) -> int: ...
    def condition(self, index: int, /) -> Condition: ...
    def forget(self) -> None:
        """It has no conditions any more."""

class Bound(Enum):
    """What keeps a condition from being flipped."""

    NONE = 0
    DEPTH = 1
    LOOP = 2

class BoundedPath:
    """The bounds applied to a path: goes along it condition by condition, forth and back."""

    def __init__(self, depth: int | None, loop: int | None) -> None: ...
    def cut(self, count: int, /) -> None:
        """Go back to before condition `count`."""
    def pass_by(self, condition: Condition, /) -> None:
        """The path goes on in the condition's direction."""
    def forbids(self, condition: Condition, /) -> Bound: ...

class _Run(Protocol):
    """A run whose path is followed, with what needs more than byte sets."""

    flips: Flips
    def flip(self, decisions: bytes, index: int, condition: Condition) -> None:
        """Derive a flip, or let it wait. Raises Stopped."""
    def answer(self, condition: Condition) -> None:
        """Ask the pending flip that the run was repeated for, here. Raises Stopped."""
    def leave(self, decisions: bytes, index: int, condition: Condition, later: bool) -> None:
        """A child for what is left of the run from here on; `later`: behind others."""

class _Explorer(Protocol):
    """Whom a descent asks."""

    def begin_run(self, pair: Pair, data: bytes, children: list[Pair]) -> _Run:
        """Flips are added to `children`. Called for a run's first condition that needs it."""
    def check_byte(self, target: Expr, value: int, data: bytes) -> None:
        """For tests: gets what byte sets say of a target, a value or -1. Raises if that is wrong."""

@final
class Alarm:
    """When a campaign has to end, in seconds of time.monotonic; infinite: nobody has said so."""

    def __init__(self, patience: float, /) -> None:
        """`patience`: seconds that the test in work may go on."""
    signalled: float  # since when somebody wants the end
    deadline: float
    def is_over(self) -> bool:
        """No test is to begin."""
    def __call__(self) -> bool:
        """The test in work is to be broken off."""

@final
class Glance:
    """What somebody says of the end, asked between any two conditions, and so not each time."""

    def __init__(self, wants_end: Callable[[], bool], pause: float) -> None:
        """`pause`: seconds for which it is not asked again, unless it wants the end."""
    def __call__(self) -> bool: ...

class Terminator:
    """What a solver asks now and then whether it is to end. Handlers of signals are called here, and what they raise is
    kept until the question is over. Between `end` and `begin` it says yes."""

    def __init__(self) -> None: ...
    @staticmethod
    def interrupt() -> None:
        """End each question that runs, in any thread."""
    def begin(self, stop: Callable[[], bool]) -> None:
        """A question begins, which ends early if `stop` says so or an interrupt comes."""
    def allow(self, most: int) -> None:
        """From now on the question may ask so often."""
    def __call__(self) -> bool: ...
    def end(self) -> None:
        """The question is over. Raises what was raised meanwhile."""

class Followed(Enum):
    """How far a run's path was followed."""

    WHOLE = 0
    IN_PART = 1  # so far flips are derived; the rest of a long path waits
    IN_VAIN = 2  # the end of the campaign came first; all of it waits

@final
class Derived:
    """What came of a run's conditions."""

    @property
    def followed(self) -> Followed: ...
    @property
    def broken_off(self) -> bool:
        """No more flips were derived; the last child stands for them."""
    @property
    def children(self) -> list[Pair]:
        """The shallowest flip first."""
    @property
    def run(self) -> _Run | None:
        """If one was begun: what else came of them is there."""
    @property
    def unflipped(self) -> dict[tuple[int, Unflipped], int]:
        """By coverage index and reason, of what byte sets said."""

class Descent:
    """Goes along a trail's path: slices with and without pins, decisions, bounds. Has to be registered with the
    trail."""

    def __init__(self, bounded: BoundedPath, /) -> None: ...
    origin: Origin  # the run that the trail is of
    def heed(
        self,
        *,
        stop: Callable[[], bool],
        room: tuple[int, int] | None,
        decides_bytes: bool,
        may_wait: bool,
        checked: bool,
    ) -> None:
        """How flips are derived from now on. `stop`: whether no more answers are wanted; `room`: with so many children,
        or so many bytes of their inputs, a run leaves a pair for the rest; `decides_bytes`: byte sets are the first to
        be asked; `may_wait`: a question of very many conditions waits; `checked`: for tests."""
    def shared(self, trail: Trail, pair: Pair, /) -> int:
        """How many of the trail's conditions the pair's run will repeat, as far as that is known."""
    def went_as_predicted(self, trail: Trail, pair: Pair, /) -> bool:
        """The host's own look at what was predicted, where it can see that far: not only the hash that the target
        compared.

        A run that found another object at an address than its pair was derived with is not the pair's.
        """
    def decisions(self, index: int, /) -> bytes:
        """The id of the decisions before this condition."""
    def go_to(self, route: Route, index: int, /) -> None:
        """To condition `index` of this path, for a question."""
    def follow(self, trail: Trail, pair: Pair, data: bytes, kept: int, explorer: _Explorer, /) -> Derived:
        """Decode the rest of the run, of which the trail has kept so many conditions, and flip its conditions from the
        pair's neg_limit on, if it is not pending. Of a very long path the first ones: a child stands for the others.
        `data`: the input that children are made of."""
    def first(self, trail: Trail, /) -> tuple[bytes, Condition] | None:
        """Of the last run, the condition at its pair's neg_limit, and the id of the decisions before it. None if it was
        not followed so far."""
    def weight(self, target: Expr, /) -> int:
        """How many conditions over two bytes or more the question has."""
    def slice_of(self, target: Expr, /) -> int:
        """The input bytes of the question."""
    def queries(self, target: Expr, data: bytes, /) -> tuple[Query, Query | None]:
        """The question with the pins, and without them if they matter to it."""
    def take_counts(self) -> tuple[int, int, float]:
        """Flips that byte sets answered in here since this was last called: sat, unsat, seconds."""

MAX_FRAME: int  # encoded bytes; more without a 0 between them is not a frame
MAX_ATTEMPTS: int  # at a test, that bring nothing new
MAX_REFUSALS: int  # of a frame of the host's that arrives damaged

def encode_frame(type: int, sequence: int, payload: bytes, /) -> bytes:
    """`type` and `sequence`: 4 bits each."""

class Decoder:
    """Of a stream of frames, in any portions."""

    def feed(self, data: bytes, /) -> list[tuple[int, int, bytes] | str]:
        """Type, sequence and payload of the frames that are whole now, and the names of damages, in order: `too-long`,
        `too-short`, `stuffing`, `crc`, `sequence` (a frame is missing before the next one, which is good)."""
    @property
    def held(self) -> int:
        """Bytes of a frame that is not whole."""

@final
class Ready:
    @property
    def build_id(self) -> bytes: ...
    @property
    def input_capacity(self) -> int:
        """Bytes."""
    @property
    def free_ram(self) -> int:
        """Bytes."""

@final
class Result:
    """How a test ended, and what arrived of it. `verdict`: its number on the wire; `events`: empty if the run was
    mispredicted; `stack`: `enter` sites, innermost first."""

    @property
    def flags(self) -> int: ...
    @property
    def verdict(self) -> int: ...
    @property
    def code(self) -> int: ...
    @property
    def site(self) -> int: ...
    @property
    def pc(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def stack(self) -> tuple[int, ...]: ...
    @property
    def path_hash(self) -> int: ...
    @property
    def operand_hash(self) -> int: ...
    @property
    def conditions(self) -> int: ...
    @property
    def branches(self) -> int: ...
    @property
    def unchecked(self) -> int: ...
    @property
    def input_used(self) -> int:
        """Bytes."""
    @property
    def events(self) -> bytes: ...
    @property
    def coverage(self) -> tuple[int, ...]: ...
    @property
    def output(self) -> bytes: ...

class Session:
    """Call `hello`, then `receive` until `ready`; `start` a test, then `receive` until `result`. They return bytes to
    send.

    `start`: `prefix`: event bytes that the host already holds and expects; they are not sent again. `tell_from`: say
    all at once, for the test may be the target's end, and after so many event bytes also where it is; `bounded`: end it
    where the input does; `vectors`: say of all conditions how they came out, and nothing else.
    """

    def __init__(self, build_id: bytes, /) -> None: ...
    def hello(self) -> bytes: ...
    def reset(self) -> bytes:
        """Ask the target to start again from its beginning."""
    def start(
        self,
        data: bytes,
        predicted: int = 0,
        condition_hash: int = 0,
        max_branches: int = 1_000_000,
        watchdog_ms: int = 10_000,
        prefix: bytes = b"",
        tell_from: int | None = None,
        bounded: bool = False,
        vectors: bool = False,
    ) -> bytes: ...
    def receive(self, data: bytes, /) -> bytes:
        """Take bytes in. Raises TargetError if the target is not ours or the link useless."""
    def nudge(self) -> bytes:
        """It has been quiet for long: a RUN or an END may be lost."""
    @property
    def ready(self) -> Ready | None: ...
    @property
    def result(self) -> Result | None: ...
    @property
    def known(self) -> tuple[bytes, tuple[int, ...], bytes, tuple[tuple[int, int], ...]]:
        """All of the test under way that has arrived: its events from the first one to the first that is missing,
        coverage and output, and where it came by, if it is eager, and how many event bytes before."""
    @property
    def held(self) -> int:
        """Bytes that have arrived of the test under way: as long as they grow there is hope."""
    @property
    def doubtful(self) -> bool:
        """Something of the answer was lost, or ended in the middle: silence need not be waited for."""
    @property
    def booted(self) -> bool:
        """Since HELLO a READY has come that was not asked for."""
    @property
    def restarted(self) -> bool:
        """A READY came while a test ran: the target started again by itself."""
    late: int  # ENDs that nobody needed any more: they were asked for too early
    @property
    def bad_frames(self) -> int: ...
    @property
    def reruns(self) -> int: ...

def shown_output(output: bytes, /) -> str:
    """The beginning of what a test printed, as its row has it."""

class HashSet:
    """Hashes of paths, 9 to 11 bytes of memory each."""

    def __init__(self, known: Iterable[int] = ()) -> None:
        """`known`: those that are in the set from the beginning."""
    def add(self, number: int, /) -> bool:
        """Take in an unsigned number of 64 bits; true if it is new."""

class Halt(Enum):
    """Why rounds ended."""

    ENOUGH = 0  # of tests, or of time; no pair was taken
    EMPTY = 1  # nothing waits
    ASKED = 2  # `pair` was taken, which is a question, was put off more often than the first, or is for Python to begin
    SENT = 3  # `pair` runs, and has no answer yet
    TOLD = 4  # its answer is there
    DERIVED = 5  # and was followed: `derived`; but the run is to be judged

@final
class Lent:
    """The line to a target, and what it is told with each test."""

    def __init__(
        self,
        session: Session,
        read_from: int,
        beside: int,
        write_to: int,
        patience: float,
        watchdog_ms: int,
        max_branches: int,
        capacity: int,
        ahead: int,
        /,
    ) -> None:
        """`beside`: a descriptor at which Python is to look, or -1; `patience`: seconds for an answer, after which
        Python goes on waiting; `capacity`: of the target's input, in bytes; `ahead`: tests that may be sent behind the
        one that is waited for."""

@final
class Brought:
    """What the tests of some rounds brought."""

    @property
    def rows(self) -> list[list[Any]]:
        """Rows of the record's table of tests, as results/test_rows.py says them."""
    @property
    def hashes(self) -> list[int]:
        """Of new paths."""
    @property
    def lengths(self) -> list[int]:
        """Of each test's path, in conditions."""
    @property
    def fresh(self) -> list[int]:
        """The same of those whose path is new."""
    @property
    def unchecked(self) -> int: ...
    @property
    def retried(self) -> int:
        """Tests under which a target had ended, and that came to an end on another one."""
    @property
    def bytes_in(self) -> int: ...
    @property
    def bytes_out(self) -> int: ...
    @property
    def unflipped(self) -> dict[tuple[int, Unflipped], int]:
        """By coverage index and reason."""

class _SettlingExplorer(_Explorer, Protocol):
    def settle(self, derived: Derived) -> None:
        """Book what came of a run, if one was begun. Its children are put into the queue afterwards."""

class Unanswered:
    """Ends of targets that had several tests in them, none of which was answered."""

    def __init__(self) -> None: ...
    def was_answered(self, pair: Pair, /) -> int:
        """It has come to an end now. Returns how many ends of targets were nobody's doing, as is known now."""

class Rounds:
    """The loop around a test, for tests of which nothing is out of the ordinary. What it is made of has to be of one
    campaign; `batch`: none if nobody keeps a record of what waits; `covered`: coverage indices that are known; `grow`:
    an input that is as long as others are; `layout`: the number of what the trail's input consists of; `ends`: the
    words of ordinary ends, by their numbers on the wire; `new`, `redundant`: what a test was for the exploration;
    `room`: for pairs that wait: how many, and bytes of their inputs."""

    def __init__(
        self,
        *,
        explorer: _SettlingExplorer,
        trail: Trail,
        descent: Descent,
        queue: Queue,
        batch: PairBatch | None,
        alarm: Alarm,
        paths: HashSet,
        unanswered: Unanswered,
        covered: set[int],
        grow: Callable[[bytes], bytes],
        layout: Callable[[], int],
        ends: dict[int, str],
        new: str,
        redundant: str,
        room: tuple[int, int] | None,
    ) -> None: ...
    def go(
        self, lent: Lent, place: memoryview, pair: Pair, number: int, longest: int, most: int, until: float, /
    ) -> Halt:
        """Run this pair, then what the queue says: at most so many tests, and none is begun after `until`.

        `place`: where the pair in work is noted; `number`: of the first test; `longest`: bytes of input that some test
        asked for.
        """
    def take(self) -> Brought:
        """All since this was last called."""
    @property
    def pair(self) -> Pair | None: ...
    @property
    def data(self) -> bytes:
        """The input of its run."""
    @property
    def prefix(self) -> bytes:
        """The events that the target was told to leave out."""
    @property
    def rest(self) -> bytes:
        """Bytes that are to be sent yet."""
    @property
    def failure(self) -> Exception | None:
        """The link's, in the answer."""
    @property
    def is_spent(self) -> bool:
        """Tests were sent along, and the target is of no use after them, or it is not known whether it is."""
    @property
    def recalled(self) -> int:
        """Tests that had been run when their turn came, so far."""
    @property
    def derived(self) -> Derived | None: ...

def link_failures_are(lost: type[ScoreError], wrong_image: type[ScoreError], /) -> None:
    """What a link of no use raises, and a target that runs another image: called with what it is, and a hint."""
