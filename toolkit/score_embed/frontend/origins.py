"""Where pointers come from: beside a slot whose value is made by arithmetic stands a slot with what it was made from.

Which object a pointer means, its value does not say: one past an array may be the next array's first byte, and a pointer
that walked too far is in another object by then. So `p = q + n` is preceded by `origin of p = origin of q`, and what
is read and stored through p is checked against the object that the origin is in (bounds.py, runtime/bounds.c). An origin
is a slot as others are, so that it is known whether it is symbolic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from score_embed.frontend.addresses import base_of, steps
from score_embed.frontend.flow import places, slot_written
from score_embed.frontend.ir import Assign, Body, Call, Fill, Move, Stmt
from score_embed.frontend.ir_exp import (
    Convert,
    Exp,
    GlobalAddress,
    LocalAddress,
    Offset,
    PointerAdd,
    Slot,
    SlotRef,
)
from score_embed.frontend.types import CType, Function, Pointer, Void, declare

_MOST_SLOTS = 4000  # of the 4095 that a leaf word can name; beyond, a pointer is taken for its own origin
_ORIGIN = Pointer(Void(const=True, volatile=True))


def with_origins(body: Body, passed: Callable[[Call], list[Exp]]) -> Body:
    """The function with slots for the origins of its pointers; itself if it needs none. `passed`: the pointers that a call's
    callee reads or stores through."""
    definitions = _definitions(body)
    moved = _moved(definitions)
    used = {base.slot.index for exp in _used(body, passed) if isinstance(base := base_of(exp), SlotRef)}
    needed = sorted(_reaching(definitions, moved, used))
    if not needed or body.slots + len(needed) > _MOST_SLOTS:
        return body
    work = replace(body, declarations=list(body.declarations))
    origins: dict[int, SlotRef] = {}
    for index in needed:
        slot = Slot(work.slots, f"sc_origin{index}", _ORIGIN)
        work.slots += 1
        work.declarations.append(declare(_ORIGIN, slot.name) + ";")
        origins[index] = SlotRef(_ORIGIN, slot)
    slots = _slots(body)
    first = [_itself(work, slots[i], origins[i]) for i in needed if i <= body.scalars]
    return replace(work, statements=[*first, *_told(body.statements, origins)], origins=origins)


def origin_of(address: Exp, origins: Mapping[int, SlotRef]) -> Exp:
    """What an address was made from: a pointer as it was, or an object's own address."""
    base = base_of(address)
    return origins.get(base.slot.index, base) if isinstance(base, SlotRef) else base


def _itself(body: Body, pointer: SlotRef, origin: SlotRef) -> Stmt:
    return Assign(body.coord, origin, Convert(_ORIGIN, pointer))


def _told(statements: list[Stmt], origins: Mapping[int, SlotRef]) -> Iterator[Stmt]:
    """The statements, and before or behind each what it does to origins."""
    for s in statements:
        dest = slot_written(s)
        origin = origins.get(dest) if dest is not None else None
        base = base_of(s.exp) if isinstance(s, Assign) else None
        if origin is None:
            yield s
        elif isinstance(base, (SlotRef, GlobalAddress, LocalAddress)) and isinstance(base.type, Pointer):
            said = origins.get(base.slot.index, base) if isinstance(base, SlotRef) else base
            if said != origin:  # before the pointer changes: `p = p + 1`
                yield Assign(s.coord, origin, said if said.type == _ORIGIN else Convert(_ORIGIN, said))
            yield s
        else:
            yield s
            pointer = s.dest  # type: ignore[attr-defined]  # all that write a slot have one
            yield Assign(s.coord, origin, Convert(_ORIGIN, pointer))


def _definitions(body: Body) -> dict[int, list[Exp | None]]:
    """What is assigned to each slot that is a pointer to objects; None: nothing that is made of another pointer."""
    found: dict[int, list[Exp | None]] = {}
    for s in body.statements:
        index = slot_written(s)
        if index is None or not _is_object_pointer(s.dest.type):  # type: ignore[attr-defined]
            continue
        found.setdefault(index, []).append(s.exp if isinstance(s, Assign) else None)
    return found


def _is_object_pointer(t: CType) -> bool:
    return isinstance(t, Pointer) and not isinstance(t.to, Function)


def _moved(definitions: Mapping[int, list[Exp | None]]) -> set[int]:
    """The slots that arithmetic, or a copy of what arithmetic made, was ever assigned to."""
    found = {i for i, exps in definitions.items() if any(exp is not None and _is_arithmetic(exp) for exp in exps)}
    while True:
        copies = {i for i, exps in definitions.items() if any(_copied(exp) in found for exp in exps if exp is not None)}
        if copies <= found:
            return found
        found |= copies


def _is_arithmetic(exp: Exp) -> bool:
    """Whether it moves a pointer: what is one past an object, or beyond, may come of it."""
    return any(isinstance(step, (PointerAdd, Offset)) for step in steps(exp)) and not isinstance(base_of(exp), Convert)


def _copied(exp: Exp) -> int | None:
    base = base_of(exp)
    return base.slot.index if isinstance(base, SlotRef) and isinstance(base.type, Pointer) else None


def _reaching(definitions: Mapping[int, list[Exp | None]], moved: set[int], used: set[int]) -> set[int]:
    """Of the slots that moved, those that are used, and what they are made from."""
    found: set[int] = set()
    waiting = list(used & moved)
    while waiting:
        index = waiting.pop()
        found.add(index)
        made_from = {_copied(exp) for exp in definitions[index] if exp is not None}
        waiting += [i for i in made_from if i in moved and i not in found]
    return found


def _used(body: Body, passed: Callable[[Call], list[Exp]]) -> Iterator[Exp]:
    """The addresses at which something is read or stored."""
    for s in body.statements:
        yield from (place.address for place in places(s))
        match s:
            case Move():
                yield from (s.dest, s.source)
            case Fill():
                yield s.dest
            case Call():
                yield from passed(s)


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
        for exp in exps:
            for part in exp.walk():
                if isinstance(part, SlotRef):
                    found.setdefault(part.slot.index, part)
    return found
