"""What an image holds that no program can change: tables that are read at symbolic addresses need not be sent."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

_ALLOCATED, _WRITABLE = 2, 1
_AVR_DATA = 0x800000  # where ELF files of AVR have the data space; code lies in another one


class _Piece(NamedTuple):
    address: int
    data: bytes
    writable: bool


_AROUND = 1024  # bytes of what is taken for an object where no symbol tells, at most


class Constants:
    """The image's bytes by address, read when first asked for."""

    def __init__(self, elf: Path) -> None:
        self._elf = elf

    def read(self, address: int, size: int) -> bytes | None:
        """The bytes there, if they are constant and the image has them all."""
        return self._find(address, size, writable=False)

    def initial(self, address: int, size: int) -> bytes | None:
        """The bytes there as the program begins with them: also of constants that lie in RAM."""
        return self._find(address, size, writable=True)

    def _find(self, address: int, size: int, *, writable: bool) -> bytes | None:
        for piece in self._pieces:
            offset = address - piece.address
            if 0 <= offset <= len(piece.data) - size and (writable or not piece.writable):
                return piece.data[offset : offset + size]
        return None

    def object_at(self, address: int) -> tuple[int, int] | None:
        """Address and size of the constant that this is a byte of. Texts have no names, so nobody knows where one ends: then of
        what lies between its neighbours. No two of these overlap, whatever the symbols do."""
        index = bisect_right(self._objects, (address, 1 << 64))
        before = self._objects[index - 1] if index else (0, 0)
        behind = self._objects[index][0] if index < len(self._objects) else 1 << 64
        if address < sum(before):
            return before[0], min(sum(before), behind) - before[0]
        for piece in self._pieces:
            if not piece.writable and 0 <= address - piece.address < len(piece.data):
                block = address - address % _AROUND
                start = max(block, piece.address, sum(before))
                return start, min(block + _AROUND, piece.address + len(piece.data), behind) - start
        return None

    @cached_property
    def _pieces(self) -> list[_Piece]:
        with self._elf.open("rb") as file:
            data = ELFFile(file)
            start = _data_space(data)
            return [
                _Piece(section["sh_addr"] - start, bytes(section.data()), not _is_constant(section))
                for section in data.iter_sections()
                if _is_loaded(section) and section["sh_addr"] >= start
            ]

    @cached_property
    def _objects(self) -> list[tuple[int, int]]:
        """Of all symbols that name constants, in order; of several at one address the largest is last."""
        with self._elf.open("rb") as file:
            data = ELFFile(file)
            symbols = data.get_section_by_name(".symtab")
            if not isinstance(symbols, SymbolTableSection):
                return []
            start = _data_space(data)
            constant = {
                index
                for index, section in enumerate(data.iter_sections())
                if _is_loaded(section) and _is_constant(section) and section["sh_addr"] >= start
            }
            return sorted(
                (symbol["st_value"] - start, symbol["st_size"])
                for symbol in symbols.iter_symbols()
                if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"] and symbol["st_shndx"] in constant
            )


def _data_space(data: ELFFile) -> int:
    """Where the addresses of data begin, as the file counts them."""
    return _AVR_DATA if data["e_machine"] == "EM_AVR" else 0


def _is_loaded(section: Section) -> bool:
    return bool(section["sh_type"] == "SHT_PROGBITS" and section["sh_flags"] & _ALLOCATED)


def _is_constant(section: Section) -> bool:
    """Addresses in constants are written once, by the linker, where an image is not moved."""
    return not section["sh_flags"] & _WRITABLE or section.name.startswith(".data.rel.ro")
