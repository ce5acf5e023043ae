"""Makes objects for the arguments of a function: C statements, for each kind of type its maker.

Every number is an input; here are the numbers, and the arrays within objects. A pointer is null or leads to a fresh
object of its own (`pointers.py`, `objects.py`); a structure is its members (`structures.py`). What cannot be made stays
null or zero, and that is said with its type and place. No pointer holds bytes that nobody made.
"""

from __future__ import annotations

from dataclasses import replace

from score_embed.errors import UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness.draft import Draft, Pointee
from score_embed.frontend.harness.hints import Hint
from score_embed.frontend.harness.objects import Objects
from score_embed.frontend.harness.pointers import Pointers
from score_embed.frontend.harness.shapes import bits, is_plain, why_not
from score_embed.frontend.harness.structures import Structures
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Int,
    Pointer,
    Struct,
    is_float,
    is_integer,
    unqualified,
)

_UNROLLED = 4  # elements of an array within an object that are made one by one


class Maker:
    """Makes the objects of one harness."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._structures = Structures(draft, self.value)
        self._objects = Objects(draft, self._structures, self.value)
        self._pointers = Pointers(draft, self._objects, self.value)
        self.buffer = self._objects.buffer

    def value(self, t: CType, spot: Spot, pointee: Pointee | None = None) -> None:
        """Statements that make the object at `spot`, which is zero so far."""
        hint = self._draft.heeded.meet(spot.said or spot.label, spot.members, t)
        u = unqualified(t)
        if hint.value:
            self._draft.text.say(f"{self._draft.text.writable(t, spot.place)} = {hint.value};")
        elif isinstance(u, Pointer):
            self._pointers.make(t, u, spot, pointee, hint)
        elif isinstance(u, Struct):
            self._structures.make(u.record, spot)
        elif isinstance(u, Array):
            self._array(u, spot, hint)
        elif is_integer(u) or is_float(u):
            self._number(t, u, spot, hint)
        else:
            self._draft.text.lose(spot, t, why_not(u) or "there is no input of such a type")

    def _number(self, t: CType, u: CType, spot: Spot, hint: Hint) -> None:
        if why := why_not(u):
            self._draft.text.lose(spot, t, why)
            return
        place = self._draft.text.writable(t, spot.place)
        how = "boolean" if isinstance(u, Int) and u.name == "_Bool" else "symbolic"
        self._draft.text.say(f'__score_{how}(&{place}, sizeof {place}, "{as_written(spot.label)}");')
        self._draft.text.asked += bits(u) // 8
        self._draft.text.numbers[spot.place] = spot.label
        self._draft.in_range(place, spot, hint)

    def _array(self, u: Array, spot: Spot, hint: Hint) -> None:
        of = unqualified(u.of)
        if u.count is None or u.count == "0" or u.length == 0:
            return  # a flexible array member: `Objects` makes room for it
        if hint.string:
            if u.length is not None and hint.string >= u.length:
                what = (
                    f"{as_written(spot.label)} has room for a text of {u.length - 1} characters, not of {hint.string}"
                )
                raise UsageError(what, hint.at, "Behind the longest text stands its end.")
            self._draft.text.say(f'__score_text({spot.place}, {hint.string}, "{as_written(spot.label)}");')
            self._draft.text.asked += hint.string
            self._draft.text.bound(f"{spot.label} ≤ {hint.string} characters")
            return
        if is_plain(of):
            place = spot.place
            self._draft.text.say(f'__score_bytes((void *) {place}, sizeof {place}, "{as_written(spot.label)}");')
            self._draft.text.asked += bits(u) // 8
            self._draft.text.array(spot.label, of)
            return
        length = u.length if u.length is not None and u.length <= _UNROLLED else 0
        if not length:
            length = _UNROLLED
            self._draft.text.bound(f"{spot.label}: the first {length} elements")
        for at in range(length):
            self.value(u.of, replace(spot, place=f"{spot.place}[{at}]", label=f"{spot.label}[{at}]", said=""))
