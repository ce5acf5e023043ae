"""Where pointers come from: beside a slot whose value is made by arithmetic stands a slot with what it was made from.

Which object a pointer means, its value does not say: one past an array may be the next array's first byte, and a
pointer that walked too far is in another object by then. So `p = q + n` is preceded by `origin of p = origin of q`, and
what is read and stored through p is checked against the object that the origin is in (bounds.py, runtime/bounds.c). An
origin is a slot as others are, so that it is known whether it is symbolic.

Where a pointer leaves its function's slots (a cursor that is kept in a struct or behind a pointer, an argument, a
result), the runtime remembers the origin of those few whose value would mislead (`Stray`), and is asked when such a
pointer comes back (`Recall`). Which places and functions that may be, `find_strays` finds in the whole program.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from score_embed.frontend.ir.body import Assign, Body, Call, Coord, Fill, Move, Recall, Return, Stmt, Stray
from score_embed.frontend.ir.exp import (
    Const,
    Convert,
    Exp,
    GlobalAddress,
    Load,
    LocalAddress,
    Offset,
    Place,
    PointerAdd,
    Slot,
    SlotRef,
    base_of,
    is_arithmetic,
)
from score_embed.frontend.ir.flow import places, written
from score_embed.frontend.probes.downwards import lead_down
from score_embed.frontend.types.ctype import Array, CType, Function, Pointer, Struct, Types, Void, declare

_MOST_SLOTS = 4000  # of the 4095 that a leaf word can name; beyond, a pointer is taken for its own origin
_ORIGIN = Pointer(Void(const=True, volatile=True))
_RESULT = "result"
# that stand in place of an address, for arguments and results: the last bytes that a pointer can mean
_MOST_NUMBERS = 0xFFF


@dataclass(frozen=True)
class Strays:
    """`keys`: the members, arguments and results that pointers are put into whose value would mislead, each with a
    number; `down`: the slots of each function below which something is read or stored (downwards.py)."""

    keys: Mapping[str, int] = field(default_factory=dict)
    down: Mapping[str, Set[int]] = field(default_factory=dict)


def find_strays(bodies: Sequence[Body]) -> Strays:
    """Where arithmetic's pointers go, and any pointers of which it matters whether they are one past an object."""
    down = lead_down(bodies)
    found: set[str] = set()
    known = {body.emitted_name for body in bodies}
    for body in bodies:
        moved = _moved(_definitions(body), frozenset(), frozenset())
        for s in body.statements:
            match s:
                case Assign(dest=Place() as dest) if _is_object_pointer(dest.type) and _is_moved(s.exp, moved):
                    found.add(_key(dest))
                case Call(kind="known") if s.callee in known:
                    below = down[s.callee]
                    found |= {f"{s.callee}#{i}" for i, exp in _pointers(s) if i in below or _is_moved(exp, moved)}
                case Return(value=SlotRef() as value) if _is_moved(value, moved):
                    found.add(f"{body.emitted_name}#{_RESULT}")
    return Strays({key: min(number, _MOST_NUMBERS) for number, key in enumerate(sorted(found), 1)}, down)


def with_origins(
    body: Body, types: Types, passed: Callable[[Call], list[Exp]], found: Strays
) -> Body:
    """The function with slots for the origins of its pointers; itself if it needs none. `passed`: the pointers that a
    call's callee reads or stores through; `found`: in the whole program."""
    definitions, strays = _definitions(body), found.keys
    told = {i for i in range(1, body.scalars + 1) if f"{body.emitted_name}#{i}" in strays}
    below = {i for i in found.down.get(body.emitted_name, ()) if any(map(_is_objects_address, definitions.get(i, ())))}
    moved = _moved(definitions, strays, told | below)
    used = {base.slot.index for exp in _used(body, passed, strays) if isinstance(base := base_of(exp), SlotRef)}
    needed = sorted(_reaching(definitions, moved, used))
    if body.slots + len(needed) > _MOST_SLOTS:
        return body
    work = replace(body, declarations=list(body.declarations))
    origins: dict[int, SlotRef] = {}
    for index in needed:
        slot = Slot(work.slots, f"sc_origin{index}", _ORIGIN)
        work.slots += 1
        work.declarations.append(declare(_ORIGIN, slot.name) + ";")
        origins[index] = SlotRef(_ORIGIN, slot)
    pointers = _slots(body)
    writer = _Writer(work, types, origins, strays)
    first = [s for i in needed if i <= body.scalars and i for s in writer.parameter(i, pointers[i])]
    statements = [*first, *(part for s in body.statements for part in writer.told(s))]
    return replace(work, statements=statements, origins=origins)


