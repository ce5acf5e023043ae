"""The file `campaign.db` from outside: what the disk and SQLite complain about in words, and a connection that only
reads.

A reader may stand beside a process that writes the file, come after one that was killed, or have it on a read-only
disk.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import tempfile
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from score_embed.errors import StorageError, UsageError

FILE = "campaign.db"
# What score-embed writes into a campaign's folder begins so.
_OURS = ("campaign.", "summary.json", "report.", "image.", "witness.", "stubs.c", "tests", "bugs", "server")
_DAMAGES = ("malformed", "not a database", "unsupported file format")
_SIDE = "-wal"  # what was committed, but is not in the main file yet


@contextmanager
def storage(folder: Path) -> Iterator[None]:
    """Turn what the disk and SQLite complain about into a StorageError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise storage_error(error, folder) from error
    except OSError as error:
        raise storage_error(error, folder) from error


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """As `_storage`, where nothing is meant to be written."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            raise storage_error(error, folder) from error
        text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise StorageError(f"cannot read the campaign: {text}", str(folder), "Check who may read it.") from error


def storage_error(error: Exception, folder: Path) -> StorageError:
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    lowered = text.lower()
    if "full" in lowered or "no space" in lowered or "quota" in lowered:
        hint = f"Everything up to the last second is kept: free some space, then run with --resume {folder}"
        return StorageError("the disk is full", str(folder), hint)
    if "readonly" in lowered or "read-only" in lowered or "permi" in lowered or "unable to open" in lowered:
        return StorageError(f"cannot write here: {text}", str(folder), "Check who may write there, or use --out DIR.")
    if any(word in lowered for word in _DAMAGES):
        return damaged(folder, text)
    if "no such table" in lowered:
        return StorageError("this file is not the record of a campaign", str(folder / FILE), "Start a new campaign.")
    return StorageError(f"cannot read or write the results: {text}", str(folder), "Check the disk.")


def damaged(folder: Path, what: str) -> StorageError:
    """The record is not as it was written: nothing that it says is believed."""
    place = shlex.quote(str(folder))
    hint = (
        f"Put the whole folder back from a copy, if there is one. Else save the inputs that can still be read with\n"
        f"`score-embed export {place} --corpus FOLDER --damaged`, and start a new campaign with --first FOLDER."
    )
    return StorageError(f"the campaign file is damaged: {what}", str(folder / FILE), hint)


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


def require_files(folder: Path) -> None:
    """What score-embed writes there is a file or a folder: through a link that somebody made it would write elsewhere,
    and a pipe would never end. Raises UsageError, OSError."""
    with os.scandir(folder) as entries:
        for entry in entries:
            is_plain = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
            if entry.name.startswith(_OURS) and not is_plain:
                hint = "A campaign has none: do not use this folder unless you know where it comes from."
                raise UsageError("this is a link or a device", str(folder / entry.name), hint)
