"""Makes structures and unions: their members one by one, numbers that count others first.

Which member counts which is told by attributes, hints and names; what nobody looks at is not made. Of a union the
largest member without pointers is. Bit-fields, and the elements behind a structure that ends with a flexible array, are
members, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from score_embed.errors import UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness import names
from score_embed.frontend.harness.draft import ELEMENTS, Draft, Pointee, Value
from score_embed.frontend.harness.names import Counts, Field
from score_embed.frontend.harness.shapes import bits, holds_pointers, is_plain, unit
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Int,
    Member,
    Pointer,
    Record,
    Struct,
    Void,
    as_int,
    unqualified,
)
from score_embed.userfile import shown
from score_embed.yamlfile import suggestion

_BEGINS = re.compile(r"(?:.*_)?(?:start|begin|base|first|buf|buffer|data|mem)")


def _turn(name: str, needed: Collection[str], into: Collection[str]) -> int:
    """Counts come first, what points into something last."""
    return 0 if name in needed else 2 if name in into else 1


class Structures:
    """Of one harness. `value`: what makes the members."""

    def __init__(self, draft: Draft, value: Value) -> None:
        self._draft, self._value = draft, value

    def make(self, record: Record, spot: Spot) -> None:
        """Statements that make the structure at `spot`."""
        if record.kind == "union":
            self._union(record, spot)
            return
        self._members(self._flat(record, spot), record)

    def _flat(self, record: Record, spot: Spot) -> list[tuple[Member, Spot]]:
        """The members with a name; a structure without one lends its own."""
        found: list[tuple[Member, Spot]] = []
        for member in record.members or []:
            if member.bits == 0 or (member.name == "" and member.bits is not None):
                continue
            if member.name is None:
                inner = member.type
                assert isinstance(inner, Struct)
                if inner.record.kind == "union":
                    chosen = self._of_union(inner.record, spot)
                    found += [(chosen, self._member(record, chosen, spot))] if chosen is not None else []
                else:
                    found += self._flat(inner.record, spot)
            else:
                found.append((member, self._member(record, member, spot)))
        return found

    def _member(self, record: Record, member: Member, spot: Spot) -> Spot:
        own = tuple(f"{name}.{member.name}" for name in self._draft.scope.names_of(record))
        dot = "" if spot.label.endswith("->") else "."
        return replace(
            spot, place=f"{spot.place}.{member.name}", label=f"{spot.label}{dot}{member.name}", members=own, said=""
        )

    def _members(self, members: Sequence[tuple[Member, Spot]], record: Record) -> None:
        counts = self._counts(members, record)
        spots = {member.name or "": spot for member, spot in members}
        needed = set(counts.of.values())
        into = self._into(members, record)
        bases = set(into.values())
        last = members[-1][0] if members else None
        for member, spot in sorted(members, key=lambda pair: _turn(pair[0].name or "", needed, into)):
            name = member.name or ""
            u = unqualified(member.type)
            count = counts.of.get(name, "")
            if member.bits is not None:
                self._field(as_int(u), member.bits, spot)
            elif isinstance(u, Array) and count:
                room = f"sizeof {spot.place} / sizeof {spot.place}[0]"
                if member is not last or u.length:
                    self._draft.text.limit(spots[count], room)
                    most = u.length if u.length is not None else f"elements of {spot.label}"
                    self._draft.text.bound(f"{spots[count].label} ≤ {most}")
                self._value(member.type, spot)
            else:
                recursive = (
                    isinstance(u, Pointer) and isinstance(u.to, Struct) and u.to.record in (*spot.records, record)
                )
                place = spots[count].place if count else ""
                if isinstance(u, Pointer) and not self._draft.scope.is_accessed(name):
                    continue  # nobody looks at it
                if name in bases or name in into:
                    recursive = False
                looks = self._draft.hints.all_null or self._draft.scope.nulls.member(name)
                nullable = recursive or (looks and name not in bases)
                self._value(
                    member.type,
                    spot,
                    Pointee(
                        count=place,
                        single=recursive,
                        nullable=nullable,
                        seen_as=self._opaque(u, name),
                        compared=self._draft.scope.is_compared(name) and name not in bases,
                        many=name in bases,
                        into=spots[into[name]].label if name in into else "",
                    ),
                )
        for less, more in counts.most:
            self._draft.text.limit(spots[less], spots[more].place)
            self._draft.text.bound(f"{spots[less].label} ≤ {spots[more].label}")

    def _into(self, members: Sequence[tuple[Member, Spot]], record: Record) -> dict[str, str]:
        """Members that point into the array of another one: the file subtracts them, or asks which is the greater.
        `start`, `end` and `top` of one structure are one array; what is called its begin is, or else the first."""
        pointers = {}
        for member, _ in members:
            u = unqualified(member.type)
            if isinstance(u, Pointer) and member.name and not isinstance(unqualified(u.to), (Function, Void)):
                pointers[member.name] = unqualified(u.to)
        found: dict[str, str] = {}
        for names_ in self._draft.scope.groups(pointers):
            base = next((name for name in names_ if _BEGINS.fullmatch(name)), names_[0])
            found |= {name: base for name in names_ if name != base and pointers[name] == pointers[base]}
        return found

    def _field(self, t: Int, bits: int, spot: Spot) -> None:
        """A bit-field has no address: a number of its size is the input."""
        hint = self._draft.heeded.meet(spot.label, spot.members, t)
        if hint.value:
            self._draft.text.say(f"{spot.place} = {hint.value};")
            return
        name = self._draft.text.fresh(spot.label, "_bits")
        types = self._draft.scope.types
        wide = next(of for of in (types.uchar, types.ushort, types.uint, types.ulong, types.ullong) if of.bits >= bits)
        self._draft.text.say(
            f'{wide.name} {name}; __score_symbolic(&{name}, sizeof {name}, "{as_written(spot.label)}");'
        )
        self._draft.text.asked += wide.bits // 8
        if 0 < bits < wide.bits:
            self._draft.text.say(f"{name} &= {(1 << bits) - 1:#x};")
        self._draft.text.say(f"{spot.place} = {name};")
        self._draft.in_range(spot.place, spot, hint)

    def _opaque(self, u: CType, name: str) -> CType | None:
        """What a member that says nothing of what it is to is taken for."""
        to = unqualified(u.to) if isinstance(u, Pointer) else None
        if not (isinstance(to, Void) or (isinstance(to, Struct) and to.record.members is None)):
            return None
        return self._draft.scope.member_seen_as(name)

    def _counts(self, members: Sequence[tuple[Member, Spot]], record: Record) -> Counts:
        """Which members say how many elements others have: as attributes, hints and names tell."""
        fields = []
        for member, _ in members:
            u = unqualified(member.type)
            to = unqualified(u.to) if isinstance(u, Pointer) else None
            single = isinstance(to, Struct) and (
                to.record is record or not self._draft.scope.is_moved(member.name or "")
            )
            element = "" if single else self._draft.scope.element_name(u)
            number = isinstance(u, Int) and u.name != "_Bool" and member.bits is None
            handed = isinstance(to, Struct) and self._draft.scope.is_only_passed(member.name or "")
            fields.append(Field(member.name or "", element, number, isinstance(u, Array), handed=handed))
        found = names.of_members(fields)
        known = {f.name for f in fields}
        found.of |= {name: by for name, by in self._draft.scope.counted_by(record).items() if by in known}
        for member, spot in members:
            hint = self._draft.hints.of(spot.label, spot.members)
            if hint.count:
                by = hint.count.rpartition(".")[2].rpartition("->")[2]
                numbers = [f.name for f in fields if f.is_number]
                if by not in numbers:
                    what = f"'count' of {as_written(spot.label)}: {shown(hint.count)} is no number of that structure"
                    raise UsageError(what, hint.at, suggestion(by, numbers) if numbers else "Use `size`.")
                found.of[member.name or ""] = by
        return found

    def _union(self, record: Record, spot: Spot) -> None:
        chosen = self._of_union(record, spot)
        if chosen is not None:
            self._members([(chosen, self._member(record, chosen, spot))], record)

    def _of_union(self, record: Record, spot: Spot) -> Member | None:
        """The member of a union that is made: one without pointers, the one with the most bytes as far as that is
        known."""
        members = [m for m in record.members or [] if m.name and m.bits is None]
        plain = [m for m in members if not holds_pointers(m.type)]
        if len(plain) < len(members):
            others = ", ".join(m.name or "" for m in members if m not in plain)
            self._draft.text.lose(spot, Struct(record), f"of the union no {others} is made")
        return max(plain, key=lambda m: bits(m.type)) if plain else None

    def behind(self, record: Record, last: Member, spot: Spot) -> None:
        """The elements of a flexible array member."""
        assert isinstance(last.type, Array)
        of = unqualified(last.type.of)
        member = self._member(record, last, spot)
        counts = self._counts(self._flat(record, spot), record)
        count = counts.of.get(last.name or "")
        if count:
            self._draft.text.limit(replace(spot, place=f"{spot.place}.{count}"), str(ELEMENTS))
        self._draft.text.bound(f"{member.label} ≤ {ELEMENTS} {unit(of)}s")
        if is_plain(of):
            place = member.place
            self._draft.text.say(
                f'__score_bytes((void *) {place}, {ELEMENTS} * sizeof {place}[0], "{as_written(member.label)}");'
            )
            self._draft.text.asked += ELEMENTS * bits(of) // 8
        else:
            self._draft.text.lose(member, last.type, "only numbers are made behind a structure")
        if count:
            whole = spot.place.removesuffix(".object")
            behind = f"{spot.place}.{count} * sizeof {member.place}[0]"
            self._draft.text.ends_at(
                member, f"&{whole}", f"__builtin_offsetof(__typeof__({spot.place}), {last.name}) + {behind}"
            )
