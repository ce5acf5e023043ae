"""What the documentation names exists: the files and headings that links lead to, the commands, and their options.

Addresses on the network are not asked for. Anchors are those that GitHub makes of headings.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest

from score_embed.cli import commands
from score_embed.contract.descriptors import Reserved
from score_embed.contract.sites import Op, SiteKind
from score_embed.contract.words import Layer, Statement, Stop, Unflipped, Vector

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "boards", "simulators", "examples", "integrations")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"\]\(\s*([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\s*\)|^ *\[[^]]+\]: +(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z]+:")
OURS = re.compile(r"^\s*(?:\$ )?((?:[A-Z_]+=\S+ )*score-embed .*)$", re.MULTILINE)
OPTION = re.compile(r"--[a-z][a-z0-9-]*")
WORD = re.compile(r"[a-z]+")
OF_OTHERS = {  # options that stand alone and are not ours
    "--all",  # of ./run-tests
    "--part",
    "--solver",  # of a design that is not built
    "--mcdc-coverage",  # of genhtml
    "--ignore-errors",
    "--root",  # of gcovr
    "--wrap",  # of ld
    "--gc-sections",
    "--specs",  # of gcc
    "--help",
}
# What is ours and no command: pytest's options, a script for labgrid.
ALSO_OURS = ("toolkit/score_embed/pytest_plugin/plugin.py", "integrations/labgrid/port")
QUOTED = re.compile(r'"(--[a-z-]+)"')

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# Links ----------------------------------------------------------------------------------------------------------------


def links(text: str) -> Iterator[str]:
    """Outside code."""
    for first, second in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        yield first or second


def anchors(text: str) -> set[str]:
    """Of the headings; the second of two that are the same has a number."""
    found: dict[str, int] = {}
    made = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = found[slug] = found.get(slug, -1) + 1
        made.add(f"{slug}-{number}" if number else slug)
    return made


def broken(page: Path, text: str) -> list[str]:
    """Links that lead nowhere."""
    found = []
    for link in links(text):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if ELSEWHERE.match(link):
            continue
        if not target.exists() or not target.resolve().is_relative_to(ROOT):
            found.append(f"{link}: there is no such file")
        elif anchor and (target.suffix != ".md" or anchor not in anchors(text if target == page else read(target))):
            found.append(f"{link}: there is no such heading")
    return found


@pages
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken(page, read(page))


def test_a_link_that_leads_nowhere_is_seen() -> None:
    text = """# One two: `three`?
