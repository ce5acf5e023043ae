"""docs/design/where.md answers where things are: each file that it names is there, and has the names that stand with
it. And it says of each small module why it is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "design" / "where.md"
TOOLKIT = ROOT / "toolkit" / "score_embed"
SMALL = 60  # lines
_ROW = re.compile(r"\| (?P<number>\d+) \|(?P<question>[^|]*)\|(?P<answer>[^|]*)\|[^|]*\|")
_CODE = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"[\w/]+\.(?:py|c|h|cpp|hpp|css|md)")
# Where a file's name may begin: those of Python are in the toolkit, and the engine's are named without their folder.
_ROOTS = ("toolkit/score_embed", ".", "toolkit/engine", "runtime")


def rows() -> dict[str, list[str]]:
    """By the question's number: the files and names of its answer, in their order."""
    found = (_ROW.fullmatch(line) for line in PAGE.read_text(encoding="utf-8").splitlines())
    return {match["number"]: _CODE.findall(match["answer"]) for match in found if match is not None}


def file_of(name: str) -> Path:
    places = [ROOT / root / name for root in _ROOTS if (ROOT / root / name).is_file()]
    places = places or sorted((ROOT / "toolkit" / "engine").rglob(name))
    assert places, f"no file {name}"
    return places[0]


def test_there_are_eighty_questions() -> None:
    assert list(rows()) == [str(number) for number in range(1, 81)]


@pytest.mark.parametrize("number", rows())
def test_an_answer_names_what_is_there(number: str) -> None:
    words = rows()[number]
    files = [file_of(word) for word in words if _FILE.fullmatch(word)]
    assert files
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for name in (word for word in words if not _FILE.fullmatch(word)):
        last = name.rsplit(".", 1)[-1]
        assert re.search(rf"\b{re.escape(last)}\b", text), f"{name} is in none of {[file.name for file in files]}"


def test_each_small_module_has_a_reason() -> None:
    modules = [path for path in TOOLKIT.rglob("*.py") if path.name != "__init__.py"]
    small = {path for path in modules if len(path.read_text(encoding="utf-8").splitlines()) < SMALL}
    reasons = PAGE.read_text(encoding="utf-8").partition("## Small modules that stay")[2]
    assert {TOOLKIT / name for name in _CODE.findall(reasons) if (TOOLKIT / name).is_file()} == small
