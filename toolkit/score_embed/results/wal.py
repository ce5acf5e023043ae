"""SQLite's write-ahead log, read as SQLite reads it (the file `campaign.db-wal`; its form is documented and stable).

The log has a header and then frames: a page each, and in the last frame of a commit the file's size after it. A frame
counts if it has the header's salts and the checksum over everything before it is right; the first that has not ends the
log, and what follows the last commit counts neither. So a damaged log is a shorter one: an earlier moment.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from msgspec import Struct, field

SUFFIX = "-wal"
_HEAD = struct.Struct(">8I")  # magic, version, page size, number of the checkpoint, salts, checksum
_FRAME = struct.Struct(">6I")  # page, pages of the database if it ends a commit, salts, checksum
_MAGIC = 0x377F0682  # the lowest bit: checksums are over big-endian words
_VERSION = 3007000
_WORD = 0xFFFFFFFF
_PIECE = 64  # frames that are read at once

Sums = tuple[int, int]  # SQLite's checksum, or the salts


class Frame(NamedTuple):
    head: bytes
    data: bytes
    page: int
    size: int  # pages of the database, if it ends a commit
    sums: Sums


class Log(Struct, frozen=True):
    """What commits in a log have changed: pages and the CRC-32 of each. `frames`: that they took; `size`: pages of the
    database after the last one."""

    salts: Sums = (0, 0)
    frames: int = 0
    changed: dict[int, int] = field(default_factory=dict)
    size: int = 0


def page_sum(data: bytes | memoryview) -> int:
    """Never 0, which stands for a page that nobody knows."""
    return zlib.crc32(data) or 1


def read(path: Path, page_size: int) -> Log:
    """What SQLite would find in a log that nobody writes to. Raises OSError."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return Log()
    with file:
        head = file.read(_HEAD.size)
        salts = _salts(head)
        if salts is None:
            return Log()
        magic, version, size, *_, one, other = _HEAD.unpack(head)
        order = ">" if magic & 1 else "<"
        sums = _checksum(head[:-8], order, (0, 0))
        if magic & ~1 != _MAGIC or version != _VERSION or size != page_size or sums != (one, other):
            return Log()
        return _log(_right(_frames(file, page_size, salts), order, sums), salts)


def read_on(file: IO[bytes], page_size: int, before: Log) -> Log:
    """What this process has had SQLite write there since `before`; all of it if SQLite began from the start again."""
    salts = _salts(file.read(_HEAD.size))
    if salts is None:
        return before
    seen = before.frames if salts == before.salts else 0
    file.seek(_HEAD.size + seen * (_FRAME.size + page_size))
    return _log(_frames(file, page_size, salts), salts, seen)


def _salts(head: bytes) -> Sums | None:
    """None: nothing was written yet."""
    if len(head) < _HEAD.size:
        return None
    _, _, _, _, one, other, _, _ = _HEAD.unpack(head)
    return one, other


def _frames(file: IO[bytes], page_size: int, salts: Sums) -> Iterator[Frame]:
    """Those from here on that have these salts."""
    length = _FRAME.size + page_size
    while piece := file.read(_PIECE * length):
        for at in range(0, len(piece) - length + 1, length):
            head = piece[at : at + _FRAME.size]
            page, size, one, other, *sums = _FRAME.unpack(head)
            if (one, other) != salts or not page:
                return
            yield Frame(head, piece[at + _FRAME.size : at + length], page, size, (sums[0], sums[1]))


def _right(frames: Iterable[Frame], order: str, sums: Sums) -> Iterator[Frame]:
    """Those before the first with a wrong checksum."""
    for frame in frames:
        sums = _checksum(frame.data, order, _checksum(frame.head[:8], order, sums))
        if sums != frame.sums:
            return
        yield frame


def _log(frames: Iterable[Frame], salts: Sums, seen: int = 0) -> Log:
    """Up to the end of the last commit."""
    changed: dict[int, int] = {}
    commit: dict[int, int] = {}
    committed, size = seen, 0
    for number, frame in enumerate(frames, seen + 1):
        commit[frame.page] = page_sum(frame.data)
        if frame.size:
            changed.update(commit)
            commit.clear()
            committed, size = number, frame.size
    return Log(salts, committed, changed, size)


def _checksum(data: bytes, order: str, before: Sums) -> Sums:
    one, other = before
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + other) & _WORD
        other = (other + second + one) & _WORD
    return one, other
