"""A second look at what harnesses make: the memory that a function finds when it is entered, by the compiler's debug
information.

The harness runs as a plain program over inputs at random (entered.c). What its arguments are, where they lie and what
lies behind them is read from DWARF, which knows nothing of how the harness was made. Each pointer that can be reached
must be null, lead into an object (a variable, a block of the heap, the frame of the harness), or be a function. Of a
union that has more than pointers nobody knows which member is meant: its pointers are counted, and not looked at.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from struct import unpack_from
from typing import Any

from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from score_embed.board.profile import find_board
from score_embed.contract.program import ENTRY, HARNESS_FILE, Source
from score_embed.errors import ScoreError
from score_embed.frontend.c import own_names
from score_embed.frontend.c.parse import kept_trees
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.harness.entries import LINES, Function, Made, functions, make
from score_embed.frontend.harness.hints import Hints
from score_embed.frontend.whole import without_main
from score_embed.image.toolchain import Toolchain

HOOK = Path(__file__).with_suffix(".c")
TRIES, SNAPSHOTS = 4000, 12
GOOD, NO_POINTER, ALL_NULL, WILD, NOT_ENTERED, NOT_MADE = (
    "good",
    "no pointer",
    "all null",
    "wild",
    "not entered",
    "not made",
)
PASSES = (GOOD, NO_POINTER)
_POINTER, _MOST_ELEMENTS, _MOST_DEPTH = 8, 32, 64
_ERROR = re.compile(rf"{re.escape(HARNESS_FILE)}:(\d+)(?::\d+)?: (?:fatal )?error: (.*)")
_FLAGS = ["-w", "-O0", "-g", "-gdwarf-4", "-fno-pie", "-no-pie", "-fno-omit-frame-pointer"]
_THROUGH = frozenset(f"DW_TAG_{name}_type" for name in ("const", "volatile", "restrict", "atomic")) | {"DW_TAG_typedef"}


@dataclass
class Look:
    """What was seen of one function. `said`: why, or the pointers that lead nowhere."""

    function: str
    verdict: str
    said: list[str] = field(default_factory=list)
    pointers: int = 0  # that were not null, over all snapshots
    unions: int = 0  # pointers in unions that were not looked at


@dataclass(frozen=True)
class _Snapshot:
    frame: int  # as debug information counts it
    blocks: tuple[tuple[int, int], ...]
    pieces: tuple[tuple[int, bytes], ...]


def look_at(path: Path, cflags: Sequence[str], folder: Path, spoil: tuple[str, str] | None = None) -> list[Look]:
    """Each function that a file defines. `spoil`: a text of the harnesses and what is put in its place, for tests of
    this."""
    toolchain = Toolchain(find_board("native", None, None))
    text = own_names.set_apart(preprocess("gcc", toolchain.preprocessor_flags(list(cflags)), path))
    source = Source(path, text)
    plain, model = Source(path, without_main(text)), toolchain.data_model(tuple(cflags))
    made: dict[Function, Made] = {}
    looks: list[Look] = []
    with kept_trees():
        for number, function in enumerate(functions([source]), 1):
            try:
                made[function] = make([plain], function, number, model, Hints())
            except ScoreError as error:
                looks.append(Look(function.name, NOT_MADE, [str(error)]))
    while True:
        texts = [f'\n# {one.number * LINES + 1} "{HARNESS_FILE}"\n{one.text}' for one in made.values()]
        joined = "".join(texts)
        if spoil is not None:
            assert spoil[0] in joined
            joined = joined.replace(*spoil)
        wrong = _compile(plain.text + joined, list(made.values()), folder)
        if not wrong:
            break
        for function, one in list(made.items()):
            if one.number in wrong:
                looks.append(Look(function.name, NOT_MADE, [wrong[one.number]]))
                del made[function]
    program = _Program(folder / "program")
    for function, one in made.items():
        looks.append(program.look(function, one.number, folder / f"{one.number}.memory"))
    return looks


def _compile(text: str, made: Sequence[Made], folder: Path) -> dict[int, str]:
    """The program; or which harnesses are no C. Raises ValueError for any other complaint."""
    most = max((one.number for one in made), default=0)
    rows = {one.number: f"(int (*)(void)) {one.root}" for one in made}
    declared = "".join(f"extern int {one.root}(void);\n" for one in made)
    table = ", ".join(rows.get(number, "0") for number in range(most + 1))
    (folder / "table.c").write_text(f"{declared}int (*const entered_table[])(void) = {{{table}}};\n")
    (folder / "file.i").write_text(text, encoding="utf-8", errors="surrogateescape")
    own = [*_FLAGS, "-finstrument-functions", "-fpreprocessed", "-fmax-errors=0", "-c", "file.i", "-o", "file.o"]
    done = subprocess.run(["gcc", *own], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        found = {int(match[1]) // LINES: match[2] for match in _ERROR.finditer(done.stderr)}
        if not found:
            raise ValueError(done.stderr[:500])
        return found
    link = [*_FLAGS, "-Wl,--wrap=malloc,--wrap=calloc,--unresolved-symbols=ignore-all"]
    link += ["-Wl,-z,lazy", str(HOOK), "table.c", "file.o", "-lm", "-o", "program"]
    subprocess.run(["gcc", *link], cwd=folder, capture_output=True, text=True, timeout=300, check=True)
    return {}


class _Program:
    def __init__(self, path: Path) -> None:
        self._path = path
        elf = ELFFile(BytesIO(path.read_bytes()))
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = [(s["st_value"], s["st_size"], s["st_info"]["type"], s.name) for s in table.iter_symbols()]
        self._code = {at for at, _, kind, _ in symbols if kind == "STT_FUNC" and at}
        objects = {
            at: size
            for at, size, kind, name in symbols
            if kind == "STT_OBJECT" and size and not name.startswith("entered_")
        }
        self._constants = [
            (s["sh_addr"], s.data())
            for s in elf.iter_sections()
            if s["sh_flags"] & 2 and s["sh_type"] == "SHT_PROGBITS"
        ]
        for section in elf.iter_sections():
            if section.name == ".rodata":
                self._texts = (section["sh_addr"], section["sh_addr"] + section["sh_size"])
        self._objects = sorted(objects.items())
        self._starts = [at for at, _ in self._objects]
        dwarf = elf.get_dwarf_info()
        self._unit = next(unit for unit in dwarf.iter_CUs() if _defines(unit, ENTRY))
        self._functions = {
            _name(die): die for die in self._unit.get_top_DIE().iter_children() if "DW_AT_low_pc" in die.attributes
        }
        self._expressions = DWARFExprParser(self._unit.structs)

    def look(self, function: Function, number: int, memory: Path) -> Look:
        die = self._functions.get(own_names.emitted(function.name))
        if die is None:
            return Look(function.name, NOT_ENTERED, ["the compiler left it out"])
        at = hex(die.attributes["DW_AT_low_pc"].value)
        command = [str(self._path), str(number), at, str(TRIES), str(SNAPSHOTS), str(memory)]
        done = subprocess.run(command, capture_output=True, timeout=900, check=False)
        if done.returncode:
            return Look(function.name, NOT_ENTERED, [f"in none of {TRIES} tries"])
        seen = Look(function.name, GOOD)
        has_pointers = False
        for snapshot in _snapshots(memory.read_bytes()):
            for parameter in die.iter_children():
                if parameter.tag == "DW_TAG_formal_parameter":
                    kind = parameter.get_DIE_from_attribute("DW_AT_type")
                    has_pointers = has_pointers or _has_pointer(kind)
                    place = self._place(parameter, snapshot.frame)
                    _Walk(self, snapshot, seen).value(place, kind, _name(parameter), 0)
        memory.unlink()
        if seen.said:
            seen.verdict, seen.said = WILD, sorted(set(seen.said))
        elif not has_pointers:
            seen.verdict = NO_POINTER
        elif not seen.pointers:
            seen.verdict = ALL_NULL
        return seen

    def _place(self, parameter: DIE, frame: int) -> int:
        (step,) = self._expressions.parse_expr(parameter.attributes["DW_AT_location"].value)
        assert step.op_name == "DW_OP_fbreg", step
        return frame + int(step.args[0])

    def object_at(self, address: int, snapshot: _Snapshot) -> tuple[int, int] | None:
        """Begin and end of what an address leads into; one past its end is in it, too."""
        for begin, size in snapshot.blocks:
            if begin <= address <= begin + size:
                return begin, begin + size
        index = bisect_right(self._starts, address) - 1
        if index >= 0:
            begin, size = self._objects[index]
            if address <= begin + size:
                return begin, begin + size
        begin, data = snapshot.pieces[-1]  # the frames of the harness
        if snapshot.frame <= address < begin + len(data):
            return address, begin + len(data)
        if self._texts[0] <= address < self._texts[1]:
            return address, address  # texts have no names
        return None

    def ends_at(self, address: int, snapshot: _Snapshot) -> bool:
        """Whether an object ends there; another one may begin."""
        index = bisect_left(self._starts, address) - 1
        is_static = index >= 0 and sum(self._objects[index]) == address
        return is_static or any(begin + size == address for begin, size in snapshot.blocks)

    def is_code(self, address: int) -> bool:
        return address in self._code

    def read(self, address: int, size: int, snapshot: _Snapshot) -> bytes | None:
        for begin, data in (*snapshot.pieces, *self._constants):
            if begin <= address and address + size <= begin + len(data):
                return data[address - begin : address - begin + size]
        return None


class _Walk:
    """What can be reached from one argument."""

    def __init__(self, program: _Program, snapshot: _Snapshot, seen: Look) -> None:
        self._program, self._snapshot, self._seen = program, snapshot, seen
        self._known: set[tuple[int, int]] = set()

    def value(self, address: int, kind: DIE | None, label: str, depth: int) -> None:
        kind = _plain(kind)
        if kind is None or depth > _MOST_DEPTH or (address, kind.offset) in self._known or not _has_pointer(kind):
            return
        self._known.add((address, kind.offset))
        if kind.tag == "DW_TAG_pointer_type":
            self._pointer(address, kind, label, depth)
        elif kind.tag == "DW_TAG_structure_type":
            for member in _members(kind):
                at = address + member.attributes["DW_AT_data_member_location"].value
                self.value(at, member.get_DIE_from_attribute("DW_AT_type"), f"{label}.{_name(member)}", depth + 1)
        elif kind.tag == "DW_TAG_union_type":
            members = [_plain(member.get_DIE_from_attribute("DW_AT_type")) for member in _members(kind)]
            if all(member is not None and member.tag == "DW_TAG_pointer_type" for member in members):
                self.value(address, members[0], f"{label}.*", depth + 1)
            else:
                self._seen.unions += 1
        elif kind.tag == "DW_TAG_array_type":
            element = kind.get_DIE_from_attribute("DW_AT_type")
            for index in range(min(_count(kind), _MOST_ELEMENTS)):
                self.value(address + index * _size(element), element, f"{label}[{index}]", depth + 1)

    def _pointer(self, address: int, kind: DIE, label: str, depth: int) -> None:
        data = self._program.read(address, _POINTER, self._snapshot)
        if data is None:
            return  # behind the end of what it lies in
        value = int.from_bytes(data, "little")
        if not value:
            return
        self._seen.pointers += 1
        to = _plain(kind.get_DIE_from_attribute("DW_AT_type")) if "DW_AT_type" in kind.attributes else None
        if to is not None and to.tag == "DW_TAG_subroutine_type":
            if not self._program.is_code(value):
                self._seen.said.append(f"{label}: no function")
            return
        found = self._program.object_at(value, self._snapshot)
        if found is None:
            self._seen.said.append(f"{label}: no object")
        elif to is not None and (size := _size(to)):
            said = len(self._seen.said)
            for index in range(min((found[1] - value) // size, _MOST_ELEMENTS)):
                self.value(value + index * size, to, f"{label}[{index}]", depth + 1)
            if self._program.ends_at(value, self._snapshot):
                del self._seen.said[said:]  # perhaps it is that object's end, and leads to nothing


def _snapshots(data: bytes) -> Iterator[_Snapshot]:
    at = 0
    while at < len(data):
        (frame,) = unpack_from("<Q", data, at)
        at += 8
        blocks: list[tuple[int, int]] = []
        while (pair := unpack_from("<QQ", data, at)) != (0, 0):
            blocks.append((pair[0], pair[1]))
            at += 16
        at += 16
        pieces: list[tuple[int, bytes]] = []
        while (pair := unpack_from("<QQ", data, at)) != (0, 0):
            pieces.append((pair[0], data[at + 16 : at + 16 + pair[1]]))
            at += 16 + pair[1]
        at += 16
        yield _Snapshot(frame, tuple(blocks), tuple(pieces))


# Debug information -----------------------------------------------------------------------------------------------------


def _name(die: DIE) -> str:
    found = die.attributes.get("DW_AT_name")
    return found.value.decode() if found is not None else ""


def _defines(unit: Any, prefix: str) -> bool:
    children = unit.get_top_DIE().iter_children()
    return any(_name(die).startswith(prefix) and "DW_AT_low_pc" in die.attributes for die in children)


def _plain(kind: DIE | None) -> DIE | None:
    while kind is not None and kind.tag in _THROUGH:
        kind = kind.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in kind.attributes else None
    return kind


def _members(kind: DIE) -> Iterator[DIE]:
    for child in kind.iter_children():
        has_place = kind.tag == "DW_TAG_union_type" or "DW_AT_data_member_location" in child.attributes
        if child.tag == "DW_TAG_member" and has_place and "DW_AT_bit_size" not in child.attributes:
            yield child


def _count(kind: DIE) -> int:
    """Elements of an array; none if nobody says how many."""
    total = 1
    for child in kind.iter_children():
        bound = child.attributes.get("DW_AT_upper_bound") or child.attributes.get("DW_AT_count")
        if bound is None or describe_form_class(bound.form) != "constant":
            return 0
        total *= bound.value + 1 if bound.name == "DW_AT_upper_bound" else bound.value
    return total


def _size(kind: DIE | None) -> int:
    kind = _plain(kind)
    if kind is None:
        return 0
    if kind.tag == "DW_TAG_array_type":
        return _count(kind) * _size(kind.get_DIE_from_attribute("DW_AT_type"))
    size = kind.attributes.get("DW_AT_byte_size")
    return size.value if size is not None else 0


def _has_pointer(kind: DIE | None) -> bool:
    """Whether an object of the type has a pointer in itself."""
    kind = _plain(kind)
    if kind is None:
        return False
    if kind.tag == "DW_TAG_pointer_type":
        return True
    if kind.tag == "DW_TAG_array_type":
        return _has_pointer(kind.get_DIE_from_attribute("DW_AT_type"))
    if kind.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
        return any(_has_pointer(member.get_DIE_from_attribute("DW_AT_type")) for member in _members(kind))
    return False


def counted(looks: Sequence[Look]) -> Counter[str]:
    return Counter(look.verdict for look in looks)
