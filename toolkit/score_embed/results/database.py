"""The file `campaign.db` as one process has it: opened, locked, of the right version, written in batches.

What one test brought (its row, its children as known pairs, its own pair as done, its path, coverage, bugs) and
the running totals are committed in one transaction, about once a second. So after SIGKILL or a full disk the
record is that of an earlier moment, never a torn one: the pairs known but not done are what is left to do.

Before it is opened, the file is compared with its checksums (`results/checksums.py`), and with each commit these are
brought up to date. So it is this process, not SQLite, that says when the log goes to the database.
"""

from __future__ import annotations

import errno
import fcntl
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from score_embed.errors import StorageError, UsageError
from score_embed.results import checksums, wal
from score_embed.results.checksums import Checked, Checksums, DamagedError, Known, NoChecksumsError
from score_embed.results.storage import FILE, damaged, open_to_read, reading, require_files, storage

LOCK = "campaign.lock"
BATCH_SECONDS = 1.0
LOCK_TRIES = 5
LOCK_PAUSE = 0.02  # seconds
# An index that changes nothing; of those that keep rows away only ours.
_INDEX = re.compile(r"CREATE UNIQUE INDEX known ON pairs\(id\)|CREATE INDEX \w+ ON \w+\([\w, ]+\)( WHERE \w+ = \d+)?")
_AT_ONCE = 256  # rows that are read together
_HEAD_BYTES, _MAGIC = 100, b"SQLite format 3\0"

Writer = Callable[[sqlite3.Connection], None]


