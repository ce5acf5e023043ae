"""What is taken from compile_commands.json, and complaints about files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from score_embed.errors import UsageError
from score_embed.image.compile_commands import defining, read_flags


def database(folder: Path, *entries: Any) -> Path:
    file = folder / "compile_commands.json"
    file.write_text(json.dumps(list(entries)), encoding="utf-8")
    return file


def one(folder: Path, *words: str) -> tuple[str, ...]:
    """The flags of a source that is compiled in `folder`/build with these words."""
    source = folder / "p.c"
    source.touch()
    entry = {"directory": str(folder / "build"), "file": "../p.c", "arguments": ["cc", *words, "-c", "../p.c"]}
    return read_flags(database(folder, entry), [source])[source]


def test_the_file_that_defines_a_function(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f(int);\nint g(int x) { return f(x); }\n")
    (tmp_path / "b.c").write_text("static int\nf (int x)\n{\n    return x;\n}\n")
    entries = [{"directory": str(tmp_path), "file": name, "command": f"cc -c {name}"} for name in ("a.c", "b.c")]
    file = database(tmp_path, *entries)
    assert [path.name for path in defining(file, "f")] == ["b.c"]
    assert [path.name for path in defining(file, "g")] == ["a.c"]
    with pytest.raises(UsageError, match="no C file of this build defines 'h'"):
        defining(file, "h")


def test_what_decides_the_meaning_is_taken(tmp_path: Path) -> None:
    words = ("-DA=1", "-D", "B", "-UC", "-std=c99", "-ansi", "-fshort-enums", "-fpack-struct=2", "-iquote", "/q")
    assert one(tmp_path, *words) == (
        *("-D", "A=1", "-D", "B", "-U", "C", "-std=c99", "-ansi", "-fshort-enums", "-fpack-struct=2", "-iquote", "/q"),
    )


def test_machine_optimisation_and_output_are_not(tmp_path: Path) -> None:
    words = ("-mcpu=cortex-m4", "-O3", "-Wall", "-g", "-flto", "-fcolor-diagnostics", "-MD", "-MF", "p.d", "-o", "p.o")
    assert one(tmp_path, *words) == ()


def test_paths_begin_where_the_command_is_run(tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    (build / "own.h").touch()
    words = ("-I.", "-isystem", "../sys", "-I/abs", "-I=/usr", "-include", "own.h", "-includeon/path.h")
    assert one(tmp_path, *words) == (
        *("-I", str(build), "-isystem", str(build / "../sys"), "-I", "/abs", "-I", "=/usr"),
        *("-include", str(build / "own.h"), "-include", "on/path.h"),
    )


def test_a_command_is_split_as_a_shell_does(tmp_path: Path) -> None:
    source = tmp_path / "my p.c"
    source.touch()
    entry = {"directory": ".", "file": "my p.c", "command": r"cc -DNAME=\"x\" '-DTEXT=a b' -c 'my p.c'"}
    later = {**entry, "command": "cc -DLATER -c 'my p.c'"}
    assert read_flags(database(tmp_path, entry, later), [source])[source] == ("-D", 'NAME="x"', "-D", "TEXT=a b")


def test_a_harness_need_not_be_listed(tmp_path: Path) -> None:
    harness = tmp_path / "h.c"
    harness.write_text('#include <stdio.h>\n # include "score.h"\n', encoding="utf-8")
    assert read_flags(database(tmp_path), [harness]) == {harness: ()}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "cannot read"),
        ("[\n{]", "not valid JSON"),
        ("\x80", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("{}", "no list"),
        ("[1]", "no list"),
        ("[]", "no entry for"),
        ('[{"file": "p.c", "command": "cc"}]', "'directory'"),
        ('[{"directory": ".", "command": "cc"}]', "'file'"),
        ('[{"directory": ".", "file": "\\u0000", "command": "cc"}]', "'file'"),
        ('[{"directory": ".", "file": "p.c"}]', "'command'"),
        ('[{"directory": ".", "file": "p.c", "arguments": [1]}]', "'command'"),
        ('[{"directory": ".", "file": "p.c", "command": "cc \'"}]', "cannot be read"),
    ],
)
def test_complaints(text: str | None, what: str, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text("int x;\n", encoding="utf-8")
    file = tmp_path / "compile_commands.json"
    if text is not None:
        file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as caught:
        read_flags(file, [source])
    assert what in caught.value.what
    assert caught.value.where.startswith(str(file))
    assert caught.value.hint
