"""Program counter → `file:line`, from the DWARF line program of the image.

A fault's program counter is the most exact place we have, but only if it lies in the user's own code:
inside the C library the last probe's place says more. So only the files of the site table count.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    address: int
    file: str  # as the site table spells it; "" where the code is not the user's
    line: int


class LineTable:
    """Rows of all units, sorted by address. An image without debug information gives an empty table."""

    def __init__(self, elf: Path, user_files: Collection[str]) -> None:
        from elftools.common.exceptions import DWARFError, ELFError
        from elftools.elf.elffile import ELFFile  # for campaigns with bugs only

        self._rows: list[Row] = []
        by_name: dict[str, list[str]] = {}
        for file in user_files:
            by_name.setdefault(Path(file).name, []).append(file)
        try:
            with elf.open("rb") as stream:
                image = ELFFile(stream)
                if image.has_dwarf_info():
                    self._read(image.get_dwarf_info(), by_name)
        except (OSError, ELFError, DWARFError):
            self._rows = []  # places then come from probes alone
        self._rows.sort(key=lambda row: row.address)
        self._addresses = [row.address for row in self._rows]

    def find(self, pc: int) -> tuple[str, int] | None:
        """The user's file and line at `pc`."""
        at = bisect.bisect_right(self._addresses, pc) - 1
        if at < 0:
            return None
        row = self._rows[at]
        return (row.file, row.line) if row.file and row.line else None

    def _read(self, dwarf: Any, by_name: dict[str, list[str]]) -> None:
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            header = program.header
            first = 0 if header.version >= 5 else 1
            names = [_user_file(entry.name, by_name) for entry in header.file_entry]
            for entry in program.get_entries():
                state = entry.state
                if state is None:
                    continue
                index = state.file - first
                known = 0 <= index < len(names) and not state.end_sequence
                row = Row(state.address, names[index], state.line) if known else Row(state.address, "", 0)
                self._rows.append(row)


def _user_file(name: bytes, by_name: dict[str, list[str]]) -> str:
    path = Path(name.decode("utf-8", "replace"))
    candidates = by_name.get(path.name, [])
    for file in candidates:
        if Path(file) == path:
            return file
    return candidates[0] if candidates else ""
