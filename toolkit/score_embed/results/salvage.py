"""What can still be read of a damaged record: inputs, which are good for a new campaign to begin with, right or wrong."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec

from score_embed.errors import StorageError
from score_embed.results.layouts import Layout
from score_embed.results.pairs import unsigned
from score_embed.results.parts import decode
from score_embed.results.snapshot import open_to_read
from score_embed.results.storage import FILE
from score_embed.results.store import TestRow

_RANGE = 256  # tests that are asked for at once
_EMPTY = 64  # ranges without a test, after which none is looked for


def tests(folder: Path) -> Iterator[TestRow]:
    """The tests that can be read, by number. Raises StorageError if nothing can."""
    try:
        db = open_to_read(folder / FILE)
    except (sqlite3.Error, OSError):
        hint = "The inputs that brought coverage or a bug are in tests/ and bugs/, too."
        raise StorageError("nothing of it can be read", str(folder / FILE), hint) from None
    with closing(db):
        known = _layouts(db)
        start, empty = 1, 0
        while empty < _EMPTY:
            found = _some(db, known, start, start + _RANGE)
            yield from found
            empty = 0 if found else empty + 1
            start += _RANGE


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
