"""The link. What the program and the runtime, or the C library, have of the same name is told apart or makes way first.

Symbols of the program's that begin as the runtime's do, in files without probes, get the prefix that the front-end
gives to such names in files with probes (`frontend/c/own_names.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from score_embed.contract.sites import OWN
from score_embed.frontend.c.complaints import complaint
from score_embed.frontend.c.own_names import emitted
from score_embed.image.messages import RUNTIME, Messages
from score_embed.image.toolchain import CALLED, SHARED, LinkFailed, Toolchain

_LIST = "sc_extents"
_ALLOC, _CODE = 2, 4


@dataclass(frozen=True)
class Parts:
    """What an image is linked of. `kept`: objects and archives that were given; `names`: what the user calls the
    objects that were made, RUNTIME for the runtime's."""

    made: tuple[Path, ...]
    kept: tuple[Path, ...]
    names: Mapping[str, str]


def link_parts(
    toolchain: Toolchain, parts: Parts, output: Path, cflags: Sequence[str], extra: Sequence[str] = ()
) -> Parts:
    """Link the image; returns what it was linked of. `extra`: further flags. Raises BuildError."""
    # Else the runtime would run the program's function, between tests and within its own probes.
    files = (*parts.made, *parts.kept)
    own = [path for path in files if parts.names.get(str(path)) != RUNTIME]
    called = CALLED[SHARED[toolchain.board.runtime]]
    parts = _apart(toolchain, parts, called & toolchain.defined(own) if called else called, output.parent / "called")
    back = given_back(toolchain, own, [path for path in files if path not in own])
    parts = _changed(parts, output.parent / "back", partial(toolchain.rename, back)) if back else parts
    messages = Messages(parts.names, toolchain)
    try:
        toolchain.link(parts.made, parts.kept, output, cflags, extra)
    except LinkFailed as failed:
        clashes = messages.clashes(failed.messages)
        if not clashes or not all(clash.answered or clash.parted for clash in clashes):
            raise messages.error(failed.messages) or complaint(failed.messages, "link") from None
        silenced = {clash.symbol for clash in clashes if clash.answered}
        parts = _weakened(toolchain, parts, sorted(silenced), output.parent / "weak")
        parted = {clash.symbol for clash in clashes if clash.parted} - silenced
        parts = _apart(toolchain, parts, parted, output.parent / "own")
        _link_again(toolchain, parts, output, cflags, extra, silenced)
    return parts


def _link_again(
    toolchain: Toolchain, parts: Parts, output: Path, cflags: Sequence[str], extra: Sequence[str], silenced: Set[str]
) -> None:
    """Link what made way for the runtime's. `silenced`: functions of the program's that did, and that nobody runs: what
    only they refer to (a linker script's `_end`) need not be there."""
    messages = Messages(parts.names, toolchain)
    try:
        try:
            toolchain.link(parts.made, parts.kept, output, cflags, extra)
        except LinkFailed as failed:
            unneeded = messages.unneeded(failed.messages, silenced, partial(users_of, parts.made))
            absent = sorted(name for name, in_data in unneeded.items() if not in_data or only_listed(parts.made, name))
            if not absent:
                raise
            toolchain.link(
                parts.made, parts.kept, output, cflags, [*extra, *(f"-Wl,--defsym={name}=0" for name in absent)]
            )
    except LinkFailed as failed:
        raise messages.error(failed.messages) or complaint(failed.messages, "link") from None


def _apart(toolchain: Toolchain, parts: Parts, symbols: Set[str], work: Path) -> Parts:
    """What the program has of its own of these names and the C library has, too, becomes two."""
    renamed = {name: OWN + name for name in sorted(symbols)}
    return _changed(parts, work, partial(toolchain.rename, renamed)) if renamed else parts


def _weakened(toolchain: Toolchain, parts: Parts, symbols: Sequence[str], work: Path) -> Parts:
    """The program's definitions of these symbols make way."""
    return _changed(parts, work, partial(toolchain.weaken, symbols)) if symbols else parts


def _changed(parts: Parts, work: Path, change: Callable[[Path, Path], None]) -> Parts:
    """With changed copies of the program's files, in the folder `work`."""
    work.mkdir()
    names = dict(parts.names)

    def copy(path: Path, prefix: str, index: int) -> Path:
        if names.get(str(path)) == RUNTIME:
            return path
        output = work / f"{prefix}{index}{path.suffix}"
        change(path, output)
        names[str(output)] = names.get(str(path), str(path))
        return output

    made = tuple(copy(path, "made", i) for i, path in enumerate(parts.made))
    kept = tuple(copy(path, "kept", i) for i, path in enumerate(parts.kept))
    return replace(parts, made=made, kept=kept, names=names)


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
