"""What the inputs of tests consist of: most tests of a program have it in common, so each layout is kept once.

With the layout of its test an input of 82 bytes is named, where its values in JSON took 175 bytes more of the record and
a third of the time to write a test.
"""

from __future__ import annotations

from score_embed.results.database import Database
from score_embed.results.parts import decoded, encode, typed
from score_embed.results.storage import damaged
from score_embed.results.testcase import Named

SCHEMA = """
CREATE TABLE layouts(number INTEGER PRIMARY KEY, objects TEXT NOT NULL);
"""
Layout = tuple[Named, ...]
_REMEMBERED = 256  # layouts: one that comes again later gets another number


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
