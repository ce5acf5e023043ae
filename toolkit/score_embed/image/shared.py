"""Which variables of the program code without probes can name: what it reads there has no formula.

Files that are compiled or linked as they are (`--native`, objects, archives, assembly) say it themselves: one side's symbol
table defines a variable, the other's names it. The runtime gets the list, and looks there for symbolic data where such
code is called. Where a file defines an interrupt handler nobody calls it: there, all symbolic data is reported.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from score_embed.frontend.c.signature import HANDLER_NAME
from score_embed.image.objects import members

_UNKNOWN_SIZE = 1024  # bytes that a variable is taken to have, if its assembly does not say
_C_NAME = re.compile(r"[A-Za-z_]\w*")
_EXECUTABLE = 4  # flag of a section


@dataclass(frozen=True)
class _Symbols:
    """What objects define for others, and what they want of others. `data`: variables, with their sizes in bytes."""

    data: dict[str, int] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)


def shared_variables(ours: Sequence[Path], theirs: Sequence[Path]) -> str:
    """C text that lists, for the runtime, what `theirs`, files without probes, and `ours` both know; "" if that is nothing."""
    own = _Symbols()
    for path in ours:
        for _, data in members(path):
            _read(data, own)
    named: dict[str, int] = {}
    of_handlers: dict[str, int] = {}
    for path in theirs:
        for _, data in members(path):
            symbols = _read(data, _Symbols())
            found = {name: size for name, size in symbols.data.items() if name in own.undefined}
            found |= {name: own.data[name] for name in symbols.undefined if name in own.data}
            named |= found
            if any(map(HANDLER_NAME.fullmatch, symbols.functions)):
                of_handlers |= found
    return _text(named, of_handlers)


def _text(named: Mapping[str, int], of_handlers: Mapping[str, int]) -> str:
    variables = {name: size for name, size in named.items() if _C_NAME.fullmatch(name)}
    lines = [f"extern unsigned char {name}[];\n" for name in variables]
    for number, (name, size) in enumerate(variables.items()):
        lines.append(f"SC_NAMED({number}, {name}, {size});\n")
        if name in of_handlers:
            lines.append(f"SC_SHARED({number}, {name}, {size});\n")
    if of_handlers:
        lines.append("SC_ASKED;\n")
    return "".join(['#include "probe.h"\n', *lines]) if lines else ""


def _read(data: bytes, found: _Symbols) -> _Symbols:
    """Add an object's symbols to those found. What is no object is left to the linker to complain of."""
    try:
        file = ELFFile(io.BytesIO(data))
        table = file.get_section_by_name(".symtab")
        symbols = list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []
        code = {number for number, section in enumerate(file.iter_sections()) if section["sh_flags"] & _EXECUTABLE}
    except ELFError:
        return found
    for symbol in symbols:
        kind, where = symbol["st_info"]["type"], symbol["st_shndx"]
        if symbol["st_info"]["bind"] == "STB_LOCAL" or not symbol.name or kind == "STT_TLS":
            continue
        if where == "SHN_UNDEF":
            found.undefined.add(symbol.name)
        elif where in code:
            found.functions.add(symbol.name)
        elif where != "SHN_ABS":
            found.data[symbol.name] = symbol["st_size"] or _UNKNOWN_SIZE
    return found
