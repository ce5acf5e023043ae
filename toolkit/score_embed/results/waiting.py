"""The pairs that wait in a campaign on one target: the backlog of its work list.

Nobody else has pairs there, and nobody finds one twice (docs/design/exploration.md). So whoever has a pair in memory
has its number in the record, too, and nothing has to be looked for by a pair's id. What was found and done within a
batch is not written at all; what is left of it is packed (`results/packs.py`).

A record that a fleet has worked on remembers what is done; then its own table (`results/pairs.py`) keeps the books
here, too.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterator, Sequence

from score_embed.explore.pair import Pair
from score_embed.explore.queue import PairBatch
from score_embed.results import packs
from score_embed.results.database import Database
from score_embed.results.packs import Packs
from score_embed.results.pairs import WITH_INPUTS, PairTable

_IN_ORDER = "CREATE INDEX IF NOT EXISTS waiting ON pairs(rank)"


class WaitingPairs:
    def __init__(self, database: Database, table: PairTable, packed: Packs) -> None:
        self._database, self._table, self._packs = database, table, packed
        self._batch = PairBatch()
        self._is_ordered = False
        database.register(self._write)

    @property
    def batch(self) -> PairBatch | None:
        """For the engine, which keeps these books by itself. None: this record remembers what is done."""
        return None if self._table.remembers else self._batch

    def add(self, pairs: Sequence[Pair], ranks: Sequence[bytes]) -> None:
        """Pairs that wait from now on, and their ranks in the queue: empty if it will be told."""
        if self._table.remembers:
            self._table.add((pair.id, rank, pair.to_bytes()) for pair, rank in zip(pairs, ranks, strict=True))
        elif pairs:
            self._batch.add(pairs, ranks)
            self._database.begin()

    def done(self, pair: Pair, path_hash: int | None = None) -> None:
        """A pair that waited was run and took this path, if any."""
        if self._table.remembers:
            self._table.done(pair.id, path_hash)
        else:
            self._batch.done(pair)
            self._database.begin()

    def _write(self, db: sqlite3.Connection) -> None:
        gone = self._packs.write(db, self._batch)
        if gone:
            db.executemany("DELETE FROM pairs WHERE number = ?", gone)

    # As the queue's backlog ---------------------------------------------------------------------

    def waiting(self) -> int:
        self._database.begin()  # the engine may have put something into the batch since it was written
        return self._table.waiting()

    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        """Rank and pair of those that are ranked above `rank`, in order of rank."""
        self._database.begin()
        packed = self._packs.after(rank)
        if not self._table.has_rows():
            return packed
        return heapq.merge(packed, self._rows_after(rank), key=lambda found: found[0])

    def _rows_after(self, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        if not self._is_ordered:
            self._database.add(_IN_ORDER, ())
            self._is_ordered = True
        where = f"SELECT rank, pairs.number, pairs.data, inputs.data FROM {WITH_INPUTS} WHERE rank > ? ORDER BY rank"
        for found, *row in self._database.each(where, (rank,)):
            yield found, self._pair(*row)

    def unranked(self) -> Iterator[Pair]:
        """Those that have no rank, in the order in which they became known."""
        self._database.begin()
        where = (
            f"SELECT pairs.number, pairs.data, inputs.data FROM {WITH_INPUTS} WHERE rank = x'' ORDER BY pairs.number"
        )
        for row in self._database.each(where):
            yield self._pair(*row)
        yield from self._packs.unranked()

    def rerank(self, pair: Pair, rank: bytes) -> None:
        """A waiting pair has another rank in the queue from now on."""
        if self._table.remembers:
            self._table.rerank(pair.id, rank)
        elif pair.row and pair.row < packs.FIRST:
            self._database.add("UPDATE pairs SET rank = ? WHERE number = ?", (rank, pair.row))
        elif not self._batch.rerank(pair, rank):
            self._batch.done(pair)
            pair.row = 0  # it is packed anew
            self._batch.add([pair], [rank])
            self._database.begin()

    def _pair(self, number: int, data: object, shared: object) -> Pair:
        pair = Pair.from_bytes(self._table.whole(data, shared))
        pair.row = number
        return pair
