"""What start-up and the link read of an ELF file: its sections and symbols, in one pass.

pyelftools, which reports use, parses each symbol into objects of its own: 70 ms for a small image, and its import as
much as the rest of a short campaign's. Of a library by functions (`unit`) each link read 50,000 symbols in 3 s.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

AVR = 83
NO_TYPE, OBJECT, THREADS_OWN = 0, 1, 6  # types of a symbol
LOCAL = 0  # a symbol's binding
UNDEFINED, ABSOLUTE = 0, 0xFFF1  # in place of its section
_PROGBITS, _NOBITS = 1, 8
_WRITABLE, _ALLOCATED, _EXECUTABLE = 1, 2, 4
_ELSEWHERE = 0xFFFF  # in place of a section's number
_HEADER = {32: "HHIIIIIHHHHHH", 64: "HHIQQQIHHHHHH"}
_SECTION = {32: "IIIIIIIIII", 64: "IIQQQQIIQQ"}
_SYMBOL = {32: "IIIBBH", 64: "IBBHQQ"}


class NotElf(Exception):
    """It is no ELF file, or a damaged one."""


class Section(NamedTuple):
    """`address`, `offset`, `size`: in bytes."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int

    @property
    def is_loaded(self) -> bool:
        """It has bytes that the program begins with."""
        return self.kind == _PROGBITS and bool(self.flags & _ALLOCATED)

    @property
    def is_writable(self) -> bool:
        return bool(self.flags & _WRITABLE)

    @property
    def is_allocated(self) -> bool:
        return bool(self.flags & _ALLOCATED)

    @property
    def is_code(self) -> bool:
        return bool(self.flags & _EXECUTABLE)


class Symbol(NamedTuple):
    """`section`: the number of that which it lies in, or a reserved one."""

    name: int  # where it stands in the table's strings
    value: int
    size: int
    kind: int
    section: int
    binding: int


class Elf:
    """An ELF file that was read, or its bytes. Raises NotElf, OSError."""

    def __init__(self, file: Path | bytes) -> None:
        self._data = file if isinstance(file, bytes) else file.read_bytes()
        identification = self._data[:16]
        if len(identification) < 16 or identification[:4] != b"\x7fELF" or not 1 <= identification[4] <= 2:
            raise NotElf("it is no ELF file")
        self.bits = 32 * identification[4]  # of an address
        self._order = "<" if identification[5] == 1 else ">"
        try:
            self._read_sections()
        except (struct.error, ValueError, IndexError) as error:
            raise NotElf(f"it is damaged ({error})") from None

    def contents(self, section: Section) -> bytes:
        return b"" if section.kind == _NOBITS else self._data[section.offset : section.offset + section.size]

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    def symbols(self) -> Iterator[Symbol]:
        table = self.section(".symtab")
        layout = struct.Struct(self._order + _SYMBOL[self.bits])
        data = self.contents(table) if table is not None else b""
        for row in layout.iter_unpack(data[: len(data) // layout.size * layout.size]):
            if self.bits == 64:
                name, info, _, section, value, size = row
            else:
                name, value, size, info, _, section = row
            yield Symbol(name, value, size, info & 15, section, info >> 4)

    def named_symbols(self) -> Iterator[tuple[str, Symbol]]:
        """With their names, which may be empty. Raises NotElf where one lies beyond the table of names."""
        table = self.section(".symtab")
        if table is None:
            return
        try:
            texts = self.contents(self.sections[table.link])
            for symbol in self.symbols():
                yield texts[symbol.name : texts.index(b"\0", symbol.name)].decode("utf-8", "replace"), symbol
        except (ValueError, IndexError) as error:
            raise NotElf(f"it is damaged ({error})") from None

    def value_of(self, name: str) -> int | None:
        """Of a symbol of that name."""
        table = self.section(".strtab")
        at = (self.contents(table) if table is not None else b"").find(f"\0{name}\0".encode())
        return next((symbol.value for symbol in self.symbols() if symbol.name == at + 1), None) if at >= 0 else None

    def _read_sections(self) -> None:
        _, self.machine, _, _, _, start, _, _, _, _, entry, count, names = self._unpack(_HEADER, 16)
        if start and (count == 0 or names == _ELSEWHERE):  # more than the header has room for: the first section says
            *_, more, link = self._unpack(_SECTION, start)[:7]
            count, names = count or more, link if names == _ELSEWHERE else names
        rows = [self._unpack(_SECTION, start + entry * number) for number in range(count)]
        offset, size = rows[names][4:6]
        texts = self._data[offset : offset + size]
        self.sections = [Section(_text(texts, row[0]), *row[1:7]) for row in rows]

    def _unpack(self, layouts: dict[int, str], offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + layouts[self.bits], self._data, offset)


def _text(texts: bytes, start: int) -> str:
    return texts[start : texts.index(b"\0", start)].decode("utf-8", "replace")
