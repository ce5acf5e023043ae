"""`campaign.work`: which pair each process of a campaign has in work, so that it is known when one is killed with it.

A test may take its host down: it eats the memory, or the machine hangs. Whoever goes on would run it first of all, and
die of it again. So its id is written down before it runs: 24 bytes of a mapped file of fixed size, which outlive the
process (the record itself is committed once a second). They are written to the disk only if the pair is long in work,
so that they are there, too, if the machine dies. What was in work when a process died is counted as a death; after the
second one the pair is set aside (`results/pairs.py`).

Who owns the campaign's folder counts deaths; a fleet's clients on its machine have a slot each, and see what is
counted.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from score_embed.command import Thread, held
from score_embed.errors import ScoreError
from score_embed.results.storage import storage_error

FILE = "campaign.work"
DEATHS = 2  # of processes that had a pair in work, after which it is set aside
SLOTS = 1025  # the first: of the process that owns the folder
OWN = 0
_ENTRY = struct.Struct("<16sII")  # id, number (1: in work; or deaths), CRC-32 of both
_HEAD = 32
_MAGIC = b"score-embed work 1\n"
_COUNTED = struct.Struct("<I")  # at the end of the head: how often a pair was new among those with deaths
_MOST = 256  # of these are remembered, the last ones
_DEATHS_AT = _HEAD + SLOTS * _ENTRY.size
_SIZE = _DEATHS_AT + _MOST * _ENTRY.size
_NOBODY = bytes(_ENTRY.size)
_LONG = 0.25  # seconds in work, after which the note goes to the disk


class WorkNotes:
    """The notes of one process. As a context manager: what it ends with in good order it has not died of."""

    def __init__(self, folder: Path, slot: int = OWN) -> None:
        """Raises StorageError if the file cannot be written."""
        self._at = _HEAD + slot * _ENTRY.size
        try:
            self._file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if os.fstat(self._file).st_size != _SIZE or os.pread(self._file, len(_MAGIC), 0) != _MAGIC:
                os.ftruncate(self._file, 0)
                os.posix_fallocate(self._file, 0, _SIZE)  # to write to a page without room on the disk would be fatal
                os.pwrite(self._file, _MAGIC, 0)
            self._map = mmap.mmap(self._file, _SIZE)
        except OSError as error:
            raise storage_error(error, folder) from error
        self._busy = False
        self._closed = threading.Event()
        self._keeper = Thread(target=self._keep, name="work", daemon=True)
        self._keeper.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(kind is None or issubclass(kind, (ScoreError, KeyboardInterrupt)))

    def close(self, in_good_order: bool = True) -> None:
        """Safe to call twice. Not `in_good_order`: what is in work may be the reason."""
        if self._closed.is_set():
            return
        if in_good_order:
            self.rest()
        with held():
            self._closed.set()
        self._keeper.join()
        self._map.close()
        os.close(self._file)

    # What is in work ----------------------------------------------------------------------------------------

    def begin(self, ident: bytes) -> bool:
        """This pair is in work from now on; False: too many processes have died of it, so it must not be."""
        if self._counted and self.deaths(ident) >= DEATHS:
            return False
        self._busy = True
        self._write(self._at, _entry(ident, 1))
        return True

    @contextmanager
    def lent(self) -> Iterator[memoryview]:
        """Where the engine writes what is in work, as `begin` does, if nobody has died of anything."""
        self._busy = True
        with memoryview(self._map) as whole, whole[self._at : self._at + _ENTRY.size] as place:
            yield place

    @property
    def has_deaths(self) -> bool:
        """Some processes have died of something."""
        return self._counted > 0

    def rest(self) -> None:
        """Nothing is in work."""
        if self._busy:
            self._busy = False
            self._write(self._at, _NOBODY)

    def _keep(self) -> None:
        """What is long in work is noted on the disk."""
        last = kept = _NOBODY
        while not self._closed.wait(_LONG):
            now = self._map[self._at : self._at + _ENTRY.size]
            if now == last != kept and now != _NOBODY:
                with suppress(OSError):
                    os.fdatasync(self._file)
                kept = last
            last = now

    # Who died of what ---------------------------------------------------------------------------------------

    def deaths(self, ident: bytes) -> int:
        """How many processes have died with this pair in work, as far as that is remembered."""
        return next((count for _, found, count in self._dead() if found == ident), 0)

    def count(self, slots: range = range(SLOTS)) -> list[bytes]:
        """The processes of these slots have died: the pairs that they had in work. Each has one more death now."""
        found = self.forget(slots)
        for ident in found:
            self._add_death(ident)
        return found

    def forget(self, slots: range = range(SLOTS)) -> list[bytes]:
        """The processes of these slots are no more, and we know why: the pairs that they had in work."""
        found = []
        for at in (_HEAD + slot * _ENTRY.size for slot in slots):
            entry = self._entry(at)
            if entry is not None:
                found.append(entry[0])
            if self._map[at : at + _ENTRY.size] != _NOBODY:
                self._write(at, _NOBODY)
        return found

    def pardon(self) -> None:
        """What died before may be run once more."""
        self._write(_HEAD - _COUNTED.size, _COUNTED.pack(0))

    def _add_death(self, ident: bytes) -> None:
        for at, found, count in self._dead():
            if found == ident:
                self._write(at, _entry(ident, count + 1))
                return
        number = self._counted
        self._write(_DEATHS_AT + number % _MOST * _ENTRY.size, _entry(ident, 1))
        self._write(_HEAD - _COUNTED.size, _COUNTED.pack(min(number + 1, 2**32 - 1)))

    @property
    def _counted(self) -> int:
        return int(_COUNTED.unpack_from(self._map, _HEAD - _COUNTED.size)[0])

    def _dead(self) -> Iterator[tuple[int, bytes, int]]:
        """Where it stands, pair, deaths."""
        for number in range(min(self._counted, _MOST)):
            at = _DEATHS_AT + number * _ENTRY.size
            entry = self._entry(at)
            if entry is not None:
                yield at, *entry

    def _entry(self, at: int) -> tuple[bytes, int] | None:
        """None: nothing stands there, or what does is damaged."""
        ident, number, crc = _ENTRY.unpack_from(self._map, at)
        whole = crc == zlib.crc32(self._map[at : at + _ENTRY.size - 4])
        return (ident, number) if number and whole else None

    def _write(self, at: int, data: bytes) -> None:
        self._map[at : at + len(data)] = data


def _entry(ident: bytes, number: int) -> bytes:
    plain = ident + number.to_bytes(4, "little")
    return plain + zlib.crc32(plain).to_bytes(4, "little")
