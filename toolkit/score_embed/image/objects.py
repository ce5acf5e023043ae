"""Files that are linked as they are: objects, archives, assembly. What is wrong with one is said before the link, whose
own words for it help nobody. And which variables of the program they can name: what code without probes reads there has
no formula.

Such files say it themselves: one side's symbol table defines a variable, the other's names it. The runtime gets the
list, and looks there for symbolic data where such code is called. Where a file defines an interrupt handler nobody
calls it: there, all symbolic data is reported.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from score_embed.errors import UsageError
from score_embed.frontend.c.signature import HANDLER_NAME
from score_embed.image.elf import ABSOLUTE, LOCAL, OBJECT, THREADS_OWN, UNDEFINED, Elf, NotElf, Symbol

_ELF, _ARCHIVE, _THIN = b"\x7fELF", b"!<arch>\n", b"!<thin>\n"
_MEMBER = struct.Struct("16s12s6s6s8s10s2s")  # the head of an archive's member
_MACHINES = {3: "x86", 8: "MIPS", 20: "PowerPC", 40: "ARM", 62: "x86", 83: "AVR", 94: "Xtensa", 183: "AArch64"} | {
    243: "RISC-V"
}
_UNKNOWN_SIZE = 1024  # bytes that a variable is taken to have, if its assembly does not say
_USUAL = frozenset({".bss", ".data", ".rodata"})  # sections
_C_NAME = re.compile(r"[A-Za-z_]\w*")


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
    return {name for name, symbol in _symbols_of(objects) if symbol.section == UNDEFINED}


def empty_names(objects: Sequence[Path]) -> set[str]:
    """The objects without a byte that they put into a section of their own choice. Where the compiler put one (a
    variable whose structure has no members), what lies there, too, has nothing to do with it."""
    found: set[str] = set()
    for path in objects:
        for _, data in members(path):
            with suppress(NotElf):  # the linker will complain
                found.update(_chosen(Elf(data)))
    return found


def _chosen(file: Elf) -> Iterator[str]:
    for name, symbol in file.named_symbols():
        if symbol.kind == OBJECT and not symbol.size and 0 < symbol.section < len(file.sections):
            section = file.sections[symbol.section].name
            if not {section, section.removesuffix(f".{name}")} & _USUAL:  # of -fdata-sections
                yield name


def _defined(data: bytes) -> set[str]:
    return {name for name, s in _symbols(data) if s.binding != LOCAL and s.section != UNDEFINED}


def _symbols_of(objects: Sequence[Path]) -> Iterator[tuple[str, Symbol]]:
    for path in objects:
        for _, data in members(path):
            if data.startswith(_ELF):
                yield from _symbols(data)


def _symbols(data: bytes) -> list[tuple[str, Symbol]]:
    try:
        return list(Elf(data).named_symbols())
    except NotElf:
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


@dataclass(frozen=True)
class _Shared:
    """What objects define for others, and what they want of others. `data`: variables, with their sizes in bytes."""

    data: dict[str, int] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)


def shared_variables(ours: Sequence[Path], theirs: Sequence[Path]) -> str:
    """C text that lists, for the runtime, what `theirs`, files without probes, and `ours` both know; "" if that is
    nothing."""
    own = _Shared()
    for path in ours:
        for _, data in members(path):
            _add_symbols(data, own)
    named: dict[str, int] = {}
    of_handlers: dict[str, int] = {}
    for path in theirs:
        for _, data in members(path):
            symbols = _add_symbols(data, _Shared())
            found = {name: size for name, size in symbols.data.items() if name in own.undefined}
            found |= {name: own.data[name] for name in symbols.undefined if name in own.data}
            named |= found
            if any(map(HANDLER_NAME.fullmatch, symbols.functions)):
                of_handlers |= found
    return _listed(named, of_handlers)


def _listed(named: Mapping[str, int], of_handlers: Mapping[str, int]) -> str:
    variables = {name: size for name, size in named.items() if _C_NAME.fullmatch(name)}
    lines = [f"extern unsigned char {name}[];\n" for name in variables]
    for number, (name, size) in enumerate(variables.items()):
        lines.append(f"SC_NAMED({number}, {name}, {size});\n")
        if name in of_handlers:
            lines.append(f"SC_SHARED({number}, {name}, {size});\n")
    if of_handlers:
        lines.append("SC_ASKED;\n")
    return "".join(['#include "probe.h"\n', *lines]) if lines else ""


def _add_symbols(data: bytes, found: _Shared) -> _Shared:
    """Add an object's symbols to those found. What is no object is left to the linker to complain of."""
    try:
        file = Elf(data)
        symbols = list(file.named_symbols())
    except NotElf:
        return found
    code = {number for number, section in enumerate(file.sections) if section.is_code}
    for name, symbol in symbols:
        if symbol.binding == LOCAL or not name or symbol.kind == THREADS_OWN:
            continue
        if symbol.section == UNDEFINED:
            found.undefined.add(name)
        elif symbol.section in code:
            found.functions.add(name)
        elif symbol.section != ABSOLUTE:
            found.data[name] = symbol.size or _UNKNOWN_SIZE
    return found
