"""Which variables of an image are listed, and in which order."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from score_embed.image.extents import Extent, arranged, merged, nameless, packed, tabled
from score_embed.image.objects import empty_names

OBJECTS = [Extent(0x10, 4), Extent(0x14, 4), Extent(0x20, 16), Extent(0x24, 4), Extent(0x40, 8), Extent(0x50, 1)]


def test_they_are_sorted_and_each_is_there_once() -> None:
    assert arranged([0x40, 0x10, 0x40], OBJECTS, set(), []) == [Extent(0x10, 4), Extent(0x40, 8)]


def test_what_is_no_object_is_left_out() -> None:
    """A symbol without a size, or one in the middle of a variable."""
    assert arranged([0x12, 0x30, 0x40], OBJECTS, set(), []) == [Extent(0x40, 8)]


def test_none_lies_in_another() -> None:
    assert arranged([0x24, 0x20], OBJECTS, set(), []) == [Extent(0x20, 16)]


def test_where_a_symbol_of_the_linker_stands_nothing_is_known() -> None:
    assert arranged([0x10, 0x14], OBJECTS, {0x10}, []) == [Extent(0x14, 4, behind_unknown=True)]


def test_what_may_end_where_one_begins() -> None:
    """The object before it, if that is not listed; between constants a text, which has no name. In RAM between objects
    is nothing."""
    assert arranged([0x10, 0x14], OBJECTS, set(), [(0, 0x100)])[1] == Extent(0x14, 4), "that is listed"
    assert arranged([0x14], OBJECTS, set(), []) == [Extent(0x14, 4, behind_unknown=True)]
    assert arranged([0x40], OBJECTS, set(), []) == [Extent(0x40, 8)]
    assert arranged([0x40], OBJECTS, set(), [(0x38, 0x80)]) == [Extent(0x40, 8, behind_unknown=True)]
    assert arranged([0x40], OBJECTS, set(), [(0x40, 0x80)]) == [Extent(0x40, 8)], "the first of its section"


def test_literals_have_no_symbols_but_sizes_of_their_own() -> None:
    entries = [(0x30, 0x8004), (0x60, 0x8009), (0x62, 0x8007), (0x10, 4), (0x50, 0x8002)]
    texts = nameless(entries, 2)
    assert texts == [Extent(0x30, 4), Extent(0x60, 9), Extent(0x62, 7), Extent(0x50, 2)]
    objects = merged(OBJECTS, texts)
    found = arranged([at for at, _ in entries], objects, set(), [(0x20, 0x80)])
    assert [(e.address, e.size) for e in found] == [(0x10, 4), (0x30, 4), (0x50, 2), (0x60, 9)], "one in another's end"


def test_a_list_that_is_no_longer_than_it_was() -> None:
    """Entries that are left over are behind every address, and empty."""
    words = packed([Extent(0x10, 4, behind_unknown=True)], 2, 2)
    assert words == bytes([0x10, 0, 4, 0x80, 0xFF, 0xFF, 0, 0])


def test_objects_of_one_size_in_a_section_of_the_programs_are_a_table() -> None:
    objects = [Extent(0, 4), Extent(4, 4), Extent(8, 8), Extent(16, 8), Extent(24, 4), Extent(32, 4), Extent(36, 4)]
    expected = [Extent(0, 4), Extent(4, 4), Extent(8, 16), Extent(24, 4), Extent(32, 8)]
    assert tabled(objects, [(8, 40)]) == expected


@pytest.mark.parametrize("flags", [(), ("-fdata-sections",)])
def test_marks_are_empty_arrays_in_sections_of_the_program_s(tmp_path: Path, flags: tuple[str, ...]) -> None:
    source = tmp_path / "p.c"
    source.write_text(
        """
        struct empty { };
        static struct empty nothing;
        struct empty given = { };
        int none[0];
        int begin[0] __attribute__((section("table")));
        int end[0] __attribute__((section(".data.table")));
        int full[1] __attribute__((section("table"))) = {1};
        const void *uses(void) { static struct empty local; return none[0] ? &local : &nothing; }
        """
    )
    subprocess.run(["gcc", "-w", *flags, "-c", source, "-o", tmp_path / "p.o"], check=True, timeout=60)
    assert empty_names([tmp_path / "p.o"]) == {"begin", "end"}
