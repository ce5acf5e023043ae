"""`score-embed lab`: a rig whose port has a name as udev would give it is found, written down, used and shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rig import rig, write_profile
from runner import explore, explore_files, score_embed

from score_embed.board.lab import FILE
from score_embed.device.port import PortLock

NAME = "usb-Acme_Thermostat_00A7-if00"
PROGRAM = '#include "score.h"\nint main(void) { unsigned char b; SYM_UCHAR(b); if (b > 5) return 1; return 0; }\n'


@pytest.fixture(autouse=True)
def no_other_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def lab(folder: Path, *words: str) -> str:
    done = score_embed("lab", *words, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def failed(folder: Path, *words: str) -> str:
    done = score_embed("run", "--board", "desk.yaml", *words, "p.c", cwd=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_from_the_first_scan_to_a_campaign(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    (tmp_path / "by-id").mkdir()
    write_profile(tmp_path, line={"port": "", "probe": "", "flash": ["sh", "-c", 'cp "$0" flash.elf', "{elf}"]})
    assert "There is no lab file" in lab(tmp_path)
    assert "no serial port is given for the board 'desk'" in failed(tmp_path)
    with rig(tmp_path, link=f"by-id/{NAME}"):
        said = lab(tmp_path, "scan", "--folder", "by-id", "--board", "desk.yaml")
        assert f"new: acme-thermostat-00a7: by-id/{NAME} (Acme Thermostat)" in said
        assert "nothing new" in lab(tmp_path, "scan", "--folder", "by-id")
        assert "| free" in lab(tmp_path, "show", "--folder", "by-id").replace("│", "|")
        assert explore_files(tmp_path, [Path("p.c")], "--board", "desk.yaml").summary["paths"] == 2
        lock = PortLock(str(tmp_path / "by-id" / NAME))
        assert f"in use by score-embed, process {os.getpid()} of " in lab(tmp_path)
        lock.release()
        with (tmp_path / FILE).open("a") as file:
            file.write(f'    flash: [cp, "{{elf}}", "{{probe}}"]\n  twin: {{port: by-id/{NAME}, board: desk}}\n')
        said = failed(tmp_path)
        assert "2 devices that are plugged in are a 'desk'" in said
        assert "Name one with --port: acme-thermostat-00a7, twin." in said
        twin = explore_files(tmp_path, [Path("p.c")], "--board", "desk.yaml", "--port", "twin", "--out", "twin")
        assert twin.summary["paths"] == 2
        (tmp_path / "p.c").write_text(PROGRAM.replace("5", "6"))
        done = score_embed("run", "--board", "desk.yaml", "--port", "acme-thermostat-00a7", "p.c", cwd=tmp_path)
        assert (done.returncode, "wants to know the debug probe's serial number" in done.stderr) == (4, True)
    assert f"gone: acme-thermostat-00a7: there is no by-id/{NAME}" in lab(tmp_path, "scan", "--folder", "by-id")
    assert "not plugged in" in lab(tmp_path)
    assert f"{FILE}:4: error: the device 'acme-thermostat-00a7' is not plugged in" in failed(tmp_path)


def test_a_port_that_is_not_in_the_file_is_shown(tmp_path: Path) -> None:
    (tmp_path / "by-id").mkdir()
    (tmp_path / "by-id" / NAME).symlink_to("/dev/null")
    (tmp_path / FILE).write_text("devices:\n  other: {port: /dev/ttyNone, board: stm32}\n")
    said = lab(tmp_path, "show", "--folder", "by-id")
    assert f"not in the lab file: by-id/{NAME} (Acme Thermostat)" in said
    assert "not plugged in" in said
    assert (tmp_path / FILE).read_text().count("\n") == 2


def test_the_lab_is_not_asked_unless_a_port_is_needed(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("devices: 7\n")
    assert explore(tmp_path, {"p.c": PROGRAM}).summary["paths"] == 2
    done = score_embed("lab", cwd=tmp_path)
    assert (done.returncode, done.stderr.startswith(f"{FILE}:1: error: ")) == (2, True)
