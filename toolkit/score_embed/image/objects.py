"""Files that are linked as they are: objects, archives, assembly. What is wrong with one is said before the link,
whose own words for it help nobody."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from score_embed.errors import UsageError

_ELF, _ARCHIVE, _THIN = b"\x7fELF", b"!<arch>\n", b"!<thin>\n"
_MEMBER = struct.Struct("16s12s6s6s8s10s2s")  # the head of an archive's member
_MACHINES = {3: "x86", 8: "MIPS", 20: "PowerPC", 40: "ARM", 62: "x86", 83: "AVR", 94: "Xtensa", 183: "AArch64"} | {
    243: "RISC-V"
}


@dataclass(frozen=True)
class _Machine:
    """Whom an object is for, as the first bytes of its ELF header say."""

    number: int
    bits: int
    order: str

    def __str__(self) -> str:
        return f"{_MACHINES.get(self.number, f'machine {self.number}')} ({self.bits} bits, {self.order} endian)"


def check_objects(objects: Sequence[Path], ours: Path, compiler: str) -> None:
    """Raises UsageError for a file that is no object, or is for another machine than `ours`, which the board's
    compiler made."""
    expected = _machine(ours.read_bytes())
    for path in objects:
        for member, data in members(path):
            machine = _machine(data)
            if machine is not None and machine != expected:
                hint = f"Build it with the board's compiler, {compiler}, or take it out."
                what = f"this is for another machine: {machine}, the board is {expected}"
                raise UsageError(what, f"{path}({member})" if member else str(path), hint)


def defined_names(objects: Sequence[Path]) -> set[str]:
    """The symbols that they define for others."""
    found: set[str] = set()
    for path in objects:
        for _, data in members(path):
            if data.startswith(_ELF):
                found |= _defined(data)
    return found


def undefined_names(objects: Sequence[Path]) -> set[str]:
    """The symbols that they expect others to define."""
    return {s.name for s in _symbols_of(objects) if s["st_shndx"] == "SHN_UNDEF"}


def empty_names(objects: Sequence[Path]) -> set[str]:
    """The objects without a byte that they define."""
    defined = (s for s in _symbols_of(objects) if s["st_shndx"] != "SHN_UNDEF")
    return {s.name for s in defined if s["st_info"]["type"] == "STT_OBJECT" and not s["st_size"]}


def _defined(data: bytes) -> set[str]:
    return {s.name for s in _symbols(data) if s["st_info"]["bind"] != "STB_LOCAL" and s["st_shndx"] != "SHN_UNDEF"}


def _symbols_of(objects: Sequence[Path]) -> Iterator[Symbol]:
    for path in objects:
        for _, data in members(path):
            if data.startswith(_ELF):
                yield from _symbols(data)


def _symbols(data: bytes) -> list[Symbol]:
    try:
        table = ELFFile(io.BytesIO(data)).get_section_by_name(".symtab")
        return list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []
    except ELFError:
        return []  # the linker will complain


def _machine(data: bytes) -> _Machine | None:
    if not data.startswith(_ELF) or len(data) < 20:
        return None
    order = "little" if data[5] == 1 else "big"
    number = int.from_bytes(data[18:20], "little" if order == "little" else "big")
    return _Machine(number, 64 if data[4] == 2 else 32, order)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """The file itself, or each member of an archive with its name."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", str(path), "Check its name.") from None
    if data.startswith(_ELF):
        yield "", data
    elif data.startswith(_ARCHIVE):
        yield from _archived(data, path)
    elif not data.startswith(_THIN):
        hint = "Give .c, .s and .S files, objects (.o) or archives of objects (.a)."
        raise UsageError("this is neither an object nor an archive of objects", str(path), hint)


def _archived(data: bytes, path: Path) -> Iterator[tuple[str, bytes]]:
    at, names = len(_ARCHIVE), b""
    while at + _MEMBER.size <= len(data):
        name, *_, size, end = _MEMBER.unpack_from(data, at)
        if end != b"`\n" or not size.strip().isdigit():
            raise UsageError("this archive is damaged", str(path), "Have it made again, with `ar rcs`.")
        at += _MEMBER.size
        content = data[at : at + int(size)]
        at += int(size) + int(size) % 2
        if name.startswith(b"//"):
            names = content
        elif not name.startswith(b"/ ") and not name.startswith(b"/SYM64/"):
            yield _name(name, names), content


def _name(name: bytes, names: bytes) -> str:
    """A member's name; a long one stands in the table of names."""
    text = name.rstrip()
    if text.startswith(b"/") and text[1:].isdigit():
        text = names[int(text[1:]) :].partition(b"\n")[0]
    return text.rstrip(b"/").decode(errors="replace")
