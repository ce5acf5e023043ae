"""Where standard output goes must not change what a command says: a reader that left, a full disk, none, a poor
encoding."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = f"{sys.executable} -m score_embed.cli.main"
BUG = '#include "score.h"\nint main(void) { unsigned char c; SYM_U8(c); SCORE_ASSERT(c != 7); return 0; }\n'
CLEAN = BUG.replace("SCORE_ASSERT(c != 7)", "if (c == 7) return 1")


def shell(line: str, folder: Path) -> str:
    """What a line of bash prints to standard error."""
    command = ["bash", "-c", line.replace("score-embed", COMMAND)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.stderr


@pytest.mark.parametrize("form", ["", "--json"])
@pytest.mark.parametrize(("text", "code"), [(BUG, 1), (CLEAN, 0)], ids=["bug", "clean"])
def test_a_reader_that_left_does_not_change_how_a_campaign_ended(
    form: str, text: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "p.c").write_text(text)
    said = shell(f"(score-embed run {form} p.c; echo code $? >&2) | true", tmp_path)
    assert said.splitlines()[-1:] == [f"code {code}"], said
    assert "Traceback" not in said


def test_other_commands_and_other_ends_of_the_output(tmp_path: Path) -> None:
    (tmp_path / "ü.c").write_text(CLEAN)
    said = shell("PYTHONIOENCODING=ascii score-embed run --out o ü.c > printed; echo code $? >&2", tmp_path)
    assert said.endswith("code 0\n"), said
    assert "? on native: exhausted" in (tmp_path / "printed").read_text()
    for command in ("report o", "replay o", "boards"):
        assert shell(f"(score-embed {command}; echo code $? >&2) | true", tmp_path) == "code 0\n"
        assert shell(f"score-embed {command} >&-; echo code $? >&2", tmp_path) == "code 0\n"
        full = shell(f"score-embed {command} > /dev/full; echo code $? >&2", tmp_path)
        assert full.startswith("standard output: error: cannot write: No space left on device\n"), full
        assert full.endswith("code 74\n"), full


def test_a_long_name_is_cut_in_that_of_the_folder(tmp_path: Path) -> None:
    name = "ü" * 120
    (tmp_path / f"{name}.c").write_text(CLEAN)
    said = shell(f"score-embed run {name}.c; echo code $? >&2", tmp_path)
    assert said.endswith("code 0\n"), said
    assert (tmp_path / "score-out" / "latest").exists()


def test_an_emulator_that_ends_at_once_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(CLEAN)
    (tmp_path / "b.yaml").write_text("extends: mps2-an385\nqemu: {machine: nosuch}\n")
    said = shell("score-embed run --board b.yaml p.c; echo code $? >&2", tmp_path)
    assert "unsupported machine type" in said
    assert said.endswith("code 4\n"), said


def test_what_a_constructor_writes_is_not_ours(tmp_path: Path) -> None:
    early = '#include <unistd.h>\n__attribute__((constructor)) void early(void) { write(1, "early\\n", 6); }\n'
    (tmp_path / "p.c").write_text(early + CLEAN)
    shell("score-embed run --json p.c > printed", tmp_path)
    assert json.loads((tmp_path / "printed").read_text())["paths"] == 2
