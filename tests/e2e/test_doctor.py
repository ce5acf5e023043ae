"""`score-embed doctor` says what is there, and what to do about what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runner import score_embed


@pytest.mark.parametrize("board", ["native", "arm-linux", "stm32"])
def test_all_is_well(board: str, tmp_path: Path) -> None:
    done = score_embed("doctor", "--board", board, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok  Z3: solves" in done.stdout
    assert "an image was built, started and answered" in done.stdout
    assert done.stdout.endswith("all is well\n")


def test_each_problem_has_a_fix(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("extends: stm32\nqemu: {machine: netduinoplus9}\n")
    (tmp_path / "b.yaml").write_text("extends: stm32\nmemory: {ram: {size: 2K}}\n")
    (tmp_path / "c.yaml").write_text("extends: stm32\ncompiler: no-such-gcc\npackages: {no-such-gcc: gcc-none}\n")
    (tmp_path / "d.yaml").write_text(
        "extends: arm-linux\nemulator: no-such-qemu\npackages: {no-such-qemu: qemu-none}\n"
    )
    for board, words in (
        ("a.yaml", ("knows no machine 'netduinoplus9'", "qemu: machine")),
        ("b.yaml", ("overflowed",)),
        ("c.yaml", ("'no-such-gcc'", "apt-get install gcc-none")),
        ("d.yaml", ("'no-such-qemu'", "apt-get install qemu-none")),
    ):
        done = score_embed("doctor", "--board", board, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (2, ""), board
        assert all(word in done.stdout for word in words), done.stdout
        assert "1 problem\n" in done.stdout


def test_without_tools_every_board_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "score_embed.cli.main", "doctor"]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert done.stdout.count("apt-get install") >= 9
    assert done.stderr == ""
