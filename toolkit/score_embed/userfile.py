"""Files that the user names: are their names such that they can be opened and written down, and is what they hold
bounded?

A name can be anything that a shell can type, and behind it can lie a device without an end, a pipe that nobody writes
to, or gigabytes. So names are checked where they come in, and files are read here: whole, and only as far as they can
make sense. What is kept of a campaign is UTF-8, so names are.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from score_embed.errors import UsageError

MOST_TEXT = 64 << 10  # bytes of a word
_MOST_NAME, _MOST_PART = 4095, 255  # bytes of a file's name, and of its part between slashes: Linux has no longer ones
_SHOWN = 60  # characters of a name that is too long


def text(word: str) -> str:
    """The word itself. Raises ValueError if it cannot be written down, or handed to another program."""
    try:
        size = len(word.encode())
    except UnicodeEncodeError:
        raise ValueError("It is not UTF-8 text.") from None
    if "\0" in word:
        raise ValueError("There is a NUL character in it.")
    if size > MOST_TEXT:
        raise ValueError(f"It has {size:,} bytes; {MOST_TEXT:,} are the most.")
    return word


def name(word: str) -> Path:
    """As a file's name. Raises ValueError if no file can have it."""
    data = text(word).encode()
    if len(data) > _MOST_NAME or any(len(part) > _MOST_PART for part in data.split(b"/")):
        raise ValueError(f"A file's name has at most {_MOST_NAME:,} bytes, and {_MOST_PART} between slashes.")
    return Path(word)


def shown(word: str) -> str:
    """As messages quote it."""
    return repr(word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…")


def read(path: Path, what: str, most: int, hint: str) -> bytes:
    """All of a file; `what` it is, and `most` bytes that it can have. Raises UsageError."""
    try:
        data = _read(path, most)
    except OSError as error:
        raise UsageError(f"cannot read {what}: {error.strerror}", str(path), hint) from error
    if data is None:
        raise UsageError(f"cannot read {what}: it is a device or a pipe", str(path), hint)
    if len(data) > most:
        raise UsageError(f"{what} is too long: {most:,} bytes are the most", str(path), hint)
    return data


def _read(path: Path, most: int) -> bytes | None:
    """Up to a byte more than `most`; None if it is no file. To open a pipe would wait for who writes to it."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)) as file:
        return file.read(most + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
