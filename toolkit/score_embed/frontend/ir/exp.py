"""The expressions of the normal form, typed and without side effects, and the places in memory that they read.

An `Exp` prints itself as C (`c()`) and, later, as a template of the site table; both come from the same object, which
is why they cannot disagree. Every memory access names its place by the user's own lvalue text and, beside it, by an
address expression over slots and link-time constants, for the template of a pin. What such an address is computed from
is asked here, too: a base, a variable's address or a pointer, and what is added to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from score_embed.contract.sites import Op
from score_embed.frontend.types.ctype import CType, Pointer, declare

MATH = {  # functions of a number with a result of the same type
    "fabs": Op.FABS,
    "sqrt": Op.FSQRT,
    "floor": Op.FFLOOR,
    "ceil": Op.FCEIL,
    "trunc": Op.FTRUNC,
}
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(eq=False)
class Slot:
    """A scalar variable whose taint is a bit of the activation's mask. `value` is the C text that reads it."""

    index: int
    name: str
    type: CType


@dataclass(frozen=True)
class Exp:
    type: CType

    def c(self) -> str:
        raise NotImplementedError

    def children(self) -> tuple[Exp, ...]:
        return ()

    def walk(self) -> Iterator[Exp]:
        """Itself, then what is below it, from left to right."""
        waiting: list[Exp] = [self]
        while waiting:
            exp = waiting.pop()
            yield exp
            waiting.extend(reversed(exp.children()))


@dataclass(frozen=True)
class Const(Exp):
    """A constant as C text; `value` if it is known here."""

    text: str
    value: int | None = None

    def c(self) -> str:
        return self.text


@dataclass(frozen=True)
class FloatConst(Const):
    """A constant of a floating type; `pattern`: its bits."""

    pattern: int = 0


@dataclass(frozen=True)
class SlotRef(Exp):
    slot: Slot

    def c(self) -> str:
        return self.slot.name


@dataclass(frozen=True)
class GlobalAddress(Exp):
    """A link-time constant address, by the text of the object (`g`, not `&g`)."""

    text: str

    def c(self) -> str:
        return f"(&{self.text})"


@dataclass(frozen=True)
class LocalAddress(Exp):
    """The address of an object on the stack (or a string literal): its value is sent, it is never tainted."""

    text: str

    def c(self) -> str:
        return f"(&{self.text})"


@dataclass(frozen=True)
class Load(Exp):
    place: Place

    def c(self) -> str:
        return self.place.text


@dataclass(frozen=True)
class AddressOf(Exp):
    """`&place` (or a decayed array: `text` says how to write it); its template is the place's address."""

    place: Place
    text: str

    def c(self) -> str:
        return self.text

    def children(self) -> tuple[Exp, ...]:
        return (self.place.address,)


@dataclass(frozen=True)
class Offset(Exp):
    """An address moved by a constant number of bytes given as C text (an offsetof). Only inside addresses."""

    base: Exp
    bytes: str

    def children(self) -> tuple[Exp, ...]:
        return (self.base,)


@dataclass(frozen=True)
class PointerAdd(Exp):
    """`base + index` (or minus), the index scaled by `size` bytes (C text)."""

    base: Exp
    index: Exp
    size: str
    minus: bool = False

    def c(self) -> str:
        return f"({self.base.c()} {'-' if self.minus else '+'} {self.index.c()})"

    def children(self) -> tuple[Exp, ...]:
        return (self.base, self.index)


