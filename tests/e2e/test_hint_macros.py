"""Hints may use the macros of the file that they say something of, as the code beside it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import BOARDS, explore, score_embed

HEADER = """
#include <stdbool.h>
#include <stddef.h>
#define ROOM 4
#define FITS(n) ((n) >= 0 && (n) < ROOM)
"""
CODE = """
#include "p.h"
#define LOCAL (ROOM - 1)
struct ring { int used; bool on; };
static int table[ROOM];
int at(int used) { return table[used]; }
int of(struct ring *r) { return table[r->on ? 0 : r->used]; }
int count(const int *items, unsigned n) { return n ? items[n - 1] : table[ROOM - 1]; }
"""
FUNCTIONS = {
    "assume": ("at", "functions: {at: {assume: [FITS(used)]}}"),
    "range": ("at", "functions: {at: {used: {range: [0, LOCAL]}}}"),
    "value": ("of", "functions: {of: {r->used: {value: LOCAL}}}"),
    "a structure": ("of", "types: {ring: {assume: [FITS(self->used)]}}"),
    "a member": ("of", "types: {ring.used: {range: [0, LOCAL]}}"),
    "a word of C": ("of", 'functions: {of: {assume: ["r != NULL", "r->on == true"]}}'),
    "what is called first": ("of", 'functions: {of: {call first: ["r->used = LOCAL"]}}'),
    "a refused condition": ("at", "refuse: {at(used < 0): never, at(used > LOCAL): never}"),
    "count": ("count", "functions: {count: {items: {count: ROOM}, n: {range: [0, ROOM]}}}"),
}


def _bugs(folder: Path, function: str, hints: str, *options: str, code: str = CODE) -> set[str]:
    files = {"p.h": HEADER, "p.c": code} | ({"score-hints.yaml": hints} if hints else {})
    found = explore(folder, files, "--entry", function, "--time", "20s", "--no-witness", *options)
    assert found.summary["paths"]
    return {bug["kind"] for bug in found.summary["bugs"]}


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("where", FUNCTIONS)
def test_a_file_is_where_macros_come_from(tmp_path: Path, where: str, board: str) -> None:
    function, hints = FUNCTIONS[where]
    assert not _bugs(tmp_path, function, hints, "--board", board)


def test_without_the_hints_there_are_bugs(tmp_path: Path) -> None:
    for function in ("at", "of"):
        (tmp_path / function).mkdir()
        assert _bugs(tmp_path / function, function, "") == {"out-of-bounds"}


def test_the_command_line_and_comments_have_them_too(tmp_path: Path) -> None:
    for name in ("line", "comment"):
        (tmp_path / name).mkdir()
    assert not _bugs(tmp_path / "line", "at", "", "--assume", "FITS(used)")
    code = CODE.replace("int at(", "/* score: used in 0..LOCAL */\nint at(")
    found = explore(tmp_path / "comment", {"p.h": HEADER, "p.c": code}, "--entry", "at", "--no-witness")
    assert not found.summary["bugs"]


def test_null_is_known_without_a_header(tmp_path: Path) -> None:
    code = "int first(const int *p) { return p ? *p : 1 / 0; }\n"
    (tmp_path / "p.c").write_text(code)
    done = score_embed("run", "--entry", "first", "--assume", "p != NULL", "--no-witness", "p.c", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_file_has_its_own(tmp_path: Path) -> None:
    """Two files may call two things the same."""
    for name, room in (("a", 4), ("b", 8)):
        text = f"#define ROOM {room}\nstatic int table[ROOM];\nint {name}(int used) {{ return table[used]; }}\n"
        (tmp_path / f"{name}.c").write_text(text)
    hint = '{assume: ["used >= 0 && used < ROOM"]}'
    (tmp_path / "score-hints.yaml").write_text(f"functions: {{a: {hint}, b: {hint}}}\n")
    done = score_embed("unit", "a.c", "b.c", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 functions: 2 exhausted" in done.stdout
    for name, room in (("a", 4), ("b", 8)):
        told = score_embed("report", f"out/functions/{name}", cwd=tmp_path).stdout
        assert f"used < {room}" in told.replace("\n", " ")


def test_a_function_of_a_header_has_those_of_the_file_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text("static int table[4];\nstatic inline int h(int at) { return table[at]; }\n")
    (tmp_path / "a.c").write_text('#define ROOM 4\n#include "h.h"\nint a(int at) { return at > 2 ? h(1) : 0; }\n')
    (tmp_path / "score-hints.yaml").write_text('functions: {h: {assume: ["at >= 0 && at < ROOM"]}}\n')
    done = score_embed("unit", "a.c", "--function", "h", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 functions: 1 exhausted" in done.stdout


def test_a_harness_to_keep_can_be_built(tmp_path: Path) -> None:
    (tmp_path / "p.h").write_text(HEADER)
    (tmp_path / "p.c").write_text(CODE)
    (tmp_path / "score-hints.yaml").write_text("functions: {at: {assume: [FITS(used)]}}\n")
    assert score_embed("new", "at", "p.c", cwd=tmp_path).returncode == 0
    assert "< 4" in (tmp_path / "at_harness.c").read_text()
    done = score_embed("run", "at_harness.c", "--no-witness", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_called_first_may_be_a_macro(tmp_path: Path) -> None:
    code = CODE.replace("static int table", "#define RESET(r) ((r)->used = 0)\nstatic int table")
    assert not _bugs(tmp_path, "of", 'functions: {of: {call first: ["RESET(r)"]}}', code=code)


def test_what_is_no_macro_of_the_file_is_an_error_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "p.h").write_text(HEADER)
    (tmp_path / "p.c").write_text(CODE)
    (tmp_path / "h.yaml").write_text("functions:\n  at:\n    assume: [used < ROOMS]\n")
    done = score_embed("run", "--entry", "at", "--hints", "h.yaml", "p.c", cwd=tmp_path)
    assert done.returncode == 2
    assert "h.yaml:3" in done.stderr
    assert "ROOMS" in done.stderr
