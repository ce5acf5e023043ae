"""What the probe runtime takes of a board's flash and RAM, part by part.

    .venv/bin/python bench/footprint.py [--update] [--functions] [BOARD …]

Two programs are built for every board without an operating system, as they would run on hardware (over its UART): the
least there is (one symbolic int, one condition), and one that uses every kind of probe. The linked images' symbols
and debug information say which code and which object come from which file of the runtime, inlined or not.
`--update` writes the table into docs/footprint.md, `--functions` lists the runtime's functions and objects by size.
"""

from __future__ import annotations

import argparse
import tempfile
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.lineprogram import LineProgram
from elftools.dwarf.typeunit import TypeUnit
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from msgspec.structs import replace
from page import write_table

from score_embed.board.desk import DeskRun
from score_embed.board.profile import Board, known_boards, load_board
from score_embed.errors import BuildError
from score_embed.image.image import build_image
from score_embed.image.toolchain import SHARED

ROOT = Path(__file__).resolve().parents[1]

LEAST = '#include "score.h"\nint main(void) { int x; SYM_INT(x); return x == 7; }\n'
EVERYTHING = """
#include <stdio.h>
#include <string.h>
#include "score.h"
struct pair { int a; long long b; };
static struct pair kept[4];
static unsigned char text[24];
static struct pair swapped(struct pair p) { struct pair q = p; q.a = (int)p.b; q.b = p.a; return q; }
static int twice(int x) { return x + x; }
static int before(const unsigned char *p) { return p[-1]; }
int main(void)
{
    int (*call)(int) = twice;
    struct pair p;
    int i, x;
    SYM_INT(x);
    SYM_BYTES(text, sizeof text);
    SCORE_ASSUME(x < 1000);
    p.a = text[0] | text[1] << 8;
    p.b = (long long)x * text[2] << 7;
    kept[text[3] & 3] = swapped(p);
    memcpy(kept + 1, kept, sizeof kept[0]);
    for (i = 0; i < 4; i++)
        if (kept[i].a > kept[(i + 1) & 3].a && kept[i].b != x) p = kept[i];
    switch (call(p.a)) {
    case 2: puts("two"); break;
    case 7: return 1;
    case 9: for (;;) {}
    }
    SCORE_ASSERT(p.b / (x | 1) != 12345678);
    return before(text + 4);
}
"""
PROGRAMS = {"least": LEAST, "everything": EVERYTHING}

# What the code of these files counts as; that of a port's other files is "faults". Code of functions that are named as
# OPAQUE says is about opaque code and struct arguments.
PARTS = {
    "probe.c": "probes",
    "branch.c": "probes",
    "bounds.c": "probes",
    "sized.c": "probes",
    "calls.c": "probes",
    "check.c": "probes",
    "input.c": "probes",
    "lent.c": "opaque, structs",
    "object.c": "probes",
    "pointed.c": "probes",
    "range.c": "probes",
    "select.c": "probes",
    "store.c": "probes",
    "variadic.c": "probes",
    "state.h": "probes",
    "straight.h": "probes",
    "port_arch.h": "probes",
    "event.c": "events",
    "frame.c": "frames",
    "taint.c": "taint",
    "loop.c": "loop",
    "probe.h": "loop",
    "bare.c": "start",
    "vectors.c": "start",
    "newlib.c": "libc glue",
    "picolibc.c": "libc glue",
    "avrlibc.c": "libc glue",
    "ends.c": "libc glue",
    "uart.c": "link",
}
OPAQUE = ("sc_shadow", "report", "checksum", "sc_opaque", "sc_struct")
FLASH = ("probes", "opaque, structs", "events", "frames", "taint", "loop", "start", "faults", "link", "libc glue")
BUFFERS = {
    *("sc_input", "sc_chunk", "rx", "tx", "in", "pending", "shadow", "line"),
    *("sc_coverage_run", "sc_coverage_acked"),
}
PROCESSOR = ("-mcpu=", "-mmcu=", "-march=")
TAINT_BITS = {"bits", "groups", "tops", "roots"}


@dataclass(frozen=True)
class Item:
    """A function or object of the runtime, or what a function holds of one file."""

    name: str
    file: str
    size: int
    flash: bool
    vectors: bool = False

    @property
    def part(self) -> str:
        name = self.name.split(".")[0]
        if not self.flash:
            return "taint bits" if name in TAINT_BITS else "buffers" if name in BUFFERS else "state"
        if self.vectors:
            return "vectors"
        if name.startswith(OPAQUE):
            return "opaque, structs"
        return "link" if self.file.startswith("uart_") else PARTS.get(self.file, "faults")


def code_of(data: ELFFile) -> Iterator[tuple[int, int, str]]:
    """The pieces of code that the line table knows: address, size, source file."""
    dwarf = data.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = _lines(dwarf, unit)
        before = None
        if program is None:
            continue
        for entry in program.get_entries():
            if entry.state is None:
                continue
            if before is not None and entry.state.address > before.address:
                name = program["file_entry"][before.file - (program["version"] < 5)].name.decode()
                yield before.address, entry.state.address - before.address, name
            before = None if entry.state.end_sequence else entry.state


def _lines(dwarf: DWARFInfo, unit: CompileUnit | TypeUnit) -> LineProgram | None:
    assert isinstance(unit, CompileUnit), "objects are not declared in units of types"
    return dwarf.line_program_for_CU(unit)