def origin_of(address: Exp, origins: Mapping[int, SlotRef], types: Types) -> Exp:
    """What an address was made from: a pointer as it was, or an object's last byte."""
    base = base_of(address)
    if isinstance(base, SlotRef):
        return origins.get(base.slot.index, base)
    return _last_byte(base, types) if isinstance(base, (GlobalAddress, LocalAddress)) else base


class _Writer:
    """Puts what a function's statements do to origins before and behind them."""

    def __init__(self, body: Body, types: Types, origins: Mapping[int, SlotRef], strays: Mapping[str, int]) -> None:
        self._types = types
        self._body, self._origins, self._strays = body, origins, strays

    def parameter(self, index: int, pointer: SlotRef) -> Iterator[Stmt]:
        key = f"{self._body.emitted_name}#{index}"
        where = self._number(key) if key in self._strays else ""
        yield self._found(self._body.coord, self._origins[index], pointer, where)

    def told(self, s: Stmt) -> Iterator[Stmt]:
        dest = written(s)
        origin = self._origins.get(dest.slot.index) if dest is not None else None
        if isinstance(s, Call):
            yield from self._arguments(s)
        result = f"{self._body.emitted_name}#{_RESULT}"
        if isinstance(s, Return) and isinstance(s.value, SlotRef) and result in self._strays:
            yield self._stray(s, self._number(result), s.value.c(), s.value)
        if origin is None or dest is None:
            yield s
        elif isinstance(s, Assign) and self._made_of(s.exp) is not None:
            made_of = self._made_of(s.exp)
            if made_of is not None and made_of != origin:  # before the pointer changes: `p = p + 1`
                yield Assign(s.coord, origin, made_of if made_of.type == _ORIGIN else Convert(_ORIGIN, made_of))
            yield s
        else:
            yield s
            yield self._found(s.coord, origin, dest, self._found_in(s))
        if isinstance(s, Assign) and isinstance(s.dest, Place) and self._is_stray_place(s.dest):
            yield self._stray(s, f"&{s.dest.text}", s.dest.text, s.exp)

    def _found(self, coord: Coord, origin: SlotRef, pointer: SlotRef, where: str) -> Stmt:
        """The origin of a pointer that comes from elsewhere; `where`: a place of which the runtime may know, or
        nothing."""
        value = Convert(_ORIGIN, pointer)
        return Recall(coord, origin, value, where, pointer.c()) if where else Assign(coord, origin, value)

    def _made_of(self, exp: Exp) -> Exp | None:
        """The origin of what is made of another pointer, or of an object's address."""
        base = base_of(exp)
        if isinstance(base, (SlotRef, GlobalAddress, LocalAddress)) and isinstance(base.type, Pointer):
            return origin_of(exp, self._origins, self._types)
        return None

    def _arguments(self, s: Call) -> Iterator[Stmt]:
        for i, exp in _pointers(s):
            key = f"{s.callee}#{i}"
            if s.kind == "known" and key in self._strays:
                yield self._stray(s, self._number(key), exp.c(), exp, directly=True)

    def _stray(self, s: Stmt, where: str, value: str, exp: Exp, *, directly: bool = False) -> Stray:
        """`directly`: it is asked for at once, so there is room also for what is no more than an object's own
        address."""
        made_of = self._made_of(exp)
        moved = made_of is not None and (directly or is_arithmetic(exp) or isinstance(made_of, SlotRef))
        origin = made_of if moved else None
        return Stray(s.coord, where, value, value if origin is None else origin.c(), origin)

    def _found_in(self, s: Stmt) -> str:
        """Where a pointer was that comes from elsewhere, in C."""
        if isinstance(s, Call):
            key = f"{s.callee}#{_RESULT}"
            return self._number(key) if key in self._strays and s.kind == "known" else ""
        place = _loaded(s.exp) if isinstance(s, Assign) else None
        return f"&{place.text}" if place is not None and self._is_stray_place(place) else ""

    def _number(self, key: str) -> str:
        """Each argument has a number of its own: a callee that does not ask leaves what was said to nobody else."""
        return f"SC_NUMBERED({self._strays[key]})"

    def _is_stray_place(self, place: Place) -> bool:
        return _is_object_pointer(place.type) and not place.type.volatile and _key(place) in self._strays


def _last_byte(base: GlobalAddress | LocalAddress, types: Types) -> Exp:
    """A pointer to an object that is none to another one: its first byte's may be one past the object before."""
    t = base.type.to if isinstance(base.type, Pointer) else base.type
    complete = t.length is not None or t.count is not None if isinstance(t, Array) else not isinstance(t, Struct)
    if isinstance(t, Struct):
        complete = bool(t.record.members)
    if not complete:
        return base
    size, at = Const(types.size, f"(sizeof({base.text}) - !!sizeof({base.text}))"), Pointer(types.uchar)
    return PointerAdd(at, Convert(at, base), size, "1")


