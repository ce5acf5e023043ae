"""Parts of `score-embed unit`: rows and their file, many entries in one text, flags that are left out, the Makefile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from score_embed.board.profile import find_board
from score_embed.contract.program import Source
from score_embed.errors import StorageError, UsageError
from score_embed.frontend.c.parse import kept_trees, parse
from score_embed.frontend.harness.entries import Function, assembled, functions, make
from score_embed.frontend.harness.hints import Hints
from score_embed.frontend.harness.scope import Scopes
from score_embed.frontend.types.ctype import Types
from score_embed.image.compile_commands import dropped_flags, known_sources
from score_embed.image.group import Contents
from score_embed.image.missing import missing_names
from score_embed.image.toolchain import Toolchain
from score_embed.report import unit_table, unity
from score_embed.unit.parts import Part, parted
from score_embed.unit.rows import Book

CODE = """struct s { int a; };
static int twice(int x) { return 2 * x; }
int f(const struct s *s, int (*g)(int)) { return g ? g(s->a) : twice(s->a); }
int main(void) { return 0; }
"""


def test_functions_of_a_file() -> None:
    found = functions([Source(Path("p.c"), CODE)])
    assert [(one.name, one.line) for one in found] == [("twice", 2), ("f", 3)]


def test_harnesses_stand_side_by_side() -> None:
    model = Toolchain(find_board("native")).data_model(())
    sources = [Source(Path("p.c"), CODE.replace("main", "__score_main"))]
    wanted = [Function("twice", "p.c", 2, "p.c"), Function("f", "p.c", 3, "p.c")]
    scopes = Scopes(Types(model), sources)
    with kept_trees():
        kept = [make(sources, function, number, model, Hints(), scopes) for number, function in enumerate(wanted, 1)]
    alone = [make(sources, function, number, model, Hints()) for number, function in enumerate(wanted, 1)]
    assert [one.text for one in kept] == [one.text for one in alone]
    (text,) = (source.text for source in assembled(sources, kept, model))
    names = [ext.decl.name for ext in parse(text, "p.c").ext if type(ext).__name__ == "FuncDef"]
    assert len(names) == len(set(names))
    assert {"score_entry_1", "score_entry_2", "main"} < set(names)
    assert '# 10001 "<entry>"' in text
    assert "case 2: return score_entry_2();" in text


def test_files_that_go_together() -> None:
    """A mock makes way for three files; of two programs with a name in common the second does, and takes what it
    needs along, but nothing that is in its way."""
    lib, io, mock, one, two = map(Path, ("lib.c", "io.c", "mock.c", "one.c", "two.c"))

    def file(defines: str, words: str = "") -> Contents:
        return Contents((), frozenset(defines.split()), frozenset((*defines.split(), *words.split())))

    files = {
        mock: file("read sum write"),
        lib: file("sum", "read"),
        io: file("read log"),
        one: file("error write"),
        two: file("error log", "sum read"),
    }
    assert list(parted(files)) == [
        Part((lib, io, one), frozenset((lib, io, one))),
        Part((mock,), frozenset((mock,)), "mock.c and io.c both define 'read'"),
        Part((two, lib), frozenset((two,)), "two.c and one.c both define 'error'"),
    ]
    assert list(parted({lib: files[lib]})) == [Part((lib,), frozenset((lib,)))]


def test_a_tree_is_kept_only_within() -> None:
    with kept_trees():
        assert parse("int x;", "a.c") is parse("int x;", "a.c")
        assert parse("int x;", "a.c") is not parse("int x;", "b.c")
    assert parse("int x;", "a.c") is not parse("int x;", "a.c")


def test_what_the_linker_misses(tmp_path: Path) -> None:
    own = tmp_path / "own.c"
    own.write_text("int mine(void) { return 1; }\n")
    wanted = {"strlen": "strlen", "mine": "mine", "other": "other", "end": "end", "names": "names", "renamed": "puts"}
    found = missing_names(Toolchain(find_board("native")), wanted, [own], [], {own: ()})
    assert found == {"other", "names"}


def test_flags_that_are_left_out(tmp_path: Path) -> None:
    words = [
        "gcc",
        "-mcpu=cortex-m4",
        "-I",
        "inc",
        "-Iother",
        "-DX=1",
        "-std=c99",
        "-O2",
        "-o",
        "x.o",
        "-MF",
        "x.d",
        "-MMD",
    ]
    words += ["-target", "arm-none-eabi", "-fshort-enums", "-Wall", "-c", "a.c"]
    entries = [{"directory": str(tmp_path), "file": name, "arguments": words} for name in ("a.c", "gone.c")]
    (tmp_path / "a.c").write_text("int x;\n")
    file = tmp_path / "compile_commands.json"
    file.write_text(json.dumps(entries))
    assert known_sources(file) == [tmp_path / "a.c"]
    assert dropped_flags(file, [tmp_path / "a.c"]) == ["-mcpu=cortex-m4", "-O2", "-target arm-none-eabi", "-Wall"]
    file.write_text("[]")
    with pytest.raises(UsageError, match="no C file"):
        known_sources(file)


def test_rows_are_kept(tmp_path: Path) -> None:
    book = Book(tmp_path, ["a.c"], ["time=3"])
    book.add([("f", "a.c", 3), ("f", "b.c", 7), ("f", "a.c", 3)])
    assert [row.folder for row in book.rows] == ["functions/f", "functions/f-b-7"]
    book.rows[0].stopped, book.rows[0].within = "exhausted", ("x ≤ 3",)
    book.save()
    again = Book(tmp_path, ["a.c"], ["time=3"])
    assert again.rows == book.rows
    with pytest.raises(UsageError, match="another run"):
        Book(tmp_path, ["a.c"], ["time=4"])
    (tmp_path / "unit.json").write_text("{")
    with pytest.raises(StorageError):
        Book(tmp_path, ["a.c"], ["time=3"])


def test_a_row_in_words(tmp_path: Path) -> None:
    book = Book(tmp_path, [], [])
    book.add([("f", "a.c", 3), ("g", "a.c", 9)])
    row = book.rows[0]
    row.stopped, row.within, row.paths, row.covered, row.branches, row.bugs = (
        "exhausted",
        ("a", "b", "c", "d"),
        7,
        3,
        4,
        2,
    )
    assert unit_table.line(row) == "f: 7 paths, branches 3/4, bugs 2; exhausted within a, b, c and 1 more"
    row.why = "a.c:1: it is so; a.c:2: and so; b"
    assert unit_table.ended(row) == "exhausted within a, b, c and 1 more: a.c:1: it is so and 2 more"
    assert list(unit_table.totals(book.rows, ["note"])) == [
        "note",
        "2 functions: 1 exhausted, 1 not explored yet; 7 paths, branches of their own 3/4 (75 %), bugs 2",
    ]


def test_a_makefile_for_odd_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources = {Path("a b.c"): ["-DX='$1#'"], Path("c.c"): []}
    text = unity.makefile(["test_f"], sources, {"test_f": Path("a b.c")}, tmp_path / "out" / "tests")
    assert "test_f: test_f.c unity.o program1.o\n" in text
    assert """-I$(UNITY) '-DX='"'"'$$1\\#'"'"'' -w""" in text
    assert "program0.o: ../../a\\ b.c\n" in text
