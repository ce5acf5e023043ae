"""The tests that were set aside: their targets, or the host, died under them in a way that says nothing of the program.

Each leaves a pair behind that no campaign runs by itself: it would cost a target each time. `--retry-lost` makes all of
them wait again. As long as one is left, something of the program is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct, ValidationError, convert, structs

from score_embed.errors import StorageError
from score_embed.results.database import Database
from score_embed.results.pairs import PairTable
from score_embed.results.storage import FILE

SCHEMA = """
CREATE TABLE lost(id BLOB PRIMARY KEY, data BLOB NOT NULL, input BLOB NOT NULL, test INTEGER, why TEXT NOT NULL,
    file TEXT NOT NULL, line INTEGER NOT NULL);
"""
MOST_SHOWN = 64  # bytes of an input in summaries
_MOST_WHY = 1024  # characters
_ROW = tuple[bytes, bytes, bytes, str, str, int, int | None]


class LostTest(Struct, frozen=True):
    """A test that was set aside. `pair`: what is to be run to repeat it, serialised, with its id."""

    id: Annotated[bytes, Meta(min_length=16, max_length=16)]
    pair: bytes
    input: bytes  # of the run
    why: Annotated[str, Meta(max_length=_MOST_WHY)]
    file: str = ""  # where it was last seen
    line: Annotated[int, Meta(ge=0, le=2**32 - 1)] = 0
    test: int | None = None  # its number; None: it was run for a question, or killed its process

    def numbered(self, test: int) -> LostTest:
        return structs.replace(self, test=test)


class LostTable:
    def __init__(self, database: Database, pairs: PairTable) -> None:
        self._database, self._pairs = database, pairs

    def add(self, lost: LostTest) -> None:
        row = lost.id, lost.pair, lost.input, lost.test, lost.why[:_MOST_WHY], lost.file, lost.line
        self._database.add("INSERT OR REPLACE INTO lost VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def all(self) -> Iterator[LostTest]:
        """In the order of their tests. Raises StorageError if a row is none."""
        statement = "SELECT id, data, input, why, file, line, test FROM lost ORDER BY test, id"
        for row in self._database.each(statement):
            try:
                found = convert(row, _ROW)
            except ValidationError as error:
                what = f"the campaign file is damaged: lost tests: {error}"
                raise StorageError(what, str(self._database.folder / FILE), "Start a new campaign.") from None
            yield LostTest(*found)

    def __len__(self) -> int:
        ((count,),) = self._database.rows("SELECT count(*) FROM lost")
        return int(count)

    def retry(self) -> int:
        """Let all of them wait to be run; says how many they are."""
        waiting = [(lost.id, b"", lost.pair) for lost in self.all()]
        self._pairs.add(waiting)
        self._database.add("DELETE FROM lost", ())
        return len(waiting)
