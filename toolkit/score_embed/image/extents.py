"""The list of the program's variables (`sc_extents`), as the runtime needs it: sorted, each once, and only what is an
object.

Files list what they give the address of, in the order in which they are linked, and some list what another file or
nobody defines. Only the linked image knows: an object has a symbol with a size, what a linker script defines has none.
String literals have no symbols, so their files say their sizes; one that is the end of another one shares its bytes,
and is taken for that. Where the program names such a symbol, as in `for (p = &_sdata; p < &_edata; p++)`, the variable
that happens to begin there says nothing about the pointer, and is not listed. Arrays without elements are such marks,
too: before and behind those that files put into a section, they make them one table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from score_embed.image.constants import START, STOP
from score_embed.image.elf import AVR, NO_TYPE, OBJECT, UNDEFINED, Elf, Symbol
from score_embed.image.objects import empty_names, undefined_names

_MARKED = 8  # bytes: the program may say of what a linker script defines that it is a number
_AVR_DATA = 0x800000  # where ELF files of AVR have the data space; code lies in another one


class Extent(NamedTuple):
    """`behind_unknown`: something that is not listed may end where it begins; `one_of_many`: it stands for as many as a
    caller might have."""

    address: int
    size: int  # bytes
    behind_unknown: bool = False
    one_of_many: bool = False


def order(path: Path, objects: Sequence[Path]) -> None:
    """Put the list of the image in order. `objects`: the files of the program that it was linked of."""
    image = Elf(path)
    symbols = [(name, symbol) for name, symbol in image.named_symbols() if symbol.section != UNDEFINED]
    bounds = {name: symbol.value for name, symbol in symbols if name in (START, STOP)}
    if len(bounds) < 2 or bounds[START] == bounds[STOP]:
        return
    start, length = bounds[START], bounds[STOP] - bounds[START]
    section = next(s for s in image.sections if s.is_allocated and s.address <= start < s.address + s.size)
    width = 2 if image.machine == AVR else image.bits // 8
    first = start - section.address
    words = image.contents(section)[first : first + length]
    numbers = [int.from_bytes(words[i : i + width], "little") for i in range(0, length, width)]
    marks = _marks(symbols, undefined_names(objects), empty_names(objects))
    texts = nameless(list(zip(numbers[::2], numbers[1::2], strict=True)), width)
    found = arranged(numbers[::2], merged(_objects(image, symbols), texts), marks, _constants(image))
    one_of_many = {at for at, size in zip(numbers[::2], numbers[1::2], strict=True) if size >> 8 * width - 2 & 1}
    found = [extent._replace(one_of_many=extent.address in one_of_many) for extent in found]
    with path.open("r+b") as file:
        file.seek(section.offset + first)
        file.write(packed(found, length // (2 * width), width))


def nameless(entries: Iterable[tuple[int, int]], width: int) -> list[Extent]:
    """The objects without symbols (SC_NAMELESS), of address and size in words of `width` bytes."""
    flag = 1 << 8 * width - 1
    return [Extent(address, size - flag) for address, size in entries if size & flag]


def merged(objects: Iterable[Extent], texts: Iterable[Extent]) -> list[Extent]:
    """All of them, sorted; of those that begin at the same address, the largest."""
    return sorted({each.address: each for each in sorted([*objects, *texts])}.values())


def arranged(
    listed: Iterable[int], objects: Sequence[Extent], marks: set[int], constants: Sequence[tuple[int, int]]
) -> list[Extent]:
    """Of the addresses that are listed, the objects, sorted and without overlaps.

    `objects`: all of the image, sorted; `marks`: the addresses that symbols of the linker's are of; `constants`: where
    nothing can be written, and texts without names lie (first address, end).
    """
    kept: list[Extent] = []
    starts = [found.address for found in objects]
    for address in sorted(set(listed) - marks):
        index = bisect_right(starts, address) - 1
        if index < 0 or objects[index].address != address or (kept and address < kept[-1].address + kept[-1].size):
            continue
        after = bool(kept) and kept[-1].address + kept[-1].size == address
        unknown = not after and _may_end_at(address, objects[:index], constants)
        kept.append(objects[index]._replace(behind_unknown=unknown))
    return kept


def _may_end_at(address: int, before: Sequence[Extent], constants: Sequence[tuple[int, int]]) -> bool:
    if before and before[-1].address + before[-1].size >= address:
        return True
    return any(start < address < end for start, end in constants)


def packed(extents: Sequence[Extent], entries: int, width: int) -> bytes:
    """As many words as there were: what is left at the end is behind every address, and empty."""
    flags = [e.behind_unknown << 8 * width - 1 | e.one_of_many << 8 * width - 2 for e in extents]
    words = [word for e, flag in zip(extents, flags, strict=True) for word in (e.address, e.size | flag)]
    words += [(1 << 8 * width) - 1, 0] * (entries - len(extents))
    return b"".join(word.to_bytes(width, "little") for word in words)


def _place(image: Elf, symbol: Symbol) -> int | None:
    """The address as a pointer has it; None for what lies in another space."""
    if image.machine != AVR:
        return symbol.value
    return symbol.value - _AVR_DATA if symbol.value >= _AVR_DATA else None


def _objects(image: Elf, symbols: Iterable[tuple[str, Symbol]]) -> list[Extent]:
    """All objects with a name; of those that begin at the same address, the largest."""
    sizes: dict[int, int] = {}
    for _, symbol in symbols:
        address = _place(image, symbol)
        if symbol.kind == OBJECT and symbol.size and address is not None:
            sizes[address] = max(symbol.size, sizes.get(address, 0))
    own = [s for s in image.sections if s.is_allocated and s.name[:1] not in ("", ".")]
    tables = [(s.address, s.address + s.size) for s in own]
    return tabled([Extent(address, size) for address, size in sorted(sizes.items())], tables)


def tabled(objects: Iterable[Extent], tables: Sequence[tuple[int, int]]) -> list[Extent]:
    """Objects of one size beside each other, in a section that the program named (first address, end), are a table:
    from the first to the last the program goes as through an array. (Constants with addresses in them may be linked as
    variables.)"""
    found: list[Extent] = []
    size = 0  # of the last one
    for each in objects:
        last = found[-1] if found else each
        inside = any(start <= last.address and each.address < end for start, end in tables)
        if inside and found and each.size == size and each.address == last.address + last.size:
            found[-1] = last._replace(size=last.size + size)
        else:
            found.append(each)
        size = each.size
    return found


def _marks(symbols: Sequence[tuple[str, Symbol]], named: set[str], empty: set[str]) -> set[int]:
    found = [s for name, s in symbols if s.kind == NO_TYPE and name in named]
    found += [s for name, s in symbols if s.kind == OBJECT and not s.size and name in empty]
    return {(s.value & ~_AVR_DATA) + i for s in found for i in range(_MARKED)}


def _constants(image: Elf) -> list[tuple[int, int]]:
    return [(s.address, s.address + s.size) for s in image.sections if s.is_allocated and not s.is_writable]
