"""Makes objects for the arguments of a function: C statements, one maker for each kind of type.

Every number is an input. A pointer is null or leads to a fresh object of its own, and which of the two is an input, too: the pointer is
computed from it without a branch (`object * given`), so that it is settled where the function first looks at it, and the function's
paths are its own. Lists and trees end at a depth, texts and arrays have a size: these bounds are said. What cannot be made stays null,
and that is said with its type and place. No pointer holds bytes that nobody made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from score_embed.contract.program import UNKNOWN_SIZE
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness import names
from score_embed.frontend.harness.hints import Hint, Hints
from score_embed.frontend.harness.names import Counts, Field
from score_embed.frontend.harness.scope import FileScope, Unmakeable, holds_pointers, why_not
from score_embed.frontend.harness.shapes import allocates, bits, element_name, flexible, is_open, is_plain, unit
from score_embed.frontend.harness.text import HarnessText, Spot
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
    is_float,
    is_integer,
    unqualified,
    without_const,
)

ELEMENTS = 16  # of an array of numbers, or bytes
STRUCTS = 3  # of an array of structures or pointers
CHARACTERS = 15  # of a text
DEPTH = 2  # objects of one type in a row: nodes of a list
_LEVELS = 5  # pointers that lead to each other
_OBJECTS = 60
_CALLBACKS = 6
_UNROLLED = 4  # elements of an array within an object that are made one by one


_SUBSCRIPTS = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Pointee:
    """What is known of one pointer besides its type. `count`: the lvalue of the number that says how many; `single`: one object
    as the code shows; `seen_as`: what a `void *` really is to."""

    count: str = ""
    single: bool = False
    nullable: bool = True
    seen_as: CType | None = None
    promised: bool = False  # that it is not null


class Maker:
    """Makes the objects of one harness."""

    def __init__(self, scope: FileScope, function: str, hints: Hints) -> None:
        self.scope, self.hints = scope, hints
        self._function = function
        self.text = HarnessText(scope)
        self._pointers: dict[str, str] = {}  # label → lvalue, of pointers that were made: for aliases

    def is_pointer(self, label: str) -> bool:
        """Whether a pointer of that name was made; subscripts may be left away."""
        return label in self._pointers or any(_SUBSCRIPTS.sub("", name) == label for name in self._pointers)

    # --- values ---------------------------------------------------------------------------------------------------

    def value(self, t: CType, spot: Spot, pointee: Pointee | None = None) -> None:
        """Statements that make the object at `spot`, which is zero so far."""
        hint = self.hints.of(spot.label, spot.members)
        u = unqualified(t)
        if hint.value:
            self.text.say(f"{self.text.writable(t, spot.place)} = {hint.value};")
        elif isinstance(u, Pointer):
            self._pointer(t, u, spot, pointee or self._behind_pointer(spot), hint)
        elif isinstance(u, Struct):
            self._record(u.record, spot)
        elif isinstance(u, Array):
            self._array(u, spot)
        elif is_integer(u) or is_float(u):
            self._number(t, u, spot, hint)
        else:
            self.text.lose(spot, t, why_not(u) or "there is no input of such a type")

    def _number(self, t: CType, u: CType, spot: Spot, hint: Hint) -> None:
        if why := why_not(u):
            self.text.lose(spot, t, why)
            return
        place = self.text.writable(t, spot.place)
        how = "boolean" if isinstance(u, Int) and u.name == "_Bool" else "symbolic"
        self.text.say(f'__score_{how}(&{place}, sizeof {place}, "{as_written(spot.label)}");')
        self.text.numbers[spot.place] = spot.label
        if hint.low:
            self.text.assume(f"{place} >= {hint.low} && {place} <= {hint.high}")
            self.text.bound(f"{spot.label} from {hint.low} to {hint.high}")

    def _field(self, t: Int, bits: int, spot: Spot) -> None:
        """A bit-field has no address: a number of its size is the input."""
        name = self.text.fresh(spot.label, "_bits")
        types = self.scope.types
        wide = next(of for of in (types.uchar, types.ushort, types.uint, types.ulong, types.ullong) if of.bits >= bits)
        self.text.say(f'{wide.name} {name}; __score_symbolic(&{name}, sizeof {name}, "{as_written(spot.label)}");')
        if 0 < bits < wide.bits:
            self.text.say(f"{name} &= {(1 << bits) - 1:#x};")
        self.text.say(f"{spot.place} = {name};")

    # --- structures -----------------------------------------------------------------------------------------------

    def _record(self, record: Record, spot: Spot) -> None:
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
        own = tuple(
            dict.fromkeys(f"{name}.{member.name}" for name in (as_written(record.tag), self.scope.name_of(record)))
        )
        dot = "" if spot.label.endswith("->") else "."
        return replace(spot, place=f"{spot.place}.{member.name}", label=f"{spot.label}{dot}{member.name}", members=own)

    def _members(self, members: Sequence[tuple[Member, Spot]], record: Record) -> None:
        counts = self._counts(members, record)
        spots = {member.name or "": spot for member, spot in members}
        needed = set(counts.of.values())
        last = members[-1][0] if members else None
        for member, spot in sorted(members, key=lambda pair: (pair[0].name or "") not in needed):
            name = member.name or ""
            u = unqualified(member.type)
            count = counts.of.get(name, "")
            if member.bits is not None:
                self._field(as_int(u), member.bits, spot)
            elif isinstance(u, Array) and count:
                room = f"sizeof {spot.place} / sizeof {spot.place}[0]"
                if member is not last or u.length:
                    self.text.limit(spots[count], room)
                    most = u.length if u.length is not None else f"elements of {spot.label}"
                    self.text.bound(f"{spots[count].label} ≤ {most}")
                self.value(member.type, spot)
            else:
                recursive = (
                    isinstance(u, Pointer) and isinstance(u.to, Struct) and u.to.record in (*spot.records, record)
                )
                place = spots[count].place if count else ""
                if isinstance(u, Pointer) and not self.scope.is_accessed(name):
                    continue  # nobody looks at it
                nullable = recursive or self.hints.all_null or self.scope.nulls.member(name)
                self.value(
                    member.type,
                    spot,
                    Pointee(count=place, single=recursive, nullable=nullable, seen_as=self._opaque(u, name)),
                )
        for less, more in counts.most:
            self.text.limit(spots[less], spots[more].place)
            self.text.bound(f"{spots[less].label} ≤ {spots[more].label}")

    def _opaque(self, u: CType, name: str) -> CType | None:
        """What a member that says nothing of what it is to is taken for."""
        to = unqualified(u.to) if isinstance(u, Pointer) else None
        if not (isinstance(to, Void) or (isinstance(to, Struct) and to.record.members is None)):
            return None
        return self.scope.member_seen_as(name)

    def _counts(self, members: Sequence[tuple[Member, Spot]], record: Record) -> Counts:
        """Which members say how many elements others have: as attributes, hints and names tell."""
        fields = []
        for member, _ in members:
            u = unqualified(member.type)
            recursive = isinstance(u, Pointer) and isinstance(u.to, Struct) and u.to.record is record
            element = "" if recursive else element_name(self.scope, u)
            number = isinstance(u, Int) and u.name != "_Bool" and member.bits is None
            fields.append(Field(member.name or "", element, number, isinstance(u, Array)))
        found = names.of_members(fields)
        known = {f.name for f in fields}
        found.of |= {name: by for name, by in self.scope.counted_by(record).items() if by in known}
        for member, spot in members:
            hint = self.hints.of(spot.label, spot.members)
            if hint.count:
                found.of[member.name or ""] = hint.count.rpartition(".")[2].rpartition("->")[2]
        return found

    def _union(self, record: Record, spot: Spot) -> None:
        chosen = self._of_union(record, spot)
        if chosen is not None:
            self._members([(chosen, self._member(record, chosen, spot))], record)

    def _of_union(self, record: Record, spot: Spot) -> Member | None:
        """The member of a union that is made: one without pointers, the one with the most bytes as far as that is known."""
        members = [m for m in record.members or [] if m.name and m.bits is None]
        plain = [m for m in members if not holds_pointers(m.type)]
        if len(plain) < len(members):
            others = ", ".join(m.name or "" for m in members if m not in plain)
            self.text.lose(spot, Struct(record), f"of the union no {others} is made")
        return max(plain, key=lambda m: bits(m.type)) if plain else None

    # --- arrays within objects ----------------------------------------------------------------------------------------

    def _array(self, u: Array, spot: Spot) -> None:
        of = unqualified(u.of)
        if u.count is None or u.count == "0" or u.length == 0:
            return  # a flexible array member: `_object` makes room for it
        if is_plain(of):
            place = spot.place
            self.text.say(f'__score_bytes((void *) {place}, sizeof {place}, "{as_written(spot.label)}");')
            self.text.array(spot.label, of)
            return
        length = u.length if u.length is not None and u.length <= _UNROLLED else 0
        if not length:
            length = _UNROLLED
            self.text.bound(f"{spot.label}: the first {length} elements")
        for at in range(length):
            self.value(u.of, replace(spot, place=f"{spot.place}[{at}]", label=f"{spot.label}[{at}]"))

    # --- pointers -------------------------------------------------------------------------------------------------

    def _pointer(self, t: CType, u: Pointer, spot: Spot, pointee: Pointee, hint: Hint) -> None:
        to = unqualified(u.to)
        if pointee.seen_as is not None:
            to = unqualified(pointee.seen_as)
        if hint.nullable is not None:
            pointee = replace(pointee, nullable=hint.nullable, promised=not hint.nullable)
        try:
            if isinstance(to, Function):
                self._callback(t, to, spot, pointee)
                return
            target = self._target(to, spot, pointee, hint, u.to.const)
        except Unmakeable as error:
            self.text.lose(spot, t, str(error))
            return
        if target is None:
            return
        counted = bool(pointee.count) and hint.nullable is not True
        self._settle(t, target, spot, replace(pointee, nullable=pointee.nullable and not counted), hint)

    def _behind_pointer(self, spot: Spot) -> Pointee:
        """A pointer that another one leads to, an element of an array, or a variable at file scope."""
        base = _SUBSCRIPTS.sub("", spot.label).strip("*()")
        return Pointee(nullable=self.hints.all_null or self.scope.nulls.behind(self._function, base))

    def _settle(self, t: CType, target: str, spot: Spot, pointee: Pointee, hint: Hint) -> None:
        """The pointer's value: the object, or null, or what another pointer leads to."""
        place, label = self.text.writable(t, spot.place), as_written(spot.label)
        others = [self._pointers[name] for name in hint.alias if name in self._pointers]
        self._pointers[spot.label] = spot.place
        if others:
            nulls = ["(void *) 0"] if pointee.nullable else []
            choices = [f"(void *) {target}", *(f"(void *) {other}" for other in others), *nulls]
            said = ["its own", *(f"as {name}" for name in hint.alias), *(["null"] if nulls else [])]
            chosen = self.text.choice(label, said, len(choices))
            table = self.text.fresh(spot.label, "_choices")
            self.text.say(f"void *{table}[] = {{{', '.join(choices)}}};")
            self.text.say(f"{place} = {table}[{chosen}];")
        elif pointee.nullable:
            given = self.text.fresh(spot.label, "_given")
            self.text.say(f'unsigned char {given}; __score_symbolic(&{given}, sizeof {given}, "{label} != NULL");')
            self.text.say(f"{place} = (void *) ((__UINTPTR_TYPE__) {target} * (({given} + 255u) >> 8));")
        else:
            self.text.say(f"{place} = (void *) {target};")
            if not pointee.count and not pointee.promised:
                self.text.never_null.append(as_written(spot.label))

    def _target(self, to: CType, spot: Spot, pointee: Pointee, hint: Hint, read_only: bool) -> str | None:
        """The address of a fresh object for the pointer; None if the pointer stays null within the harness's bounds."""
        if isinstance(to, Struct):
            if to.record.members is None:
                raise Unmakeable("nobody says here what it is to")
            if self.scope.is_foreign(to.record):
                raise Unmakeable("it is the library's to make")
            if self._ends(to.record, spot, hint):
                return None
        if isinstance(to, Array) and is_open(to):
            raise Unmakeable("its size is computed")
        if spot.levels >= _LEVELS or len(self.text.objects) >= _OBJECTS:
            self.text.bound(f"pointers in a row ≤ {_LEVELS}" if spot.levels >= _LEVELS else f"objects ≤ {_OBJECTS}")
            return None
        if hint.string or (isinstance(to, Int) and to.name == "char" and not pointee.count and not hint.size):
            return self._text(to, spot, hint.string, read_only)
        if isinstance(to, Void):
            to = self.scope.types.uchar
            pointee = replace(pointee, single=False)
        inner = replace(spot, levels=spot.levels + 1, members=())
        if pointee.count or hint.size:
            return self._elements(to, inner, pointee, hint)
        if isinstance(to, (Struct, Pointer, Array)) or pointee.single:
            return self._object(to, inner)
        return self._unknown(to, inner)

    def _ends(self, record: Record, spot: Spot, hint: Hint) -> bool:
        most = hint.depth or DEPTH
        if spot.records.count(record) < most:
            return False
        self.text.bound(f"{self.scope.name_of(record)}s in a row ≤ {most}")
        return True

    def _object(self, to: CType, spot: Spot) -> str:
        """One object of the exact size."""
        record = to.record if isinstance(to, Struct) else None
        name = self.text.fresh(spot.label, "_object")
        last = flexible(record)
        place = self.text.object_of(without_const(to), name) if last is None else self._with_room(to, last, name)
        self.text.guess(spot.label, f"{spot.label} = 1 {unit(to)}")
        label = f"{spot.label}->" if record is not None else f"*{spot.label}"
        label = f"({label})" if isinstance(to, Pointer) else label
        records = (*spot.records, record) if record is not None else spot.records
        inner = replace(spot, place=place, label=label, records=records)
        self.value(without_const(to), inner)
        if record is not None and last is not None:
            self._behind(record, last, inner)
        return f"&{place}"

    def _with_room(self, to: CType, last: Member, name: str) -> str:
        """The same, with so many elements of its flexible array member behind it."""
        of = self.scope.declare(to)
        size = f"sizeof({of}) + {ELEMENTS} * sizeof (({self.scope.declare(Pointer(to))}) 0)->{last.name}[0]"
        if self.scope.frees:
            self.text.objects.append(f"{self.scope.declare(Pointer(without_const(to)), name)} = calloc(1, {size});")
            return f"(*{name})"
        whole = self.scope.declare(without_const(to), "object")
        self.text.objects.append(f"static union {{ {whole}; unsigned char room[{size}]; }} {name};")
        return f"{name}.object"

    def _behind(self, record: Record, last: Member, spot: Spot) -> None:
        """The elements of a flexible array member."""
        assert isinstance(last.type, Array)
        of = unqualified(last.type.of)
        member = self._member(record, last, spot)
        counts = self._counts(self._flat(record, spot), record)
        count = counts.of.get(last.name or "")
        if count:
            self.text.limit(replace(spot, place=f"{spot.place}.{count}"), str(ELEMENTS))
        self.text.bound(f"{member.label} ≤ {ELEMENTS} {unit(of)}s")
        if is_plain(of):
            place = member.place
            self.text.say(f'__score_bytes((void *) {place}, {ELEMENTS} * sizeof {place}[0], "{as_written(member.label)}");')
        else:
            self.text.lose(member, last.type, "only numbers are made behind a structure")
        if count:
            whole = spot.place.removesuffix(".object")
            behind = f"{spot.place}.{count} * sizeof {member.place}[0]"
            self.text.ends_at(member, f"&{whole}", f"__builtin_offsetof(__typeof__({spot.place}), {last.name}) + {behind}")

    def _unknown(self, to: CType, spot: Spot) -> str:
        """Numbers, nobody knows how many: what lies behind them is not held against the function."""
        name = self.text.fresh(spot.label, UNKNOWN_SIZE)
        aligned = " __attribute__((aligned(8)))" if isinstance(to, Int) and to.bits == 8 else ""
        self.text.objects.append(f"static {self.scope.declare(without_const(to), f'{name}[{ELEMENTS}]')}{aligned};")
        self._fill(to, name, spot, ELEMENTS)
        if is_plain(to):
            self.text.array(spot.label, to)
        self.text.bound(f"{spot.label} = {ELEMENTS} {unit(to)}s")
        return name

    def _fill(self, to: CType, name: str, spot: Spot, count: int) -> None:
        if is_plain(to):
            self.text.say(f'__score_bytes((void *) {name}, sizeof {name}, "{as_written(spot.label)}");')
            return
        for at in range(count):
            self.value(without_const(to), replace(spot, place=f"{name}[{at}]", label=f"{spot.label}[{at}]"))

    def _text(self, to: CType, spot: Spot, hinted: int, read_only: bool) -> str:
        """`hinted`: so many characters, as a hint says; 0: nobody does. Who only reads a text has to stop at its end, however
        much room there is."""
        most = hinted or CHARACTERS
        name = self.text.fresh(spot.label, "_text")
        place = self.text.array_of(to, name, most + 1)
        self.text.say(f'__score_text({place}, {most}, "{as_written(spot.label)}");')
        words = f"{spot.label} ≤ {most} characters"
        if hinted or read_only:
            self.text.bound(words)
        else:
            self.text.guess(spot.label, words)
        return place

    def _elements(self, to: CType, spot: Spot, pointee: Pointee, hint: Hint, name: str = "") -> str:
        """An array whose length is a number of the program's, or that a hint says."""
        plain = is_plain(to)
        most = hint.size or (ELEMENTS if plain else STRUCTS)
        name = name or self.text.fresh(spot.label, "_elements")
        if pointee.count:
            self.text.limit(replace(spot, place=pointee.count), str(most))
        place = self.text.array_of(to, name, most)
        self._fill(to, place, self._in_array(to, spot), most)
        if pointee.count:
            self.text.ends_at(spot, place, f"{pointee.count} * sizeof {place}[0]")
        if pointee.count or plain:
            self.text.array(spot.label, to if plain else None, pointee.count)
        how = "≤" if pointee.count else "="
        self.text.bound(f"{spot.label} {how} {most} {unit(to)}s")
        return place

    @staticmethod
    def _in_array(to: CType, spot: Spot) -> Spot:
        return replace(spot, records=(*spot.records, to.record)) if isinstance(to, Struct) else spot

    def buffer(self, to: CType, name: str, spot: Spot, pointee: Pointee, hint: Hint) -> None:
        """An array that is an argument itself, under its name."""
        self.text.take(name)
        self._pointers[spot.label] = name
        self._elements(to, replace(spot, levels=1), pointee, hint, name)

    # --- functions ------------------------------------------------------------------------------------------------

    def _callback(self, t: CType, to: Function, spot: Spot, pointee: Pointee) -> None:
        """One of the program's functions of that type, or a stub with any result."""
        candidates = self.scope.callbacks(to)[:_CALLBACKS]
        if not candidates or not allocates(to):
            candidates.insert(0, self._stub(to, spot))
        if pointee.nullable:
            candidates.append("0")
        place = self.text.writable(t, spot.place)
        if len(candidates) == 1:
            self.text.say(f"{place} = {candidates[0]};")
            return
        said = ["null" if name == "0" else as_written(name) for name in candidates]
        chosen = self.text.choice(as_written(spot.label), said, len(candidates))
        table = self.text.fresh(spot.label, "_choices")
        declared = self.scope.declare(Array(Pointer(to, const=True), None), table)
        self.text.say(f"static {declared} = {{{', '.join(candidates)}}};")
        self.text.say(f"{place} = {table}[{chosen}];")

    def _stub(self, to: Function, spot: Spot) -> str:
        name = self.text.fresh(spot.label, "_stub")
        params = ", ".join(self.scope.declare(p, f"argument{i}") for i, p in enumerate(to.params or ())) or "void"
        head = self.scope.declare(to.result, f"{name}({params}{', ...' if to.variadic and to.params else ''})")
        result = unqualified(to.result)
        body = "    return;\n"
        if not isinstance(result, Void):
            body = self._result(result, replace(spot, label=f"{spot.label}()"))
        self.text.before.append(f"static {head}\n{{\n{body}}}\n")
        return name

    def _result(self, result: CType, spot: Spot) -> str:
        """What a stub gives back: an input, each time it is called."""
        outer, self.text = self.text, self.text.of_a_function()
        try:
            declared = self.scope.declare(without_const(result), "result")
            self.value(without_const(result), replace(spot, place="result", levels=spot.levels + 2))
            inner = self.text
        finally:
            self.text = outer
        zero = "{0}" if isinstance(result, (Struct, Array)) else "0"
        lines = [*inner.objects, f"{declared} = {zero};", *inner.lines, "return result;"]
        return "".join(f"    {line}\n" for line in lines)