[a](#one-two-three) [b](docs/tutorial.md) [c](docs/tutorial.md#7-your-own-code) `[no](link)` [d](https://nowhere)
[e](docs/nothing.md) ![f](docs/images/nothing.png) [g](#four) [h](docs/tutorial.md#nothing) [i](../..)
```
[no](link)
```
[j]: nothing.md
"""
    assert [wrong.split(":")[0] for wrong in broken(ROOT / "README.md", text)] == [
        "docs/nothing.md",
        "docs/images/nothing.png",
        "#four",
        "docs/tutorial.md#nothing",
        "../..",
        "nothing.md",
    ]
    assert anchors("# A (b), c_d – e\n## A (b), c_d – e\n```\n# no\n```\n") == {"a-b-c_d--e", "a-b-c_d--e-1"}


# Files that the text names --------------------------------------------------------------------------------------------


FOLDERS_OF_OURS = "bench|tests|tools|runtime|simulators|boards|examples|integrations|toolkit|docs"
FILE = re.compile(rf"(?:{FOLDERS_OF_OURS})/[\w./*-]+")
OF_USERS = {
    "boards/NAME.yaml",
    "tests/test_NAME.c",
    "tests/Makefile",
    "boards/lm3s811evb.yaml",
}  # made beside somebody's own sources
MADE_UP = re.compile(r"[A-Z]{3,}\b")  # KIND in `runtime/arm/uart_KIND.h`


def unknown_files(text: str) -> list[str]:
    named = {code for _, code in CODE.findall(FENCE.sub("", text)) if FILE.fullmatch(code)} - OF_USERS
    return sorted(name for name in named if not any(ROOT.glob(MADE_UP.sub("*", name).rstrip("/"))))


@pages
def test_files_exist(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return  # it tells what was
    assert not unknown_files(read(page))


def test_modules_of_terms_exist() -> None:
    """The last column of docs/terminology.md."""
    rows = [line.split("|") for line in read(ROOT / "docs" / "terminology.md").splitlines() if line.startswith("|")]
    named = {code for row in rows for _, code in CODE.findall(row[-2]) if "/" in code}
    assert len(named) > 50
    folders = [ROOT, ROOT / "toolkit" / "score_embed"]
    assert not [name for name in named if not any((folder / name).exists() for folder in folders)]


def test_terms_occur_in_their_modules() -> None:
    """Each row's first column has a word that one of the files in its last column has, too."""
    folders = [ROOT, ROOT / "toolkit" / "score_embed", ROOT / "toolkit" / "engine" / "src"]
    missing = []
    rows = [line.split("|") for line in read(ROOT / "docs" / "terminology.md").splitlines() if line.startswith("|")]
    for row in rows:
        words = [re.sub(r"\(.*\)|[^a-z]", "", word.lower()) for word in row[1].split(",")]
        files = [file for _, name in CODE.findall(row[-2]) for folder in folders if (file := folder / name).is_file()]
        text = re.sub(r"[^a-z]", "", "".join(map(read, files)).lower())
        if files and any(words) and not any(word and word in text for word in words):
            missing.append(row[1].strip())
    assert not missing


@pytest.mark.parametrize("kind", [Stop, Unflipped, Vector, Statement, Layer])
def test_words_of_results_are_explained(kind: type[StrEnum]) -> None:
    pages = "".join(read(ROOT / "docs" / name) for name in ("terminology.md", "reports.md", "mcdc.md"))
    assert not [word for word in kind if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", pages)]


def test_a_file_that_is_not_there_is_seen() -> None:
    text = "`bench/fleet.py` `bench/no.py` `runtime/*/uart_KIND.h` `boards/` `runtime/nothing/`"
    assert unknown_files(text) == ["bench/no.py", "runtime/nothing/"]


# Commands and their options -------------------------------------------------------------------------------------------


@cache
def parsers() -> dict[tuple[str, ...], argparse.ArgumentParser]:
    """Of each command, and of each word that a command takes."""
    found: dict[tuple[str, ...], argparse.ArgumentParser] = {}
    for name in commands.COMMANDS:
        sub = argparse.ArgumentParser()
        commands.load(name).add_arguments(sub)
        found[(name,)] = sub
        for action in sub._actions:
            if isinstance(action, argparse._SubParsersAction):
                found |= {(name, word): below for word, below in action.choices.items()}
    return found


def options(parser: argparse.ArgumentParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings}


def wrong(command: str) -> list[str]:
    """What a line says that the command line does not know. What follows `--` or `#` or a pipe is not ours."""
    text = re.split(r" -- | --$|(?<=\s)#|[|;&>]", command, maxsplit=1)[0]
    try:
        words = shlex.split(text)
    except ValueError:  # an apostrophe of a sentence
        words = text.split()
    words = words[words.index("score-embed") + 1 :]
    plain = [word for word in words if not word.startswith("-")]
    if not plain or not WORD.fullmatch(plain[0]):
        return []
    known = parsers().get((plain[0],))
    if known is None:
        return [f"score-embed {plain[0]}: there is no such command"]
    below = [key[1] for key in parsers() if key[0] == plain[0] and len(key) == 2]
    if below and len(plain) > 1 and WORD.fullmatch(plain[1]):
        if plain[1] not in below:
            return [f"score-embed {plain[0]} {plain[1]}: there is no such command"]
        known = parsers()[plain[0], plain[1]]
    given = {word.partition("=")[0] for word in words if OPTION.match(word)}
    return [f"{command.strip()}: there is no {option}" for option in sorted(given - options(known))]


@pages
def test_commands_and_their_options_exist(page: Path) -> None:
    text = read(page)
    lines = [line for block in FENCE.findall(text) for line in OURS.findall(block)]
    lines += [code for _, code in CODE.findall(FENCE.sub("", text)) if code.startswith("score-embed ")]
    assert not [problem for line in lines for problem in wrong(" ".join(line.split()))]


@pages
def test_options_exist(page: Path) -> None:
    """Those that stand alone are an option of some command of ours."""
    ours = {option for parser in parsers().values() for option in options(parser)} | OF_OTHERS
    ours |= {option for path in ALSO_OURS for option in QUOTED.findall(read(ROOT / path))}
    named = {
        OPTION.match(code)[0]  # type: ignore[index]
        for _, code in CODE.findall(FENCE.sub("", read(page)))
        if OPTION.match(code)
    }
    assert not named - ours


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("score-embed run --time 5s a.c -- --nothing", ""),
        ("A=b score-embed fleet simulate --clients 1,2 | grep --color x", ""),
        ("score-embed run --tme 5s a.c", "there is no --tme"),
        ("score-embed explore a.c", "no such command"),
        ("score-embed fleet simulat", "no such command"),
        ("score-embed fleet stop --clients 3", "there is no --clients"),
    ],
)
def test_a_command_that_is_not_there_is_seen(command: str, problem: str) -> None:
    found = wrong(command)
    assert (problem in found[0]) if problem else not found


def test_every_option_of_run_is_explained() -> None:
    """Those of the table in docs/commands.md, and no other is missing."""
    table = read(ROOT / "docs" / "commands.md")
    named = set(OPTION.findall(table))
    assert options(parsers()[("run",)]) - named - {"--help", "-h"} == set()
    assert {f"score-embed {name}" for name in commands.COMMANDS if name not in ("client", "keys", "fleet")} <= set(
        re.findall(r"score-embed [a-z]+", table)
    )


def test_the_page_of_probes_has_the_numbers_of_the_contract() -> None:
    page = read(ROOT / "docs" / "design" / "probes.md")
    kinds, reserved = (re.findall(r"^\| (\d+) ([\w-]+) \|", part, re.MULTILINE) for part in page.split("## Event stream"))
    assert kinds == [(str(kind.value), kind.name.lower()) for kind in SiteKind]
    assert [number for number, _ in reserved] == [str(event.value) for event in Reserved]
    listed = page.partition(" ops: ")[2].partition("A shift's count")[0]
    ops = dict(re.findall(r"\b(\d+)\s+(\w+)", re.sub(r"\([^)]*\)", "", listed)))
    assert ops == {str(op.value): "a" if op is Op.ADDRESS else op.name.lower() for op in Op}


def test_the_page_of_the_fleet_names_each_of_its_modules() -> None:
    table = read(ROOT / "docs" / "design" / "fleet.md").partition("| module of `fleet/` |")[2].partition("\n\n")[0]
    named, folder = [], ""
    for line in table.splitlines()[2:]:
        for place, name in re.findall(r"`((?:\w+/)?)(\w+)`", line.split("|")[1]):
            folder = place if place or name == CODE.findall(line)[0][1] else folder
            named.append(folder + name)
    fleet = ROOT / "toolkit" / "score_embed" / "fleet"
    modules = (path.relative_to(fleet).with_suffix("").as_posix() for path in fleet.rglob("*.py"))
    assert sorted(named) == sorted(name for name in modules if not name.endswith("__init__"))


def test_the_page_of_the_engine_names_each_of_its_sources() -> None:
    layout = read(ROOT / "docs" / "design" / "engine.md").partition("## Layout")[2].partition("\n## ")[0]
    named = {name.partition(".")[0] for name in re.findall(r"`([\w.]+)`", layout)}
    sources = {path.stem for path in (ROOT / "toolkit" / "engine" / "src").glob("*.?pp")}
    assert not sources - named - {"contract", "effort"}  # of these the page tells elsewhere
