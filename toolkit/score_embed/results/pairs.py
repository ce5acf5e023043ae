"""The record's pairs: those that wait, and who has them: the backlog of a work list.

Pending flips of one run have its input in common, so a long one is kept once. Most pairs are run soon after they were
found, so only what became of them within a batch is written. A pair that is done is forgotten: nobody finds it twice
(docs/design/exploration.md). A fleet's clients may report it twice, so what a fleet has done is remembered by its id.
Of a client that might lie, the pairs that it has done are kept with its name until the end, to be done again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from score_embed.explore.pair import own_part
from score_embed.results.database import Database
from score_embed.results.storage import damaged

SCHEMA = """
CREATE TABLE pairs(number INTEGER PRIMARY KEY, id BLOB UNIQUE NOT NULL, rank BLOB NOT NULL, data BLOB NOT NULL,
    input INTEGER, owner TEXT);
CREATE TABLE inputs(number INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE done(id BLOB PRIMARY KEY, path INTEGER) WITHOUT ROWID;
CREATE TABLE told(id BLOB PRIMARY KEY, client TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX waiting ON pairs(rank);
"""
_PUT = """
INSERT INTO pairs(id, rank, data, input, owner) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM done WHERE id = ?1)
ON CONFLICT(id) DO NOTHING
"""
_REMEMBER = "INSERT INTO done VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET path = excluded.path"
_UNUSED = "DELETE FROM inputs WHERE number NOT IN (SELECT input FROM pairs WHERE input NOT NULL)"
_INPUT = "LEFT JOIN inputs ON inputs.number = pairs.input"
_MOST_IDS = 500  # in one question
_LONG = 64  # bytes of an input that is worth a row of its own
_REMEMBERED = 256  # inputs that were written last: who needs one of them comes soon


class _Row(NamedTuple):
    """What became of a pair: it waits, or it is done (`data`: None)."""

    rank: bytes
    data: bytes | None
    owner: str | None
    path: int | None


class PairTable:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._batch: dict[bytes, _Row] = {}
        self._inputs: dict[bytes, int] = {}  # to their numbers
        self._last_input: int | None = None
        self._remembers = bool(database.rows("SELECT EXISTS (SELECT 1 FROM done)")[0][0])
        database.register(self._write)

    # What is written -----------------------------------------------------------------------------

    def remember(self) -> None:
        """From now on those that are done are remembered: somebody may report them again."""
        self._remembers = True

    def add(self, pairs: Iterable[tuple[bytes, bytes, bytes]], owner: str | None = None) -> None:
        """Pairs that wait: (id, rank in the queue, serialised). One that waits already, or is remembered as done, stays so.

        `rank`: empty if only the fleet's clients know their order; `owner`: the client that has them, if any.
        """
        for ident, rank, data in pairs:
            known = self._batch.get(ident)
            if known is None or (known.data is None and not self._remembers):
                self._batch[ident] = _Row(rank, data, owner, None)
        self._database.begin()

    def done(self, ident: bytes, path_hash: int | None = None) -> None:
        """The pair was run and took this path, if any."""
        self._batch[ident] = _Row(b"", None, None, None if path_hash is None else signed(path_hash))
        self._database.begin()

    def keep_told(self, ident: bytes, client: str, data: bytes) -> None:
        """This client says that it has done this pair, serialised."""
        self._database.add("INSERT OR REPLACE INTO told VALUES (?, ?, ?)", (ident, client, data))

    def forget_told(self) -> None:
        """Nothing of it will be done again."""
        self._database.add("DELETE FROM told", ())

    def move(self, ident: bytes, owner: str | None) -> None:
        """This waiting pair is another client's from now on, or nobody's."""
        self._database.add("UPDATE pairs SET owner = ? WHERE id = ?", (owner, ident))

    def free(self) -> None:
        """A session begins: no waiting pair belongs to anybody, and inputs of pairs that are done are dropped."""
        self._database.add("UPDATE pairs SET owner = NULL WHERE owner NOT NULL", ())
        if self._database.rows("SELECT 1 FROM inputs LIMIT 1"):
            self._database.add(_UNUSED, ())
            self._inputs.clear()

    def rerank(self, ident: bytes, rank: bytes) -> None:
        """This pair has another rank in the queue from now on."""
        self._database.add("UPDATE pairs SET rank = ? WHERE id = ?", (rank, ident))

    def _write(self, db: sqlite3.Connection) -> None:
        if not self._batch:
            return
        inputs: list[tuple[int, bytes]] = []
        done = [(ident, row.path) for ident, row in self._batch.items() if row.data is None]
        rows = [
            (ident, row.rank, *self._split(row.data, db, inputs), row.owner)
            for ident, row in self._batch.items()
            if row.data is not None
        ]
        db.executemany("DELETE FROM pairs WHERE id = ?", [(ident,) for ident, _ in done])
        if self._remembers:
            db.executemany(_REMEMBER, done)
        db.executemany("INSERT INTO inputs VALUES (?, ?)", inputs)
        db.executemany(_PUT, rows)
        self._batch.clear()

    def _split(
        self, data: bytes, db: sqlite3.Connection, inputs: list[tuple[int, bytes]]
    ) -> tuple[bytes, int | None]:
        """What a pair's row holds of it, and the number of its input, if others have the same."""
        end = own_part(data)
        if len(data) - end < _LONG:
            return data, None
        shared = data[end:]
        number = self._inputs.get(shared)
        if number is None:
            if self._last_input is None:
                ((self._last_input,),) = db.execute("SELECT coalesce(max(number), 0) FROM inputs")
            self._last_input += 1
            number = self._inputs[shared] = self._last_input
            inputs.append((number, shared))
            if len(self._inputs) > _REMEMBERED:
                del self._inputs[next(iter(self._inputs))]
        return data[:end], number

    # What is read --------------------------------------------------------------------------------

    def waiting(self) -> int:
        """The number of pairs that wait."""
        ((count,),) = self._database.rows("SELECT count(*) FROM pairs")
        return int(count)

    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Rank and serialised pair of those that are ranked above `rank`, in order of rank."""
        what = f"SELECT rank, pairs.data, inputs.data FROM pairs {_INPUT} WHERE rank > ? ORDER BY rank"
        for found, data, shared in self._database.each(what, (rank,)):
            yield found, self._whole(data, shared)

    def unranked(self) -> Iterator[tuple[bytes, bytes]]:
        """Id and serialised pair of those that have no rank, in the order they became known."""
        waiting = f"pairs {_INPUT} WHERE rank = x'' ORDER BY pairs.number"
        what = f"SELECT id, pairs.data, inputs.data FROM {waiting}"
        for ident, data, shared in self._database.each(what):
            yield ident, self._whole(data, shared)

    def owners(self) -> Iterator[tuple[bytes, str | None]]:
        """Id and owner of the pairs that wait, the newest first."""
        yield from self._database.each("SELECT id, owner FROM pairs ORDER BY number DESC")

    def some(self, idents: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of these pairs that wait, serialised, by id."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(idents), _MOST_IDS):
            part = tuple(idents[start : start + _MOST_IDS])
            marks = ",".join("?" * len(part))
            what = f"SELECT id, pairs.data, inputs.data FROM pairs {_INPUT} WHERE id IN ({marks})"
            found.update((ident, self._whole(*of)) for ident, *of in self._database.rows(what, part))
        return found

    def done_among(self, idents: Sequence[bytes]) -> set[bytes]:
        """Those of these pairs that are remembered as done."""
        found: set[bytes] = set()
        for start in range(0, len(idents), _MOST_IDS):
            part = tuple(idents[start : start + _MOST_IDS])
            marks = ",".join("?" * len(part))
            rows = self._database.rows(f"SELECT id FROM done WHERE id IN ({marks})", part)
            found.update(row[0] for row in rows)
        return found

    def told_by(self, clients: Callable[[str], bool]) -> dict[bytes, bytes]:
        """What these clients say to have done: serialised pairs by id."""
        names = [name for (name,) in self._database.rows("SELECT DISTINCT client FROM told") if clients(name)]
        found: dict[bytes, bytes] = {}
        for name in names:
            for ident, data in self._database.rows("SELECT id, data FROM told WHERE client = ?", (name,)):
                found[ident] = self._whole(data, None)
        return found

    def told_of(self, ident: bytes) -> bytes | None:
        """The pair of this id, serialised, if somebody who might lie says to have done it."""
        rows = self._database.rows("SELECT data FROM told WHERE id = ?", (ident,))
        return self._whole(rows[0][0], None) if rows else None

    def without_inputs(self) -> Iterator[bytes]:
        """The serialised pairs that wait, in no order; some lack their input."""
        for (data,) in self._database.each("SELECT data FROM pairs"):
            yield self._whole(data, None)

    def _whole(self, data: object, shared: object) -> bytes:
        """A serialised pair of its own part and its input. Raises StorageError if the row is none of a waiting pair."""
        if isinstance(data, bytes) and (shared is None or isinstance(shared, bytes)):
            return data + (shared or b"")
        raise damaged(self._database.folder, "a test that waits has no data")

    def path_of(self, ident: bytes) -> int | None:
        """The path that a pair took when it was run; None if nobody remembers, or it had no path."""
        rows = self._database.rows("SELECT path FROM done WHERE id = ? AND path NOT NULL", (ident,))
        return unsigned(rows[0][0]) if rows else None


def signed(number: int) -> int:
    """SQLite's integers are signed 64-bit ones."""
    return number - 2**64 if number >= 2**63 else number


def unsigned(number: int) -> int:
    return number & (2**64 - 1)
