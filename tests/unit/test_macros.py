"""C of hints without the macros of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.frontend.c.macros import expanded

FILE = """
#include <stdbool.h>
#include <stddef.h>
#define ROOM 32
#define LAST (ROOM - 1)
#define IS_ODD(n) ((n) % 2)
#define GONE 1
#undef GONE
int function(void) { return ROOM; }
"""


def made(folder: Path, *texts: str) -> dict[str, str]:
    path = folder / "f.c"
    path.write_text(FILE)
    return expanded("gcc", ["-DGIVEN=7"], path, texts)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("n <= ROOM", "n <= 32"),
        ("n <= LAST", "n <= (32 - 1)"),
        ("IS_ODD(p->n)", "((p->n) % 2)"),
        ("p->on == true", "p->on == 1"),
        ("n < GIVEN", "n < 7"),
        ("p != NULL", "p != ((void *)0)"),
        ("n\n  < ROOM", "n < 32"),
    ],
)
def test_macros_are_expanded(tmp_path: Path, text: str, plain: str) -> None:
    assert made(tmp_path, text) == {text: plain}


@pytest.mark.parametrize("text", ["n<3", "n < GONE", "function() > 3", "17", "", "IS_ODD(n", '"ROOM"'])
def test_what_has_none_stays_as_it_is(tmp_path: Path, text: str) -> None:
    assert made(tmp_path, text) == {}


def test_each_text_is_on_its_own(tmp_path: Path) -> None:
    assert made(tmp_path, "a < ROOM", "n < 3", "b < LAST") == {"a < ROOM": "a < 32", "b < LAST": "b < (32 - 1)"}


def test_null_needs_no_header(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("int x;\n")
    assert expanded("gcc", [], path, ["p != NULL"]) == {"p != NULL": "p != ((void *) 0)"}


def test_a_file_that_cannot_be_read_has_none(tmp_path: Path) -> None:
    assert expanded("gcc", [], tmp_path / "none.c", ["n < ROOM"]) == {}
    assert expanded("no-such-compiler", [], tmp_path / "none.c", ["n < ROOM"]) == {}