class Database:
    """An open campaign folder's database, and what is to be written with the next commit."""

    def __init__(
        self,
        folder: Path,
        db: sqlite3.Connection,
        lock: IO[bytes] | None = None,
        sums: Checksums | None = None,
        is_shorter: bool = False,
    ) -> None:
        self.folder = folder
        self.running = False  # another process goes on with this campaign
        self.is_shorter = is_shorter  # the end of its log is damaged or gone: it is as of an earlier commit
        self._db, self._lock, self._sums = db, lock, sums
        self._began: float | None = None  # the batch
        self._unwritten = False
        self._writers: list[Writer] = []
        self._rows: dict[str, list[tuple[object, ...]]] = {}  # by statement

    @staticmethod
    def create(folder: Path, schema: str, version: int) -> Database:
        path = folder / FILE
        if path.exists():
            hint = f"Choose another folder, or continue with --resume {folder}"
            raise UsageError("there already is a campaign in this folder", str(folder), hint)
        with storage(folder):
            require_files(folder)
            lock = _take(folder)
            try:
                sums = Checksums(path, Known())
                made = Database(folder, _connect(path), lock, sums)
            except BaseException:
                lock.close()
                raise
            made._db.executescript(schema)
            made._db.execute(f"PRAGMA user_version = {version}")
            made._seal()
        return made

    @staticmethod
    def open(folder: Path, schema: str, version: int) -> Database:
        """To go on with a campaign: for one process at a time. Raises StorageError if it is damaged."""
        _require_campaign(folder)
        path = folder / FILE
        with storage(folder):
            lock = _take(folder)
            try:
                checked = _checked(path, version)
                opened = Database(folder, _connect(path), lock, is_shorter=checked.is_shorter)
            except BaseException:
                lock.close()
                raise
        opened._require(schema, version)
        try:
            with storage(folder):
                opened._begin(Checksums(path, checked.known))
                (verdict,) = opened._db.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise damaged(folder, verdict)
        except StorageError:
            opened.close()
            raise
        return opened

    @staticmethod
    def read(folder: Path, schema: str, version: int) -> Database:
        """As of its last commit, for reading only, whoever else uses it and though the disk be read-only.

        Raises StorageError if it is damaged. While another process writes to it that is not known.
        """
        _require_campaign(folder)
        path = folder / FILE
        with reading(folder):
            running = _in_use(folder / LOCK)
            checked = None
            if not running:
                try:
                    checked = _checked(path, version)
                except StorageError:
                    running = _in_use(folder / LOCK)  # somebody has begun to write meanwhile
                    if not running:
                        raise
            opened = Database(folder, open_to_read(path), is_shorter=checked is not None and checked.is_shorter)
            opened.running = running
            opened._require(schema, version)
            opened._db.execute("BEGIN")  # all that is read belongs to one moment
        return opened

    def _require(self, schema: str, version: int) -> None:
        """The record of a campaign, of this version. Its tables are ours: somebody else's may have triggers."""
        try:
            with storage(self.folder):
                (found,) = self._db.execute("PRAGMA user_version").fetchone()
                is_ours = found == version and _has_schema(self._db, schema)
        except StorageError:
            self.close()
            raise
        if is_ours:
            return
        self.close()
        if found == version:
            what = "this file is not the record of a campaign"
            raise StorageError(what, str(self.folder / FILE), "Start a new campaign.")
        if not found:
            raise _never_began(self.folder)
        what = f"the campaign file has version {found}; this score-embed reads version {version}"
        raise StorageError(what, str(self.folder / FILE), "Use the score-embed that made it.")

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
        return time.monotonic() >= self.due_at

    @property
    def due_at(self) -> float:
        """When the batch is to be committed, as time.monotonic says."""
        return float("inf") if self._began is None else self._began + BATCH_SECONDS

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
                self._seal()
        self._began = None

    def close(self) -> None:
        """Drop an unfinished batch (it may hold half a test) and release the folder. Safe to call twice."""
        sums, self._sums = self._sums, None
        kept = None if sums is None or self._put_away(sums) else _bystander(self.folder / FILE)
        self._db.close()
        if kept is not None:
            kept.close()
        if self._lock is not None:
            self._lock.close()

    # Checksums -----------------------------------------------------------------------------------

    def _begin(self, sums: Checksums) -> None:
        """Nothing is left of the log: what is behind its last commit must not be taken for what we write there."""
        busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            sums.checkpointed()
        elif self.is_shorter:
            hint = "Wait until it has ended: the log is damaged and has to make way."
            raise StorageError("somebody reads this campaign", str(self.folder), hint)
        self._sums = sums

    def _seal(self) -> None:
        """A commit was made."""
        if self._sums is not None:
            self._sums.committed()
            if self._sums.is_due:
                self._checkpoint()

    def _checkpoint(self) -> None:
        """Put the log into the database, as far as nobody reads what it would write over."""
        if self._sums is not None:
            _, log, done = self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if log == done:
                self._sums.checkpointed()

    def _put_away(self, sums: Checksums) -> bool:
        """Leave a database without a log. False: it must keep its log, as its checksums could not be written."""
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            sums.committed()
            self._sums = sums
            self._checkpoint()
        except (sqlite3.Error, OSError):
            return False
        finally:
            self._sums = None
        return True

    # What is read --------------------------------------------------------------------------------

    def rows(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        """All rows, those of the batch so far, too."""
        self.flush()
        with storage(self.folder):
            return self._db.execute(statement, values).fetchall()

    def each(self, statement: str, values: tuple[object, ...] = ()) -> Iterator[Any]:
        """The same, row by row: there may be millions. Who stops on the way may do so after the record was closed."""
        self.flush()
        with storage(self.folder):
            cursor = self._db.execute(statement, values)
        while True:
            with storage(self.folder):
                found = cursor.fetchmany(_AT_ONCE)
            if not found:
                return
            yield from found


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=10)
    try:
        db.execute(f"PRAGMA page_size = {checksums.PAGE}")
        (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise OSError(errno.ENOTSUP, "this file system cannot keep the log of a database")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def _bystander(path: Path) -> sqlite3.Connection | None:
    """A connection that may not write. As long as there is one, closing the others leaves the log as it is."""
    try:
        return open_to_read(path)
    except (sqlite3.Error, OSError):
        return None


def _has_schema(db: sqlite3.Connection, schema: str) -> bool:
    """All that it has of tables, and at most plain indices more."""
    objects = "SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL"
    with closing(sqlite3.connect(":memory:")) as ours:
        ours.executescript(schema)
        wanted = set(ours.execute(objects))
    found = set(db.execute(objects))
    return wanted <= found and all(_INDEX.fullmatch(str(sql)) for _, _, sql in found - wanted)


def _checked(path: Path, version: int) -> Checked:
    """Raises StorageError if it is damaged. A record of another version, which is refused, may have no checksums."""
    try:
        return checksums.check(path)
    except DamagedError as error:
        log = path.with_name(path.name + wal.SUFFIX)
        has_log = log.exists() and log.stat().st_size
        if isinstance(error, NoChecksumsError) and not has_log and _version(path) not in (None, version):
            return Checked(Known(), False)
        raise damaged(path.parent, str(error)) from None


def _version(path: Path) -> int | None:
    """As its head says, if it has one; 0: it is empty."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        return 0
    return int.from_bytes(head[60:64], "big") if len(head) == _HEAD_BYTES and head.startswith(_MAGIC) else None


def _require_campaign(folder: Path) -> None:
    with reading(folder):
        if (folder / FILE).is_file():
            require_files(folder)
            _require_no_journal(folder)
            return
        what = "there is no campaign in this folder" if folder.is_dir() else "there is no such folder"
        if folder.is_file():
            what = "this is a file, not a folder with a campaign"
    raise UsageError(what, str(folder), "Give a folder that `score-embed run` made, such as score-out/latest.")


def _require_no_journal(folder: Path) -> None:
    """A record has a log, and only while its tables are made a rollback journal. SQLite would obey whatever lies there:
    put other pages into the record, and delete the file that the journal names as belonging to it."""
    journal = folder / f"{FILE}-journal"
    if not journal.exists():
        return
    if not _version(folder / FILE):
        raise _never_began(folder)
    hint = "A campaign has none: do not use this folder unless you know where it comes from."
    raise UsageError("this is a journal that SQLite would obey", str(journal), hint)


def _never_began(folder: Path) -> UsageError:
    return UsageError("the campaign in this folder never began", str(folder), "Start a new campaign.")


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
