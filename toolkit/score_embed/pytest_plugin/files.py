"""A file `test_….score.yaml`: which campaigns it declares, on which boards, and whose tests are run again.

Its keys are those of `score-embed.yaml`, which are the options of `run`, so that there is nothing new to learn and each
campaign can be run by hand. Names in it are relative to its own folder. `board` may be a list; `campaigns` has a group
for each campaign, whose keys go before those of the file; `regress` names folders of campaigns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from score_embed import config, yamlfile
from score_embed.errors import UsageError
from score_embed.yamlfile import Section

GROUPS = "campaigns"
REGRESS = "regress"
TIME = "60s"  # of a campaign, if nobody says
_APART = ("board", "time", "out", "json")  # of these a test says more, or nothing


@dataclass(frozen=True)
class Declared:
    """One campaign. `words`: those of `run` without board, time and folder; `name`: empty if the file has only one;
    `boards`: at least one; `baseline`: of the bugs that are known; `line`: of the file, from 1."""

    name: str
    words: tuple[str, ...]
    boards: tuple[str, ...]
    time: str
    regress: tuple[Path, ...]
    baseline: Path | None
    line: int


def read(path: Path) -> tuple[Declared, ...]:
    """The campaigns of a file. Raises UsageError."""
    doc = yamlfile.read(path)
    groups = list(_groups(doc, path))
    project = config.resolve({}, os.environ, path.parent)  # score-embed.yaml beside it, and the environment
    return tuple(_declared(name, group, project, path) for name, group in groups)


def _groups(doc: Section, path: Path) -> Iterator[tuple[str, Section]]:
    common = Section(doc.place, {key: value for key, value in doc.values.items() if key != GROUPS}, doc.places)
    if GROUPS not in doc.values:
        yield "", common
        return
    groups = doc.section(GROUPS)
    if not groups.values:
        raise UsageError("there is no campaign in this group", doc.where(GROUPS), "Name one, or leave the group away.")
    for name, value in groups.values.items():
        where = groups.where(name)
        own = Section(where, {}, {}) if value is None else groups.section(name)
        if not name.replace("-", "_").replace(".", "_").isidentifier():
            raise UsageError(f"{name!r} is no campaign's name", where, "Use letters, digits, - and _.")
        merged = own.over(common)
        yield name, Section(where, merged.values, merged.places)


def _declared(name: str, group: Section, project: config.Settings, path: Path) -> Declared:
    values = {key: value for key, value in group.values.items() if key not in ("board", "time", REGRESS)}
    words = config.command_line(Section(group.place, values, group.places), _APART)
    if not project.sources and not group.texts("sources"):
        hint = "List the C files of the program under `sources:`."
        raise UsageError("there is no source file to explore", group.where(), hint)
    boards: Sequence[str] = group.texts("board") or (project.board,)
    time = group.text("time", TIME if project.time is None else str(project.time))
    _check_time(time, group.where("time"))
    folders = tuple(path.parent / group.file_name(REGRESS, folder) for folder in group.texts(REGRESS))
    known = group.file_name("baseline", group.text("baseline")) if "baseline" in group.values else project.baseline
    baseline = path.parent / known if known else None
    line = int(group.where().rpartition(":")[2])
    return Declared(name, tuple(words), tuple(dict.fromkeys(boards)), time, folders, baseline, line)


def _check_time(word: str, where: str) -> None:
    try:
        config.seconds(word)
    except ValueError as error:
        raise UsageError(f"time cannot be {word!r}", where, str(error)) from None
