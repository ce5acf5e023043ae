"""An image that is laid out by the firmware's own linker script.

All of it is linked twice: the first image shows where the firmware's sections lie, so that the runtime's memory can
come behind them and each test can bring them back; the second is made with that. Nothing in the script need know of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from score_embed.board.firmware import KEEP, Firmware
from score_embed.board.hardware import Hardware, Region
from score_embed.errors import BuildError
from score_embed.image import vectors
from score_embed.image.linking import Parts, link_parts
from score_embed.image.toolchain import Toolchain

EXTRA = "firmware.ld"
GUARD = 0x400  # SC_GUARD of runtime/arm/arm.h
_RESTORED = (".data", ".bss")
_OURS = (".put_stack", ".sc_data")
_KEPT = ("sc_arm_reset", "sc_arm_fault", "sc_arm_systick")  # what only the vector table names
_WRITE, _ALLOC = 1, 2


@dataclass(frozen=True)
class Section:
    """A section that occupies memory. `load`: where its contents lie in flash, None if it has none."""

    name: str
    at: int
    size: int
    load: int | None
    writable: bool
    objects: tuple[str, ...]  # variables in it


def link_firmware(toolchain: Toolchain, parts: Parts, output: Path, cflags: Sequence[str]) -> None:
    """Link an image whose profile has a linker script of the firmware's own. Raises BuildError."""
    board, work = toolchain.board, output.parent
    hardware, firmware = board.hardware, board.firmware
    first = work / "first.elf"
    if hardware.ram is None or hardware.flash is None:
        raise BuildError("`memory` must say where flash and ram are", str(board.path), "See boards/README.md.")
    begin = _flags(toolchain, work, hardware.ram, ())
    parts = link_parts(toolchain, _with_regions(toolchain, parts, work, ()), first, cflags, begin)
    sections = list(read_sections(first))
    regions = [s for s in sections if s.name not in _OURS and _in_memory(s, hardware.flash)]
    restored = _restored(regions, firmware)
    if not firmware.vectors:
        vectors.check_own(first, board)
    vectors.check_null_page(first, board)
    free = _free(sections, regions, hardware.ram, str(firmware.script))
    parts = _with_regions(toolchain, parts, work, restored, firmware)
    link_parts(toolchain, parts, output, cflags, _flags(toolchain, work, free, restored))
    if firmware.vectors:
        vectors.install(output, board)


def read_sections(elf: Path) -> Iterator[Section]:
    with elf.open("rb") as file:
        data = ELFFile(file)
        table = data.get_section_by_name(".symtab")
        symbols = list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []
        segments = [segment for segment in data.iter_segments() if segment["p_type"] == "PT_LOAD"]
        for number, section in enumerate(data.iter_sections()):
            if not section["sh_flags"] & _ALLOC or not section["sh_size"]:
                continue
            within = (s for s in symbols if s["st_shndx"] == number and s["st_info"]["type"] == "STT_OBJECT")
            load = None
            if section["sh_type"] != "SHT_NOBITS":
                load = next(
                    (
                        segment["p_paddr"] + section["sh_offset"] - segment["p_offset"]
                        for segment in segments
                        if 0 <= section["sh_offset"] - segment["p_offset"] < segment["p_filesz"]
                    ),
                    section["sh_addr"],
                )
            writable = bool(section["sh_flags"] & _WRITE)
            names = tuple(symbol.name for symbol in within)
            yield Section(section.name, section["sh_addr"], section["sh_size"], load, writable, names)


def _in_memory(section: Section, flash: Region) -> bool:
    """Whether it is memory that a test may change. What lies in flash is not, whatever its flags."""
    in_flash = flash.at <= section.at < flash.at + flash.size
    reserve = section.load is None and not section.objects  # room for a stack or a heap: nobody's
    return not in_flash and not reserve


def _restored(regions: Sequence[Section], firmware: Firmware) -> list[Section]:
    """Those that each test finds anew: all, or the profile must say which."""
    known = {*_RESTORED, *(name for name in firmware.restore if isinstance(name, str))}
    missing = [section for section in regions if section.name not in known]
    where = firmware.places.get("restore", firmware.places.get("linker-script", ""))
    if missing:
        names = ", ".join(f"{s.name} ({s.size} bytes{_named(s.objects)})" for s in missing)
        hint = f"Add `restore: [{', '.join(s.name for s in missing)}]` to the profile, or take them out of the program."
        raise BuildError(f"what tests write there stays for the next one: {names}", where, hint)
    for section in regions:
        if section.load == section.at:
            hint = "Give it `AT> FLASH` in the linker script, as .data has."
            raise BuildError(f"the section {section.name} has no image in flash to restore it from", where, hint)
    return list(regions)


