"""C types, as the board's data model has them.

Lowering must know the width and sign of every scalar to make conversions explicit; everything about
*layout* (sizeof of aggregates, offsets, enum constants) is left to the board's compiler through the site
table.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeGuard

from score_embed.frontend.types.data_model import DataModel


@dataclass(frozen=True)
class CType:
    """Base of all types; `volatile` is the only qualifier that changes lowering, and `atomic` types have it, too.

    `spelling` is the typedef that must name the type, because attributes of its own make it another (`aligned`).
    """

    volatile: bool = field(default=False, kw_only=True)
    const: bool = field(default=False, kw_only=True)
    atomic: bool = field(default=False, kw_only=True)
    spelling: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Void(CType):
    pass


@dataclass(frozen=True)
class Int(CType):
    """An integer type by its canonical spelling (`unsigned long`), width in bits, sign and conversion rank.

    `precision`: the bits that gcc computes with, if they are fewer (a bit-field wider than int, for whose type C has no
    name); values of such a type are kept extended to the width.
    """

    name: str
    bits: int
    signed: bool
    rank: int
    precision: int = 0


@dataclass(frozen=True)
class Float(CType):
    """A floating type; `bits` 0 if its values have no formula (a format that is not binary32 or binary64, a vector)."""

    name: str
    bits: int = 0


@dataclass(frozen=True)
class Pointer(CType):
    to: CType


@dataclass(frozen=True)
class Array(CType):
    """`count` is C text (evaluated by the board's compiler), None when unknown; `length` its value if known here."""

    of: CType
    count: str | None
    length: int | None = None


@dataclass(eq=False)
class Record:
    """The shared body of one struct or union: completed when its definition is seen."""

    kind: str  # "struct" or "union"
    tag: str
    members: list[Member] | None = None
    refused: str = ""  # why its members cannot be lowered
    longer: bool = False  # it is allocated with more room than it says, for more elements of its last array

    def find(self, name: str) -> CMember | None:
        """The member called `name`, looking through anonymous members too."""
        for member in self.members or []:
            if member.name == name:
                return CMember(member.type, member.bits)
            if member.name is None and isinstance(member.type, Struct):
                inner = member.type.record.find(name)
                if inner:
                    return inner
        return None

    def is_amid(self, name: str) -> bool:
        """Whether another member lies behind the one called `name`: then that is as long as it says."""
        members = self.members or []
        return self.kind == "struct" and any(member.name == name for member in members[:-1])


@dataclass(frozen=True)
class Member:
    name: str | None
    type: CType
    bits: int | None  # width of a bit-field; -1 if a bit-field of unknown width, 0 if it only separates others


@dataclass(frozen=True)
class CMember:
    type: CType
    bits: int | None


@dataclass(frozen=True)
class Struct(CType):
    record: Record


@dataclass(eq=False)
class Enumeration:
    """The shared body of one enum; `int_type` is known once its enumerators are."""

    tag: str
    int_type: Int
    complete: bool = False


@dataclass(frozen=True)
class Enum(CType):
    body: Enumeration


@dataclass(frozen=True)
class Function(CType):
    """`params` is None for `f()` without a prototype."""

    result: CType
    params: tuple[CType, ...] | None
    variadic: bool = False


@dataclass(frozen=True)
class VaList(CType):
    """`__builtin_va_list`: passed around, never looked into."""


class Types:
    """The basic types of one data model, and C's conversions between them (C11 6.3.1)."""

    def __init__(self, model: DataModel) -> None:
        self.model = model
        m = model
        self.bool = Int("_Bool", 8, False, 0)
        self.char = Int("char", 8, m.char_signed, 1)
        self.schar = Int("signed char", 8, True, 1)
        self.uchar = Int("unsigned char", 8, False, 1)
        self.short = Int("short", m.short, True, 2)
        self.ushort = Int("unsigned short", m.short, False, 2)
        self.int = Int("int", m.int_, True, 3)
        self.uint = Int("unsigned int", m.int_, False, 3)
        self.long = Int("long", m.long, True, 4)
        self.ulong = Int("unsigned long", m.long, False, 4)
        self.llong = Int("long long", m.long_long, True, 5)
        self.ullong = Int("unsigned long long", m.long_long, False, 5)
        self.int128 = Int("__int128", 128, True, 6)
        self.uint128 = Int("unsigned __int128", 128, False, 6)
        self.float = Float("float", m.float_)
        self.double = Float("double", m.double)
        self.long_double = Float("long double", m.long_double)
        self.void = Void()
        self.size = self.by_spelling(m.size_type)
        self.ptrdiff = self.by_spelling(m.ptrdiff_type)
        self.wchar = self.by_spelling(m.wchar_type)
        self.char16 = self.by_spelling(m.char16_type)
        self.char32 = self.by_spelling(m.char32_type)
        self.uintptr = next(t for t in (self.uint, self.ulong, self.ullong) if t.bits == m.pointer)

    def by_spelling(self, text: str) -> Int:
        """An integer type from its specifier words in any order (`long unsigned int`)."""
        words = text.split()
        unsigned, signed = "unsigned" in words, "signed" in words
        longs = words.count("long")
        if "_Bool" in words:
            return self.bool
        if "char" in words:
            return self.uchar if unsigned else self.schar if signed else self.char
        if "short" in words:
            return self.ushort if unsigned else self.short
        if "__int128" in words:
            return self.uint128 if unsigned else self.int128
        if longs >= 2:
            return self.ullong if unsigned else self.llong
        if longs == 1:
            return self.ulong if unsigned else self.long
        return self.uint if unsigned else self.int

    def floating(self, text: str) -> Float:
        """A floating type from its specifier words in any order."""
        words = sorted(text.split())
        for t in (self.float, self.double, self.long_double):
            if words == sorted(t.name.split()):
                return t
        return Float(text)

    def character(self, literal: str) -> Int:
        """The type of the characters of a string literal, or of a character constant with a prefix."""
        prefix = literal[: min(literal.index(quote) for quote in "'\"" if quote in literal)]
        return {"L": self.wchar, "u": self.char16, "U": self.char32}.get(prefix, self.char)

    def unsigned_of(self, t: Int) -> Int:
        table = (self.uchar, self.ushort, self.uint, self.ulong, self.ullong, self.uint128)
        return t if not t.signed else table[t.rank - 1]

    def signed_of(self, t: Int) -> Int:
        table = (self.schar, self.short, self.int, self.long, self.llong, self.int128)
        return t if t.signed else table[t.rank - 1]

    def unsigned(self, bits: int) -> Int:
        """The first unsigned type of that many bits (8, 16, 32 or 64)."""
        return next(t for t in (self.uchar, self.ushort, self.uint, self.ulong, self.ullong) if t.bits == bits)

    def promote(self, t: Int, bits: int | None = None) -> Int:
        """Integer promotion of a value of type t (`bits`: width of a bit-field)."""
        if bits is not None and 0 < bits < t.bits:
            fits = bits < self.int.bits or (bits == self.int.bits and t.signed)
            return self.int if fits else self.uint if bits <= self.int.bits else t
        if t.rank >= self.int.rank:
            return replace(t, volatile=False, const=False, atomic=False, spelling=None)
        if t.bits < self.int.bits or (t.bits == self.int.bits and t.signed):
            return self.int
        return self.uint

    def usual(self, a: Int, b: Int) -> Int:
        """The common type of two promoted operands (C11 6.3.1.8)."""
        a, b = self.promote(a), self.promote(b)
        if a.precision or b.precision:  # the more precise one, else the unsigned one
            return max(a, b, key=lambda t: (t.precision or t.bits, not t.signed))
        if a.signed == b.signed:
            return a if a.rank >= b.rank else b
        u, s = (b, a) if a.signed else (a, b)
        if u.rank >= s.rank:
            return u
        return s if s.bits > u.bits else self.unsigned_of(s)

    def literal(self, text: str) -> Int:
        """The type of an integer literal (C11 6.4.4.1): the first of its list that holds the value."""
        body = text.lower().rstrip("ul")
        suffix = text.lower()[len(body) :]
        value = parse_int(body)
        decimal = not body.startswith("0")
        signed: list[Int] = [self.int, self.long, self.llong]
        first = suffix.count("l")
        for t in signed[first:]:
            if "u" not in suffix and value < 1 << (t.bits - 1):
                return t
            if ("u" in suffix or not decimal) and value < 1 << t.bits:
                return self.unsigned_of(t)
        if "u" in suffix or not decimal:
            return self.ullong
        return self.llong if self.model.pointer == 32 else self.int128  # gcc's widest, even if it is too narrow


_CHUNK = 100  # digits


def parse_int(body: str) -> int:
    """The value of a C integer literal without suffix."""
    if body.startswith("0x"):
        return int(body, 16)
    if body.startswith("0b"):
        return int(body, 2)
    if body.startswith("0") and len(body) > 1:
        return int(body, 8)
    return int(body) if len(body) <= _CHUNK else _long_decimal(body)


def _long_decimal(body: str) -> int:
    """As many bits of it as gcc keeps of a constant that no type has."""
    number = 0
    for at in range(0, len(body), _CHUNK):
        chunk = body[at : at + _CHUNK]
        number = (number * 10 ** len(chunk) + int(chunk)) % (1 << 128)
    return number


def unqualified(t: CType) -> CType:
    """The type of a value: without qualifiers, and without alignment, which only objects have."""
    if not (t.volatile or t.const or t.spelling):
        return t
    return replace(t, volatile=False, const=False, atomic=False, spelling=None)


def qualified(t: CType, *, volatile: bool, const: bool = False) -> CType:
    """The type with more qualifiers. Those of an array are its elements' (C11 6.7.3p9), and stay so when it decays."""
    if isinstance(t, Array):
        t = replace(t, of=qualified(t.of, volatile=volatile, const=const))
    return replace(t, volatile=t.volatile or volatile, const=t.const or const)


def qualifiers(t: CType) -> tuple[bool, bool]:
    """Whether it is volatile and const, or its elements are."""
    while isinstance(t, Array):
        t = t.of
    return t.volatile, t.const


def is_scalar(t: CType) -> bool:
    return isinstance(t, (Int, Float, Pointer, Enum))


def is_integer(t: CType) -> bool:
    return isinstance(t, (Int, Enum))


def is_untracked(t: CType) -> bool:
    """Types whose values have no formula."""
    return isinstance(t, VaList) or (isinstance(t, Float) and not t.bits) or (isinstance(t, Int) and t.bits > 64)


def why_untracked(t: CType) -> str:
    """What a report calls such a type."""
    if isinstance(t, Int):
        return f"{t.bits} bits"
    return t.name if isinstance(t, Float) else "va_list"


def is_float(t: CType) -> TypeGuard[Float]:
    """A floating type whose values have formulas."""
    return isinstance(t, Float) and bool(t.bits)


def as_int(t: CType) -> Int:
    """The integer type behind an integer or enum type."""
    if isinstance(t, Enum):
        return t.body.int_type
    assert isinstance(t, Int)
    return t


def declare(t: CType, name: str = "") -> str:
    """C text that declares `name` with type t (an abstract declarator if the name is empty)."""
    quals = ("const " if t.const else "") + ("_Atomic " if t.atomic else "volatile " if t.volatile else "")
    if t.spelling:
        return f"{quals}{t.spelling} {name}".rstrip()
    match t:
        case Void():
            base = "void"
        case Int() | Float():
            base = t.name
        case Struct():
            base = f"{t.record.kind} {t.record.tag}"
        case Enum():
            base = f"enum {t.body.tag}"
        case VaList():
            base = "__builtin_va_list"
        case Pointer():
            inner = f"* {quals}{name}".rstrip()
            if isinstance(t.to, (Array, Function)):
                inner = f"({inner})"
            return declare(t.to, inner)
        case Array():
            return declare(t.of, f"{name}[{t.count or ''}]")
        case Function():
            params = "" if t.params is None else ", ".join(declare(p) for p in t.params) or "void"
            return declare(t.result, f"{name}({params}{', ...' if t.variadic else ''})")
        case _:
            raise AssertionError(t)
    return f"{quals}{base} {name}".rstrip()


def without_const(t: CType) -> CType:
    """The type an object needs so that it can be initialised by assignment."""
    if isinstance(t, Array):
        return replace(t, of=without_const(t.of), const=False)
    return replace(t, const=False) if t.const else t


def has_const_member(t: CType) -> bool:
    """A struct that C does not let one assign as a whole."""
    if isinstance(t, Array):
        return has_const_member(t.of)
    if not isinstance(t, Struct):
        return False
    return any(m.type.const or has_const_member(m.type) or _const_element(m.type) for m in t.record.members or [])


def _const_element(t: CType) -> bool:
    return isinstance(t, Array) and (t.of.const or _const_element(t.of))


def is_constant(t: CType) -> bool:
    """Whether nothing may change an object of the type."""
    while isinstance(t, Array) and not t.const:
        t = t.of
    return t.const and not t.volatile


def compatible_text(t: CType) -> str:
    """A spelling that identifies a type up to its top-level qualifiers: equal texts are equal types."""
    return declare(unqualified(t))
