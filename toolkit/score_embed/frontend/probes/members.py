"""A structure's members one by one: how it is copied where an address may be symbolic.

A copy as a whole has no formula there; of its members each has one, as any read and store of a number.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.frontend.ir.exp import Offset, Place
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Pointer,
    Struct,
    declare,
    has_const_member,
    is_scalar,
    is_untracked,
    qualified,
    unqualified,
)

_MOST = 8  # members: of more, code would grow too much


def members(place: Place) -> list[Place] | None:
    """All numbers and pointers of the structure there; None if they are too many, or if not all that it holds is such."""
    if has_const_member(place.type) or place.type.volatile:
        return None
    found = _scalars(place, "", place.type)
    return found if found and len(found) <= _MOST else None


def _scalars(place: Place, path: str, t: CType) -> list[Place] | None:
    """Those of the part of type `t` that `path` names (`.a.b[1]`)."""
    if t.volatile:
        return None
    parts: list[tuple[str, CType]]
    if isinstance(t, Struct):
        of = t.record.members
        if of is None or t.record.kind != "struct" or any(m.name is None or m.bits is not None for m in of):
            return None
        parts = [(f"{path}.{m.name}", m.type) for m in of]
    elif isinstance(t, Array):
        if t.length is None or not 0 < t.length <= _MOST:
            return None
        parts = [(f"{path}[{i}]", t.of) for i in range(t.length)]
    else:
        return [_part(place, path, t)] if is_scalar(t) and not is_untracked(unqualified(t)) else None
    found: list[Place] = []
    for name, of_part in parts:
        inner = _scalars(place, name, of_part)
        if inner is None or len(found) + len(inner) > _MOST:
            return None
        found += inner
    return found


def _part(place: Place, path: str, t: CType) -> Place:
    of = qualified(t, volatile=False, const=place.type.const)
    offset = f"__builtin_offsetof({declare(unqualified(place.type))}, {path[1:]})"
    return replace(place, text=f"{place.text}{path}", type=of, address=Offset(Pointer(of), place.address, offset))
