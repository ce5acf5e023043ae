"""Symbols of the program's that begin as the runtime's do, in files without probes: they get the prefix that the front-end
gives to such names in files with probes (frontend/c/own_names.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from score_embed.contract.sites import OWN
from score_embed.frontend.c.own_names import emitted
from score_embed.image.toolchain import Toolchain

_LIST = "sc_extents"
_ALLOC, _CODE = 2, 4


def set_apart(toolchain: Toolchain, files: Sequence[Path], work: Path) -> dict[Path, Path]:
    """The files to link instead of these; copies are put into `work`. Raises BuildError."""
    found: dict[Path, Path] = {}
    for number, path in enumerate(files):
        defined, taken = toolchain.symbols([path])
        renamed = {name: emitted(name) for name in sorted(defined | taken) if emitted(name) != name}
        found[path] = work / f"apart{number}{path.suffix}" if renamed else path
        if renamed:
            toolchain.rename(renamed, path, found[path])
    return found


def given_back(toolchain: Toolchain, files: Sequence[Path], runtime: Sequence[Path]) -> dict[str, str]:
    """New names for symbols that no file of the program's defines: libraries may, under the names that were written.
    Those of the runtime's stay apart."""
    defined, taken = toolchain.symbols(files) if files else (set(), set())
    missing = {name: name.removeprefix(OWN) for name in sorted(taken - defined) if name.startswith(f"{OWN}sc_")}
    if not missing:
        return {}
    ours = toolchain.defined(runtime)
    return {name: written for name, written in missing.items() if written not in ours}


def only_listed(files: Sequence[Path], symbol: str) -> bool:
    """Whether no data of these objects refers to it but the list of objects that the front-end makes (SC_STATIC)."""
    for path in files:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            for section in elf.iter_sections():
                if not isinstance(section, RelocationSection):
                    continue
                target, table = (elf.get_section(section[field]) for field in ("sh_info", "sh_link"))
                data = target["sh_flags"] & _ALLOC and not target["sh_flags"] & _CODE and target.name != _LIST
                if not data or not isinstance(table, SymbolTableSection):
                    continue
                if symbol in (table.get_symbol(entry["r_info_sym"]).name for entry in section.iter_relocations()):
                    return False
    return True


def users_of(files: Sequence[Path], symbol: str) -> set[str]:
    """The functions of these objects whose code refers to it: the linker names what was put into them instead."""
    found: set[str] = set()
    for path in files:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            for section in elf.iter_sections():
                if isinstance(section, RelocationSection):
                    index = section["sh_info"]
                    table = elf.get_section(section["sh_link"])
                    if elf.get_section(index)["sh_flags"] & _CODE and isinstance(table, SymbolTableSection):
                        places = [
                            entry["r_offset"]
                            for entry in section.iter_relocations()
                            if table.get_symbol(entry["r_info_sym"]).name == symbol
                        ]
                        found |= {_function_at(table, index, place) for place in places}
    return found


def _function_at(table: SymbolTableSection, section: int, offset: int) -> str:
    """Empty: none is there."""
    for one in table.iter_symbols():
        if one["st_info"]["type"] == "STT_FUNC" and one["st_shndx"] == section:
            start = one["st_value"] & ~1  # Thumb
            if start <= offset < start + one["st_size"]:
                return str(one.name)
    return ""
