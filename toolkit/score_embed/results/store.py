"""`campaign.db`: the one record of a campaign. Reports are functions of it; a killed campaign goes on from it.

What one test brought (its row, its children as known pairs, its own pair as done, its path, coverage, bugs) and
the running totals are committed in one transaction, about once a second. So after SIGKILL or a full disk the
record is that of an earlier moment, never a torn one: the pairs known but not done are what is left to do.
"""

from __future__ import annotations

import fcntl
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from score_embed.errors import StorageError, UsageError
from score_embed.results.bugs import Bug
from score_embed.results.parts import PROGRESS, SOURCES, Part, decoded, encode
from score_embed.results.progress import Progress
from score_embed.results.snapshot import open_to_read
from score_embed.results.sourcemap import SourceMap
from score_embed.results.storage import FILE, reading, storage
from score_embed.results.testcase import Value, stem
from score_embed.results.witnessed import FOUND, LOST, Counts, Finding, Found

T = TypeVar("T")
LOCK = "campaign.lock"
VERSION = 8
BATCH_SECONDS = 1.0
LOCK_TRIES = 5
LOCK_PAUSE = 0.02  # seconds

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tests(number INTEGER PRIMARY KEY, input BLOB NOT NULL, verdict TEXT NOT NULL,
    code INTEGER NOT NULL, path INTEGER NOT NULL, outcome TEXT NOT NULL, place TEXT NOT NULL,
    inputs TEXT NOT NULL, output TEXT NOT NULL);
CREATE TABLE pairs(number INTEGER PRIMARY KEY, id BLOB UNIQUE NOT NULL, rank BLOB NOT NULL, data BLOB,
    done INTEGER NOT NULL, owner TEXT, path INTEGER);
