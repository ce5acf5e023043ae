"""`--compile-commands`: each file is understood as the project's own build understands it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner import BOARDS, explore_files, score_embed

HARNESS = """#include "score.h"
int low(int x), high(int x);
int main(void) { unsigned char x; SYM_U8(x); SCORE_ASSERT(!low(x) || !high(x)); return 0; }
"""
LOW = '#include "limit.h"\nint low(int x) { return x < LIMIT; }\n'
HIGH = "int high(int x) { return x > LIMIT && FORCED; }\n"


def project(folder: Path) -> list[Path]:
    """Two files that name the same macro and mean different values; their build is in a folder of its own."""
    for name, text in {"h.c": HARNESS, "low.c": LOW, "high.c": HIGH, "inc/limit.h": "#define LIMIT 101\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "build").mkdir()
    (folder / "build" / "forced.h").write_text("#define FORCED 1\n", encoding="utf-8")
    place = str(folder / "build")
    entries = [
        {"directory": place, "file": "../low.c", "command": "some-cc -I../inc -mcpu=none -Werror -c ../low.c"},
        {"directory": place, "file": "../high.c", "arguments": ["cc", "-DLIMIT=99", "-include", "forced.h"]},
    ]
    (folder / "build" / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    return [folder / name for name in ("h.c", "low.c", "high.c")]


@pytest.mark.parametrize("board", BOARDS)
def test_each_file_has_its_own_flags(board: str, tmp_path: Path) -> None:
    sources = project(tmp_path)
    database = str(tmp_path / "build" / "compile_commands.json")
    found = explore_files(tmp_path, sources, "--board", board, "--compile-commands", database)
    assert found.summary["stopped"] == "exhausted"
    (bug,) = found.summary["bugs"]
    assert bug["inputs"]["x"] == 100


def test_native_files_too(tmp_path: Path) -> None:
    sources = project(tmp_path)
    database = str(tmp_path / "build" / "compile_commands.json")
    options = ("--compile-commands", database, "--native", "low.c")
    found = explore_files(tmp_path, [sources[0], sources[2]], *options)
    assert found.summary["runs"] >= 1


def test_a_source_the_build_does_not_know(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "other.c").write_text("int other;\n", encoding="utf-8")
    done = score_embed("run", "--compile-commands", "build/compile_commands.json", "h.c", "other.c", cwd=tmp_path)
    assert done.returncode == 2
    assert "no entry for other.c" in done.stderr
    assert not list(tmp_path.glob("score-out/*"))


def test_files_that_disagree_on_types(tmp_path: Path) -> None:
    sources = project(tmp_path)
    database = tmp_path / "build" / "compile_commands.json"
    entries = json.loads(database.read_text(encoding="utf-8"))
    entries[1]["arguments"].append("-funsigned-char")
    database.write_text(json.dumps(entries), encoding="utf-8")
    done = score_embed("run", "--compile-commands", str(database), *map(str, sources), cwd=tmp_path)
    assert done.returncode == 2
    assert "high.c: error: its flags give C other types" in done.stderr
