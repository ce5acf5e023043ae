"""Tests as the record has them: a row each, what their inputs consist of, and what of them a damaged record still says.

Most tests of a program have the layout of their inputs in common, so each layout is kept once. With the layout of its
test an input of 82 bytes is named, where its values in JSON took 175 bytes more of the record and a third of the time
to write a test. Inputs of a damaged record are good for a new campaign to begin with, right or wrong.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from score_embed.errors import StorageError
from score_embed.results.database import Database
from score_embed.results.pairs import unsigned
from score_embed.results.parts import decode, decoded, encode, typed
from score_embed.results.storage import FILE, damaged, open_to_read
from score_embed.results.testcase import Named, Value, named_inputs, stem

SCHEMA = """
CREATE TABLE tests(number INTEGER PRIMARY KEY, input BLOB NOT NULL, verdict TEXT NOT NULL,
    code INTEGER NOT NULL, path INTEGER NOT NULL, is_new INTEGER NOT NULL, outcome TEXT NOT NULL, place TEXT NOT NULL,
    layout INTEGER NOT NULL, output TEXT NOT NULL);
CREATE TABLE layouts(number INTEGER PRIMARY KEY, objects TEXT NOT NULL);
"""
Layout = tuple[Named, ...]
_REMEMBERED = 256  # layouts: one that comes again later gets another number
_WIDE = 8  # rows that one statement writes: it takes half as long as eight
_RANGE = 256  # tests that are asked for at once
_EMPTY = 64  # ranges without a test, after which none is looked for


class Columns(NamedTuple):
    """Of a row of `tests`."""

    number: int
    input: bytes
    verdict: str
    code: int
    path: int
    is_new: int
    outcome: str
    place: str
    layout: int
    output: str


class TestRow(Struct, dict=True):
    """One executed test. `outcome`: new, redundant, mispredicted, or "no path" (an assumption failed); `objects`: what
    its input consists of, empty where nobody asked (mispredicted)."""

    __test__ = False

    number: int
    input: bytes
    verdict: str
    code: int
    path_hash: int
    outcome: str
    place: str
    objects: tuple[Named, ...]
    output: str  # its beginning

    @cached_property
    def inputs(self) -> dict[str, Value]:
        """The values of its symbolic objects."""
        return named_inputs(self.objects, self.input)

    @property
    def stem(self) -> str:
        """The name of its files."""
        return stem(self.number, self.path_hash)


# Rows one behind the other that have most columns in common, as they are handed on: `number` of the first of them,
# verdict, code, is_new, outcome, place and layout of all; then of each its input (a bytearray is written faster than
# bytes), path and output.
Alike: TypeAlias = list[Any]
COMMON, OWN = 7, 3
_FULL = COMMON + OWN * _WIDE


def of_each(rows: Alike) -> Iterator[tuple[Any, Any, Any]]:
    """Input, path and output of each of the rows."""
    return zip(*[iter(rows[COMMON:])] * OWN, strict=True)


class RowsAlike:
    """Rows as they come, put together."""

    def __init__(self) -> None:
        self.rows: list[Alike] = []
        self._common: tuple[object, ...] = ()
        self._next = 0

    def add(self, number: int, common: tuple[object, ...], own: tuple[bytearray, int, str]) -> None:
        """`common`: verdict, code, is_new, outcome, place, layout; `own`: input, path, output."""
        if number == self._next and common == self._common and len(self.rows[-1]) < _FULL:
            self.rows[-1] += own
        else:
            self.rows.append([number, *common, *own])
            self._common = common
        self._next = number + 1


@cache
def _insertion(count: int) -> str:
    """The statement for so many rows."""
    first = [COMMON + OWN * row for row in range(count)]
    rows = [f"(?1 + {n}, ?{at + 1}, ?2, ?3, ?{at + 2}, ?4, ?5, ?6, ?7, ?{at + 3})" for n, at in enumerate(first)]
    return f"INSERT INTO tests VALUES {', '.join(rows)}"


class TestTable:
    """Rows of `tests` to be written with the next batch."""

    __test__ = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: list[Alike] = []
        database.register(self._write)

    def extend(self, rows: Sequence[Alike]) -> None:
        if rows:
            self._rows += rows
            self._database.begin()

    def _write(self, db: sqlite3.Connection) -> None:
        for length, rows in groupby(self._rows, len):  # in order: a table that grows at its end only takes less room
            db.executemany(_insertion((length - COMMON) // OWN), rows)
        self._rows = []


class LayoutTable:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[Layout, int] = {}
        self._layouts: dict[int, Layout] = {}
        self._last: int | None = None

    def number(self, layout: Layout) -> int:
        """By which rows refer to it."""
        number = self._numbers.get(layout)
        if number is None:
            if self._last is None:
                ((self._last,),) = self._database.rows("SELECT coalesce(max(number), 0) FROM layouts")
            self._last += 1
            number = self._numbers[layout] = self._last
            self._database.add("INSERT INTO layouts VALUES (?, ?)", (number, encode(layout)))
            if len(self._numbers) > _REMEMBERED:
                del self._numbers[next(iter(self._numbers))]
        return number

    def layout(self, number: int) -> Layout:
        """The one with this number. Raises StorageError if there is none."""
        found = self._layouts.get(number)
        if found is None:
            rows = self._database.rows("SELECT objects FROM layouts WHERE number = ?", (number,))
            if not rows:
                raise damaged(self._database.folder, f"layouts: there is no number {number}")
            ((text,),) = typed(rows, list[tuple[str]], "layouts", self._database.folder)
            found = self._layouts[number] = decoded(text, Layout, "layouts", self._database.folder)
            if len(self._layouts) > _REMEMBERED:
                del self._layouts[next(iter(self._layouts))]
        return found


def salvaged(folder: Path) -> Iterator[TestRow]:
    """The tests that can be read, by number. Raises StorageError if nothing can."""
    try:
        db = open_to_read(folder / FILE)
    except (sqlite3.Error, OSError):
        hint = "The inputs that brought coverage or a bug are in tests/ and bugs/, too."
        raise StorageError("nothing of it can be read", str(folder / FILE), hint) from None
    with closing(db):
        if not _are_ours(db):
            raise StorageError("this file is not the record of a campaign", str(folder / FILE), "Start a new campaign.")
        known = _layouts(db)
        start, empty = 1, 0
        while empty < _EMPTY:
            found = _some(db, known, start, start + _RANGE)
            yield from found
            empty = 0 if found else empty + 1
            start += _RANGE


def _are_ours(db: sqlite3.Connection) -> bool:
    """Both are plain tables with our columns. What somebody else calls so may be a query that never ends."""
    with closing(sqlite3.connect(":memory:")) as ours:
        ours.executescript(SCHEMA)
        tables = "SELECT type, sql FROM sqlite_master WHERE name IN ('tests', 'layouts') ORDER BY name"
        wanted = ours.execute(tables).fetchall()
        try:
            return db.execute(tables).fetchall() == wanted
        except sqlite3.Error:
            return False


def _layouts(db: sqlite3.Connection) -> dict[object, Layout]:
    """Those that can be read, by number."""
    found: dict[object, Layout] = {}
    with suppress(sqlite3.Error):
        for number, objects in db.execute("SELECT number, objects FROM layouts"):
            with suppress(msgspec.MsgspecError, UnicodeError, TypeError):
                found[number] = decode(objects, Layout)
    return found


def _some(db: sqlite3.Connection, known: Mapping[object, Layout], start: int, stop: int) -> list[TestRow]:
    """From `start` to before `stop`; where they cannot be read together, one by one."""
    what = "SELECT number, input, path, layout FROM tests WHERE number >= ? AND number < ? ORDER BY number"
    try:
        return [row for values in db.execute(what, (start, stop)) if (row := _row(known, values))]
    except sqlite3.Error:
        if stop - start == 1:
            return []
    return [row for number in range(start, stop) for row in _some(db, known, number, number + 1)]


def _row(known: Mapping[object, Layout], values: tuple[Any, ...]) -> TestRow | None:
    number, data, path, layout = values
    if not (isinstance(number, int) and isinstance(data, bytes) and isinstance(path, int)):
        return None
    return TestRow(number, data, "", 0, unsigned(path), "", "", known.get(layout, ()), "")
