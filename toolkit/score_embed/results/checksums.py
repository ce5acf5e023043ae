"""`campaign.sums`: the checksum of every page of `campaign.db`, so that a damaged record is known before it is used.

SQLite can keep checksums of pages itself, but not as Python brings it. It knows of a damage only where it cannot make
sense of what it reads; a flipped bit in a row is another row. So whoever writes the record also reads back what SQLite
put into its log with each commit, and keeps a CRC-32 of each page. Nothing here knows what the pages hold.

The file has the sums of all pages as of the last *checkpoint*, when the log's pages went to the database, and behind
them what each commit since then has changed. A checkpoint of ours replaces the file as a whole and makes it durable
before SQLite may write over its log. So at each moment, also after SIGKILL or a power cut, the pages of the database
that are not in the log are as of the last checkpoint. Only if another program has put the log into the database (any
that opens and closes it does), all of them are as of the last commit.
"""

from __future__ import annotations

import os
import struct
import zlib
from array import array
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from score_embed.results import wal
from score_embed.results.wal import Log, Sums, page_sum

FILE = "campaign.sums"
PAGE = 4096  # bytes of a page of the database
_HEAD = struct.Struct(
    "<4s5I"
)  # kind, salts, frames of the log, pages of the database, entries: these and a CRC-32 follow
_END = struct.Struct("<I")
_BASE, _COMMIT = b"SEC1", b"SEC+"
_LOG_FRAMES, _MOST_LOG_FRAMES = 1000, 4000  # so many are enough for a checkpoint; more where the database is large
_PIECE = 256  # pages that are read at once
_LARGE, _FULL, _BLOCK = 1 << 30, 64, 512  # bytes; a file system may store a record so much smaller; bytes of st_blocks
_UNKNOWN = 0  # of a page that was never written: the database has it, but does not use it


class DamagedError(Exception):
    """The record is not as it was written. The text says what of it."""


class NoChecksumsError(DamagedError):
    """There is nothing to compare it with."""


class Known(Struct):
    """`base`: the sums as of the last checkpoint; `changed`: what commits since then have made of them; `size`: pages
    of the database after the last commit; `salts`, `frames`: the log that it went to, and how long that was then."""

    base: array[int] = field(default_factory=lambda: array("I"))
    changed: dict[int, int] = field(default_factory=dict)
    size: int = 0
    salts: Sums = (0, 0)
    frames: int = 0

    def take(self, log: Log) -> None:
        if log.size:
            self.changed.update(log.changed)
            self.size = log.size
        self.salts, self.frames = log.salts, log.frames

    def merged(self) -> array[int]:
        """All sums as of the last commit."""
        found = self.base[: self.size]
        found.extend([_UNKNOWN] * (self.size - len(found)))
        for page, its_sum in self.changed.items():
            if page <= self.size:
                found[page - 1] = its_sum
        return found


