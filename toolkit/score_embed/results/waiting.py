"""The pairs that wait in a campaign on one target: the backlog of its work list.

Nobody else has pairs there, and nobody finds one twice (docs/design/exploration.md). So a row needs no index: whoever
has a pair in memory has its row's number, too, and the pairs are put in order only once memory has not all of them. An
index of ids, which are random, would write another page for each pair. What was found and done within a batch is not
written at all.

A record that a fleet has worked on remembers what is done; then its own table (`results/pairs.py`) keeps the books
here, too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from score_embed.explore.pair import Pair
from score_embed.explore.queue import PairBatch
from score_embed.results.database import Database
from score_embed.results.pairs import WITH_INPUTS, PairTable, SharedInputs

_LAST = "SELECT coalesce(max(number), 0) FROM pairs"
_IN_ORDER = "CREATE INDEX IF NOT EXISTS waiting ON pairs(rank)"


class WaitingPairs:
    def __init__(self, database: Database, table: PairTable) -> None:
        self._database, self._table = database, table
        self._batch = PairBatch()
        self._inputs = SharedInputs()
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
        ((last,),) = db.execute(_LAST)
        rows, gone = self._batch.take(last + 1, lambda data: self._inputs.number(data, db))
        if gone:
            db.executemany("DELETE FROM pairs WHERE number = ?", gone)
        self._inputs.write(db)
        if rows:
            db.executemany("INSERT INTO pairs(number, id, rank, data, input) VALUES (?, ?, ?, ?, ?)", rows)

    # As the queue's backlog ---------------------------------------------------------------------

    def waiting(self) -> int:
        self._database.begin()  # the engine may have put something into the batch since it was written
        return self._table.waiting()

    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        """Rank and pair of those that are ranked above `rank`, in order of rank."""
        self._database.begin()
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

    def rerank(self, pair: Pair, rank: bytes) -> None:
        """A waiting pair has another rank in the queue from now on."""
        if self._table.remembers:
            self._table.rerank(pair.id, rank)
        elif not self._batch.rerank(pair, rank):
            self._database.add("UPDATE pairs SET rank = ? WHERE number = ?", (rank, pair.row))

    def _pair(self, number: int, data: object, shared: object) -> Pair:
        pair = Pair.from_bytes(self._table.whole(data, shared))
        pair.row = number
        return pair