def _named(objects: Sequence[str]) -> str:
    return f": {', '.join(objects[:3])}{' …' if len(objects) > 3 else ''}" if objects else ""


def _free(sections: Sequence[Section], regions: Sequence[Section], ram: Region, script: str) -> Region:
    """The largest part of the RAM that the firmware leaves free, if there is room enough in it."""
    at, end = ram.at, ram.at + ram.size
    gaps: list[Region] = []
    for start, size in [*sorted((s.at, s.size) for s in regions if ram.at <= s.at < end), (end, 0)]:
        gaps.append(Region(at, max(start - at, 0)))
        at = max(at, start + size)
    gap = max(gaps, key=lambda gap: gap.size)
    begin = (gap.at + GUARD - 1) // GUARD * GUARD  # the guard is a region of the MPU
    room = max(gap.at + gap.size - begin, 0)
    need = GUARD + sum(s.size for s in sections if s.name in _OURS) + 64
    if need > room:
        hint = "Make the profile's `stack`, `runtime-stack` or `buffers` smaller; taint bits take an eighth of `ram`."
        raise BuildError(f"the runtime needs {need} bytes of RAM, the firmware leaves {room}", script, hint)
    return Region(begin, room)


def _flags(toolchain: Toolchain, work: Path, free: Region, restored: Sequence[Section]) -> list[str]:
    """The linker's options for both scripts."""
    script = toolchain.board.firmware.script
    assert script is not None
    macros = [f"-DSC_FREE_RAM={free.at:#x}", f"-DSC_FREE_END={free.at + free.size:#x}"]
    extra = toolchain.expand(EXTRA, work / f"extra{len(restored)}.ld", macros)
    with extra.open("a", encoding="ascii") as file:
        for number, section in enumerate(restored):
            file.write(f"__sc_start{number} = ADDR({section.name}) ;\n")
            file.write(f"__sc_end{number} = ADDR({section.name}) + SIZEOF({section.name}) ;\n")
            file.write(f"__sc_load{number} = LOADADDR({section.name}) ;\n")
    kept = [f"-Wl,--undefined={name}" for name in _KEPT]
    vectors_at = toolchain.board.firmware.vectors
    if vectors_at:
        assert toolchain.board.hardware.flash is not None
        at = f"{toolchain.board.hardware.flash.at:#x}" if vectors_at == KEEP else vectors_at
        kept.append(f"-Wl,--defsym=sc_arm_table={at}")
    # Room reserved for a stack or a heap is taken, too: the firmware's are not used. (Nor has the first image its
    # places yet.)
    return [f"-L{script.parent}", f"-T{script}", f"-T{extra}", "-Wl,--no-check-sections", *kept]


def _with_regions(
    toolchain: Toolchain, parts: Parts, work: Path, restored: Sequence[Section], firmware: Firmware | None = None
) -> Parts:
    """The parts with the list of what a restore brings back."""
    lines = ['#include "bare.h"\n']
    rows: list[str] = []
    for number, section in enumerate(restored):
        lines.append(f"extern sc_u32 __sc_start{number}[], __sc_end{number}[], __sc_load{number}[];\n")
        load = "0" if section.load is None else f"__sc_load{number}"
        rows.append(f"{{__sc_start{number}, __sc_end{number}, {load}}}")
    for region in firmware.restore if firmware else ():
        if isinstance(region, Region):
            rows.append(f"{{(sc_u32 *){region.at:#x}, (sc_u32 *){region.at + region.size:#x}, 0}}")
    lines.append(f"const sc_bare_region sc_bare_regions[] = {{{', '.join([*rows, '{0, 0, 0}'])}}};\n")
    source, output = work / "regions.c", work / "regions.o"
    source.write_text("".join(lines), encoding="ascii")
    toolchain.compile_runtime(source, output, verify=False)
    made = [path for path in parts.made if path != output]
    return replace(parts, made=(*made, output), names={**parts.names, str(output): "score-embed's runtime"})


def check_sections(elf: Path, hardware: Hardware) -> None:
    """For images laid out by the port's own script: a section it does not know would escape the restore."""
    if hardware.flash is None:
        return
    for section in read_sections(elf):
        known = section.name in (*_RESTORED, *_OURS) or section.name.startswith((".put_", ".t", ".after"))
        if section.writable and not known and _in_memory(section, hardware.flash):
            what = f"the section {section.name} is writable and would not be restored{_named(section.objects)}"
            hint = "Leave the attribute `section` out, or use a linker script of your own: docs/firmware.md."
            raise BuildError(what, "link", hint)
