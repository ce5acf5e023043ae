"""A firmware's own vector table (Cortex-M): the runtime's handlers are put into it when the image is linked.

In the image and not in RAM: it costs no RAM, serves cores without VTOR, and a reset finds the runtime.
"""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from score_embed.board.profile import Board
from score_embed.errors import BuildError

_STACK, _RESET, _HARD_FAULT, _MEMORY, _BUS, _USAGE, _SYSTICK, _IRQ = 0, 1, 3, 4, 5, 6, 15, 16
_ALLOC, _PROGBITS = 2, "SHT_PROGBITS"
_SMALLEST = 256  # bytes of a null page that are worth a region of the MPU


def install(elf: Path, board: Board) -> None:
    """Put the runtime's handlers into the table. Raises BuildError if there is none."""
    with elf.open("r+b") as file:
        data = ELFFile(file)
        place = _symbols(data)["sc_arm_table"]
        handlers = _handlers(data, board)
        size = 4 * (max(handlers) + 1)
        offset, room = _offset(data, place)
        file.seek(offset)
        words = file.read(8)
        reset = int.from_bytes(words[4:], "little")
        if room < size or not _is_code(reset, board):
            what = f"there is no vector table at {place:#x}: its second word is {reset:#x}, which is no code"
            if 8 <= room < size:
                what = f"the vector table at {place:#x} has {room // 4} entries, {size // 4} are needed"
            raise BuildError(
                what, board.firmware.places["vectors"], "Give the name of the table, as the start-up has it."
            )
        for index, value in handlers.items():
            file.seek(offset + 4 * index)
            file.write(value.to_bytes(4, "little"))


def check_own(elf: Path, board: Board) -> None:
    """Without `vectors` the runtime's table must have come to where the core looks for one."""
    assert board.hardware.flash is not None
    with elf.open("rb") as file:
        data = ELFFile(file)
        if _symbols(data).get("sc_arm_vectors", -1) != board.hardware.flash.at:
            what = (
                f"the linker script puts nothing of `.isr_vector` at {board.hardware.flash.at:#x}, where flash begins"
            )
            hint = "Add `vectors: TABLE` with the name of your vector table, or `KEEP(*(.isr_vector))` first in the script."
            raise BuildError(what, board.firmware.places["linker-script"], hint)


def check_null_page(elf: Path, board: Board) -> None:
    """Code within the null page would fault as soon as it runs."""
    null_page = board.hardware.null_page
    with elf.open("rb") as file:
        data = ELFFile(file)
        lowest = min((value & ~1 for value in _functions(data)), default=null_page)
    if lowest < null_page:
        fits = 1 << (lowest.bit_length() - 1) if lowest >= _SMALLEST else 0
        what = f"the linker script puts code at {lowest:#x}, within the null page of {null_page} bytes"
        hint = (
            f"Say `memory: {{null-page: {fits}}}` in the profile, or let the script begin with code at {null_page:#x}."
        )
        raise BuildError(what, board.firmware.places["linker-script"], hint)


def _handlers(data: ELFFile, board: Board) -> dict[int, int]:
    """Entry → what the runtime puts there."""
    symbols, firmware, timer = _symbols(data), board.firmware, board.hardware.timer
    fault, tick = symbols["sc_arm_fault"], symbols["sc_arm_systick"]
    found = {_STACK: symbols["__sc_stack_top"], _RESET: symbols["sc_arm_reset"]}
    found |= dict.fromkeys(
        (_HARD_FAULT, _MEMORY, _BUS, _USAGE), fault
    )  # ARMv6-M has the first only, the rest is unused
    if firmware.watchdog in ("", "systick"):
        found[_SYSTICK] = tick
    elif firmware.watchdog == "timer" and timer is not None:
        found[_IRQ + timer.irq] = tick
    return found


def _is_code(value: int, board: Board) -> bool:
    flash = board.hardware.flash
    assert flash is not None
    return bool(value & 1) and flash.at <= value < flash.at + flash.size


def _offset(data: ELFFile, address: int) -> tuple[int, int]:
    """Where in the file the contents of an address are, and how many bytes of its section follow."""
    for section in data.iter_sections():
        start, size = section["sh_addr"], section["sh_size"]
        if section["sh_flags"] & _ALLOC and section["sh_type"] == _PROGBITS and start <= address < start + size:
            return section["sh_offset"] + address - start, start + size - address
    return 0, 0


def _symbols(data: ELFFile) -> dict[str, int]:
    table = data.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"}


def _functions(data: ELFFile) -> list[int]:
    table = data.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return []
    return [
        symbol["st_value"]
        for symbol in table.iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] not in ("SHN_UNDEF", "SHN_ABS")
    ]
