"""`score-embed doctor` says what is there, and what to do about what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rig import opened, rig, write_profile
from runner import score_embed

from score_embed.device.port import PortLock


@pytest.mark.parametrize("board", ["native", "arm-linux", "stm32"])
def test_all_is_well(board: str, tmp_path: Path) -> None:
    done = score_embed("doctor", "--board", board, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok  Z3: solves" in done.stdout
    assert "ok  Bitwuzla: solves" in done.stdout
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
        ("b.yaml", ("RAM is too small", "`stack` and `buffers`")),
        ("c.yaml", ("'no-such-gcc'", "apt-get install gcc-none")),
        ("d.yaml", ("'no-such-qemu'", "apt-get install qemu-none")),
    ):
        done = score_embed("doctor", "--board", board, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (2, ""), board
        assert all(word in done.stdout for word in words), done.stdout
        assert "1 problem\n" in done.stdout


def said(folder: Path, code: int, *words: str) -> str:
    done = score_embed("doctor", "--board", "desk.yaml", *words, cwd=folder)
    assert (done.returncode, done.stderr) == (code, ""), done.stdout
    return done.stdout


def test_a_board_on_the_desk(tmp_path: Path) -> None:
    write_profile(tmp_path, line={"port": ""})
    assert "no  profile: no serial port is given for the board 'desk'" in said(tmp_path, 2)
    write_profile(tmp_path)
    assert "no  port: there is no ./port\n      Plug it in" in said(tmp_path, 2)
    with rig(tmp_path):
        found = said(tmp_path, 2)
        assert "ok  commands: cp found\n  ok  port: ./port is free\n" in found
        assert "no  board: nothing came from the board within 1 s\n      Is the board powered" in found
        assert not (tmp_path / "flash.elf").exists()
        done = score_embed("doctor", "--board", "desk.yaml", "--flash", cwd=tmp_path)
        assert (done.returncode, "flashing the board" in done.stderr) == (0, True)
        assert "an image was built, started and answered" in done.stdout
        assert "ok  board: it answers; the target runs another image: found build " in said(tmp_path, 0)
        assert "nothing came" in said(tmp_path, 2, "--port", "/dev/ptmx")
        lock = PortLock(str(tmp_path / "port"))
        assert f"no  port: ./port is in use by score-embed, process {os.getpid()} of " in said(tmp_path, 2)
        lock.release()
        with opened(tmp_path / "port"):
            assert f"no  port: ./port is in use by python3 (process {os.getpid()})" in said(tmp_path, 2).replace(
                Path("/proc/self/comm").read_text().strip(), "python3"
            )
        write_profile(tmp_path, power={"off": "no-such-relay", "on": "true"})
        assert "no  commands: the program 'no-such-relay' (`power: off`) is not there" in said(tmp_path, 2)
    write_profile(tmp_path, run="command", command=["sh", "-c", "echo no route >&2"])
    assert "the program that leads to the board ended: no route" in said(tmp_path, 2)


def test_without_tools_every_board_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "score_embed.cli.main", "doctor"]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert done.stdout.count("apt-get install") >= 9
    assert done.stderr == ""
