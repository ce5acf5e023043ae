"""Checks of the heap: an access through a pointer into a block of the arena must stay in that block.

Where blocks lie is known when the program runs only, so the runtime is asked. Which block is meant says the pointer that
the address is computed from: `p[i]` belongs to the block that `p` points into, wherever `p + i` leads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from score_embed.frontend.addresses import base_of, is_fixed
from score_embed.frontend.flow import places
from score_embed.frontend.formulas import Formula
from score_embed.frontend.ir import Fill, HeapCheck, Move, RangeCheck, Stmt, Symbolic
from score_embed.frontend.ir_exp import Exp, Offset, Place
from score_embed.frontend.templates import address_text, storage_of
from score_embed.frontend.types import Function


def heap_checks(s: Stmt, formula: Callable[[Exp], Exp]) -> list[Stmt]:
    """What is to be checked before the statement. `formula`: an expression as a probe there says it."""
    match s:
        case Move():
            return [RangeCheck(s.coord, pointer, s.size) for pointer in (s.dest, s.source)]
        case Fill():
            return [RangeCheck(s.coord, s.dest, s.size)]
        case Symbolic(dest=Place(pointer=Exp() as pointer), count=Exp() as count):
            return [RangeCheck(s.coord, pointer, count)]
    found: dict[str, Stmt] = {}
    for place in places(s):
        if place.pointer is None or is_fixed(base_of(formula(place.address))) or isinstance(place.type, Function):
            continue
        if place.bit_field is None or storage_of(place) is not None:
            text = address_text(place)
            found.setdefault(text, HeapCheck(s.coord, place.address, text, _size_text(place)))
    return list(found.values())


def heap_said(s: Stmt) -> Mapping[str, Formula]:
    """What is known once the check was passed, until something may be freed."""
    if not isinstance(s, HeapCheck):
        return {}
    return {"": Formula.of(Offset(s.address.type, s.address, s.size))}


def _size_text(place: Place) -> str:
    storage = storage_of(place)
    return str(storage.size) if storage else f"sizeof({place.text})"
