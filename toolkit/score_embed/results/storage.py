"""What the disk and SQLite complain about, in words: what is wrong with the folder of a campaign, and what to do."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from score_embed.errors import StorageError

FILE = "campaign.db"
_DAMAGES = ("malformed", "not a database", "unsupported file format")


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
