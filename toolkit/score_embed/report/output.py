"""Writing what was made: a reader never sees half of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from score_embed.errors import StorageError


def write(path: Path, text: str) -> None:
    """Make or replace a file. Devices and pipes are written as they are. File names need not be UTF-8."""
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def write_bytes(path: Path, data: bytes) -> None:
    write_pieces(path, (data,))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """The same, piece by piece: all together may be too much to hold."""
    try:
        if path.exists() and not path.is_file():
            _write(path, pieces)
            return
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            _write(fresh, pieces)
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        hint = "Make its folder first." if isinstance(error, FileNotFoundError) else "Choose another place."
        raise StorageError(f"cannot write this file: {error.strerror}", str(path), hint) from error


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(pieces)


def folder_of(path: Path) -> Path:
    """A folder to write to, made if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot make this folder: {error.strerror}"
        raise StorageError(what, str(path), "Choose another place.") from error
    return path
