"""The hashes of the paths that a campaign has seen: as a set in memory, and in the record.

A campaign sees millions of paths, and nothing else in memory grows with their number. So a hash takes 9 to 11 bytes, a
tenth of what Python's own set takes: sorted arrays, one for each value of the highest bits (the hashes come from the
target well mixed), so that taking one in moves a few kilobytes at most. Those that somebody knows already are sorted
when the first of an array is asked for: a campaign of ten million goes on at once.

In the record those of a batch are one row. They are only read all together, when a campaign goes on. An index of
hashes, which are random, would write another page for each of them once the record is large: 14 kB a test.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from struct import iter_unpack, pack

from score_embed.results.database import Database
from score_embed.results.parts import typed
from score_embed.results.storage import damaged

_SHARDS = 4096
_LOW_BITS = 52  # of a hash, below those that say its shard
SCHEMA = """
CREATE TABLE paths(number INTEGER PRIMARY KEY, hashes BLOB NOT NULL);
"""
_BYTES = 8  # of a hash, little endian


class HashSet:
    def __init__(self, known: Iterable[int] = ()) -> None:
        """`known`: those that are in the set from the beginning."""
        self._shards = [array("Q") for _ in range(_SHARDS)]
        for number in known:
            self._shards[number >> _LOW_BITS].append(number)
        self._unsorted = {high for high, shard in enumerate(self._shards) if len(shard) > 1}

    def add(self, number: int) -> bool:
        """Take in an unsigned number of 64 bits; true if it is new."""
        high = number >> _LOW_BITS
        if high in self._unsorted:
            self._unsorted.remove(high)
            self._shards[high] = array("Q", sorted(self._shards[high]))
        shard = self._shards[high]
        at = bisect_left(shard, number)
        if at < len(shard) and shard[at] == number:
            return False
        shard.insert(at, number)
        return True


class PathTable:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._batch: list[int] = []
        database.register(self._write)

    def add(self, path_hash: int) -> None:
        """A path that was not there before; an unsigned number of 64 bits."""
        self._batch.append(path_hash)
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
