"""Makes what a pointer leads to: a fresh object, an array, a text, each of the size that is known.

Lists and trees end at a depth, texts and arrays have a size: these bounds are said, and those that are guessed are said
as guesses. An array whose size nobody knows has room: what leaves that is no bug, but ends the test.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.contract.entry import Guess, Usual
from score_embed.contract.program import UNKNOWN_SIZE
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness.draft import Draft, Pointee, Value
from score_embed.frontend.harness.hints import Hint
from score_embed.frontend.harness.lengths import CHARACTERS, ELEMENTS, STRUCTS, fixed
from score_embed.frontend.harness.scope import Unmakeable
from score_embed.frontend.harness.shapes import bits, is_open, is_plain, unit
from score_embed.frontend.harness.structures import Behind, Structures
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Int,
    Pointer,
    Record,
    Struct,
    VaList,
    Void,
    without_const,
)

ROOM = 256  # bytes, at least, of an array whose size nobody knows: what follows its inputs is zero
DEPTH = 2  # objects of one type in a row: nodes of a list
_LEVELS = 5  # pointers that lead to each other
_OBJECTS = 60  # those of a large structure must not leave the parameters behind it without any:
_NEAR = 2  # what they, and what they lead to, point to is always made


class Objects:
    """Of one harness. `value`: what makes the elements, and what an object holds."""

    def __init__(self, draft: Draft, structures: Structures, value: Value) -> None:
        self._draft, self._structures, self._value = draft, structures, value

    def target(self, to: CType, spot: Spot, pointee: Pointee, hint: Hint, read_only: bool) -> str | None:
        """The address of a fresh object for the pointer; None if the pointer stays null within the harness's bounds."""
        if isinstance(to, Struct):
            to = replace(to, record=self._draft.completed(to.record))
            if to.record.members is None:
                raise Unmakeable("nobody says here what it is to")
            if self._draft.scope.is_foreign(to.record):
                raise Unmakeable("it is the library's to make")
            if self._ends(to.record, spot, hint):
                return None
        if isinstance(to, Array) and is_open(to):
            raise Unmakeable("its size is computed")
        if isinstance(to, VaList):
            raise Unmakeable("it leads to arguments of `...`")
        is_crowded = spot.levels >= _NEAR and len(self._draft.text.objects) >= _OBJECTS
        if spot.levels >= _LEVELS or is_crowded:
            self._draft.text.bound(
                f"pointers in a row ≤ {_LEVELS}" if spot.levels >= _LEVELS else f"objects ≤ {_OBJECTS}"
            )
            return None
        is_array = bool(pointee.count or hint.size or pointee.many)
        if hint.string or (isinstance(to, Int) and to.name == "char" and not is_array):
            return self._characters(to, spot, hint.string, read_only)
        if isinstance(to, Void):
            to = self._draft.scope.types.uchar
            pointee = replace(pointee, single=False)
        inner = replace(spot, levels=spot.levels + 1, members=(), said="")
        if is_array:
            return self._elements(to, inner, pointee, hint)
        if isinstance(to, (Struct, Pointer, Array)) or pointee.single:
            return self._object(to, inner, read_only)
        return self._block(to, inner) if pointee.freed else self._unknown(to, inner)

    def buffer(self, to: CType, name: str, spot: Spot, pointee: Pointee, hint: Hint) -> None:
        """An array that is an argument itself, under its name."""
        self._draft.text.take(name)
        self._draft.pointers[spot.label] = name
        self._elements(to, replace(spot, levels=1), pointee, hint, name)

    def _ends(self, record: Record, spot: Spot, hint: Hint) -> bool:
        most = hint.depth or DEPTH
        if spot.records.count(record) < most:
            return False
        self._draft.text.bound(f"{self._draft.scope.name_of(record)}s in a row ≤ {most}")
        return True

    def _object(self, to: CType, spot: Spot, read_only: bool) -> str:
        """One object of the exact size."""
        record = to.record if isinstance(to, Struct) else None
        name = self._draft.text.fresh(spot.label, "_object")
        label = f"{spot.label}->" if record is not None else f"*{spot.label}"
        label = f"({label})" if isinstance(to, Pointer) else label
        records = (*spot.records, record) if record is not None else spot.records
        inner = replace(spot, place=name, label=label, records=records, said=label.strip("()"))
        behind = self._structures.behind(record, inner) if record is not None else None
        place = self._with_room(to, behind, name) if behind else self._draft.text.object_of(without_const(to), name)
        self._draft.text.guess(spot.label, f"{spot.label} = 1 {unit(to)}")
        inner = replace(inner, place=place)
        self._draft.pointers[spot.label] = f"&{place}"  # what it leads to may lead back
        self._draft.objects[spot.label] = place
        if record is not None and not read_only:
            self._draft.text.states.append(as_written(spot.label))
        if record is not None:
            self._draft.around.append((record, spot.label))
        self._value(without_const(to), inner)
        if record is not None:
            self._draft.around.pop()
        if behind is not None:
            self._structures.make_behind(behind, inner)
        return f"&{place}"

    def _with_room(self, to: CType, behind: Behind, name: str) -> str:
        """The same, with the elements of its flexible array member behind it."""
        of = self._draft.scope.declare(to)
        element = f"(({self._draft.scope.declare(Pointer(to))}) 0)->{behind.last.name}[0]"
        size = f"sizeof({of}) + {behind.lengths.most} * sizeof {element}"
        if self._draft.scope.frees:
            self._draft.text.objects.append(
                f"{self._draft.scope.declare(Pointer(without_const(to)), name)} = calloc(1, {size});"
            )
            return f"(*{name})"
        whole = self._draft.scope.declare(without_const(to), "object")
        self._draft.text.objects.append(f"static union {{ {whole}; unsigned char room[{size}]; }} {name};")
        return f"{name}.object"

    def _elements(self, to: CType, spot: Spot, pointee: Pointee, hint: Hint, name: str = "") -> str:
        """An array whose length is a number of the program's, or that a hint says."""
        plain = is_plain(to)
        lengths = fixed(hint.size or (ELEMENTS if plain else STRUCTS))
        if pointee.count and not hint.size:
            lengths = self._draft.lengths(pointee.asks, spot.label, to)
        most = lengths.most
        name = name or self._draft.text.fresh(spot.label, "_elements")
        if pointee.count:
            self._draft.text.count_within(pointee.count, lengths)
        place = self._draft.text.array_of(to, name, most)
        self._fill(to, place, self._in_array(to, spot), most)
        if pointee.count:
            self._draft.text.ends_at(spot, place, f"{pointee.count} * sizeof {place}[0]")
        self._draft.rooms[spot.label] = pointee.count or str(most)
        if pointee.count or plain:
            self._draft.text.array(spot.label, to if plain else None, pointee.count)
        if pointee.weak:
            said = f"{self._draft.text.numbers.get(pointee.count, pointee.count)} says how many {spot.label} has"
            self._draft.text.guesses.append(Guess(as_written(spot.label), as_written(said)))
        else:
            self._draft.text.no_guess(spot.label)
        words = lengths.words(spot.label, unit(to)) if pointee.count else f"{spot.label} = {most} {unit(to)}s"
        self._draft.text.bound(words)
        return place

    @staticmethod
    def _in_array(to: CType, spot: Spot) -> Spot:
        return replace(spot, records=(*spot.records, to.record)) if isinstance(to, Struct) else spot

    def _block(self, to: CType, spot: Spot) -> str:
        """Numbers, nobody knows how many, in a block of the heap: the program frees it."""
        most = self._draft.inputs(spot.label, to)
        place = self._draft.text.array_of(to, self._draft.text.fresh(spot.label, "_block"), most)
        self._fill(to, place, spot, most)
        if is_plain(to):
            self._draft.text.array(spot.label, to)
        self._draft.text.guess(spot.label, f"{spot.label} = {most} {unit(to)}s")
        return place

    def _unknown(self, to: CType, spot: Spot) -> str:
        """Numbers, nobody knows how many: there is room behind them."""
        most = self._draft.inputs(spot.label, to)
        name = self._draft.text.fresh(spot.label, UNKNOWN_SIZE)
        aligned = " __attribute__((aligned(8)))" if isinstance(to, Int) and to.bits == 8 else ""
        room = f"{name}[{max(most, ROOM * 8 // max(8, bits(to)))}]"  # of some types (long double) nobody knows bits
        self._draft.text.objects.append(f"static {self._draft.scope.declare(without_const(to), room)}{aligned};")
        self._fill(to, name, spot, most)
        if is_plain(to):
            self._draft.text.array(spot.label, to)
        self._draft.text.bound(f"{spot.label} = {most} {unit(to)}s")
        self._draft.text.no_guess(spot.label)
        return name

    def _fill(self, to: CType, name: str, spot: Spot, count: int) -> None:
        if is_plain(to):
            size = f"{count} * sizeof {name}[0]"
            self._draft.text.say(f'__score_bytes((void *) {name}, {size}, "{as_written(spot.label)}");')
            self._draft.text.asked += count * bits(to) // 8
            self._each_in_range(to, name, spot, count)
            return
        for at in range(count):
            element = replace(spot, place=f"{name}[{at}]", label=f"{spot.label}[{at}]", said=f"*{spot.label}")
            self._value(without_const(to), element)

    def _each_in_range(self, to: CType, name: str, spot: Spot, count: int) -> None:
        """`*values: {range: [0, 15]}`."""
        hint = self._draft.heeded.meet(f"*{spot.label}", (), to)
        if hint.low:
            for at in range(count):
                self._draft.text.assume(f"{name}[{at}] >= {hint.low} && {name}[{at}] <= {hint.high}")
            self._draft.text.bound(f"*{spot.label} from {hint.low} to {hint.high}")

    def _characters(self, to: CType, spot: Spot, hinted: int, read_only: bool) -> str:
        """`hinted`: so many characters, as a hint says; 0: nobody does. Who only reads a text has to stop at its end,
        however much room there is."""
        most = hinted or self._draft.characters(spot.label)
        name = self._draft.text.fresh(spot.label, "_text")
        place = self._draft.text.array_of(to, name, most + 1)
        self._draft.text.say(f'__score_text({place}, {most}, "{as_written(spot.label)}");')
        self._draft.text.asked += most
        if not hinted and most > CHARACTERS:
            self._draft.text.usual.append(Usual(as_written(spot.label), CHARACTERS, is_text=True))
        words = f"{spot.label} ≤ {most} characters"
        if hinted or read_only:
            self._draft.text.bound(words)
            self._draft.text.no_guess(spot.label)
        else:
            self._draft.text.guess(spot.label, words)
        return place
