"""A connection that only reads `campaign.db`: beside a process that writes it, after one was killed, on a read-only disk."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import urllib.parse
from pathlib import Path

_SIDE = "-wal"  # what was committed, but is not in the main file yet


def open_to_read(path: Path) -> sqlite3.Connection:
    """Raises sqlite3.Error or OSError if the file cannot be read."""
    try:
        return _connect(path, "mode=ro")
    except sqlite3.OperationalError:
        # A database with a log needs shared memory beside it, which cannot be made where nothing may be written.
        side = path.with_name(path.name + _SIDE)
        if not side.exists() or not side.stat().st_size:
            return _connect(path, "immutable=1")
        return _copied(path, side)


def _connect(path: Path, how: str) -> sqlite3.Connection:
    name = urllib.parse.quote(str(path.absolute()))
    db = sqlite3.connect(f"file:{name}?{how}", uri=True, isolation_level=None, timeout=10)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db


def _copied(path: Path, side: Path) -> sqlite3.Connection:
    """The database and its log put together in memory."""
    with tempfile.TemporaryDirectory(prefix="score-embed-") as folder:
        for file in (path, side):
            shutil.copyfile(file, Path(folder) / file.name)
        copy = sqlite3.connect(Path(folder) / path.name)
        whole = sqlite3.connect(":memory:", isolation_level=None)
        try:
            copy.backup(whole)
        except sqlite3.Error:
            whole.close()
            raise
        finally:
            copy.close()
    return whole
