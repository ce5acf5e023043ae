"""The variables that pointers may lead to: those whose address a function gives away.

Where something is read through a pointer at a symbolic address, and to know whether a pointer is within bounds, the runtime has
to find the object: those on the stack it is told of when they are declared, those of static storage are listed
(runtime/object.c).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pycparser import c_ast

from score_embed.frontend.addresses import base_of
from score_embed.frontend.flow import expressions, places
from score_embed.frontend.ir import Body
from score_embed.frontend.ir_exp import GlobalAddress, LocalAddress
from score_embed.frontend.symbols import Variable
from score_embed.frontend.types import Array, CType, Function, Pointer, Struct, Void


@dataclass(frozen=True)
class Objects:
    """Names as the function's C has them."""

    static: tuple[str, ...]
    automatic: frozenset[str]
    arrays: frozenset[str]  # of those


def pointed_to(body: Body) -> Objects:
    """What the function takes the address of, to keep it, to pass it on, or to read or store right there: `*(a + i)`."""
    values = [exp for s in body.statements for exp in expressions(s)]
    values += [place.address for s in body.statements for place in places(s) if place.array is None and place.pointer]
    bases = [base_of(part) for value in values for part in value.walk()]
    static = [b.text for b in bases if isinstance(b, GlobalAddress) and _is_object(b.type)]
    automatic = [b.text for b in bases if isinstance(b, LocalAddress) and _is_object(b.type)]
    arrays = [b.text for b in bases if isinstance(b, (GlobalAddress, LocalAddress)) and _is_array(b.type)]
    return Objects(tuple(dict.fromkeys([*static, *body.named])), frozenset(automatic), frozenset(arrays))


def named_in(init: c_ast.Node | None, find: Callable[[str], object]) -> list[str]:
    """Those whose addresses may be in a constant initialiser. `find`: what a name stands for there."""
    if init is None:
        return []
    symbol = find(init.name) if isinstance(init, c_ast.ID) else None
    is_object = isinstance(symbol, Variable) and symbol.static and _is_object(symbol.type)
    found = [symbol.name] if isinstance(symbol, Variable) and is_object else []
    for _, child in init.children():
        found += named_in(child, find)
    return found


def _is_array(address: CType) -> bool:
    return isinstance(address, Pointer) and isinstance(address.to, Array)


def _is_object(address: CType) -> bool:
    t = address.to if isinstance(address, Pointer) else address
    if isinstance(t, Array):
        return t.length is not None or t.count is not None
    if isinstance(t, Struct):
        return t.record.members is not None
    return not isinstance(t, (Function, Void))
