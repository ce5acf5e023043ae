"""The normal form of a function: some thirty kinds of statement over the expressions of `exp.py`.

Every side effect is a statement of its own, in the order in which gcc has it, and control flow is labels and jumps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from score_embed.frontend.ir.exp import Const, Exp, Place, Raw, Slot, SlotRef
from score_embed.frontend.types.ctype import CType


@dataclass(frozen=True)
class Coord:
    file: str
    line: int


@dataclass
class Stmt:
    coord: Coord


@dataclass
class Begin(Stmt):
    """A statement of C begins here. It stands in the body only where statements are to be told."""


@dataclass
class Assign(Stmt):
    dest: SlotRef | Place
    exp: Exp


@dataclass
class Select(Assign):
    """`dest = load;` where the address may be symbolic: the value is then one of an object's, selected by the
    address."""


@dataclass
class Truncate(Assign):
    """`dest = (integer type) slot;` of a floating-point number: a formula only if the value is in range, which is a
    condition of its own; else C leaves it open."""


@dataclass
class Store(Assign):
    """`place = slot;` where the address may be symbolic: any element of an object may be the one that changes."""


@dataclass
class Recall(Assign):
    """The origin of a pointer that was found at `where`: the pointer itself, or what the runtime knows better, of which
    there is no formula, but whether it is symbolic."""

    where: str
    value: str


@dataclass
class SetPlain(Stmt):
    """`text = exp;` where the destination has no taint (a `long double` variable)."""

    text: str
    exp: Exp


ARGUMENT = "argument"  # the reason of a pin: opaque code is given the value


@dataclass
class Pin(Stmt):
    """The value of `exp` is used concretely: reported (and, for addresses and arguments, recorded as a constraint)."""

    exp: Exp
    reason: str


@dataclass
class Note(Stmt):
    """Something is lost here whenever this is executed."""

    reason: str


@dataclass
class ForgetObject(Stmt):
    """A construct without a formula touches this object: report and forget its taint. `place`: where it is."""

    text: str
    reason: str
    clear: bool
    place: Place | None = None


@dataclass
class Argument:
    exp: Exp | Place  # a Place is a struct passed by value


@dataclass
class Call(Stmt):
    callee: str  # C text: the function's name or a pointer atom
    dest: SlotRef | Place | str | None  # slot, struct place, plain text (untracked), nothing
    args: list[Argument]
    kind: str  # "known", "opaque", "indirect"
    harmless: bool  # writes nothing of the program
    library: bool  # a function of the C library: it knows no variable of the program
    result: CType
    name: str
    implicit: bool = False  # the call itself declares the function (C89)
    declared: int | None = None  # of a variadic function: how many parameters it has


@dataclass
class VaStart(Stmt):
    """`va_start(list, last)`, in a function whose arguments of `...` have slots behind those of its parameters."""

    list: str
    last: str


@dataclass
class Decision:
    """Conditions under `&&`, `||` and `!`. `postfix`: the tree, as contract/coverage.py has it."""

    coord: Coord
    postfix: list[int | str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # of the conditions
    literals: list[bool | None] = field(default_factory=list)  # the values of those that are literals

    @property
    def has_several(self) -> bool:
        return len(self.texts) > 1


@dataclass
class Branch(Stmt):
    """`if ((left op right) == when) goto label;`: the comparison is the user's, whatever the jump's sense.

    `constant`: only constants are compared. Then it is no decision, and the compiler must see that one side is dead:
    C's way to leave out calls of what does not exist in this configuration. `decision`: the one that this is a
    condition of, and which.
    """

    op: str
    left: Exp
    right: Exp
    label: str
    when: bool
    assumption: bool = False
    constant: bool = False
    decision: tuple[Decision, int] | None = None


@dataclass
class Check(Stmt):
    """`left op right` must hold: else the test ends with a bug of this kind. `tracked`: an operand may be symbolic."""

    kind: str  # one of CHECKS of config
    op: str
    left: Exp
    right: Exp
    tracked: bool


@dataclass
class BoundsCheck(Stmt):
    """What is accessed at the address must lie in the object that it was made from, if that is known."""

    address: Exp
    origin: Exp  # a slot, or the address of an object
    text: str  # the address in C
    size: str  # bytes, a constant in C


@dataclass
class SpanCheck(Stmt):
    """So must `size` bytes from the pointer on. `asks`: it says whether there are any."""

    pointer: Exp
    origin: Exp
    size: Exp
    asks: bool = False


@dataclass
class Stray(Stmt):
    """A pointer is put where its origin cannot be seen: the runtime remembers it if the value alone would mislead."""

    where: str  # in C: an address, or a small number for an argument or a result
    value: str
    origin: str
    made_of: Exp | None  # the origin, if it is not the pointer itself


@dataclass
class Sized(Stmt):
    """An object ends where a number says: `limit` holds its size in bytes."""

    pointer: Exp
    limit: Place


@dataclass
class TextCheck(Stmt):
    """A text in this array must end there."""

    array: str
    size: str  # its bytes, in C; 0: none was put there


@dataclass
class Goto(Stmt):
    label: str


@dataclass
class Label(Stmt):
    name: str


@dataclass
class Jump(Stmt):
    """`goto *target;`, to one of these labels."""

    target: SlotRef
    labels: list[str]


@dataclass
class Tick(Stmt):
    """A loop without a condition counts against the branch budget."""


@dataclass
class Case:
    first: str
    last: str
    label: str


@dataclass
class Switch(Stmt):
    slot: SlotRef
    cases: list[Case]
    default: str


@dataclass
class Return(Stmt):
    value: SlotRef | Place | Raw | None


@dataclass
class Copy(Stmt):
    dest: Place
    source: Place


@dataclass
class Move(Stmt):
    """memmove, of bytes that may be symbolic."""

    dest: Exp
    source: Exp
    size: Exp  # bytes


@dataclass
class Fill(Stmt):
    """memset, with a value that is not symbolic."""

    dest: Exp
    value: Exp
    size: Exp  # bytes


@dataclass
class InitObject(Stmt):
    """Give the object a constant initial value: `type name = init` kept verbatim as a static, copied."""

    dest: Place
    init: str


@dataclass
class Clear(Stmt):
    text: str


@dataclass
class Verbatim(Stmt):
    text: str


@dataclass
class Assembly(Stmt):
    """Inline assembly. `opaque`: it may read and write memory of the program, beside its operands; `pointers`: of those
    that go in, as C text."""

    text: str
    opaque: bool
    pointers: tuple[str, ...] = ()


@dataclass
class Symbolic(Stmt):
    dest: SlotRef | Place
    name: str
    size: Const | None = None  # bytes, if fixed
    count: Exp | None = None  # bytes, if computed at run time
    boolean: bool = False  # only the lowest bit counts
    text: bool = False  # characters


@dataclass
class Fail(Stmt):
    kind: str  # "assert", "assume" or "unreachable"


@dataclass
class Body:
    """One lowered function."""

    name: str
    emitted_name: str
    header: str  # C text up to the parameter list
    result: CType
    scalars: int
    structs: list[str]  # names of struct parameters
    declarations: list[str] = field(default_factory=list)
    statements: list[Stmt] = field(default_factory=list)
    slots: int = 1
    coord: Coord = Coord("", 0)
    result_slot: Slot | None = None
    named: list[str] = field(default_factory=list)  # variables of static storage that constant initialisers name
    handler: bool = False  # interrupts call it
    text: str = ""  # of a header's function, of which each file that includes it has a copy
    declared: int | None = None  # with va_start: how many of the scalars are parameters, the others being of `...`
    # of slots that arithmetic moved: what they were made from
    origins: dict[int, SlotRef] = field(default_factory=dict)
