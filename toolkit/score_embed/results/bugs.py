"""Bugs: what a bad end means, where it is, and which ends are the same bug.

Two ends are the same bug if kind, place and the functions on the stack agree; an address alone would
make a new bug of every input.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from score_embed.contract.outcome import Finished, Verdict
from score_embed.contract.program import ENTRY
from score_embed.contract.sites import MODEL, Site, SiteKind, SiteTable
from score_embed.results.coverage import function_name
from score_embed.results.lines import LineTable
from score_embed.results.shown import NULL, rests_on
from score_embed.results.testcase import Named, Value


class Place(Struct, frozen=True):
    """Where a test ended, and through which functions it got there (innermost first)."""

    file: str
    line: int
    function: str
    stack: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "unknown place"


class Bug(Struct):
    """As it stands in the record and in summary.json."""

    kind: str
    file: str
    line: int
    function: str
    stack: tuple[str, ...]
    inputs: dict[str, Value]
    test: int
    count: int = 1
    confirmed: bool = False
    witness: str = ""  # who else saw it, where the test itself ended well: a sanitizer
    # the inputs that its path depends on, what is asked last first; None: not known
    depends: tuple[str, ...] | None = None
    small: str = ""  # the input that `inputs` are of, in hexadecimal, if that is simpler than its test's
    guess: str = ""  # the bound of the object's size that a harness has guessed, where it was left; what it cannot make
    held: tuple[str, ...] = ()  # what objects hold that the program keeps, in words
    objects: tuple[Named, ...] = ()  # … and what it consists of; not in summary.json

    @staticmethod
    def at(
        place: Place,
        kind: str,
        inputs: Mapping[str, Value],
        test: int,
        confirmed: bool = False,
        witness: str = "",
        depends: tuple[str, ...] | None = None,
    ) -> Bug:
        """A bug that was seen once."""
        where = (place.file, place.line, place.function, place.stack)
        return Bug(kind, *where, dict(inputs), test, 1, confirmed, witness, depends)

    @property
    def place(self) -> Place:
        return Place(self.file, self.line, self.function, self.stack)

    @property
    def rests_on(self) -> list[str]:
        """What its input assumes that may not be so."""
        return [*([self.guess] if self.guess else []), *rests_on(self.inputs, self.depends), *self.held]

    @property
    def rests_on_null(self) -> bool:
        """Whether its path asks for a pointer that is null."""
        return any(said.endswith(NULL) for said in rests_on(self.inputs, self.depends))


def kind_of(verdict: Verdict, code: int) -> str:
    """What a bad end is called; two signals are two bugs."""
    return f"{verdict.value}-{code}" if verdict is Verdict.SIGNAL else verdict.value


def locate(finished: Finished, table: SiteTable, lines: LineTable) -> Place:
    """The user's line where a test ended: by the program counter, else by the last probe. Within a model of the C
    library it is the line that called it."""
    last = _site(table, finished.site)
    entered = [site for ident in finished.stack if (site := _site(table, ident)) is not None]
    within = list(itertools.takewhile(lambda site: site.kind is SiteKind.CALL, entered))  # models of the library
    stack = called([function_name(site) for site in entered[len(within) :]])
    call = next((site for site in within if not site.function.startswith(MODEL)), None)
    if call is not None:
        return Place(call.file, call.line, function_name(call), stack)
    function = stack[0] if stack else (function_name(last) if last else "")
    at = lines.find(finished.pc) if finished.pc else None
    if last is not None and last.function.startswith(MODEL) and entered and at in (None, (last.file, last.line)):
        last, at = entered[0], None  # a model had returned: somewhere behind its call in this function
    if at is not None:
        return Place(at[0], at[1], function, stack)
    return Place(last.file, last.line, function, stack) if last else Place("", 0, function, stack)


def called(names: Sequence[str]) -> tuple[str, ...]:
    """The functions of a stack, each once: how deep a recursion was makes no other bug. One harness among several is
    the main, and not the main that calls it."""
    at = next((at for at, name in enumerate(names) if name.startswith(ENTRY)), None)
    return tuple(dict.fromkeys(names if at is None else (*names[:at], "main")))


def _site(table: SiteTable, ident: int) -> Site | None:
    return table.sites.get(ident)


class BugList:
    """All bugs of a campaign, one entry per kind, place and stack."""

    def __init__(self) -> None:
        self._bugs: dict[tuple[str, Place], Bug] = {}

    def __len__(self) -> int:
        return len(self._bugs)

    def __iter__(self) -> Iterator[Bug]:
        return iter(self._bugs.values())

    def add(self, bug: Bug) -> Bug:
        """Count an end; returns the bug as it is known now."""
        known = self._bugs.setdefault((bug.kind, bug.place), bug)
        if known is not bug:
            known.count += bug.count
        return known
