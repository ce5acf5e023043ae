"""The text of one harness while it is made: declarations, statements, and what is to be said of it.

`maker.py` says what is made; here is how it is written in C: names that nobody else has, objects, inputs' bounds.
How large the object behind a pointer is, says `objects.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from score_embed.contract.entry import Array as InputArray
from score_embed.contract.entry import Guess, Usual
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness.lengths import Lengths
from score_embed.frontend.harness.scope import FileScope, Unmakeable
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Float,
    Int,
    Pointer,
    Record,
    as_int,
    is_integer,
    unqualified,
    without_const,
)

Kind = Literal["signed", "unsigned", "float", "char", "raw"]


@dataclass(frozen=True)
class Spot:
    """An object to be made. `place`: the lvalue; `label`: what the user calls it; `members`: what it is called as a
    member, for hints; `records`: the structures that pointers led through; `levels`: how many pointers."""

    place: str
    label: str
    members: tuple[str, ...] = ()
    said: str = ""  # what hints call it, if not that
    records: tuple[Record, ...] = ()
    levels: int = 0


def _read_as(of: CType) -> tuple[int, Kind]:
    """The size of an element and how it is read."""
    u = unqualified(of)
    if isinstance(u, Int) and u.name == "char":
        return 1, "char"
    if isinstance(u, Float) and u.bits in (32, 64):
        return u.bits // 8, "float"
    if not is_integer(u):
        return 1, "raw"
    number = as_int(u)
    return (
        number.bits // 8,
        "raw" if number.bits == 8 and not number.signed else "signed" if number.signed else "unsigned",
    )


class HarnessText:
    """`before`: functions at file scope; `objects`: declarations; `lines`: statements; `within`: bounds, in words;
    `lost`: what cannot be made, in words; `unmade`: the pointers among that; `never_null`: pointers that are always
    given."""

    def __init__(self, scope: FileScope) -> None:
        self._scope = scope
        self.before: list[str] = ["void *calloc(__SIZE_TYPE__, __SIZE_TYPE__);\n"] if scope.frees else []
        self.objects: list[str] = []
        self.lines: list[str] = []
        self.within: dict[str, None] = {}
        self.lost: list[str] = []
        self.unmade: list[str] = []
        self.never_null: list[str] = []
        self.numbers: dict[str, str] = {}  # lvalue → label, of inputs that are numbers
        self.arrays: list[InputArray] = []
        self.guesses: list[Guess] = []
        self.usual: list[Usual] = []
        self.states: list[str] = []  # pointers to structures that may be written to
        self.asked = 0  # bytes of input, as far as types say
        self._used: set[str] = set()

    def of_a_function(self) -> HarnessText:
        """The body of a function before `main`: what is said of it is said of the whole."""
        inner = HarnessText(self._scope)
        inner.before, inner.within, inner.lost, inner._used = self.before, self.within, self.lost, self._used
        inner.arrays, inner.guesses, inner.states = self.arrays, self.guesses, self.states
        inner.unmade, inner.usual = self.unmade, self.usual
        return inner

    def bounds(self) -> list[str]:
        """Within what the harness's inputs are all inputs."""
        return [*self.within, *([f"not null: {', '.join(self.never_null)}"] if self.never_null else [])]

    # --- names ----------------------------------------------------------------------------------------------------

    def take(self, name: str) -> None:
        """Nothing else is to have this name."""
        self._used.add(name)

    def fresh(self, label: str, ending: str = "") -> str:
        """A name for an object of the harness."""
        base = re.sub(r"\W+", "_", label.replace("->", "_")).strip("_") + ending
        name, number = base, 2
        while name in self._used or self._scope.is_taken(name):
            name, number = f"{base}{number}", number + 1
        self._used.add(name)
        return name

    # --- objects --------------------------------------------------------------------------------------------------

    def object_of(self, t: CType, name: str) -> str:
        """A fresh object, zero so far; returns it as an lvalue. A program that frees what it is given gets blocks of
        the heap."""
        if self._scope.frees:
            self.objects.append(f"{self._scope.declare(Pointer(t), name)} = calloc(1, sizeof *{name});")
            return f"(*{name})"
        self.objects.append(f"static {self._scope.declare(t, name)};")
        return name

    def array_of(self, to: CType, name: str, count: int) -> str:
        """So many elements; returns the lvalue."""
        return self.object_of(Array(without_const(to), str(count), count), name)

    def writable(self, t: CType, place: str) -> str:
        """The lvalue without its const."""
        return f"*({self._scope.declare(Pointer(without_const(t)))}) &{place}" if t.const else place

    # --- statements -----------------------------------------------------------------------------------------------

    def say(self, line: str) -> None:
        self.lines.append(line)

    def assume(self, condition: str) -> None:
        self.say(f"if (!({condition})) __score_assume_fail();")

    def only_when(self, condition: str, at: int) -> None:
        """The statements from number `at` on are for where other members say so."""
        self.lines[at:] = [f"if ({condition}) {{", *(f"    {line}" for line in self.lines[at:]), "}"]

    def count_within(self, place: str, lengths: Lengths) -> None:
        """How large a number may be that counts."""
        self.assume(lengths.condition(place))
        if len(lengths.ranges) > 1 and (label := self.numbers.get(place, "")):
            self.usual.append(Usual(as_written(label), lengths.ranges[0][1]))

    def limit(self, count: Spot, most: str) -> None:
        """A count that is negative is a very large one here."""
        self.assume(f"(__SIZE_TYPE__) {count.place} <= {most}")

    def choice(self, label: str, said: Sequence[str], count: int) -> str:
        """A number below `count` that is an input; returns its name."""
        name = self.fresh(label, "_choice")
        words = ", ".join(f"{number} {text}" for number, text in enumerate(said))
        self.say(f'unsigned char {name}; __score_symbolic(&{name}, sizeof {name}, "{label}: {words}");')
        self.asked += 1
        self.assume(f"{name} < {count}")
        return name

    def ends_at(self, spot: Spot, pointer: str, bytes_: str) -> None:
        """What lies behind so many bytes is not the object's, although there is room."""
        size = self.fresh(spot.label, "_bytes")
        self.objects.append(f"static __SIZE_TYPE__ {size};")
        self.say(f"{size} = {bytes_};")
        self.say(f"__score_sized({pointer}, &{size});")

    # --- what is said of it ---------------------------------------------------------------------------------------

    def bound(self, words: str) -> None:
        self.within.setdefault(as_written(words))

    def guess(self, label: str, words: str) -> None:
        """A bound of what a pointer leads to that nobody has said."""
        self.bound(words)
        self.guesses.append(Guess(as_written(label), as_written(words)))

    def no_guess(self, label: str) -> None:
        """What a pointer leads to is as large as somebody has said, also where what the pointer is in is not."""
        self.guesses.append(Guess(as_written(label), ""))

    def array(self, label: str, of: CType | None, count: str = "") -> None:
        """An input that is an array of numbers, or several inputs `label[0]…` (`of`: None). `count`: the lvalue of how
        many."""
        number = self.numbers.get(count, "")
        unit, kind = _read_as(of) if of is not None else (0, "raw")
        if number or kind not in ("raw", "unsigned") or unit > 1:
            self.arrays.append(InputArray(as_written(label), as_written(number), unit, kind))

    def lose(self, spot: Spot, t: CType, why: str) -> None:
        try:
            text = self._scope.declare(unqualified(t))
        except Unmakeable:
            text = "a type without a name"
        kept = "zero"
        if isinstance(unqualified(t), Pointer):
            kept = "null"
            self.unmade.append(as_written(spot.label))
        self.lost.append(f"{as_written(spot.label)} ({as_written(text)}) is {kept}: {why}")
