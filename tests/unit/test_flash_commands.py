"""The flash commands that docs/hardware.md offers are commands of a profile, and every placeholder is filled in."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from score_embed.board import desk
from score_embed.board.lab import FILE, read_lab

PAGE = (Path(__file__).parents[2] / "docs" / "hardware.md").read_text(encoding="utf-8")
ROWS = [row.split("| ", 2)[1:] for row in PAGE.partition("## Flash commands")[2].partition("\n## ")[0].splitlines()]
COMMANDS = {row[0].strip(): row[1].strip(" |`").replace("\\|", "|") for row in ROWS if len(row) == 2 and "`[" in row[1]}
VALUES = {"elf": "a.elf", "bin": "a.bin", "hex": "a.hex", "port": "/dev/ttyACM0", "probe": "066FFF12"}


def test_all_tools_are_there() -> None:
    tools = {yaml.safe_load(command)[0] for command in COMMANDS.values()}
    assert tools >= {"openocd", "st-flash", "pyocd", "avrdude", "esptool.py"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_template_is_filled_in(name: str) -> None:
    words = tuple(str(word) for word in yaml.safe_load(COMMANDS[name]))
    assert any(desk.uses(words, image) for image in ("elf", "bin", "hex"))
    filled = desk.fill(words, VALUES)
    assert not any("{" in word or "}" in word for word in filled)


def test_the_lab_file_shown_can_be_read(tmp_path: Path) -> None:
    text = PAGE.partition("## What this lab has")[2].partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / FILE).write_text(text)
    (device,) = read_lab(tmp_path / FILE).everything
    assert (device.name, device.boards, device.serial_number) == ("left", ("stm32",), "066FFF12")
