"""Program counter → `file:line`, from the DWARF line program of the image.

A fault's program counter is the most exact place we have, but only if it lies in the user's own code:
inside the C library the last probe's place says more. So only the files of the site table count.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from score_embed.results.line_program import rows


class Row(Struct, frozen=True):
    address: int
    file: str  # as the site table spells it; "" where the code is not the user's
    line: int


class LineTable:
    """The image's units are read when a place in them is first asked for: all of a whole program take seconds. An image
    without debug information knows no place."""

    def __init__(self, elf: Path, user_files: Collection[str]) -> None:
        from elftools.common.exceptions import DWARFError, ELFError
        from elftools.elf.elffile import ELFFile  # for campaigns with bugs only

        self._by_name: dict[str, list[str]] = {}
        for file in user_files:
            self._by_name.setdefault(Path(file).name, []).append(file)
        self._dwarf: Any = None
        self._ranges: Any = None  # of which unit an address is
        self._units: dict[int, list[Row]] = {}
        self._broken = (DWARFError, ELFError, IndexError)
        try:
            with elf.open("rb") as stream:
                image = ELFFile(stream)
                if image.has_dwarf_info():
                    self._dwarf = image.get_dwarf_info()
                    self._ranges = self._dwarf.get_aranges()
        except (OSError, *self._broken):
            self._ranges = None  # places then come from probes alone

    def find(self, pc: int) -> tuple[str, int] | None:
        """The user's file and line at `pc`."""
        if self._ranges is None or not self._ranges.entries:
            return None
        offset = self._ranges.cu_offset_at_addr(pc)
        if offset is None:
            return None
        if offset not in self._units:
            self._units[offset] = self._read(offset)
        found = self._units[offset]
        at = bisect.bisect_right(found, pc, key=lambda row: row.address) - 1
        if at < 0:
            return None
        row = found[at]
        return (row.file, row.line) if row.file and row.line else None

    def _read(self, offset: int) -> list[Row]:
        """The rows of the unit there, sorted by address."""
        try:
            return sorted(self._rows(self._dwarf.get_CU_at(offset)), key=lambda row: row.address)
        except self._broken:
            return []

    def _rows(self, unit: Any) -> Iterator[Row]:
        program = self._dwarf.line_program_for_CU(unit)
        if program is None:
            return
        header = program.header
        first = 0 if header.version >= 5 else 1
        names = [_user_file(entry.name, self._by_name) for entry in header.file_entry]
        if not any(names):
            return
        for address, number, line, ends in rows(program):
            index = number - first
            known = 0 <= index < len(names) and not ends
            yield Row(address, names[index], line) if known else Row(address, "", 0)


def _user_file(name: bytes, by_name: dict[str, list[str]]) -> str:
    path = Path(name.decode("utf-8", "replace"))
    candidates = by_name.get(path.name, [])
    for file in candidates:
        if Path(file) == path:
            return file
    return candidates[0] if candidates else ""
