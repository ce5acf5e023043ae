"""The hashes of the paths that a campaign has seen, in its record; in memory they are the engine's `HashSet`.

In the record those of a batch are one row. They are only read all together, when a campaign goes on. An index of
hashes, which are random, would write another page for each of them once the record is large: 14 kB a test.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from struct import iter_unpack, pack

from score_embed.results.database import Database
from score_embed.results.parts import typed
from score_embed.results.storage import damaged

SCHEMA = """
CREATE TABLE paths(number INTEGER PRIMARY KEY, hashes BLOB NOT NULL);
"""
_BYTES = 8  # of a hash, little endian


class PathTable:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._batch: list[int] = []
        database.register(self._write)

    def add(self, path_hash: int) -> None:
        """A path that was not there before; an unsigned number of 64 bits."""
        self._batch.append(path_hash)
        self._database.begin()

    def extend(self, hashes: Sequence[int]) -> None:
        """Several of these."""
        if hashes:
            self._batch.extend(hashes)
            self._database.begin()

    def _write(self, db: sqlite3.Connection) -> None:
        if self._batch:
            row = (pack(f"<{len(self._batch)}Q", *self._batch),)
            db.execute("INSERT INTO paths(hashes) VALUES (?)", row)
            self._batch.clear()

    def __len__(self) -> int:
        ((count,),) = self._database.rows("SELECT coalesce(sum(length(hashes)), 0) FROM paths")
        return int(count) // _BYTES

    def all(self) -> Iterator[int]:
        """In the order in which they were found. Raises StorageError if they cannot be read."""
        folder = self._database.folder
        for row in self._database.each("SELECT hashes FROM paths ORDER BY number"):
            (hashes,) = typed(row, tuple[bytes], "paths", folder)
            if len(hashes) % _BYTES:
                raise damaged(folder, f"paths: {len(hashes)} bytes are no hashes")
            for (number,) in iter_unpack("<Q", hashes):
                yield number
