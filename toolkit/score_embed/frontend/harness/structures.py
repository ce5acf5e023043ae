"""Makes structures and unions: their members one by one, numbers that count others first.

Which member counts which is told by attributes, hints and names; what nobody looks at is not made. Which members there
are says `parts.py`. Bit-fields, and the elements behind a structure that ends with a flexible array, are members, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from score_embed.errors import UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness import names, parts
from score_embed.frontend.harness.draft import Draft, Pointee, Value
from score_embed.frontend.harness.lengths import ELEMENTS, Lengths, fixed
from score_embed.frontend.harness.names import Counts, Field
from score_embed.frontend.harness.parts import Part
from score_embed.frontend.harness.scope import FileScope
from score_embed.frontend.harness.shapes import bits, flexible, is_plain, unit
from score_embed.frontend.harness.spans import BEGINS, ENDS
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


def _turn(part: Part, needed: Collection[str], into: Collection[str]) -> int:
    """Counts come first, then what points into something, and last what depends on other members."""
    return 0 if part.name in needed else 3 if part.is_union else 2 if part.name in into else 1


def _pointers(members: Sequence[Part]) -> dict[str, CType]:
    """The members that lead to numbers, structures or pointers, by name, and what they lead to."""
    found = {}
    for part in members:
        u = unqualified(part.member.type)
        if isinstance(u, Pointer) and part.name and not isinstance(unqualified(u.to), (Function, Void)):
            found[part.name] = unqualified(u.to)
    return found


def _pointing(base: str, into: Mapping[str, str]) -> list[str]:
    """The members that point into the array of this one."""
    return [name for name, other in into.items() if other == base]


@dataclass(frozen=True)
class Behind:
    """A flexible array member. `count`: the member that says how many elements there are, "" if none does."""

    last: Member
    of: CType
    count: str
    lengths: Lengths


class Structures:
    """Of one harness. `value`: what makes the members."""

    def __init__(self, draft: Draft, value: Value) -> None:
        self._draft, self._value = draft, value
        self._beside: dict[str, dict[str, str]] = {}  # of each union, by its lvalue: the numbers around it

    def make(self, record: Record, spot: Spot) -> None:
        """Statements that make the structure at `spot`."""
        if record.kind == "union":
            members = parts.of_union(self._draft, record, spot, self._beside.get(spot.place, {}))
        else:
            members = parts.flat(self._draft, record, spot)
        self._members(members, record)
        self._draft.held(record, spot.place)

    def _members(self, members: Sequence[Part], record: Record) -> None:
        counts = self._counts(members, record)
        spots = {part.name: part.spot for part in members}
        needed = set(counts.of.values())
        into = self._into(members, record)
        beside = parts.numbers(members)
        for part in sorted(members, key=lambda part: _turn(part, needed, into)):
            at = len(self._draft.text.lines)
            if part.is_union:
                self._beside[part.spot.place] = beside
            self._part(part, counts, spots, into, record, is_last=part is members[-1])
            if part.when:
                self._draft.text.only_when(part.when, at)
        self._in_order(members, record, into)
        for less, more in counts.most:
            self._draft.text.limit(spots[less], spots[more].place)
            self._draft.text.bound(f"{spots[less].label} ≤ {spots[more].label}")

    def _part(
        self, part: Part, counts: Counts, spots: dict[str, Spot], into: dict[str, str], record: Record, *, is_last: bool
    ) -> None:
        member, spot, name = part.member, part.spot, part.name
        u, count, bases = unqualified(member.type), counts.of.get(name, ""), set(into.values())
        if member.bits is not None:
            self._field(as_int(u), member.bits, spot)
        elif isinstance(u, Array) and count:
            room = f"sizeof {spot.place} / sizeof {spot.place}[0]"
            if not is_last or u.length:
                self._draft.text.limit(spots[count], room)
                most = u.length if u.length is not None else f"elements of {spot.label}"
                self._draft.text.bound(f"{spots[count].label} ≤ {most}")
            self._value(member.type, spot)
        else:
            recursive = isinstance(u, Pointer) and isinstance(u.to, Struct) and u.to.record in (*spot.records, record)
            if isinstance(u, Pointer) and not any(map(self._draft.may_look, (name, *_pointing(name, into)))):
                return  # nobody looks at it
            if name in bases or name in into:
                recursive = False
            knowing = self._draft.scope.knowing(record)
            looks = self._draft.hints.all_null or knowing.nulls.member(name)
            pointee = Pointee(
                count=spots[count].place if count else "",
                asks=f".{count}" if count else "",
                single=recursive,
                nullable=recursive or (looks and name not in bases),
                seen_as=self._opaque(u, name, knowing),
                compared=knowing.is_compared(name) and name not in bases,
                freed=knowing.freed.member(name),
                many=name in bases,
                into=spots[into[name]].label if name in into else "",
            )
            self._value(member.type, spot, pointee)

    def _into(self, members: Sequence[Part], record: Record) -> dict[str, str]:
        """Members that point into the array of another one, as the program shows: `start`, `end` and `top` of one
        structure are one array; what is called its begin is, or else the first."""
        pointers = _pointers(members)
        found: dict[str, str] = {}
        for names_ in self._draft.scope.knowing(record).groups(pointers, elsewhere=self._is_shown_elsewhere(pointers)):
            base = next((name for name in names_ if BEGINS.fullmatch(name)), names_[0])
            found |= {name: base for name in names_ if name != base and pointers[name] == pointers[base]}
        return found

    def _in_order(self, members: Sequence[Part], record: Record, into: dict[str, str]) -> None:
        """Which of the members that point into one array is not behind another, as the program shows."""
        spots = {part.name: part.spot for part in members if not part.when}
        among = {name: base for name, base in into.items() if not ENDS.fullmatch(name)}  # ends are where the array is
        made = {name: spots[name] for name, base in among.items() if self._is_made_into(name, base, spots)}
        pointers = _pointers(members)
        elsewhere = self._is_shown_elsewhere(pointers)
        for less, more in self._draft.scope.knowing(record).before(pointers, elsewhere=elsewhere):
            if less in made and more in made and into[less] == into[more]:
                self._draft.text.assume(f"{made[less].place} <= {made[more].place}")
                self._draft.text.guess(made[more].label, f"{made[less].label} ≤ {made[more].label}")

    def _is_made_into(self, name: str, base: str, spots: Mapping[str, Spot]) -> bool:
        """Whether the member was made to point into the array of the other one, and nothing else is said of it."""
        if name not in spots or base not in spots or not self._draft.may_look(name):
            return False
        return spots[base].label in self._draft.rooms and not self._draft.hints.of(spots[name].label).at

    def _is_shown_elsewhere(self, pointers: Mapping[str, CType]) -> bool:
        """Of the nodes of a list only the file itself tells: elsewhere a structure with a `head` and a `tail` may be
        another one."""
        return not any(isinstance(to, Struct) and self._links(to.record) for to in pointers.values())

    def _links(self, record: Record) -> bool:
        """Whether it is a node: a member of it leads to another one."""
        leads = [unqualified(u.to) for m in record.members or () if isinstance(u := unqualified(m.type), Pointer)]
        return any(isinstance(to, Struct) and to.record is record for to in leads)

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

    def _opaque(self, u: CType, name: str, knowing: FileScope) -> CType | None:
        """What a member that says nothing of what it is to is taken for."""
        to = unqualified(u.to) if isinstance(u, Pointer) else None
        if not (isinstance(to, Void) or (isinstance(to, Struct) and to.record.members is None)):
            return None
        return self._draft.scope.named_here(knowing.member_seen_as(name), knowing)

    def _counts(self, members: Sequence[Part], record: Record) -> Counts:
        """Which members say how many elements others have: as attributes, hints and names tell."""
        fields = []
        knowing = self._draft.scope.knowing(record)
        for part in members:
            member, u = part.member, unqualified(part.member.type)
            to = unqualified(u.to) if isinstance(u, Pointer) else None
            single = isinstance(to, Struct) and (to.record is record or not knowing.is_moved(member.name or ""))
            element = "" if single else self._draft.scope.element_name(u)
            number = isinstance(u, Int) and u.name != "_Bool" and member.bits is None and not part.when
            handed = isinstance(to, Struct) and knowing.is_only_passed(member.name or "")
            parallel = isinstance(to, (Pointer, Struct)) and knowing.is_subscripted(member.name or "")
            fields.append(
                Field(member.name or "", element, number, isinstance(u, Array), handed=handed, parallel=parallel)
            )
        found = names.of_members(fields)
        known = {f.name for f in fields}
        found.of |= {name: by for name, by in self._draft.scope.counted_by(record).items() if by in known}
        for part in members:
            hint = self._draft.hints.of(part.spot.label, part.spot.members)
            if hint.count:
                by = hint.count.rpartition(".")[2].rpartition("->")[2]
                numbers = [f.name for f in fields if f.is_number]
                if by not in numbers:
                    what = f"'count' of {as_written(part.spot.label)}: {shown(hint.count)} is no number of that structure"
                    raise UsageError(what, hint.at, suggestion(by, numbers) if numbers else "Use `size`.")
                found.of[part.name] = by
        return found

    def behind(self, record: Record, spot: Spot) -> Behind | None:
        """The flexible array member that a structure ends with, and how many elements it may have."""
        last = flexible(record)
        if last is None:
            return None
        assert isinstance(last.type, Array)
        count = self._counts(parts.flat(self._draft, record, spot), record).of.get(last.name or "", "")
        label = parts.spot_of(self._draft, record, last, spot).label
        of = unqualified(last.type.of)
        is_counted = is_plain(of) and count
        return Behind(last, of, count, self._draft.lengths(f".{count}", label, of) if is_counted else fixed(ELEMENTS))

    def make_behind(self, behind: Behind, spot: Spot) -> None:
        """The elements of a flexible array member."""
        last, of, count, lengths = behind.last, behind.of, behind.count, behind.lengths
        member = parts.spot_of(self._draft, spot.records[-1], last, spot)
        if count:
            self._draft.text.count_within(f"{spot.place}.{count}", lengths)
        self._draft.text.bound(lengths.words(member.label, unit(of)))
        if is_plain(of):
            place, most = member.place, lengths.most
            self._draft.text.say(
                f'__score_bytes((void *) {place}, {most} * sizeof {place}[0], "{as_written(member.label)}");'
            )
            self._draft.text.asked += most * bits(of) // 8
        else:
            self._draft.text.lose(member, last.type, "only numbers are made behind a structure")
        if count:
            whole = spot.place.removesuffix(".object")
            counted = f"{spot.place}.{count} * sizeof {member.place}[0]"
            self._draft.text.ends_at(
                member, f"&{whole}", f"__builtin_offsetof(__typeof__({spot.place}), {last.name}) + {counted}"
            )
