"""What start-up reads of ELF files is what pyelftools reads, of each class; what is damaged is said."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from score_embed.image.elf import ABSOLUTE, LOCAL, OBJECT, UNDEFINED, Elf, NotElf

C = """
const int table[3] = { 1, 2, 3 };
int counter, started = 7;
static const char text[] = "abc";
int main(void) { return table[counter % 3] + started + text[counter]; }
"""
COMPILERS = ["gcc", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "avr-gcc"]


def compiled(compiler: str, folder: Path) -> Path:
    source, made = folder / "p.c", folder / "p.o"
    source.write_text(C)
    subprocess.run([compiler, "-c", str(source), "-o", str(made)], check=True, timeout=60)
    return made


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sections_and_symbols_are_those_of_pyelftools(compiler: str, tmp_path: Path) -> None:
    path = compiled(compiler, tmp_path)
    ours = Elf(path)
    with path.open("rb") as file:
        theirs = ELFFile(file)
        assert ours.bits == theirs.elfclass
        keys = ("sh_flags", "sh_addr", "sh_offset", "sh_size", "sh_link")
        assert [(s.name, *s[2:]) for s in ours.sections] == [
            (s.name, *(s[key] for key in keys)) for s in theirs.iter_sections()
        ]
        for section in theirs.iter_sections():
            found = ours.section(section.name)
            assert found is not None
            if section["sh_type"] not in ("SHT_NOBITS", "SHT_NULL"):
                assert ours.contents(found) == section.data()
        table = theirs.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        expected = [
            (
                *(s.name, s["st_value"], s["st_size"], s["st_info"]["type"] == "STT_OBJECT"),
                *(s["st_info"]["bind"] == "STB_LOCAL", s["st_shndx"] == "SHN_UNDEF", s["st_shndx"] == "SHN_ABS"),
            )
            for s in table.iter_symbols()
        ]
    assert [
        (
            *(name, s.value, s.size, s.kind == OBJECT),
            *(s.binding == LOCAL, s.section == UNDEFINED, s.section == ABSOLUTE),
        )
        for name, s in ours.named_symbols()
    ] == expected
    assert sum(of_object for _, _, _, of_object, *_ in expected) == 4


def test_more_sections_than_the_header_has_room_for(tmp_path: Path) -> None:
    text, made = tmp_path / "p.s", tmp_path / "p.o"
    text.write_text("".join(f'.section .data.s{n},"aw"\n.globl s{n}\ns{n}: .byte 0\n' for n in range(66_000)))
    subprocess.run(["as", str(text), "-o", str(made)], check=True, timeout=60)
    ours = Elf(made)
    assert {f".data.s{n}" for n in range(66_000)} <= {section.name for section in ours.sections}
    assert {f"s{n}" for n in range(66_000)} <= {name for name, symbol in ours.named_symbols() if symbol.section}


@pytest.mark.parametrize("kept", [0, 3, 20, 200])
def test_what_is_cut_off_is_no_elf_file(kept: int, tmp_path: Path) -> None:
    path = compiled("gcc", tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(NotElf):
        Elf(path)