CREATE TABLE paths(hash INTEGER PRIMARY KEY, test INTEGER NOT NULL);
CREATE TABLE coverage(number INTEGER PRIMARY KEY, test INTEGER NOT NULL);
CREATE TABLE bugs(test INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE witnessed(test INTEGER PRIMARY KEY, outcome TEXT NOT NULL, data TEXT);
"""
_PUT_PAIR = """
INSERT INTO pairs(id, rank, data, done, owner, path) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT(id) DO UPDATE SET data = NULL, done = 1, owner = NULL, path = excluded.path WHERE excluded.done
"""
_MOST_IDS = 500  # in one question
_KEPT = "SELECT 1 UNION SELECT test FROM coverage UNION SELECT test FROM bugs"
_NEW_PATH = "EXISTS (SELECT 1 FROM paths WHERE hash = tests.path AND test = tests.number)"
_UNWITNESSED = "NOT EXISTS (SELECT 1 FROM witnessed WHERE test = tests.number)"


@dataclass(slots=True)
class TestRow:
    """One executed test. `outcome`: new, redundant, mispredicted, or "no path" (an assumption failed)."""

    __test__ = False

    number: int
    input: bytes
    verdict: str
    code: int
    path_hash: int
    outcome: str
    place: str
    inputs: Mapping[str, Value]
    output: str  # its beginning

    @property
    def stem(self) -> str:
        """The name of its files."""
        return stem(self.number, self.path_hash)


class Store:
    """An open campaign folder. As a context manager it commits at the end, unless by an error."""

    def __init__(self, folder: Path, db: sqlite3.Connection, lock: IO[bytes] | None, running: bool = False) -> None:
        self.folder = folder
        self.running = running  # another process goes on with this campaign
        self._db, self._lock = db, lock
        # The batch: most pairs are run soon after they were found, so only what became of them is written.
        self._began: float | None = None
        self._rows: dict[str, list[tuple[object, ...]]] = {}  # by statement
        self._pairs: dict[bytes, tuple[bytes, bytes, bytes | None, int, str | None, int | None]] = {}

    @staticmethod
    def create(folder: Path) -> Store:
        store = Store._connect(folder, new=True)
        with storage(folder):
            store._db.executescript(_SCHEMA)
            store._db.execute(f"PRAGMA user_version = {VERSION}")
        return store

    @staticmethod
    def open(folder: Path) -> Store:
        """The record of a campaign to go on with: for one process at a time."""
        _require_campaign(folder)
        store = Store._connect(folder, new=False)
        store._require_version()
        return store

    @staticmethod
    def read(folder: Path) -> Store:
        """The record as of its last commit, for reading only, whoever else uses it and though the disk be read-only."""
        _require_campaign(folder)
        with reading(folder):
            running = _in_use(folder / LOCK)
            store = Store(folder, open_to_read(folder / FILE), None, running)
            store._require_version()
            store._db.execute("BEGIN")  # all that is read belongs to one moment
        return store

    def _require_version(self) -> None:
        with storage(self.folder):
            (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found == VERSION:
            return
        self.close()
        if not found:
            raise UsageError("the campaign in this folder never began", str(self.folder), "Start a new campaign.")
        what = f"the campaign file has version {found}; this score-embed reads version {VERSION}"
        raise StorageError(what, str(self.folder / FILE), "Use the score-embed that made it.")

    @staticmethod
    def _connect(folder: Path, new: bool) -> Store:
        path = folder / FILE
        if new and path.exists():
            hint = f"Choose another folder, or continue with --resume {folder}"
            raise UsageError("there already is a campaign in this folder", str(folder), hint)
        with storage(folder):
            lock = _take(folder)
            try:
                db = sqlite3.connect(path, isolation_level=None, timeout=10)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
            except sqlite3.Error:
                lock.close()
                raise
        return Store(folder, db, lock)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def survive_power_cuts(self) -> None:
        """From now on a commit is on the disk when it returns; else a power cut may take the last ones back."""
        self.commit()  # within a transaction it cannot be said
        with storage(self.folder):
            self._db.execute("PRAGMA synchronous = FULL")

    # What is written -----------------------------------------------------------------------------

    def due(self) -> bool:
        return self._began is not None and time.monotonic() - self._began >= BATCH_SECONDS

    def commit(self, progress: Progress | None = None) -> None:
        """End the batch; `progress` (running totals) goes into the same transaction."""
        if progress is not None:
            self.put(PROGRESS, progress)
        self._flush()
        if self._db.in_transaction:
            with storage(self.folder):
                self._db.execute("COMMIT")
        self._began = None

    def put(self, part: Part[T], value: T) -> None:
        self._add("INSERT OR REPLACE INTO meta VALUES (?, ?)", (part.key, encode(value)))

    def add_test(self, row: TestRow, new_path: bool) -> None:
        path = _signed(row.path_hash)
        inputs = encode(dict(row.inputs))
        self._add(
            "INSERT INTO tests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row.number, row.input, row.verdict, row.code, path, row.outcome, row.place, inputs, row.output),
        )
        if new_path:
            self._add("INSERT OR IGNORE INTO paths VALUES (?, ?)", (path, row.number))

    def add_pairs(self, pairs: Iterable[tuple[bytes, bytes, bytes]], owner: str | None = None) -> None:
        """Pairs now known: (id, rank in the queue, serialised). A pair known already keeps its state.

        `rank`: empty if only the fleet's clients know their order; `owner`: the client that has them, if any.
        """
        for ident, rank, data in pairs:
            if ident not in self._pairs:
                self._pairs[ident] = (ident, rank, data, 0, owner, None)
        self._begin()

    def pair_done(self, ident: bytes, path_hash: int | None = None) -> None:
        """The pair was run and took this path, if any. Its data is dropped: only its id is needed from now on."""
        _, rank, *_ = self._pairs.get(ident, (ident, b""))
        path = None if path_hash is None else _signed(path_hash)
        self._pairs[ident] = (ident, rank, None, 1, None, path)
        self._begin()

    def move(self, ident: bytes, owner: str | None) -> None:
        """This waiting pair is another client's from now on, or nobody's."""
        self._add("UPDATE pairs SET owner = ? WHERE id = ? AND done = 0", (owner, ident))

    def free(self) -> None:
        """No waiting pair belongs to anybody: the clients that had them are gone."""
        self._add("UPDATE pairs SET owner = NULL WHERE done = 0 AND owner NOT NULL", ())

    def rerank(self, ident: bytes, rank: bytes) -> None:
        """This pair has another rank in the queue from now on."""
        self._add("UPDATE pairs SET rank = ? WHERE id = ?", (rank, ident))

    def add_coverage(self, numbers: Iterable[int], test: int) -> None:
        for number in numbers:
            self._add("INSERT OR IGNORE INTO coverage VALUES (?, ?)", (number, test))

    def put_bug(self, bug: Bug) -> None:
        self._add("INSERT OR REPLACE INTO bugs VALUES (?, ?)", (bug.test, encode(bug)))

    def put_witnessed(self, test: int, outcome: str, finding: Finding | None = None) -> None:
        """What the second witness said of a test."""
        data = None if finding is None else encode(finding)
        self._add("INSERT OR REPLACE INTO witnessed VALUES (?, ?, ?)", (test, outcome, data))

    def _begin(self) -> None:
        if self._began is None:
            self._began = time.monotonic()

    def _add(self, statement: str, values: tuple[object, ...]) -> None:
        self._rows.setdefault(statement, []).append(values)
        self._begin()

    def _flush(self) -> None:
        """Give the batch so far to the database, within a transaction."""
        if not self._rows and not self._pairs:
            return
        with storage(self.folder):
            if not self._db.in_transaction:
                self._db.execute("BEGIN")
            self._db.executemany(_PUT_PAIR, self._pairs.values())
            for statement, rows in self._rows.items():
                self._db.executemany(statement, rows)
        self._pairs.clear()
        self._rows.clear()

    # What is read --------------------------------------------------------------------------------

    def get(self, part: Part[T]) -> T | None:
        """None: nobody has put it there yet. Raises StorageError if it is damaged."""
        rows = self._read("SELECT value FROM meta WHERE key = ?", (part.key,))
        return decoded(rows[0][0], part.kind, part.key, self.folder) if rows else None

    def sources(self) -> SourceMap:
        """The program under test, as it was when the campaign began."""
        found = self.get(SOURCES)
        if found is None:
            raise UsageError("the campaign in this folder never began", str(self.folder), "Start a new campaign.")
        return found

    def waiting(self) -> int:
        """The number of pairs known but not done."""
        ((count,),) = self._read("SELECT count(*) FROM pairs WHERE done = 0")
        return int(count)

    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Rank and serialised pair of those known but not done that are ranked above `rank`, in order of rank."""
        self._flush()
        with storage(self.folder):
            self._db.execute("CREATE INDEX IF NOT EXISTS waiting ON pairs(rank) WHERE done = 0")
        with storage(self.folder):
            statement = "SELECT rank, data FROM pairs WHERE done = 0 AND rank > ? ORDER BY rank"
            yield from self._db.execute(statement, (rank,))

    def waiting_pairs(self) -> Iterator[bytes]:
        """The serialised pairs known but not done, in no order."""
        with storage(self.folder):
            for (data,) in self._db.execute("SELECT data FROM pairs WHERE done = 0"):
                yield data

    def unranked(self) -> Iterator[tuple[bytes, bytes]]:
        """Id and serialised pair of those known but not done that have no rank, in the order they became known."""
        self._flush()
        with storage(self.folder):
            yield from self._db.execute("SELECT id, data FROM pairs WHERE done = 0 AND rank = x'' ORDER BY number")

    def owners(self) -> Iterator[tuple[bytes, str | None]]:
        """Id and owner of the pairs known but not done, the newest first."""
        self._flush()
        with storage(self.folder):
            yield from self._db.execute("SELECT id, owner FROM pairs WHERE done = 0 ORDER BY number DESC")

    def pairs(self, idents: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of these pairs that are known but not done, serialised, by id."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(idents), _MOST_IDS):
            part = tuple(idents[start : start + _MOST_IDS])
            marks = ",".join("?" * len(part))
            found.update(self._read(f"SELECT id, data FROM pairs WHERE done = 0 AND id IN ({marks})", part))
        return found

    def path_of(self, ident: bytes) -> int | None:
        """The path that a pair took when it was run; None if it was not, or had no path."""
        rows = self._read("SELECT path FROM pairs WHERE id = ? AND path NOT NULL", (ident,))
        return rows[0][0] & (2**64 - 1) if rows else None

    def path_hashes(self) -> set[int]:
        return {hash_ & (2**64 - 1) for (hash_,) in self._read("SELECT hash FROM paths")}

    def coverage(self) -> list[int]:
        return [number for (number,) in self._read("SELECT number FROM coverage")]

    def bugs(self) -> list[Bug]:
        return [decoded(text, Bug, "bugs", self.folder) for (text,) in self._read("SELECT data FROM bugs ORDER BY test")]

    def tests(self) -> list[TestRow]:
        """All executed tests in order."""
        return [self._row(values) for values in self._read("SELECT * FROM tests ORDER BY number")]

    def test(self, number: int) -> TestRow | None:
        rows = self._read("SELECT * FROM tests WHERE number = ?", (number,))
        return self._row(rows[0]) if rows else None

    def kept_tests(self) -> list[TestRow]:
        """The tests worth keeping: the first, those that brought coverage, and one for each bug."""
        chosen = f"{_KEPT} UNION SELECT test FROM witnessed WHERE outcome = '{FOUND}'"
        return [self._row(v) for v in self._read(f"SELECT * FROM tests WHERE number IN ({chosen}) ORDER BY number")]

    def lost(self) -> list[int]:
        """The numbers of the tests that were lost."""
        return [number for (number,) in self._read("SELECT number FROM tests WHERE verdict = 'lost' ORDER BY number")]

    def path_tests(self) -> Iterator[TestRow]:
        """The tests that took a new path, in order."""
        statement = "SELECT * FROM tests WHERE number IN (SELECT test FROM paths) ORDER BY number"
        with storage(self.folder):
            yield from map(self._row, self._db.execute(statement))

    def first_paths(self, limit: int) -> list[TestRow]:
        """The first tests that took a new path."""
        statement = "SELECT * FROM tests WHERE number IN (SELECT test FROM paths ORDER BY test LIMIT ?)"
        return [self._row(values) for values in self._read(statement, (limit,))]

    def unwitnessed_kept(self, limit: int) -> list[TestRow]:
        """Tests worth keeping that the second witness has not run, those that may not end last."""
        statement = (
            f"SELECT * FROM tests WHERE number IN ({_KEPT}) AND {_UNWITNESSED} "
            "ORDER BY verdict IN ('hang', 'watchdog', 'lost'), number LIMIT ?"
        )
        return [self._row(values) for values in self._read(statement, (limit,))]

    def unwitnessed_paths(self, after: int, limit: int) -> list[TestRow]:
        """Tests that took a new path and that the second witness has not run, from a number on."""
        statement = (
            f"SELECT * FROM tests WHERE number > ? AND {_NEW_PATH} AND {_UNWITNESSED} "
            "AND verdict NOT IN ('hang', 'watchdog', 'lost') ORDER BY number LIMIT ?"
        )
        return [self._row(values) for values in self._read(statement, (after, limit))]

    def found_by_witness(self) -> list[Found]:
        """The second witness's findings, in the order of their tests."""
        statement = "SELECT data, number, inputs, verdict, place FROM witnessed JOIN tests ON number = test WHERE data NOT NULL ORDER BY number"
        return [
            Found(decoded(data, Finding, "findings", self.folder), number, self._inputs(inputs), verdict, place)
            for data, number, inputs, verdict, place in self._read(statement)
        ]

    def witness_counts(self) -> Counts:
        """How many tests the second witness has run, and has not."""
        outcomes = dict(self._read("SELECT outcome, count(*) FROM witnessed GROUP BY outcome"))
        kept = f"number IN ({_KEPT})"
        ((kept_left,),) = self._read(f"SELECT count(*) FROM tests WHERE {kept} AND {_UNWITNESSED}")
        others = f"SELECT count(*) FROM tests WHERE {_NEW_PATH} AND NOT {kept} AND {_UNWITNESSED}"
        ((paths_left,),) = self._read(others)
        return Counts(sum(outcomes.values()), outcomes.get(LOST, 0), kept_left, paths_left)

    def close(self) -> None:
        """Drop an unfinished batch (it may hold half a test) and release the folder. Safe to call twice."""
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    def _inputs(self, text: str) -> dict[str, Value]:
        return decoded(text, dict[str, Value], "tests", self.folder)

    def _row(self, values: tuple[Any, ...]) -> TestRow:
        number, data, verdict, code, path, outcome, place, inputs, output = values
        return TestRow(number, data, verdict, code, path & (2**64 - 1), outcome, place, self._inputs(inputs), output)

    def _read(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        self._flush()
        with storage(self.folder):
            return self._db.execute(statement, values).fetchall()


def _signed(number: int) -> int:
    """SQLite's integers are signed 64-bit ones."""
    return number - 2**64 if number >= 2**63 else number


def _require_campaign(folder: Path) -> None:
    with reading(folder):
        if (folder / FILE).is_file():
            return
        what = "there is no campaign in this folder" if folder.is_dir() else "there is no such folder"
        if folder.is_file():
            what = "this is a file, not a folder with a campaign"
    raise UsageError(what, str(folder), "Give a folder that `score-embed run` made, such as score-out/latest.")


def _take(folder: Path) -> IO[bytes]:
    """The lock of a campaign. Readers try it for a moment, to see whether somebody has it: so ask more than once."""
    lock: IO[bytes] = (folder / LOCK).open("ab")
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            time.sleep(LOCK_PAUSE)
    lock.close()
    hint = "Wait for it to end, or stop it with Ctrl-C."
    raise StorageError("another score-embed uses this campaign", str(folder), hint)


def _in_use(lock: Path) -> bool:
    """Does a process work on the campaign? A killed one lost its lock."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False
