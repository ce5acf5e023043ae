"""Questions about types that a harness's maker asks."""

from __future__ import annotations

from score_embed.frontend.harness.scope import FileScope, Unmakeable, why_not
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Int,
    Member,
    Pointer,
    Record,
    Struct,
    VaList,
    Void,
    as_int,
    is_float,
    is_integer,
    unqualified,
)


def is_plain(of: CType) -> bool:
    """Numbers whose every pattern of bytes is a value."""
    while isinstance(of, Array):
        of = unqualified(of.of)
    return (is_integer(of) or is_float(of)) and not why_not(of) and not (isinstance(of, Int) and of.name == "_Bool")


def bits(t: CType) -> int:
    """How large it is, as far as that is known without its layout."""
    u = unqualified(t)
    if isinstance(u, Array):
        return (u.length or 0) * bits(u.of)
    if isinstance(u, Struct):
        return sum(bits(m.type) for m in u.record.members or [])
    return as_int(u).bits if is_integer(u) else getattr(u, "bits", 0)


def element_name(scope: FileScope, u: CType) -> str:
    """What a pointer or an array is to, if there can be several; for what is compared by names."""
    of = unqualified(u.to) if isinstance(u, Pointer) else unqualified(u.of) if isinstance(u, Array) else None
    if of is None or isinstance(of, (Function, VaList)):
        return ""
    if isinstance(of, Struct) and not of.record.members:
        return ""
    try:
        return scope.declare(of)
    except Unmakeable:
        return "?"


def allocates(t: Function) -> bool:
    """Whether a function of the type gives memory: what a stub gave would be too small."""
    sizes = [p for p in t.params or () if isinstance(p, Int)]
    result = unqualified(t.result)
    return isinstance(result, Pointer) and isinstance(unqualified(result.to), Void) and bool(sizes)


def is_open(t: CType) -> bool:
    """An array whose size the file does not say."""
    return isinstance(t, Array) and (t.count is None or is_open(unqualified(t.of)))


def flexible(record: Record | None) -> Member | None:
    """The flexible array member that a structure ends with."""
    last = record.members[-1] if record is not None and record.members else None
    if last is None or record is None or record.kind != "struct" or not isinstance(last.type, Array) or not last.name:
        return None
    return last if last.type.count is None or last.type.length == 0 else None


def unit(t: CType) -> str:
    """What one of the elements is called."""
    t = unqualified(t)
    if isinstance(t, Struct):
        return t.record.kind
    if isinstance(t, Pointer):
        return "pointer"
    return "byte" if isinstance(t, Void) or (isinstance(t, Int) and t.bits == 8) else "element"