def _key(place: Place) -> str:
    """What tells the places apart in which pointers lie: members by their names, all others are one."""
    return place.address.bytes if isinstance(place.address, Offset) else "*"


def _pointers(s: Call) -> list[tuple[int, Exp]]:
    """The arguments that are parameters and pointers to objects, with their numbers among the scalar ones. Those of
    `...` go where nobody asks for them."""
    scalars = enumerate((a.exp for a in s.args[: s.declared] if isinstance(a.exp, Exp)), 1)
    return [(i, exp) for i, exp in scalars if _is_object_pointer(exp.type)]


def _loaded(exp: Exp) -> Place | None:
    while isinstance(exp, Convert):
        exp = exp.operand
    return exp.place if isinstance(exp, Load) else None


def _is_moved(exp: Exp, moved: Set[int]) -> bool:
    return isinstance(exp.type, Pointer) and (is_arithmetic(exp) or _copied(exp) in moved)


def _definitions(body: Body) -> dict[int, list[Stmt]]:
    """The statements that write each slot that is a pointer to objects."""
    found: dict[int, list[Stmt]] = {}
    for s in body.statements:
        dest = written(s)
        if dest is not None and _is_object_pointer(dest.type):
            found.setdefault(dest.slot.index, []).append(s)
    return found


def _is_object_pointer(t: CType) -> bool:
    return isinstance(t, Pointer) and not isinstance(t.to, Function)


def _moved(definitions: Mapping[int, list[Stmt]], strays: Container[str], others: Set[int]) -> set[int]:
    """The slots that arithmetic, or a copy of what arithmetic made, or of others, was ever assigned to; and those."""
    found = {i for i, made in definitions.items() if any(_may_be_moved(s, strays) for s in made)}.union(others)
    while True:
        copies = {
            i for i, made in definitions.items() if any(isinstance(s, Assign) and _copied(s.exp) in found for s in made)
        }
        if copies <= found:
            return found
        found |= copies


def _may_be_moved(s: Stmt, strays: Container[str]) -> bool:
    if isinstance(s, Call):
        return s.kind == "known" and f"{s.callee}#{_RESULT}" in strays
    if not isinstance(s, Assign):
        return False
    place = _loaded(s.exp)
    return is_arithmetic(s.exp) or (place is not None and not place.type.volatile and _key(place) in strays)


def _is_objects_address(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(base_of(s.exp), (GlobalAddress, LocalAddress))


def _copied(exp: Exp) -> int | None:
    base = base_of(exp)
    return base.slot.index if isinstance(base, SlotRef) and isinstance(base.type, Pointer) else None


def _reaching(definitions: Mapping[int, list[Stmt]], moved: set[int], used: set[int]) -> set[int]:
    """Of the slots that moved, those that are used, and what they are made from."""
    found: set[int] = set()
    waiting = list(used & moved)
    while waiting:
        index = waiting.pop()
        found.add(index)
        made_from = {_copied(s.exp) for s in definitions.get(index, ()) if isinstance(s, Assign)}
        waiting += [i for i in made_from if i in moved and i not in found]
    return found


def _used(body: Body, passed: Callable[[Call], list[Exp]], strays: Container[str]) -> Iterator[Exp]:
    """The addresses at which something is read or stored, and what goes where its origin cannot be seen."""
    for s in body.statements:
        yield from (place.address for place in places(s))
        match s:
            case Move():
                yield from (s.dest, s.source)
            case Fill():
                yield s.dest
            case Call():
                yield from passed(s)
                yield from (exp for i, exp in _pointers(s) if f"{s.callee}#{i}" in strays)
            case Return(value=SlotRef() as value) if f"{body.emitted_name}#{_RESULT}" in strays:
                yield value
            case Assign(dest=Place() as dest) if _is_object_pointer(dest.type) and _key(dest) in strays:
                yield s.exp


def _slots(body: Body) -> dict[int, SlotRef]:
    """The slots of pointers, as statements name them."""
    found: dict[int, SlotRef] = {}
    for s in body.statements:
        exps = [place.address for place in places(s)]
        match s:
            case Assign():
                exps.append(s.exp)
            case Call():
                exps += [a.exp for a in s.args if isinstance(a.exp, Exp)]
            case Return(value=SlotRef() as value):
                exps.append(value)
        for exp in exps:
            for part in exp.walk():
                if isinstance(part, SlotRef):
                    found.setdefault(part.slot.index, part)
    return found