class Checksums:
    """Kept by the one process that writes the record. Every method may raise OSError."""

    def __init__(self, database: Path, known: Known) -> None:
        self._log = database.with_name(database.name + wal.SUFFIX)
        self._file = database.with_name(FILE)
        self._known = known
        self._write()

    def committed(self) -> None:
        """A transaction has ended: take up what it wrote."""
        known = self._known
        try:
            with self._log.open("rb", buffering=0) as file:
                log = wal.read_on(file, PAGE, Log(known.salts, known.frames))
        except FileNotFoundError:
            return
        known.take(log)
        if log.changed:
            with self._file.open("ab") as file:
                file.write(_commit(log))

    @property
    def is_due(self) -> bool:
        """The log is long enough for a checkpoint."""
        return self._known.frames >= max(_LOG_FRAMES, min(_MOST_LOG_FRAMES, self._known.size // 32))

    def checkpointed(self) -> None:
        """All of the log is in the database now, and on the disk."""
        known = self._known
        if known.changed:
            known.base = known.merged()
            known.changed.clear()
            self._write()

    def _write(self) -> None:
        """All of it, durably: a reader and a power cut find the old file or this one."""
        known, fresh = self._known, self._file.with_name(FILE + ".new")
        with fresh.open("wb") as file:
            file.write(_record(_BASE, (0, 0), 0, len(known.base), known.base))
            if known.changed:
                file.write(_commit(Log(known.salts, known.frames, known.changed, known.size)))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._file)
        folder = os.open(self._file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class Checked(Struct, frozen=True):
    """A record that is as it was written. `is_shorter`: without the end of its log, which is damaged or gone."""

    known: Known
    is_shorter: bool


def check(database: Path) -> Checked:
    """Compare the database, to which nobody writes, with its checksums. Raises DamagedError, OSError.

    SQLite is not asked: where it finds a log, it changes the database when it opens it.
    """
    for file in (database, database.with_name(FILE)):
        _require_no_holes(file)
    known = _read(database.with_name(FILE))
    log = wal.read(database.with_name(database.name + wal.SUFFIX), PAGE)
    if not (known.base or known.changed or log.frames):
        return Checked(Known(), False)  # nothing was ever written
    found = _sums(database, max(known.size, len(known.base), log.size))
    wrong = _wrong(found, known.base, log)
    if wrong and known.changed and not log.frames and not _wrong(found, known.merged(), log):
        return Checked(Known(known.merged(), size=known.size), False)  # another program has put the log into it
    if wrong:
        raise DamagedError(wrong)
    is_shorter = bool(known.changed) and (log.salts != known.salts or log.frames < known.frames)
    now = Known(known.base, size=len(known.base))
    now.take(log)
    return Checked(now, is_shorter)


def _require_no_holes(file: Path) -> None:
    """A file of terabytes costs nothing if it is all holes, and would take hours to read. SQLite leaves none."""
    with suppress(FileNotFoundError):
        about = file.stat()
        if about.st_size > _LARGE and _FULL * about.st_blocks * _BLOCK < about.st_size:
            raise DamagedError(f"{file.name} is mostly holes")


def _sums(database: Path, most: int) -> list[int]:
    """Of its pages as they are, and of one more than `most` if there are more. The last one may not be whole."""
    found: list[int] = []
    with database.open("rb") as file:
        while len(found) <= most and (piece := file.read(_PIECE * PAGE)):
            view = memoryview(piece)
            found.extend(page_sum(view[at : at + PAGE]) for at in range(0, len(piece), PAGE))
    return found


def _wrong(found: Sequence[int], expected: Sequence[int], log: Log) -> str:
    """What is wrong with the pages that are not in the log; "" if nothing is."""
    size = log.size or len(expected)
    if not found:
        return "it is empty"  # SQLite would throw the log away
    if not log.frames and len(found) != size:
        return f"it has more than {size} pages" if len(found) > size else f"it has {len(found)} pages instead of {size}"
    known = range(1, min(size, len(expected)) + 1)
    have = len(found)
    wrong = [
        page
        for page in known
        if (page > have or found[page - 1] != expected[page - 1])
        and page not in log.changed
        and expected[page - 1] != _UNKNOWN
    ]
    return f"of its {size} pages {len(wrong)} are not as they were written" if wrong else ""


def _read(path: Path) -> Known:
    """What follows a commit that is not whole was never finished."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NoChecksumsError(f"{FILE}, which has its checksums, is missing") from None
    first = _parsed(data, 0)
    if first is None or first.kind != _BASE:
        raise NoChecksumsError(f"{FILE}, which has its checksums, is damaged")
    known, at = Known(first.entries, size=first.size), first.end
    while (next_ := _parsed(data, at)) is not None and next_.kind == _COMMIT:
        half = len(next_.entries) // 2
        changed = dict(zip(next_.entries[:half], next_.entries[half:], strict=True))
        known.take(Log(next_.salts, next_.frames, changed, next_.size))
        at = next_.end
    return known


class _Parsed(Struct, frozen=True):
    kind: bytes
    salts: Sums
    frames: int
    size: int
    entries: array[int]
    end: int


def _parsed(data: bytes, at: int) -> _Parsed | None:
    """The record that begins there; None if it is not whole."""
    if len(data) < at + _HEAD.size:
        return None
    kind, one, other, frames, size, count = _HEAD.unpack_from(data, at)
    end = at + _HEAD.size + 4 * count
    if len(data) < end + _END.size or _END.unpack_from(data, end) != (zlib.crc32(data[at:end]),):
        return None
    entries = array("I", data[at + _HEAD.size : end])
    return _Parsed(kind, (one, other), frames, size, entries, end + _END.size)


def _commit(log: Log) -> bytes:
    """The pages that changed, and behind them their sums."""
    entries = array("I", log.changed)
    entries.extend(log.changed.values())
    return _record(_COMMIT, log.salts, log.frames, log.size, entries)


def _record(kind: bytes, salts: Sums, frames: int, size: int, entries: array[int]) -> bytes:
    body = _HEAD.pack(kind, *salts, frames, size, len(entries)) + entries.tobytes()
    return body + _END.pack(zlib.crc32(body))
