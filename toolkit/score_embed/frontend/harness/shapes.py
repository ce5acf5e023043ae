"""Questions about types that the makers of a harness ask: what a type lets them make, and how it is called.

They hang on the type alone. What its file declares besides is `scope.py`'s.
"""

from __future__ import annotations

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
    is_untracked,
    unqualified,
)


def is_plain(of: CType) -> bool:
    """Numbers whose every pattern of bytes is a value."""
    while isinstance(of, Array):
        of = unqualified(of.of)
    return (is_integer(of) or is_float(of)) and not why_not(of) and not (isinstance(of, Int) and of.name == "_Bool")


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


def holds_pointers(t: CType) -> bool:
    """Whether an object of the type has a pointer in it, or what is as good as one."""
    t = unqualified(t)
    if isinstance(t, Array):
        return holds_pointers(t.of)
    if isinstance(t, Struct):
        return any(holds_pointers(member.type) for member in t.record.members or [])
    return isinstance(t, (Pointer, VaList, Function))


def bits(t: CType) -> int:
    """How large it is, as far as that is known without its layout."""
    u = unqualified(t)
    if isinstance(u, Array):
        return (u.length or 0) * bits(u.of)
    if isinstance(u, Struct):
        return sum(bits(m.type) for m in u.record.members or [])
    return as_int(u).bits if is_integer(u) else getattr(u, "bits", 0)


def why_not(t: CType) -> str:
    """Why no value of a scalar type can be symbolic; "" if one can."""
    if isinstance(t, VaList):
        return "a va_list"
    return "numbers of such a type have no formula" if is_untracked(t) else ""