def objects_of(data: ELFFile) -> dict[tuple[str, int], str]:
    """The source file of every static object that the debug information knows, by name and address."""
    found: dict[tuple[str, int], str] = {}
    dwarf = data.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        for die in unit.iter_DIEs():
            address = _address(die)
            if address is None:
                continue
            declared = _declaration(die)  # of another unit, if the runtime was compiled as a whole
            attributes = declared.attributes
            if "DW_AT_name" in attributes and "DW_AT_decl_file" in attributes:
                program = _lines(dwarf, declared.cu)
                assert program is not None, "a unit that declares has lines"
                number = attributes["DW_AT_decl_file"].value - (program["version"] < 5)
                name = attributes.get("DW_AT_linkage_name", attributes["DW_AT_name"])  # as its symbol is called
                found[name.value.decode(), address] = program["file_entry"][number].name.decode()
    return found


def _declaration(die: DIE) -> DIE:
    for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
        while link in die.attributes:
            die = die.get_DIE_from_attribute(link)
    return die


def _address(die: DIE) -> int | None:
    if die.tag == "DW_TAG_variable" and "DW_AT_location" in die.attributes:
        place = die.attributes["DW_AT_location"].value
        if isinstance(place, list) and place and place[0] == 0x03:  # DW_OP_addr
            return int.from_bytes(bytes(place[1:5]), "little")
    return None


def items_of(elf: Path, runtime: Iterable[str]) -> Iterator[Item]:
    """What the image holds of the runtime, whose files are named so."""
    own = set(runtime)
    with elf.open("rb") as file:
        data = ELFFile(file)
        table = data.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        placed = [s for s in table.iter_symbols() if isinstance(s["st_shndx"], int) and s.name and s.name[0] != "$"]
        functions = sorted((s["st_value"] & ~1, s.name) for s in placed if s["st_info"]["type"] == "STT_FUNC")
        code: Counter[tuple[str, str]] = Counter()
        for at, size, source in code_of(data):
            if source in own:
                code[functions[bisect(functions, (at, "~")) - 1][1], source] += size
        for (name, source), size in code.items():
            yield Item(name, source, size, True)
        files = objects_of(data)
        for at, name, symbol in sorted(
            (s["st_value"], s.name, s) for s in placed if s["st_info"]["type"] == "STT_OBJECT"
        ):
            section = data.get_section(symbol["st_shndx"])
            source = files.get((name.split(".")[0], at), "")
            if section["sh_flags"] & 2 and source in own:
                yield Item(name, source, symbol["st_size"], not section["sh_flags"] & 1, section.name == ".vectors")


def on_the_desk(board: Board) -> Board:
    """Where flash is dear: for an emulator the runtime is compiled for speed."""
    return replace(board, run=DeskRun())


def footprint(board: Board, program: str, folder: Path) -> list[Item]:
    """The runtime's functions and objects in the image of one of the PROGRAMS."""
    source = folder / f"{program}.c"
    source.write_text(PROGRAMS[program])
    runtime = ROOT / "runtime"
    folders = (runtime, runtime / board.runtime, runtime / SHARED[board.runtime])
    names = [path.name for place in folders for path in place.iterdir()]
    return list(items_of(build_image(on_the_desk(board), [source]).elf, names))


def bare_boards() -> dict[str, Board]:
    """Every shipped board whose image is all there is on it; boards that differ in their link only are one."""
    boards = {name: load_board(path) for name, path in known_boards().items()}
    return {
        name: board
        for name, board in sorted(boards.items())
        if SHARED[board.runtime] == "bare" and name[-5:] != "-uart"
    }


def sums(items: Iterable[Item]) -> Counter[str]:
    """Bytes by part, and of all flash but the vectors, which every program of such a processor has."""
    found: Counter[str] = Counter()
    for item in items:
        found[item.part] += item.size
        if item.flash and item.part != "vectors":
            found["flash"] += item.size
    return found


def table(boards: dict[str, Board]) -> str:
    columns = (*FLASH, "flash", "vectors", "state", "buffers", "taint bits")
    names = [f"**{name}**" if name in ("flash", "state") else name for name in columns]
    lines = ["| board | program | " + " | ".join(names) + " |", "|---|---|" + "---:|" * len(columns)]
    with tempfile.TemporaryDirectory() as work:
        for name, board in boards.items():
            for program in PROGRAMS:
                processor = next((flag.split("=")[1] for flag in board.cflags if flag.startswith(PROCESSOR)), "")
                label = f"{name} ({processor})" if program == "least" else ""
                try:
                    found = sums(footprint(board, program, Path(work)))
                    cells = [f"**{found[c]:,}**" if c in ("flash", "state") else f"{found[c]:,}" for c in columns]
                except BuildError as error:  # it does not fit
                    cells = [error.what, *("" for _ in columns[1:])]
                lines.append(f"| {label} | {program} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", metavar="BOARD")
    parser.add_argument("--update", action="store_true", help="write the table into docs/footprint.md")
    parser.add_argument("--functions", action="store_true", help="every function and object of the runtime")
    options = parser.parse_args()
    boards = bare_boards()
    if options.boards:
        boards = {name: boards[name] for name in options.boards}
    if options.functions:
        with tempfile.TemporaryDirectory() as work:
            for name, board in boards.items():
                for item in sorted(footprint(board, "everything", Path(work)), key=lambda item: -item.size):
                    print(f"{name} {item.size:6} {item.part:16} {item.file:12} {item.name}")
        return
    text = table(boards)
    print(text)
    if options.update:
        write_table("footprint.md", "bench/footprint.py", f"{text}\n")


if __name__ == "__main__":
    main()
