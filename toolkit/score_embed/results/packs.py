"""Pairs that wait in a campaign on one target: packed, each pack sorted by rank.

A row for each pair took a third of the time of a campaign of short tests, and three times the bytes. So the pairs that
a batch leaves behind are sorted and written in packs, as the sorted runs of a log-structured merge tree (O'Neil,
Cheng, Gawlick and O'Neil, Acta Informatica 33, 1996): whoever wants pairs in order merges them. A pair has a number,
from that of its pack on. Of a pair that is done only this number is written; a pack of which nothing waits any more
goes when the next session begins.

Flips of one run have its input in common, and lie in many packs: a long one is kept once, apart from these.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from score_embed.explore.pair import Pair
from score_embed.explore.queue import PairBatch, Unpacked, lane_of
from score_embed.results.database import Database
from score_embed.results.storage import damaged

SCHEMA = """
CREATE TABLE packs(number INTEGER PRIMARY KEY, size INTEGER NOT NULL, first BLOB NOT NULL, last BLOB NOT NULL,
    pairs BLOB NOT NULL);
CREATE INDEX by_rank ON packs(first, last, size);
CREATE TABLE inputs(number INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE ran(number INTEGER PRIMARY KEY) WITHOUT ROWID;
"""
MOST = 128  # pairs: some 8 KB
_REMEMBERED = 256  # inputs that were written or read last: who needs one of them comes soon
FIRST = 1 << 40  # the number of the first pair: rows of the table `pairs` have smaller ones
_LAST = "SELECT number + size FROM packs ORDER BY number DESC LIMIT 1"
_PUT = "INSERT INTO packs VALUES (?, ?, ?, ?, ?)"
_RAN = "INSERT OR IGNORE INTO ran VALUES (?)"
_DONE_WITH = """
DELETE FROM packs WHERE size = (SELECT count(*) FROM ran WHERE ran.number >= packs.number
    AND ran.number < packs.number + packs.size)
"""
_UNUSED = """
DELETE FROM ran WHERE NOT EXISTS (SELECT 1 FROM packs WHERE packs.number = (SELECT max(number) FROM packs
    WHERE number <= ran.number) AND ran.number < packs.number + packs.size)
"""


class _Opened(NamedTuple):
    """A pack in a merge: its next pair, and the rest. No two have one number, so nothing behind it is compared."""

    rank: bytes
    number: int
    pair: Pair
    rest: Iterator[tuple[bytes, int, Pair]]


class Packs:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._inputs = SharedInputs()
        self._read: dict[int, bytes] = {}  # inputs by their numbers

    # What is written, within a transaction ------------------------------------------------------------------

    def write(self, db: sqlite3.Connection, batch: PairBatch) -> list[tuple[int]]:
        """What a batch leaves behind; returns the numbers of done pairs that are not packed."""
        found = db.execute(_LAST).fetchone()
        following = int(found[0]) if found else FIRST
        packs, gone = batch.take(following, MOST, lambda data: self._inputs.number(data, db))
        self._inputs.write(db)
        db.executemany(_PUT, packs)
        db.executemany(_RAN, [number for number in gone if number[0] >= FIRST])
        return [number for number in gone if number[0] < FIRST]

    # What is written with the next batch ---------------------------------------------------------------------

    def clear(self) -> None:
        self._database.add("DELETE FROM packs", ())
        self._database.add("DELETE FROM ran", ())

    def tidy(self) -> None:
        """A session begins: drop packs of which nothing waits."""
        if self._database.rows("SELECT 1 FROM ran LIMIT 1"):
            self._database.add(_DONE_WITH, ())
            self._database.add(_UNUSED, ())
        self._inputs.forget()
        self._read.clear()

    # What is read -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of pairs that wait."""
        ((packed,),) = self._database.rows("SELECT coalesce(sum(size), 0) FROM packs")
        ((ran,),) = self._database.rows("SELECT count(*) FROM ran")
        return int(packed) - int(ran)

    def all(self) -> Iterator[tuple[bytes, Pair]]:
        """Rank and pair of those that wait, in no order."""
        for (number,) in self._database.each("SELECT number FROM packs ORDER BY number"):
            for rank, _, pair in self._waiting(int(number)):
                yield rank, pair

    def inputs(self) -> set[int]:
        """The numbers of those that packs have in common with others."""
        found: set[int] = set()

        def note(number: int) -> bytes:
            found.add(number)
            return b""

        for (pack,) in self._database.each("SELECT pairs FROM packs"):
            for _ in Unpacked(pack, note):
                pass
        return found

    def unranked(self) -> Iterator[Pair]:
        """Those without a rank, in the order in which they became known."""
        for (number,) in self._database.rows("SELECT number FROM packs WHERE last = x'' ORDER BY number"):
            for _, _, pair in self._waiting(int(number)):
                yield pair

    def after(self, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        """Rank and pair of those that are ranked above `rank`, in order of rank."""
        opened: list[_Opened] = []
        where = "SELECT number, first FROM packs WHERE first >= ? AND last > ? ORDER BY first"
        for number, first in self._database.each(where, (lane_of(rank), rank)):
            while opened and opened[0].rank < first:
                yield _next(opened)
            _open(opened, (row for row in self._waiting(int(number)) if row[0] > rank))
        while opened:
            yield _next(opened)

    def _waiting(self, number: int) -> Iterator[tuple[bytes, int, Pair]]:
        """Rank, number and pair of those of a pack that are not done. Raises StorageError if it is damaged."""
        ((size, pack),) = self._database.rows("SELECT size, pairs FROM packs WHERE number = ?", (number,))
        if not isinstance(pack, bytes) or not isinstance(size, int):
            raise damaged(self._database.folder, "tests that wait have no data")
        between = "SELECT number FROM ran WHERE number >= ? AND number < ?"
        ran = {found for (found,) in self._database.rows(between, (number, number + size))}
        at = number
        for rank, pair in Unpacked(pack, self._input):
            if at not in ran:
                pair.row = at
                yield rank, at, pair
            at += 1
        if at != number + size:
            raise damaged(self._database.folder, f"of {size} tests that wait {at - number} are there")

    def _input(self, number: int) -> bytes:
        data = self._read.get(number)
        if data is None:
            rows = self._database.rows("SELECT data FROM inputs WHERE number = ?", (number,))
            if not rows or not isinstance(rows[0][0], bytes):
                raise damaged(self._database.folder, f"inputs: there is no number {number}")
            data = self._read[number] = rows[0][0]
            if len(self._read) > _REMEMBERED:
                del self._read[next(iter(self._read))]
        return data


class SharedInputs:
    """Inputs that pairs have in common, by the numbers of their rows."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._fresh: list[tuple[int, bytes]] = []  # to be written

    def number(self, data: bytes, db: sqlite3.Connection) -> int:
        """That of the row with this input, which is there after `write`."""
        number = self._numbers.get(data)
        if number is None:
            ((last,),) = db.execute("SELECT coalesce(max(number), 0) FROM inputs")
            number = self._numbers[data] = int(last) + len(self._fresh) + 1
            self._fresh.append((number, data))
            if len(self._numbers) > _REMEMBERED:
                del self._numbers[next(iter(self._numbers))]
        return number

    def write(self, db: sqlite3.Connection) -> None:
        db.executemany("INSERT INTO inputs VALUES (?, ?)", self._fresh)
        self._fresh.clear()

    def forget(self) -> None:
        """Rows may be gone."""
        self._numbers.clear()


def _open(opened: list[_Opened], rows: Iterator[tuple[bytes, int, Pair]]) -> None:
    first = next(rows, None)
    if first is not None:
        heapq.heappush(opened, _Opened(*first, rows))


def _next(opened: list[_Opened]) -> tuple[bytes, Pair]:
    """The first of all; its pack stays open as long as it has more."""
    found = opened[0]
    more = next(found.rest, None)
    if more is None:
        heapq.heappop(opened)
    else:
        heapq.heapreplace(opened, _Opened(*more, found.rest))
    return found.rank, found.pair
