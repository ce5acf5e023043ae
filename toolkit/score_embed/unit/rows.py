"""What the exploration of a project's functions has come to: one row a function, in `unit.json` of its folder.

The file also says of what it is: whoever gives the same command again goes on with it, another one is refused. It is
written as a whole after each function, and each function has a campaign of its own in a folder of its own, so that
whatever ends the run, nothing is lost and nothing is done twice.

Explored alone a function gets every argument that its type allows, and a bug may rest on one that nobody passes. If a
function that calls it shows the same bug at the same place, with the caller's own arguments and preconditions, it is
`confirmed in context`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from score_embed.errors import StorageError, UsageError

FILE = "unit.json"
CAMPAIGNS = "functions"
TESTS = "tests"
NOT_BUILT, DIED, NO_INPUT = "not built", "died", "no input"
Key = tuple[str, str, int, str]  # kind and place of a bug


class Found(Struct, kw_only=True):
    """A bug of one function's campaign. `stack`: the functions that lead to it, innermost first; `context`: other
    functions that show it by calling this one; `firm`: one of these does so with arguments that rest on nothing;
    `not_from`: if nobody else can call the function that it was found in, its callers, none of which shows it;
    `confirmed`: it happened again."""

    kind: str
    file: str
    line: int
    function: str
    stack: tuple[str, ...]
    rests_on: tuple[str, ...]
    test: int
    id: str
    context: tuple[str, ...] = ()
    firm: bool = False
    not_from: tuple[str, ...] = ()
    confirmed: bool = True
    fingerprint: str = ""  # by which a baseline knows it


class Row(Struct, kw_only=True):
    """A function. `stopped`: how its exploration ended, "" if it has not, "not built" if it could not begin, "died" if
    its process did, "no input" if it depends on none; `why`: that is so, or what could not be followed; `callers`: all
    functions that can call it, if that is known."""

    function: str
    file: str
    line: int
    folder: str  # of its campaign, relative to that of the run
    stopped: str = ""
    within: tuple[str, ...] = ()
    why: str = ""
    paths: int = 0
    tests: int = 0
    covered: int = 0  # branch directions of the function
    branches: int = 0
    bugs: int = 0  # of which the user has said nothing
    found: list[Found] = []  # these
    accepted: int = 0
    refused: int = 0
    unmatched: tuple[str, ...] = ()  # lines of the user's that no bug of it is meant by
    seconds: float = 0.0
    callers: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        return bool(self.stopped)


class State(Struct):
    """`v`: of this format; `sources`, `words`: the files and options of the run; `notes`: what concerns all functions;
    `seconds`: of all sessions."""

    v: int
    sources: tuple[str, ...]
    words: tuple[str, ...]
    rows: list[Row]
    notes: list[str] = []
    seconds: float = 0.0


class Book:
    """The file of a run. Raises StorageError and UsageError."""

    def __init__(self, folder: Path, sources: Sequence[str], words: Sequence[str]) -> None:
        """Open that of `folder`, or begin one."""
        self.folder = folder
        found = read(folder)
        if found is not None and (found.sources, found.words) != (tuple(sources), tuple(words)):
            hint = "Choose another folder with --out, or give the same sources and options to go on."
            raise UsageError("there is another run in this folder", str(folder), hint)
        self.state = found or State(1, tuple(sources), tuple(words), [])

    @property
    def rows(self) -> list[Row]:
        return self.state.rows

    def add(self, functions: Iterable[tuple[str, str, int]]) -> None:
        """Rows for functions that have none yet: (name, file, line) each."""
        known = {(row.function, row.file) for row in self.rows}
        folders = {row.folder for row in self.rows}
        for name, file, line in functions:
            if (name, file) not in known:
                folder = f"{CAMPAIGNS}/{name}"
                if folder in folders:
                    folder = f"{CAMPAIGNS}/{name}-{Path(file).stem}-{line}"
                folders.add(folder)
                known.add((name, file))
                self.rows.append(Row(function=name, file=file, line=line, folder=folder))

    def note(self, what: str) -> None:
        if what not in self.state.notes:
            self.state.notes.append(what)

    def save(self) -> None:
        """Replace the file as a whole."""
        path = self.folder / FILE
        fresh = path.with_name(f".{FILE}.{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            fresh.write_text(self.json() + "\n", encoding="utf-8")
            fresh.replace(path)
        except OSError as error:
            hint = "Choose another folder with --out."
            raise StorageError(f"cannot write here: {error.strerror}", str(path), hint) from error

    def json(self) -> str:
        """What the file holds."""
        return as_json(self.state)


def read(folder: Path) -> State | None:
    """The run in a folder, if there is one. Raises StorageError."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=State)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        hint = "Choose another folder with --out; the campaigns below it can still be read."
        raise StorageError(f"this file cannot be read: {error}", str(path), hint) from None


def as_json(state: State) -> str:
    """What the file of a run holds."""
    return msgspec.json.format(msgspec.json.encode(state), indent=2).decode()


def confirm(rows: Sequence[Row]) -> None:
    """Write to each bug which other functions show it, too, by calling the one that it was found in."""
    explored = {(row.function, row.file) for row in rows if row.tests}
    shown: dict[Key, list[tuple[Row, Found]]] = {}
    for row in rows:
        for bug in row.found:
            shown.setdefault(_key(bug), []).append((row, bug))
    for both in shown.values():
        for row, bug in both:
            callers = [other for other, seen in both if other is not row and row.function in seen.stack]
            bug.context = tuple(dict.fromkeys(caller.function for caller in callers))
            unseen = row.callers if not bug.context else ()
            bug.not_from = tuple(name for name in unseen if (name, row.file) in explored)
            bug.firm = any(
                not seen.rests_on for other, seen in both if other is not row and row.function in seen.stack
            )


def ranked(rows: Iterable[Row]) -> list[tuple[Row, Found]]:
    """Each bug once, where the fewest calls lead to it: first those that a caller confirms whose arguments rest on
    nothing, then the others that one confirms, then those that rest on nothing themselves; of functions that only
    explored ones can call, none of which shows it, behind the others."""
    nearest: dict[Key, tuple[Row, Found]] = {}
    for row in rows:
        for bug in row.found:
            known = nearest.get(_key(bug))
            if known is None or len(bug.stack) < len(known[1].stack):
                nearest[_key(bug)] = (row, bug)
    return sorted(nearest.values(), key=lambda one: _rank(one[1]))


def _rank(bug: Found) -> tuple[bool, ...]:
    return not bug.firm, not bug.context, bool(bug.not_from), bool(bug.rests_on)


def _key(bug: Found) -> Key:
    return bug.kind, bug.file, bug.line, bug.function
