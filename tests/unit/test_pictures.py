"""The README's pictures: they are what `tools/pictures` makes, they are small, and they show what the README says."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest.importorskip("pyte", reason="a new package of ./run-tests")

import terminal
from terminal import Cast

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SVG = "{http://www.w3.org/2000/svg}"
MOST = 200_000  # bytes


def committed() -> Cast:
    return Cast.of((IMAGES / "first-bug.cast").read_text(encoding="utf-8"))


def test_the_recording_shows_what_the_readme_says() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```c\n(/\* \w+\.c \*/\n.*?)^```", readme, re.MULTILINE | re.DOTALL)
    (output,) = re.findall(r"^```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    said = "".join(said for _, said in committed().events).replace("\r\n", "\n")
    assert program in said
    seconds = re.compile(r"after [\d.]+ s")
    assert all(f"{line}\n" in seconds.sub("", said) for line in seconds.sub("", output).splitlines())
    assert "is_intact on mps2-an385: exhausted" in said


def test_the_moving_picture_is_made_of_the_recording() -> None:
    assert terminal.svg(committed()) == (IMAGES / "first-bug.svg").read_text(encoding="utf-8")


def test_pictures_are_small() -> None:
    found = list(IMAGES.iterdir())
    assert len(found) == 3
    assert all(file.stat().st_size < MOST for file in found)
    assert (IMAGES / "page.png").read_bytes().startswith(b"\x89PNG")


def test_a_cast() -> None:
    cast = Cast(40, 5, [(0.5, "$ "), (1.0, "\x1b[1mé\x1b[0m\r\n")])
    assert Cast.of(cast.text()) == cast
    assert cast.text().splitlines()[1] == '[0.5, "o", "$ "]'
    with pytest.raises(ValueError, match="version 1"):
        Cast.of('{"version": 1}\n')


def test_a_command_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    cast = terminal.record(["cat f; tput cols"], tmp_path, 70, 5)
    said = "".join(said for _, said in cast.events)
    assert said.startswith(f"{terminal.PROMPT}cat f; tput cols\r\n")
    assert "one\r\n70\r\n" in said
    assert said.endswith(terminal.PROMPT)
    times = [at for at, _ in cast.events]
    assert times == sorted(times)


def test_a_line_that_was_written_over_is_not_in_the_last_picture() -> None:
    cast = Cast(20, 3, [(0.5, "a 10 %"), (1.0, "\r\x1b[2Ka 20 %"), (1.01, "\r\x1b[2K<b> & c\r\n\x1b[32m$\x1b[0m ")])
    text = terminal.svg(cast)
    root = ET.fromstring(text)
    texts = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert texts == ["a 10 %", "<b> & c", "$"]  # 20 % was there for 10 ms
    film = root.findall(f".//{SVG}g[@id='film']/{SVG}g")
    assert [len(picture) for picture in film] == [0, 1, 2]
    assert "prefers-reduced-motion" in text
    assert "<script" not in text
