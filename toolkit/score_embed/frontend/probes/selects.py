"""Reads and stores whose address may be symbolic become statements of their own, `t = a[i];` and `a[i] = t;`, for which
there are probes.

The value of such a read is not the element's that this run happened to read but, as a formula, that of any element of
the object; and a store changes, as a formula, any element of it. Small structures are copied member by member: a copy
as a whole has no formula there; of its members each has one, as any read and store of a number. What has no formula
(volatile objects that are not atomic, other structures) is left where it is: there the address is used as it is in this
run. A bit-field is read and stored by the word that holds it.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.frontend.ir.body import Argument, Assign, Body, Branch, Call, Copy, Select, SetPlain, Stmt, Store
from score_embed.frontend.ir.exp import (
    AddressOf,
    Binary,
    Convert,
    Exp,
    Load,
    MathCall,
    Offset,
    Place,
    PointerAdd,
    PointerDiff,
    Raw,
    Slot,
    SlotRef,
    Unary,
)
from score_embed.frontend.ir.flow import expressions
from score_embed.frontend.probes.bit_words import is_in_word, read_field, with_field, word_of
from score_embed.frontend.probes.blocks import Plan
from score_embed.frontend.probes.maybe import Maybe
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Pointer,
    Struct,
    Types,
    as_int,
    compatible_text,
    declare,
    has_const_member,
    is_integer,
    is_scalar,
    is_untracked,
    qualified,
    unqualified,
)

_MOST = 8  # members: of more, code would grow too much
_MOST_SLOTS = 4000  # of the 4095 that a leaf word can name; beyond, addresses are pinned


def members(place: Place) -> list[Place] | None:
    """All numbers and pointers of the structure there; None if they are too many, or if not all that it holds is
    such."""
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


def with_selects(body: Body, types: Types, plan: Plan, maybe: Maybe) -> Body:
    """The function with every read and store at an address that may be symbolic as Select and Store; itself if it has
    none."""
    work = _Separation(replace(body, declarations=list(body.declarations)), types)
    found: list[Stmt] = []
    for s in body.statements:
        before = plan.maybe(s, maybe)
        if isinstance(s, Copy):
            varying = [before.exp(plan.formula(s, place.address)) for place in (s.source, s.dest)]
            found += work.copied(s, *varying) if any(varying) else [s]
            continue
        reads = [e for exp in expressions(s) for e in exp.walk() if isinstance(e, Load)]
        chosen = [e for e in reads if _is_plain(e.place) and before.exp(plan.formula(s, e.place.address))]
        statements = work.split(s, list(dict.fromkeys(chosen)))
        dest = s.dest if isinstance(s, Assign) else None
        if isinstance(dest, Place) and _is_stored(dest) and before.exp(plan.formula(s, dest.address)):
            statements[-1:] = work.store(statements[-1], dest)
        found += statements
    return replace(work.body, statements=found) if work.changed else body


def _is_plain(place: Place) -> bool:
    return (place.bit_field is None or is_in_word(place)) and (place.type.atomic or not place.type.volatile)


def _is_stored(dest: Place) -> bool:
    return _is_plain(dest) and is_scalar(dest.type) and not is_untracked(unqualified(dest.type))


class _Separation:
    """The temporaries of one function's reads and stores: none lives beyond its statement."""

    def __init__(self, body: Body, types: Types) -> None:
        self.body = body
        self.types = types
        self._pool: dict[str, list[SlotRef]] = {}
        self._stored: dict[str, list[SlotRef]] = {}  # apart: a value may be made of what was read
        self._count = 0
        self.changed = False

    def split(self, s: Stmt, reads: list[Load]) -> list[Stmt]:
        """The statement, and before it the reads that it needs."""
        if not reads or self.body.slots + len(reads) > _MOST_SLOTS:
            return [s]
        self.changed = True
        if (
            isinstance(s, Assign)
            and isinstance(s.dest, SlotRef)
            and isinstance(s.exp, Load)
            and s.exp in reads
            and not is_in_word(s.exp.place)
            and s.dest.type == s.exp.type
        ):
            return [Select(s.coord, s.dest, s.exp)]
        used: dict[str, int] = {}
        values: dict[Load, Exp] = {}
        before: list[Stmt] = []
        for read in reads:
            selected, values[read] = self._read(s, read, used)
            before.append(selected)
        match s:
            case Assign():
                return [*before, replace(s, exp=_replaced(s.exp, values))]
            case Branch():
                return [*before, replace(s, left=_replaced(s.left, values), right=_replaced(s.right, values))]
            case Call():
                args = [Argument(_replaced(a.exp, values) if isinstance(a.exp, Exp) else a.exp) for a in s.args]
                return [*before, replace(s, args=args)]
        return [s]

    def store(self, s: Stmt, dest: Place) -> list[Stmt]:
        """The assignment as a store of a slot."""
        assert isinstance(s, Assign)
        if self.body.slots >= _MOST_SLOTS:
            return [s]
        self.changed = True
        if is_in_word(dest):
            return self._store_field(s, dest)
        t = unqualified(dest.type)
        value = self._temporary(as_int(t) if is_integer(t) else t, {}, self._stored)
        return [Assign(s.coord, value, s.exp), Store(s.coord, dest, value)]

    def _store_field(self, s: Assign, dest: Place) -> list[Stmt]:
        """The word that holds the field is read, and stored with the field's new bits."""
        word = word_of(dest, self.types)
        used: dict[str, int] = {}
        old, new = (self._temporary(word.type, used, self._stored) for _ in range(2))
        value = with_field(old, dest, s.exp, self.types)
        return [Select(s.coord, old, Load(word.type, word)), Assign(s.coord, new, value), Store(s.coord, dest, new)]

    def copied(self, s: Copy, source_varies: bool, dest_varies: bool) -> list[Stmt]:
        """The copy of a structure member by member, and then what lies between them; itself if that cannot be."""
        sources, dests = members(s.source), members(s.dest)
        if sources is None or dests is None or self.body.slots + len(sources) > _MOST_SLOTS:
            return [s]
        self.changed = True
        reads: list[Stmt] = []
        stores: list[Stmt] = []
        used: dict[str, int] = {}
        for source, dest in zip(sources, dests, strict=True):
            t = unqualified(source.type)
            load = Load(as_int(t) if is_integer(t) else t, source)
            value = self._temporary(load.type, used, self._stored)
            reads.append(Select(s.coord, value, load) if source_varies else Assign(s.coord, value, load))
            stores.append(Store(s.coord, dest, value) if dest_varies else Assign(s.coord, dest, value))
        return [*reads, *stores, SetPlain(s.coord, s.dest.text, Raw(s.source.type, s.source.text))]

    def _read(self, s: Stmt, read: Load, used: dict[str, int]) -> tuple[Select, Exp]:
        """The read as a statement of its own, and the value by what that leaves."""
        if not is_in_word(read.place):
            value = self._temporary(read.type, used)
            return Select(s.coord, value, read), value
        word = word_of(read.place, self.types)
        held = self._temporary(word.type, used)
        return Select(s.coord, held, Load(word.type, word)), read_field(held, read.type, read.place, self.types)

    def _temporary(self, t: CType, used: dict[str, int], pools: dict[str, list[SlotRef]] | None = None) -> SlotRef:
        key = compatible_text(t)
        pool = (self._pool if pools is None else pools).setdefault(key, [])
        used[key] = used.get(key, 0) + 1
        if used[key] > len(pool):
            self._count += 1
            slot = Slot(self.body.slots, f"sc_read{self._count}", t)
            self.body.slots += 1
            self.body.declarations.append(declare(t, slot.name) + ";")
            pool.append(SlotRef(t, slot))
        return pool[used[key] - 1]


def _replaced(exp: Exp, values: dict[Load, Exp]) -> Exp:
    """`exp` with these reads taken from their temporaries."""
    match exp:
        case Load():
            return values.get(exp, exp)
        case Convert() | MathCall() | Unary():
            return replace(exp, operand=_replaced(exp.operand, values))
        case Binary() | PointerDiff():
            return replace(exp, left=_replaced(exp.left, values), right=_replaced(exp.right, values))
        case PointerAdd():
            return replace(exp, base=_replaced(exp.base, values), index=_replaced(exp.index, values))
        case Offset():
            return replace(exp, base=_replaced(exp.base, values))
        case AddressOf():
            return replace(exp, place=replace(exp.place, address=_replaced(exp.place.address, values)))
    return exp
