"""A target that does not report READY, in the user's words: in which function of the program start-up hangs, at which
line, and what to do. Before the first test nothing has probes' events to tell of, so the program counter has to do."""

from __future__ import annotations

import bisect
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from score_embed import places
from score_embed.board.firmware import NO_INIT
from score_embed.board.profile import Board
from score_embed.contract.sites import shown
from score_embed.device.startup import NoReady, Seen
from score_embed.errors import TargetError

_MOST = 3  # functions that are named
_CONSTRUCTORS = "Functions that run before main (constructors) have to end."
_LEAVE_OUT = (
    "It waits for what never comes: in an emulator a clock, a PLL or a voltage is never ready; or it does not end;\n"
    "or it faults, and the machine starts again and again.\n"
    "Leave the waiting out where SCORE_EMBED is defined (`#ifndef SCORE_EMBED`), or all that is called before the first test:\n"
    "`init: none` in the board's profile (docs/firmware.md)."
)
_ON_A_BOARD = "If the link is right, {init} may not return, or change the clock: attach a debugger, or try `init: none` in the profile."


def explained(error: NoReady, board: Board, elf: Path) -> TargetError:
    """The error with the place, if the instance was seen in the program; else as it is, with what else may be the
    cause."""
    init = board.firmware.init or ("SystemInit" if board.firmware.vectors else "")
    calls = bool(init) and init != NO_INIT
    if not error.seen:
        more = [_ON_A_BOARD.format(init=init)] if calls else []
        return TargetError(error.what, error.where, "\n".join([error.hint, *more]))
    code = _Code(elf, {address for seen in error.seen for address in _addresses(seen)})
    chains = [code.chain(_addresses(seen)) for seen in error.seen]
    first = [next((place for place in chain if calls and place[0] == init), chain[0]) for chain in chains if chain]
    if not first:
        names = sorted({code.function(seen.pc) for seen in error.seen} - {""})
        where = [f"It was seen in {', '.join(names[:_MOST])}, which is not the program's."] if names else []
        return TargetError(error.what, error.where, "\n".join([error.hint, *where]))
    # The function that start-up calls, if that is on the stack: where it waits says more than what it asks over and
    # over.
    (function, at), _ = Counter(first).most_common(1)[0]
    rest = {name: place for chain in reversed(chains) for name, place in chain if name != function}
    others = ", ".join(f"{name} ({place})" for name, place in list(rest.items())[:_MOST])
    hint = [f"Seen there, too, or on the stack: {others}."] if others else []
    hint.append(_LEAVE_OUT if calls else _CONSTRUCTORS)
    return TargetError(f"start-up hangs in {function}: {error.what}", at, "\n".join(hint))


def _addresses(seen: Seen) -> list[int]:
    """Where it was, and then within the calls."""
    return [seen.pc, *(word - 1 for word in seen.returns)]


class _Code:
    """The functions and lines of an image at some addresses."""

    def __init__(self, elf: Path, addresses: Collection[int]) -> None:
        self._runtime = f"{places.shipped('runtime')}{os.sep}"
        self._functions: list[tuple[int, int, str]] = []
        self._lines: dict[int, _Line] = {}
        try:
            with elf.open("rb") as stream:
                image = ELFFile(stream)
                self._functions = list(_functions(image))
                if image.has_dwarf_info():
                    self._lines = dict(_lines(image.get_dwarf_info(), addresses, self._runtime))
        except (OSError, ELFError, DWARFError):
            return  # then the names of functions have to do, or nothing

    def function(self, address: int) -> str:
        """Empty: it is in none."""
        return next((name for start, end, name in self._functions if start <= address < end), "")

    def chain(self, addresses: Sequence[int]) -> list[tuple[str, str]]:
        """The program's functions there, the innermost first, each once with its first place."""
        found: dict[str, str] = {}
        for function, at in filter(None, map(self.place, addresses)):
            found.setdefault(function, at)
        return list(found.items())

    def place(self, address: int) -> tuple[str, str] | None:
        """The program's function there, and `file:line`; None: that is the runtime's code, or no code with lines."""
        found, function = self._lines.get(address), self.function(address)
        if found is None or not found.file or not found.line or self.function(found.address) != function:
            return None
        return shown(function) or "a function without a name", f"{os.path.relpath(found.file)}:{found.line}"


def _functions(image: ELFFile) -> Iterator[tuple[int, int, str]]:
    table = image.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        if symbol["st_info"]["type"] == "STT_FUNC":
            start = symbol["st_value"] & (~1 if image["e_machine"] == "EM_ARM" else ~0)
            yield start, start + symbol["st_size"], symbol.name


class _Line(NamedTuple):
    """A line of the program's, and where its code begins."""

    address: int
    file: str
    line: int


def _lines(dwarf: Any, addresses: Collection[int], runtime: str) -> Iterator[tuple[int, _Line]]:
    """The line of each address that is known. Of a probe that is part of a function: the line that it was put to.
    (elftools has no types.)"""
    wanted = sorted(addresses)
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        base = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        folder = base.value.decode("utf-8", "replace") if base is not None else ""
        before = own = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and not before.end_sequence:
                within = wanted[bisect.bisect_left(wanted, before.address) : bisect.bisect_left(wanted, state.address)]
                file = _file(program.header, before.file, folder)
                own = _Line(before.address, file, before.line) if not file.startswith(runtime) else own
                for address in within:
                    if own is not None:
                        yield address, own
            before = state


def _file(header: Any, index: int, folder: str) -> str:
    new = header.version >= 5
    entry = header.file_entry[index if new else index - 1]
    folders = header.include_directory
    at = entry.dir_index if new else entry.dir_index - 1
    within = folders[at].decode("utf-8", "replace") if 0 <= at < len(folders) else ""
    return os.path.normpath(os.path.join(folder, within, entry.name.decode("utf-8", "replace")))
