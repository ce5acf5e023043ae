"""The variables and string literals that pointers may lead to: those whose address a function gives away.

Where something is read through a pointer at a symbolic address, and to know whether a pointer is within bounds, the
runtime has to find the object: those on the stack it is told of when they are declared, those of static storage are
listed (runtime/object.c). A literal is listed as it is written: a compiler makes one object of all in a file that are
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pycparser import c_ast

from score_embed.frontend.declarations.initialiser_walk import InitialiserWalk, string_for
from score_embed.frontend.declarations.symbols import Unsupported, Variable
from score_embed.frontend.ir.body import Body, Call, Stmt
from score_embed.frontend.ir.exp import Exp, GlobalAddress, LocalAddress, base_of
from score_embed.frontend.ir.flow import expressions, places
from score_embed.frontend.types.ctype import Array, CType, Function, Pointer, Struct, Void


@dataclass(frozen=True)
class Objects:
    """Names as the function's C has them."""

    static: tuple[str, ...]
    automatic: frozenset[str]
    arrays: frozenset[str]  # of those


def pointed_to(body: Body, passed: Callable[[Call], list[Exp]]) -> Objects:
    """What the function takes the address of, to keep it, to pass it on, or to read or store right there: `*(a + i)`.
    `passed`: the pointers that a call's callee reads or stores through, as the call says."""
    values = [exp for s in body.statements for exp in expressions(s)]
    at_once = [place.address for s in body.statements for place in places(s) if place.array is None and place.pointer]
    bases = _bases([*values, *at_once])
    static = [b.text for b in bases if isinstance(b, GlobalAddress) and _is_object(b.type)]
    automatic = [b.text for b in bases if isinstance(b, LocalAddress) and _is_object(b.type) and not is_text(b.text)]
    arrays = [b.text for b in bases if isinstance(b, (GlobalAddress, LocalAddress)) and _is_array(b.type)]
    kept = [exp for s in body.statements if not _only_shows(s, passed) for exp in expressions(s)]
    texts = [b.text for b in _bases([*kept, *at_once]) if isinstance(b, LocalAddress) and is_text(b.text)]
    return Objects(tuple(dict.fromkeys([*static, *texts, *body.named])), frozenset(automatic), frozenset(arrays))


def is_text(name: str) -> bool:
    """Whether an object is called by a string literal."""
    return name.endswith('"')


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


def texts_in(t: CType, init: c_ast.Node | None, walk: InitialiserWalk) -> list[str]:
    """The string literals that are objects of their own in a constant initialiser of an object of type t: those that do
    not fill an array. None of what is not understood."""
    try:
        return list(_texts(t, init, walk)) if init is not None and _holds_text(init) else []
    except Unsupported:
        return []


def _texts(t: CType, init: c_ast.Node, walk: InitialiserWalk) -> Iterator[str]:
    if string_for(t, init) is not None:
        return
    if isinstance(init, c_ast.InitList):
        if isinstance(t, (Array, Struct)):
            items = [(item.type, item.value) for item in walk.items(t, init)]
        else:
            items = [(t, value) for value in init.exprs]
        for of, value in items:
            yield from _texts(of, value, walk)
    elif isinstance(init, c_ast.CompoundLiteral):
        yield from _texts(walk.literal_type(init), init.init, walk)
    elif isinstance(init, c_ast.Constant):
        yield from [init.value] if is_text(init.value) else []
    elif not isinstance(init, c_ast.Typename) and not (isinstance(init, c_ast.UnaryOp) and init.op == "sizeof"):
        for _, child in init.children():
            yield from _texts(t, child, walk)


def _holds_text(init: c_ast.Node) -> bool:
    if isinstance(init, c_ast.Constant):
        return is_text(init.value)
    return any(_holds_text(child) for _, child in init.children())


def _bases(values: Iterable[Exp]) -> list[Exp]:
    return [base_of(part) for value in values for part in value.walk()]


def _only_shows(s: Stmt, passed: Callable[[Call], list[Exp]]) -> bool:
    """Whether no pointer to what a call gets ever comes back, and nothing in the call tells how many bytes are read:
    `printf`, `assert`."""
    if not isinstance(s, Call) or s.kind != "opaque" or passed(s):
        return False
    return s.harmless or (s.library and not isinstance(s.result, (Pointer, Struct)))


def _is_array(address: CType) -> bool:
    return isinstance(address, Pointer) and isinstance(address.to, Array)


def _is_object(address: CType) -> bool:
    t = address.to if isinstance(address, Pointer) else address
    if isinstance(t, Array):
        return t.length is not None or t.count is not None
    if isinstance(t, Struct):
        return t.record.members is not None
    return not isinstance(t, (Function, Void))
