"""What an image holds that no program can change: tables that are read at symbolic addresses need not be sent."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from score_embed.image.elf import AVR, OBJECT, Elf, Section

START, STOP = "__start_sc_extents", "__stop_sc_extents"  # of the list of objects that pointers lead to (extents.py)
_AVR_DATA = 0x800000  # where ELF files of AVR have the data space; code lies in another one


class _Piece(NamedTuple):
    address: int
    data: bytes
    writable: bool


_AROUND = 1024  # bytes of what is taken for an object where no symbol tells, at most


class Constants:
    """The image's bytes by address, read when first asked for."""

    def __init__(self, elf: Path, *, has_bounds: bool = False) -> None:
        """`has_bounds`: accesses are held to the bounds of the object that their pointer leads to."""
        self._elf, self.has_bounds = elf, has_bounds

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
        """Address and size of the constant that this is a byte of. Texts have no names, so nobody knows where one ends:
        then of what lies between its neighbours. No two of these overlap, whatever the symbols do."""
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
    def bounds(self) -> list[tuple[int, int]]:
        """The objects that pointers are held to the bounds of (`extents.py`), as (address, size), in order."""
        elf = Elf(self._elf)
        start, stop = elf.value_of(START), elf.value_of(STOP)
        if start is None or stop is None:
            return []
        data = self.initial(start - _data_space(elf), stop - start) or b""
        return _listed(data, 2 if elf.machine == AVR else elf.bits // 8)

    @cached_property
    def _pieces(self) -> list[_Piece]:
        elf = Elf(self._elf)
        start = _data_space(elf)
        return [
            _Piece(section.address - start, elf.contents(section), not _is_constant(section))
            for section in elf.sections
            if section.is_loaded and section.address >= start
        ]

    @cached_property
    def _objects(self) -> list[tuple[int, int]]:
        """Of all symbols that name constants, in order; of several at one address the largest is last."""
        elf = Elf(self._elf)
        start = _data_space(elf)
        constant = {
            index
            for index, section in enumerate(elf.sections)
            if section.is_loaded and _is_constant(section) and section.address >= start
        }
        return sorted(
            (symbol.value - start, symbol.size)
            for symbol in elf.symbols()
            if symbol.kind == OBJECT and symbol.size and symbol.section in constant
        )


def _data_space(elf: Elf) -> int:
    """Where the addresses of data begin, as the file counts them."""
    return _AVR_DATA if elf.machine == AVR else 0


def _is_constant(section: Section) -> bool:
    """Addresses in constants are written once, by the linker, where an image is not moved."""
    return not section.is_writable or section.name.startswith(".data.rel.ro")


def _listed(words: bytes, width: int) -> list[tuple[int, int]]:
    """What was packed, as address and size, but for what stands for as many as a caller might have."""
    numbers = [int.from_bytes(words[i : i + width], "little") for i in range(0, len(words), width)]
    entries = zip(numbers[::2], numbers[1::2], strict=True)
    flags = 8 * width - 2
    return [(at, size & (1 << flags) - 1) for at, size in entries if size and not size >> flags & 1]
