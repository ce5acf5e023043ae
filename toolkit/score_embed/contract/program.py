"""What the front-end is given and hands on: the program's preprocessed files, and its C with probes.

These records stand here because those who keep and compile them need nothing else of the front-end: what was
instrumented before is read back from the cache, and then no module of the front-end is imported.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from score_embed.contract.entry import Entry

HARNESS_FILE = "<entry>"  # where the main that `--entry` makes is said to stand
ENTRY = "score_entry_"  # how the mains of the harnesses of one image begin, with a number behind it
STUBS_FILE = "<stubs>"  # where what stands in for undefined functions is said to stand
UNKNOWN_SIZE = "_of_unknown_size"  # how objects of a harness end of which nobody says how large they are
REPLACED = "/* instead of the body of "  # begins the text of a stub for a function that is defined
LIBRARY = "<models>"  # what the unit of the library's models is called
# One arena serves all of these: who defines one of them has an allocator of its own. FREE is called as it is, so that
# what is wrong with a pointer is reported where it is freed.
FREE = "free"
HEAP = frozenset({"malloc", "calloc", "realloc", FREE})
ON_HEAP = HEAP | {"strdup", "strndup", "reallocarray"}


class Source(Struct, frozen=True):
    """One preprocessed C file."""

    path: Path
    text: str


class Note(Struct, frozen=True):
    """Something left uninstrumented, and where."""

    what: str
    file: str
    line: int


class Whole(Struct, frozen=True):
    """What a whole program is given. `stdin`: bytes of standard input; `argv`: the length of each argument."""

    stdin: int = 0
    argv: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stdin or self.argv)

    def bounds(self) -> tuple[str, ...]:
        """How much the program is given, in words: its paths for more are not among those that are run."""
        found = [f"argument {number} ≤ {length} bytes" for number, length in enumerate(self.argv, 1)]
        return (*found, *([f"standard input = {self.stdin} bytes"] if self.stdin else []))


NOTHING = Whole()
STDIN = "stdin"  # names among what a program has from outside, beside those of functions
ARGUMENTS = "argv"  # of main


class StubsWanted(Struct, frozen=True):
    """`undefined`: what nobody defines gets a stub; `replaced`: these functions get one even if they are defined."""

    undefined: bool = False
    replaced: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.undefined or bool(self.replaced)


NO_STUBS = StubsWanted()


class Complete(Struct, frozen=True):
    """The program with the `main` that it is given. `losses`: what no test of it can follow; `within`: the bounds of
    that main's objects and of stubs, in words; `entry`: the function that it calls and its arguments; `stubs`: their
    C."""

    sources: tuple[Source, ...]
    losses: tuple[Note, ...] = ()
    within: tuple[str, ...] = ()
    entry: Entry | None = None
    stubs: str = ""


class Program(Struct, frozen=True):
    """The instrumented C of each source, in order, and what was left alone. `library`: that of the models it calls;
    `heap`: they allocate memory; `outside`: functions that it uses by name and does not define, and STDIN and ARGUMENTS
    if it uses them; `beyond_names`: the functions that it names do not tell what it may call."""

    texts: tuple[str, ...]
    library: str
    notes: tuple[Note, ...]
    sites: int
    coverage: int
    heap: bool = False
    outside: tuple[str, ...] = ()
    beyond_names: bool = True
