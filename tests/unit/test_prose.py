"""Prose in the documentation has lines of 120 characters at most: longer ones make a change of one word hard to see.

Tables, blocks of code and definitions of links are as wide as they have to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTH = 120
FOLDERS = ("docs", "boards", "simulators")
PAGES = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
TABLE_OR_LINK = re.compile(r"\s*(\||\[[^]]+\]: )")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines. An indented line is code where it follows an empty one or another line of code."""
    is_fenced, is_code, before = False, False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        is_code = line.startswith("    ") and (is_code or not before.strip())
        if not (is_fenced or is_code or TABLE_OR_LINK.match(line)):
            yield number, line
        before = line


def too_long(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in prose(text) if len(line) > WIDTH]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_prose_fit(page: Path) -> None:
    assert not too_long(page.read_text(encoding="utf-8"))


def test_what_counts_as_prose() -> None:
    word = "w" * WIDTH
    code = f"\n    {word}\n    {word}\n\n```\n{word}\n```"
    text = f"{word}\n{word}1\n| {word} |\n{code}\n* a\n  {word}2\n[a]: {word}\n{word}3"
    assert [line.strip()[-1] for _, line in too_long(text)] == ["1", "2", "3"]
    assert len(PAGES) > 25
