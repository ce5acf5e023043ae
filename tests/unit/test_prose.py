"""Prose and code have lines of 120 characters at most: longer ones make a change of one word hard to see.

In the documentation tables, blocks of code and definitions of links are as wide as they have to be; in code what has a
long text in it.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTH = 120
FOLDERS = ("docs", "boards", "simulators")
PAGES = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
CODE = sorted(
    path
    for folder in ("toolkit", "runtime", "bench", "tools")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".pyi", ".c", ".h", ".cpp", ".hpp", ".S", ".sh"} and "editable" not in path.parts
    and (ROOT / "bench" / "tables") not in path.parents  # their first lines are read by line
)
SHORTEST = 30  # characters of a long text
LONG_TEXT = re.compile(rf'"[^"]{{{SHORTEST},}}|^#error')
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


def in_long_texts(path: Path, text: str) -> set[int]:
    """Lines with a long text, or of one that has several lines and is no docstring."""
    lines = text.splitlines()
    if path.suffix not in {".py", ".pyi"}:
        return {number for number, line in enumerate(lines, 1) if LONG_TEXT.search(line)}
    found = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (first, column), (last, _) = token.start, token.end
        if token.type != tokenize.STRING or (first == last and len(token.string) < SHORTEST):
            continue
        if lines[first - 1][:column].strip() or not token.string.startswith(('"""', 'r"""')):
            found.update(range(first, last + 1))
    return found


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_of_code_fit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    long = [number for number, line in enumerate(text.splitlines(), 1) if len(line) > WIDTH]
    assert not set(long) - in_long_texts(path, text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_prose_fit(page: Path) -> None:
    assert not too_long(page.read_text(encoding="utf-8"))


def test_what_counts_as_prose() -> None:
    word = "w" * WIDTH
    code = f"\n    {word}\n    {word}\n\n```\n{word}\n```"
    text = f"{word}\n{word}1\n| {word} |\n{code}\n* a\n  {word}2\n[a]: {word}\n{word}3"
    assert [line.strip()[-1] for _, line in too_long(text)] == ["1", "2", "3"]
    assert len(PAGES) > 25
