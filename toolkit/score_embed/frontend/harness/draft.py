"""One harness while it is made: what the makers of the kinds of types share.

They know what the file declares and what the user says, write one text, and tell each other which pointers they have
made: an alias leads to one of those, and a member that leads back to one of the objects around it.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Protocol

from score_embed.frontend.harness.asked import Asked, Key
from score_embed.frontend.harness.heeded import Heeded
from score_embed.frontend.harness.hints import Hint, Hints, where_it_can_be
from score_embed.frontend.harness.lengths import Lengths, characters, inputs, lengths, of_objects
from score_embed.frontend.harness.scope import FileScope
from score_embed.frontend.harness.shapes import bits, is_plain
from score_embed.frontend.harness.sizes import read_key, text_key
from score_embed.frontend.harness.text import HarnessText, Spot
from score_embed.frontend.harness.unions import Looks, looked_at
from score_embed.frontend.types.ctype import CType, Pointer, Record, Struct

_SELF = re.compile(r"\bself\b")
_SUBSCRIPTS = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Pointee:
    """What is known of one pointer besides its type. `count`: the lvalue of the number that says how many; `single`:
    one object as the code shows; `seen_as`: what a `void *` really is to."""

    count: str = ""
    asks: Key = ""  # what the code calls that number
    single: bool = False
    nullable: bool = True
    empty: bool = False  # it is null only where it leads to no element
    seen_as: CType | None = None
    part: str = ""  # where in `seen_as` it leads to, in bytes, in C
    promised: bool = False  # that it is not null
    weak: bool = False  # `count` is named after something else
    compared: bool = False  # with another pointer: it may lead back
    freed: bool = False  # so it is to a block of the heap
    many: bool = False  # to an array, into which others point
    into: str = ""  # the pointer to that array


@dataclass(frozen=True)
class Span:
    """What is known of a pointer by others that lead into the same array: it is to that array, which has `count`
    elements (an lvalue, which the code knows as `asks`; "": as many as there is room for), or leads into that of the
    pointer `into`."""

    count: str = ""
    asks: Key = ""
    into: str = ""


class Value(Protocol):
    """Makes an object of any type: `Maker.value`, for the makers of what has others within it."""

    def __call__(self, t: CType, spot: Spot, pointee: Pointee | None = None) -> None: ...


class Draft:
    """`text`: of the function that is being written: main, or a stub; `pointers`: label → lvalue, of those that
    were made, for aliases; `objects`: label → lvalue, of the single objects behind them; `around`: the objects that
    are being made, and the pointers to them; `moving`: pointers to a pointer that goes through an array → pointers
    to the number that says how many are left; `rooms`: label of a pointer to an array → how many elements there
    are, in C; `nullable`: labels of pointers that may be null; `preconditions`: what the function states of its
    parameters, in C; `spans`: label → how it lies beside others, of parameters, and pointers behind them."""

    def __init__(self, scope: FileScope, function: str, hints: Hints) -> None:
        self.scope, self.function, self.hints = scope, function, hints
        self.text = HarnessText(scope)
        self.heeded = Heeded(hints, function)
        self.pointers: dict[str, str] = {}
        self.objects: dict[str, str] = {}
        self.moving: dict[str, str] = {}
        self.nullable: set[str] = set()
        self.rooms: dict[str, str] = {}
        self.around: list[tuple[Record, str]] = []
        self.spans: dict[str, Span] = {}
        self.preconditions: tuple[str, ...] = ()
        self._defined: set[Record] = set()

    def completed(self, record: Record) -> Record:
        """A structure with its members. Where only another file has these, the harness defines one like it."""
        found = self.scope.completed(record)
        self.text.before += self.scope.elsewhere.definitions(found, self._defined)
        return found

    def lengths(self, count: Key, label: str, to: CType) -> Lengths:
        """How many elements the array may have that `label` leads to."""
        if not is_plain(to):
            return of_objects(self._asked(count), self._stated(count))
        asked, stated = self._asked(count, text_key(label)), self._stated(count)
        return lengths(asked, stated, max(1, bits(to) // 8), small=self.scope.is_small)

    def inputs(self, label: str, to: CType) -> int:
        """How many elements are inputs, where nobody says how many there are."""
        return inputs(self._asked(read_key(label)), max(1, bits(to) // 8), small=self.scope.is_small)

    def characters(self, label: str) -> int:
        """The most that the text has which `label` leads to."""
        return characters(self._asked(text_key(label)), small=self.scope.is_small)

    def _asked(self, *keys: Key) -> Asked:
        return self.scope.sizes.of(self.function, *keys)

    def _stated(self, *keys: Key) -> Asked:
        """What is asked of numbers by conditions without which the function is not called."""
        said = self.hints.arguments.items()
        ranges = [f"{name} >= {hint.low} && {name} <= {hint.high}" for name, hint in said if hint.low]
        return self.scope.sizes.stated((*self.hints.assume, *ranges, *self.preconditions), *keys)

    @functools.cached_property
    def looks(self) -> Looks:
        """Which members the function looks at, and when."""
        return looked_at(self.scope.tree, self.function, self.scope.is_library)

    def may_look(self, member: str) -> bool:
        """Whether the function may come to look at such a member, or the user says something of it."""
        if not self.scope.is_accessed(member):
            return False
        return self._reached is None or member in self._reached or member in self.hints.words

    @functools.cached_property
    def _reached(self) -> frozenset[str] | None:
        """None: any member."""
        if self.hints.call_first:
            return None  # C that may do anything
        return self.scope.reach.members(self.function, self.hints.words)

    def held(self, record: Record, place: str) -> None:
        """What the user says of all structures of that type is assumed of this one, which is `self` there."""
        for name, said in self.hints.holds.items():
            known = self.scope.record(name)
            if said and known is not None and self.scope.completed(known) is record:
                at = f"&{place}"
                if _SELF.search(place):  # the program's own word
                    at = self.text.fresh("held")
                    self.text.say(f"{self.scope.declare(Pointer(Struct(record)), at)} = &{place};")
                self.text.say("{")
                self.text.say(f"    {self.scope.declare(Pointer(Struct(record)), 'self')} = {at};")
                for condition, _ in said:
                    self.text.assume(where_it_can_be(condition))
                    self.text.bound(f"{name}: {condition}")
                self.text.say("}")

    def is_pointer(self, label: str) -> bool:
        """Whether a pointer of that name was made; subscripts may be left away."""
        return label in self.pointers or any(without_subscripts(name) == label for name in self.pointers)

    def in_range(self, place: str, spot: Spot, hint: Hint) -> None:
        """What a hint says of a number."""
        if hint.low:
            self.text.assume(f"{place} >= {hint.low} && {place} <= {hint.high}")
            self.text.bound(f"{spot.label} from {hint.low} to {hint.high}")


def without_subscripts(label: str) -> str:
    """`a[3].b` as `a.b`: what is known of the elements of an array is known of all."""
    return _SUBSCRIPTS.sub("", label)
