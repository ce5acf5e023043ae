"""Bounds: what is read and stored must lie in the object that its address was made from.

Where objects lie is known when the program runs only, so the runtime is asked (runtime/bounds.c). Which object is meant
says the pointer that the address is computed from, as it was before arithmetic moved it (origins.py): `p[i]` belongs to
the object that `p` pointed into, wherever `p + i` leads. Functions of the library that copy so many bytes, or a text,
are checked where the program calls them, whoever executes them. Of an array that is a member the program names, copies
of a size that is computed, and texts, must fit into the member. Copies of constant size may go across members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from score_embed.contract.program import HARNESS_FILE
from score_embed.contract.sites import MODEL
from score_embed.frontend.ir.body import Assign, BoundsCheck, Call, Check, Label, SpanCheck, Stmt, Symbolic, TextCheck
from score_embed.frontend.ir.exp import (
    AddressOf,
    Const,
    Convert,
    Exp,
    GlobalAddress,
    LocalAddress,
    Offset,
    Place,
    Raw,
    SlotRef,
    base_of,
    indices,
    is_constant,
)
from score_embed.frontend.ir.flow import places, slot_written
from score_embed.frontend.probes.formulas import Formula
from score_embed.frontend.probes.origins import origin_of
from score_embed.frontend.probes.templates import address_text, storage_of
from score_embed.frontend.types.ctype import Function, Pointer, Types

# Functions of the C library that touch as many bytes as an argument says: which arguments are pointers, and the size.
SPANS: Mapping[str, tuple[tuple[int, ...], int]] = {
    "memcpy": ((0, 1), 2),
    "memmove": ((0, 1), 2),
    "mempcpy": ((0, 1), 2),
    "memset": ((0,), 2),
    "memcmp": ((0, 1), 2),
    "bcmp": ((0, 1), 2),
    "bcopy": ((0, 1), 2),
    "bzero": ((0,), 1),
    "strncpy": ((0,), 2),
    "stpncpy": ((0,), 2),
}
# Those that put a text, with the 0 behind it, where their first argument points.
TEXTS = frozenset(
    {"strcpy", "strcat", "strncat", "stpcpy", "sprintf", "vsprintf", "snprintf", "vsnprintf", "gets", "fgets"}
)
COPIED_TEXTS = frozenset({"strcpy", "stpcpy", "strcat"})  # of these the arguments tell how long the text is
CHECKED_BY_CALLERS = frozenset(MODEL + name for name in SPANS)


class BoundsFinder:
    """What each statement of a function needs. `origins`: as of the body (origins.py)."""

    def __init__(self, types: Types, origins: Mapping[int, SlotRef]) -> None:
        self._types, self._origins = types, origins
        # What slots hold while nothing else is assigned: the address of a member, a constant.
        self._members: dict[int, Place] = {}
        self._constants: set[int] = set()

    def before(self, s: Stmt) -> Iterator[Stmt]:
        """What is to be checked before the statement."""
        if _fills_harness(s):
            return
        if isinstance(s, Symbolic) and isinstance(s.dest, Place) and s.count is not None and s.dest.pointer is not None:
            yield self._span(s, s.dest.pointer, s.count)
            return
        found: dict[str, Stmt] = {}
        for place in places(s):
            if self._is_checked(place):
                text = address_text(place)
                check = BoundsCheck(s.coord, place.address, self._origin(place.address), text, _size_text(place))
                found.setdefault(text, check)
        yield from found.values()
        if isinstance(s, Call):
            yield from self._of_call(s)

    def behind(self, s: Stmt) -> Iterator[Stmt]:
        """What is to be checked behind it."""
        if isinstance(s, Call) and _name(s) in TEXTS and s.args:
            member = self._member(s.args[0].exp)
            put = _puts_text(s)
            if member is not None and put:
                yield TextCheck(s.coord, member.text, f"({put}) ? sizeof({member.text}) : 0")
        self._follow(s)

    def _origin(self, address: Exp) -> Exp:
        return origin_of(address, self._origins, self._types)

    def _is_checked(self, place: Place) -> bool:
        if isinstance(place.type, Function) or (place.bit_field is not None and storage_of(place) is None):
            return False
        base = base_of(place.address)
        if isinstance(base, (GlobalAddress, LocalAddress)):  # its subscripts have checks of their own
            varying = sum(not isinstance(index, Const) for index, _, _ in place.subscripts)
            return place.pointer is not None or len(indices(place.address)) > varying
        return isinstance(base, SlotRef) and isinstance(base.type, Pointer)

    def _of_call(self, s: Call) -> Iterator[Stmt]:
        if s.kind == "opaque" and _name(s) in COPIED_TEXTS and len(s.args) == 2:
            yield from self._copied_text(s)
        pointers, index = SPANS.get(_name(s), ((), 0))
        if not _is_librarys(s) or not all(i < len(s.args) for i in (*pointers, index)):
            return
        count = s.args[index].exp
        asks = True
        for argument in (s.args[i].exp for i in pointers):
            if isinstance(argument, Exp) and isinstance(count, (SlotRef, Const)):
                for check in self._copied(s, argument, count, asks=asks):
                    asks = asks and not isinstance(check, SpanCheck)
                    yield check

    def _copied(self, s: Call, pointer: Exp, count: SlotRef | Const, *, asks: bool) -> Iterator[Stmt]:
        member = self._member(pointer)
        if member is not None and isinstance(count, SlotRef) and count.slot.index not in self._constants:
            limit = Const(count.type, f"sizeof({member.text})")
            yield Check(s.coord, "bounds", "<=", count, limit, tracked=True)
        if isinstance(pointer.type, Pointer) and isinstance(base_of(pointer), (SlotRef, GlobalAddress, LocalAddress)):
            yield replace(self._span(s, pointer, count), asks=asks)

    def _copied_text(self, s: Call) -> Iterator[Stmt]:
        dest, source = (argument.exp for argument in s.args)
        if isinstance(dest, Exp) and isinstance(source, Exp) and isinstance(dest.type, Pointer):
            behind = f" + sc_length((const char *) {dest.c()})" if _name(s) == "strcat" else ""
            size = Raw(self._types.size, f"sc_length((const char *) {source.c()}) + 1u{behind}")
            yield self._span(s, dest, size)

    def _span(self, s: Stmt, pointer: Exp, count: Exp) -> SpanCheck:
        return SpanCheck(s.coord, pointer, self._origin(pointer), count)

    # --- members ---------------------------------------------------------------------------------------------

    def _member(self, exp: Exp | Place) -> Place | None:
        """The array that an argument is, if it is a member and not the last one: that may stand for more."""
        while isinstance(exp, Convert):
            exp = exp.operand
        if isinstance(exp, SlotRef):
            return self._members.get(exp.slot.index)
        return exp.place if isinstance(exp, AddressOf) and exp.place.narrow else None

    def _follow(self, s: Stmt) -> None:
        """Keep in mind what slots hold: until a jump may come from elsewhere, or it is changed."""
        if isinstance(s, Label):
            self._members.clear()
            self._constants.clear()
        index = slot_written(s)
        if index is None:
            return
        member = self._member(s.exp) if isinstance(s, Assign) else None
        self._members.pop(index, None)
        self._constants.discard(index)
        if isinstance(s, Assign) and is_constant(s.exp):
            self._constants.add(index)
        for holder, held in list(self._members.items()):
            if any(slot.index == index for slot in held.slots):
                del self._members[holder]
        if member is not None and all(slot.index != index for slot in member.slots):
            self._members[index] = member


def pointers_passed(s: Call) -> list[Exp]:
    """The arguments at which a function of the library reads or stores as many bytes as others say."""
    text: tuple[int, ...] = (0,) if _name(s) in COPIED_TEXTS and s.kind == "opaque" else ()
    pointers, _ = SPANS.get(_name(s), (text, 0))
    found = [s.args[i].exp for i in pointers if i < len(s.args)]
    return [exp for exp in found if isinstance(exp, Exp)] if _is_librarys(s) else []


def _puts_text(s: Call) -> str:
    """Whether there is a text behind the call, in C: `fgets` finds the end of the file, `snprintf` of no bytes only
    counts."""
    if _name(s) == "fgets":
        return s.dest.c() if isinstance(s.dest, SlotRef) else ""
    if _name(s) in ("snprintf", "vsnprintf"):
        count = s.args[1].exp if len(s.args) > 1 else None
        return count.c() if isinstance(count, (SlotRef, Const)) else ""
    return "1"


def bounds_said(s: Stmt) -> Mapping[str, Formula]:
    """What is known once the check was passed, until something may be freed."""
    if not isinstance(s, BoundsCheck):
        return {}
    return {"": Formula.of(Offset(s.address.type, s.address, s.size))}


def _fills_harness(s: Stmt) -> bool:
    """Whether the statement puts what a harness made into an object of its own, which is as large as that. Such
    statements are most of a harness, and their checks were half of its C. What a hint's C reads is checked."""
    if s.coord.file != HARNESS_FILE:
        return False
    match s:
        case Symbolic():
            return True
        case Assign(dest=Place() as dest):
            return places(s) == [dest]
    return False


def _name(s: Call) -> str:
    return s.callee.removeprefix(MODEL).removeprefix("__builtin_")


def _is_librarys(s: Call) -> bool:
    """Whether it is no function of the program's that has probes."""
    return s.kind == "opaque" or (s.kind == "known" and s.callee.startswith(MODEL))


def _size_text(place: Place) -> str:
    storage = storage_of(place)
    return str(storage.size) if storage else f"sizeof({place.text})"
