"""The file `campaign.db` as one process has it: opened, locked, of the right version, written in batches.

What one test brought (its row, its children as known pairs, its own pair as done, its path, coverage, bugs) and
the running totals are committed in one transaction, about once a second. So after SIGKILL or a full disk the
record is that of an earlier moment, never a torn one: the pairs known but not done are what is left to do.
"""

from __future__ import annotations

import fcntl
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from score_embed.errors import StorageError, UsageError
from score_embed.results.snapshot import open_to_read
from score_embed.results.storage import FILE, reading, storage

LOCK = "campaign.lock"
BATCH_SECONDS = 1.0
LOCK_TRIES = 5
LOCK_PAUSE = 0.02  # seconds

Writer = Callable[[sqlite3.Connection], None]


class Database:
    """An open campaign folder's database, and what is to be written with the next commit."""

    def __init__(self, folder: Path, db: sqlite3.Connection, lock: IO[bytes] | None, running: bool = False) -> None:
        self.folder = folder
        self.running = running  # another process goes on with this campaign
        self._db, self._lock = db, lock
        self._began: float | None = None  # the batch
        self._unwritten = False
        self._writers: list[Writer] = []
        self._rows: dict[str, list[tuple[object, ...]]] = {}  # by statement

    @staticmethod
    def create(folder: Path, schema: str, version: int) -> Database:
        made = Database._connect(folder, new=True)
        with storage(folder):
            made._db.executescript(schema)
            made._db.execute(f"PRAGMA user_version = {version}")
        return made

    @staticmethod
    def open(folder: Path, version: int) -> Database:
        """To go on with a campaign: for one process at a time."""
        _require_campaign(folder)
        opened = Database._connect(folder, new=False)
        opened._require(version)
        return opened

    @staticmethod
    def read(folder: Path, version: int) -> Database:
        """As of its last commit, for reading only, whoever else uses it and though the disk be read-only."""
        _require_campaign(folder)
        with reading(folder):
            running = _in_use(folder / LOCK)
            opened = Database(folder, open_to_read(folder / FILE), None, running)
            opened._require(version)
            opened._db.execute("BEGIN")  # all that is read belongs to one moment
        return opened

    def _require(self, version: int) -> None:
        with storage(self.folder):
            (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found == version:
            return
        self.close()
        if not found:
            raise UsageError("the campaign in this folder never began", str(self.folder), "Start a new campaign.")
        what = f"the campaign file has version {found}; this score-embed reads version {version}"
        raise StorageError(what, str(self.folder / FILE), "Use the score-embed that made it.")

    @staticmethod
    def _connect(folder: Path, new: bool) -> Database:
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
        return Database(folder, db, lock)

    def survive_power_cuts(self) -> None:
        """From now on a commit is on the disk when it returns; else a power cut may take the last ones back."""
        self.commit()  # within a transaction it cannot be said
        with storage(self.folder):
            self._db.execute("PRAGMA synchronous = FULL")

    # What is written -----------------------------------------------------------------------------

    def register(self, writer: Writer) -> None:
        """`writer` has a batch of its own; it is called within a transaction, before the other rows are written."""
        self._writers.append(writer)

    def add(self, statement: str, values: tuple[object, ...]) -> None:
        self._rows.setdefault(statement, []).append(values)
        self.begin()

    def begin(self) -> None:
        """Something is to be written."""
        self._unwritten = True
        if self._began is None:
            self._began = time.monotonic()

    def due(self) -> bool:
        return self._began is not None and time.monotonic() - self._began >= BATCH_SECONDS

    def flush(self) -> None:
        """Give the batch so far to the database, within a transaction."""
        if not self._unwritten:
            return
        with storage(self.folder):
            if not self._db.in_transaction:
                self._db.execute("BEGIN")
            for writer in self._writers:
                writer(self._db)
            for statement, rows in self._rows.items():
                self._db.executemany(statement, rows)
        self._rows.clear()
        self._unwritten = False

    def commit(self) -> None:
        """End the batch."""
        self.flush()
        if self._db.in_transaction:
            with storage(self.folder):
                self._db.execute("COMMIT")
        self._began = None

    def close(self) -> None:
        """Drop an unfinished batch (it may hold half a test) and release the folder. Safe to call twice."""
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    # What is read --------------------------------------------------------------------------------

    def rows(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        """All rows, those of the batch so far, too."""
        self.flush()
        with storage(self.folder):
            return self._db.execute(statement, values).fetchall()

    def each(self, statement: str, values: tuple[object, ...] = ()) -> Iterator[Any]:
        """The same, row by row: there may be millions."""
        self.flush()
        with storage(self.folder):
            yield from self._db.execute(statement, values)


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