@dataclass(frozen=True)
class PointerDiff(Exp):
    left: Exp
    right: Exp
    size: str

    def c(self) -> str:
        return f"({self.left.c()} - {self.right.c()})"

    def children(self) -> tuple[Exp, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class Unary(Exp):
    op: str  # - ~ (operand already promoted)
    operand: Exp

    def c(self) -> str:
        return f"({self.op} {self.operand.c()})"

    def children(self) -> tuple[Exp, ...]:
        return (self.operand,)


@dataclass(frozen=True)
class Binary(Exp):
    """+ - * / % & | ^ << >> and the comparisons, operands already converted to their common type."""

    op: str
    left: Exp
    right: Exp

    def c(self) -> str:
        return f"({self.left.c()} {self.op} {self.right.c()})"

    def children(self) -> tuple[Exp, ...]:
        return (self.left, self.right)

    @property
    def is_comparison(self) -> bool:
        return self.op in COMPARISONS


@dataclass(frozen=True)
class Convert(Exp):
    """Conversion between arithmetic and pointer types, implicit or written. From floating point to integers:
    Truncate."""

    operand: Exp

    def c(self) -> str:
        return f"(({declare(self.type)}) {self.operand.c()})"

    def children(self) -> tuple[Exp, ...]:
        return (self.operand,)


@dataclass(frozen=True)
class MathCall(Exp):
    """A function of a floating-point number that is a formula: `name` as in float_calls.py, `callee` C text."""

    name: str
    callee: str
    operand: Exp

    def c(self) -> str:
        return f"{self.callee}({self.operand.c()})"

    def children(self) -> tuple[Exp, ...]:
        return (self.operand,)


@dataclass(frozen=True)
class Raw(Exp):
    """C text that has no formula (`long double`): what it reads is in `reads`, so that taint can be reported."""

    text: str
    reads: tuple[Exp, ...] = ()

    def c(self) -> str:
        return self.text

    def children(self) -> tuple[Exp, ...]:
        return self.reads


def is_constant(exp: Exp) -> bool:
    """Whether it is made of nothing but constants, also of those whose value only the compiler knows."""
    return all(isinstance(part, (Const, Unary, Binary, Convert)) for part in exp.walk())


@dataclass(frozen=True)
class Storage:
    """The bytes that hold a bit-field: `size` (1, 2, 4 or 8) of them, `offset` bytes into the record."""

    offset: int
    size: int
    shift: int  # where in their value, low byte first, the field begins
    width: int


@dataclass(frozen=True)
class BitField:
    """What is to know of a place that has no address of its own."""

    container: str  # the text of the struct it lies in
    width: int | None  # in bits, if known
    storage: Storage | None  # None: the compiler was not or could not be asked


@dataclass(frozen=True)
class Place:
    """A memory lvalue. `static`: its address is a link-time constant; `slots`: what its address depends on."""

    text: str
    type: CType
    address: Exp
    static: bool
    slots: tuple[Slot, ...] = ()
    bit_field: BitField | None = None  # then `address` is that of its storage, if that is known
    pointer: Exp | None = None  # what was dereferenced, if the place begins with a dereference
    subscripts: tuple[tuple[Exp, str, int | None], ...] = ()  # of arrays: index, their count as C text, and if known
    array: Place | None = None  # the outermost array whose subscript may vary: the place is always in it
    narrow: bool = False  # an array that is a member, and of no other size than it has


def steps(address: Exp) -> Iterator[Exp]:
    """The address, what it is without what is added last, and so on to its base."""
    while True:
        yield address
        match address:
            case Offset(base=base) | PointerAdd(base=base):
                address = base
            case AddressOf(place=place):
                address = place.address
            case Convert(operand=operand) if isinstance(operand.type, Pointer):
                address = operand
            case _:
                return


def base_of(address: Exp) -> Exp:
    """The pointer that an address is computed from, or the address of a variable."""
    return list(steps(address))[-1]


def is_arithmetic(address: Exp) -> bool:
    """Whether it moves a pointer: what is one past an object, or beyond, may come of it."""
    return any(isinstance(step, (PointerAdd, Offset)) for step in steps(address))


def rebased(address: Exp, base: Exp) -> Exp:
    """The same computed from another pointer; of an address that no `&` stands in."""
    match address:
        case Offset() | PointerAdd():
            return replace(address, base=rebased(address.base, base))
        case Convert() if isinstance(address.operand.type, Pointer):
            return replace(address, operand=rebased(address.operand, base))
    return base


def indices(address: Exp) -> list[PointerAdd]:
    """Where something that is no constant is added to the base."""
    return [step for step in steps(address) if isinstance(step, PointerAdd) and not isinstance(step.index, Const)]


def stride_text(address: Exp, size: str) -> str:
    """How many bytes lie between the places that the address may be, in C; 0: that is no multiple of their size."""
    sizes = [f"({step.size})" for step in indices(address)]
    if len(sizes) == 1:
        return f"({sizes[0]} < {size} ? 0 : {sizes[0]})"
    return f"({' || '.join([f'{other} % {size}' for other in sizes] or ['1'])} ? 0 : {size})"
