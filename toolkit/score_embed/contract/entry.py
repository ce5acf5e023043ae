"""The function of `--entry`, as a test without score-embed has to call it: the harness says it, the image keeps it,
reports use it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace


class Told(Struct, frozen=True):
    """What a user says of the function: conditions of its arguments, in C; globals that are inputs; a file of hints;
    whether every pointer may be null."""

    assume: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    hints: Path | None = None
    all_null: bool = False


NOTHING_TOLD = Told()


class Argument(Struct, frozen=True):
    """A parameter of the function: a declaration of an object for it, and what is passed of that object."""

    name: str
    declaration: str
    passed: str
    kind: Literal["number", "bytes", "raw"]  # bytes: unsigned char[]; raw: any object as it lies in memory


class Array(Struct, frozen=True):
    """An input that is an array, for those who show it. `count`: the input that says how many elements it has, "" if it
    always has all; `unit`: bytes of an element, 0 if the elements are inputs of their own (`name[0]…`)."""

    name: str
    count: str
    unit: int
    kind: Literal["signed", "unsigned", "float", "char", "raw"]


class Guess(Struct, frozen=True):
    """An object that a pointer leads to, of a size that nobody has said: `pointer` as it is called, and the bound in
    words; "" if it was said, or is not checked."""

    pointer: str
    bound: str


class Usual(Struct, frozen=True):
    """An input that may be larger than usual, because the code asks for that: the first test begins with a usual one,
    so that it is not the longest. `most`: the number, or characters of a text."""

    name: str
    most: int
    is_text: bool = False


class Entry(Struct, frozen=True):
    """`file`: the source; `header`: the file that defines the function, if the source only includes it; `arguments`:
    none if the function has some that are more than numbers and bytes: then only the harness can make them."""

    name: str
    file: str
    arguments: tuple[Argument, ...]
    returns: bool  # an integer, which the harness returns in turn
    harness: str = ""  # the main that makes the arguments, in C, for `score.h` (see `arguments`)
    arrays: tuple[Array, ...] = ()
    guesses: tuple[Guess, ...] = ()
    states: tuple[str, ...] = ()  # pointers to structures that are not const: the program keeps its numbers there
    asked: int = 0  # bytes of input that the harness asks for before the call
    header: str = ""
    unmade: tuple[str, ...] = ()  # pointers that are null because the harness cannot make what they lead to
    usual: tuple[Usual, ...] = ()

    def with_harness(self, text: str) -> Entry:
        """Where stubs take input, too, a test is its input, and not a list of arguments."""
        return replace(self, arguments=(), harness=self.harness or text)
