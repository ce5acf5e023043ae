"""The record's pairs by their ids: those that wait, and who has them. What a fleet's server needs.

A campaign on one target packs its pairs (`results/packs.py`); they get rows here when a fleet goes on with it.
Pending flips of one run have its input in common, so a long one is kept once. Most pairs are run soon after they were
found, so only what became of them within a batch is written. A fleet's clients may report a pair twice, so what a fleet
has done is remembered by its id. Of a client that might lie, the pairs that it has done are kept with its name until
the end, to be done again.

A test is lost if its target, or the host, died under it in a way that says nothing of the program. It leaves a pair
behind that no campaign runs by itself: it would cost a target each time. `--retry-lost` makes all of them wait again.
As long as one is left, something of the program is not known.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, ValidationError, convert, structs

from score_embed.errors import StorageError
from score_embed.explore.pair import own_part
from score_embed.results.database import Database
from score_embed.results.packs import Packs, SharedInputs
from score_embed.results.storage import FILE, damaged

SCHEMA = """
CREATE TABLE pairs(number INTEGER PRIMARY KEY, id BLOB NOT NULL, rank BLOB NOT NULL, data BLOB NOT NULL,
    input INTEGER, owner TEXT);
CREATE TABLE done(id BLOB PRIMARY KEY, path INTEGER) WITHOUT ROWID;
CREATE TABLE told(id BLOB PRIMARY KEY, client TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE lost(id BLOB PRIMARY KEY, data BLOB NOT NULL, input BLOB NOT NULL, test INTEGER, why TEXT NOT NULL,
    file TEXT NOT NULL, line INTEGER NOT NULL);
"""
_PUT = """
INSERT INTO pairs(id, rank, data, input, owner) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM done WHERE id = ?1)
ON CONFLICT(id) DO NOTHING
"""
_REMEMBER = "INSERT INTO done VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET path = excluded.path"
_BY_ID = "CREATE UNIQUE INDEX IF NOT EXISTS known ON pairs(id)"  # from when somebody asks by it
WITH_INPUTS = "pairs LEFT JOIN inputs ON inputs.number = pairs.input"
_MOST_IDS = 500  # in one question
_LONG = 64  # bytes of an input that is worth a row of its own
MOST_SHOWN = 64  # bytes of an input in summaries
_MOST_WHY = 1024  # characters
_ROW = tuple[bytes, bytes, bytes, str, str, int, int | None]


class _Row(NamedTuple):
    """What became of a pair: it waits, or it is done (`data`: None)."""

    rank: bytes
    data: bytes | None
    owner: str | None
    path: int | None


class PairTable:
    def __init__(self, database: Database, packs: Packs) -> None:
        self._database, self._packs = database, packs
        self._batch: dict[bytes, _Row] = {}
        self._inputs = SharedInputs()
        self.remembers = bool(database.rows("SELECT EXISTS (SELECT 1 FROM done)")[0][0])
        database.register(self._write)

    # What is written -----------------------------------------------------------------------------

    def remember(self) -> None:
        """From now on those that are done are remembered: somebody may report them again."""
        self.remembers = True
        self._database.add(_BY_ID, ())
        if len(self._packs):
            self._unpack()

    def _unpack(self) -> None:
        """Each waiting pair gets a row; all of it in one transaction."""
        for rank, pair in self._packs.all():
            self.add([(pair.id, rank, pair.to_bytes())])
        self._packs.clear()

    def add(self, pairs: Iterable[tuple[bytes, bytes, bytes]], owner: str | None = None) -> None:
        """Pairs that wait: (id, rank in the queue, serialised). One that waits already, or is remembered as done, stays
        so.

        `rank`: empty if only the fleet's clients know their order; `owner`: the client that has them, if any.
        """
        for ident, rank, data in pairs:
            known = self._batch.get(ident)
            if known is None or (known.data is None and not self.remembers):
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
        """A session begins: no waiting pair belongs to anybody, and what only pairs had that are done is dropped."""
        self._packs.tidy()
        self._database.add("UPDATE pairs SET owner = NULL WHERE owner NOT NULL", ())
        known = {number for (number,) in self._database.rows("SELECT number FROM inputs")}
        if known:
            used = {
                number for (number,) in self._database.rows("SELECT DISTINCT input FROM pairs WHERE input NOT NULL")
            }
            for number in sorted(known - used - self._packs.inputs()):
                self._database.add("DELETE FROM inputs WHERE number = ?", (number,))
            self._inputs.forget()

    def rerank(self, ident: bytes, rank: bytes) -> None:
        """This pair has another rank in the queue from now on."""
        self._database.add("UPDATE pairs SET rank = ? WHERE id = ?", (rank, ident))

    def _write(self, db: sqlite3.Connection) -> None:
        if not self._batch:
            return
        db.execute(_BY_ID)
        done = [(ident, row.path) for ident, row in self._batch.items() if row.data is None]
        rows = [
            (ident, row.rank, *self._split(row.data, db), row.owner)
            for ident, row in self._batch.items()
            if row.data is not None
        ]
        db.executemany("DELETE FROM pairs WHERE id = ?", [(ident,) for ident, _ in done])
        if self.remembers:
            db.executemany(_REMEMBER, done)
        self._inputs.write(db)
        db.executemany(_PUT, rows)
        self._batch.clear()

    def _split(self, data: bytes, db: sqlite3.Connection) -> tuple[bytes, int | None]:
        """What a pair's row holds of it, and the number of its input, if others have the same."""
        end = own_part(data)
        if len(data) - end < _LONG:
            return data, None
        return data[:end], self._inputs.number(data[end:], db)

    # What is read --------------------------------------------------------------------------------

    def waiting(self) -> int:
        """The number of pairs that wait."""
        ((count,),) = self._database.rows("SELECT count(*) FROM pairs")
        return int(count) + len(self._packs)

    def has_rows(self) -> bool:
        """Whether pairs wait that are not packed."""
        return bool(self._database.rows("SELECT 1 FROM pairs LIMIT 1"))

    def owners(self) -> Iterator[tuple[bytes, str | None]]:
        """Id and owner of the pairs that wait, the newest first."""
        yield from self._database.each("SELECT id, owner FROM pairs ORDER BY number DESC")

    def some(self, idents: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of these pairs that wait, serialised, by id."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(idents), _MOST_IDS):
            part = tuple(idents[start : start + _MOST_IDS])
            marks = ",".join("?" * len(part))
            what = f"SELECT id, pairs.data, inputs.data FROM {WITH_INPUTS} WHERE id IN ({marks})"
            found.update((ident, self.whole(*of)) for ident, *of in self._database.rows(what, part))
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
                found[ident] = self.whole(data, None)
        return found

    def without_inputs(self) -> Iterator[bytes]:
        """The serialised pairs that wait, in no order; some lack their input."""
        for (data,) in self._database.each("SELECT data FROM pairs"):
            yield self.whole(data, None)
        for _, pair in self._packs.all():
            yield pair.to_bytes()

    def whole(self, data: object, shared: object) -> bytes:
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
