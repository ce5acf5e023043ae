"""Campaigns and regression tests as pytest's items.

Each command is a process of its own, so a campaign has its signals, its processor and its end to itself, whatever else
pytest does, and pytest-xdist may run several. What it found is then read from its record.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter
from msgspec.structs import replace

from score_embed import config
from score_embed.command import run_command
from score_embed.errors import ScoreError, UsageError, printable
from score_embed.pytest_plugin import files
from score_embed.pytest_plugin.files import Declared
from score_embed.pytest_plugin.plugin import MARK
from score_embed.report import criteria, findings, fingerprints, text
from score_embed.report.regression import RegressionTest, read_document
from score_embed.results.bugs import Bug
from score_embed.results.known_bugs import read_baseline
from score_embed.results.storage import FILE as RECORD
from score_embed.results.store import Store

OUT = Path("score-out", "pytest")
_GRACE = 600.0  # seconds to build, start a target, and end
_BUGS, _LOST, _OPEN, _INTERRUPTED = 1, 7, 8, 130  # exit codes


class Failure(Exception):
    """A test that fails. `file` and `line`: where it is to be looked at, as the person who started pytest sees it."""

    def __init__(self, said: str, file: str = "", line: int = 0) -> None:
        super().__init__(said)
        self.said, self.file, self.line = said, file, line


class FailureText(TerminalRepr):
    """What is shown of it: no stack of ours. pytest's summary and editors take the first line from `reprcrash`."""

    def __init__(self, failure: Failure) -> None:
        self.said = failure.said
        self.reprcrash = ReprFileLocation(failure.file, failure.line, failure.said)

    def __str__(self) -> str:
        return self.said

    def toterminal(self, tw: TerminalWriter) -> None:
        for line in self.said.splitlines():
            tw.line(line, red=": error: " in line)


@dataclass(frozen=True)
class Case:
    """A campaign on one board. `folder`: where its commands are given; `out`: where its results go."""

    declared: Declared
    board: str
    time: str
    folder: Path
    out: Path

    def command(self, *options: str) -> list[str]:
        """The words of `run`. Options stand before what goes to the compiler."""
        return ["run", f"--board={self.board}", *options, *self.declared.words]

    def call(self, *options: str) -> subprocess.CompletedProcess[bytes]:
        """To its end. Raises Failure."""
        # Without -P the folder's files would be modules: a `select.py` of the user's, say.
        words = [sys.executable, "-P", "-m", "score_embed.cli.main", *self.command(*options)]
        try:
            done = run_command(words, config.seconds(self.time) + _GRACE, scratch=False, folder=self.folder)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"it did not end within {error.timeout:.0f} seconds, and was ended") from None
        except OSError as error:
            raise Failure(f"it cannot be started: {error.strerror}") from None
        if done.returncode == _INTERRUPTED:
            raise KeyboardInterrupt
        return done


class CampaignFile(pytest.File):
    """`test_….score.yaml`."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        try:
            declared = files.read(self.path)
        except ScoreError as error:
            raise self.CollectError(str(error)) from None
        for each in declared:
            if each.name:
                yield CampaignNode.from_parent(self, name=each.name, declared=each)
            else:
                yield from items(self, each)


class CampaignNode(pytest.Collector):
    """One campaign of a file that has several."""

    def __init__(self, *, declared: Declared, **others: Any) -> None:
        super().__init__(**others)
        self.declared = declared

    def collect(self) -> Iterator[pytest.Item]:
        yield from items(self, self.declared)


def items(parent: pytest.Collector, declared: Declared) -> Iterator[pytest.Item]:
    """Of a campaign: itself on each board, then the tests that are run again on each board."""
    cases = [_case(parent, declared, board) for board in parent.config.getoption("score_board") or declared.boards]
    for case in cases:
        yield Explore.from_parent(parent, name=f"explore[{case.board}]", case=case)
    for folder in declared.regress:
        names = _kept(folder)
        for case in cases:
            again = Again(case, folder)
            for name in names:
                shown = f"regress[{case.board}-{folder.name}-{name}]"
                yield Regress.from_parent(parent, name=shown, case=case, again=again, test=name)


def _case(parent: pytest.Collector, declared: Declared, board: str) -> Case:
    options, root = parent.config.option, parent.config.rootpath
    time = options.score_time or declared.time
    base = parent.config.invocation_params.dir / options.score_out if options.score_out else root / OUT
    words = (os.path.relpath(parent.path, root), declared.name, board)
    name = "-".join(re.sub(r"[^\w.]+", "_", word) for word in words if word)
    return Case(declared, board, time, parent.path.parent, base / name)


def _kept(folder: Path) -> list[str]:
    """What the kept tests of a campaign are called."""
    try:
        with Store.read(folder) as record:
            names = [row.stem for row in record.kept_tests()]
            if not names:
                raise UsageError("the campaign has no kept tests", str(folder), "Let it run longer.")
            return names
    except ScoreError as error:
        raise pytest.Collector.CollectError(str(error)) from None


class Test(pytest.Item):
    """What both kinds have in common."""

    __test__ = False

    def __init__(self, *, case: Case, **others: Any) -> None:
        super().__init__(**others)
        self.case = case
        self.add_marker(MARK)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.declared.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        if isinstance(excinfo.value, Failure):
            return FailureText(excinfo.value)
        if isinstance(excinfo.value, ScoreError):
            return FailureText(Failure(str(excinfo.value)))
        return super().repr_failure(excinfo, style)

    def shown(self, file: Path | str) -> str:
        """A file's name as the person who started pytest would write it."""
        return os.path.relpath(self.case.folder / file, self.config.invocation_params.dir)

    def refused(self, done: subprocess.CompletedProcess[bytes], options: Sequence[str]) -> Failure:
        """The command did not come to an end of its own kind."""
        said = done.stderr.decode(errors="backslashreplace").rstrip() or f"it ended with code {done.returncode}"
        lines = [printable(line.expandtabs()) for line in said.splitlines()]
        command = shlex.join(["score-embed", *self.case.command(*options)])
        return Failure("\n".join([*lines, f"in {self.shown('.')}: {printable(command)}"]))


class Explore(Test):
    """A campaign. It fails if it found a bug, or could not be carried out."""

    def runtest(self) -> None:
        case = self.case
        if (case.out / RECORD).exists():  # of the last time
            shutil.rmtree(case.out)
        options = (f"--time={case.time}", f"--out={case.out}")
        done = case.call(*options)
        if done.returncode not in (0, _BUGS, _LOST, _OPEN):
            raise self.refused(done, options)
        with Store.read(case.out) as record:
            found = replace(findings.read(record), baseline=self._known())
        new = fingerprints.new(found)
        lines = [text.headline(found.summary), *text.incomplete(found.summary)]
        if found.bugs[len(new) :]:
            lines.append(f"bugs that the baseline knows: {len(found.bugs) - len(new)}")
        self.add_report_section("call", "score-embed", "\n".join([*lines, f"results: {self.shown(case.out)}"]))
        if new:
            raise self._failure(found, new)
        if done.returncode == _LOST:
            raise Failure("\n".join(text.lost(found)))
        if done.returncode == _OPEN:
            raise Failure("\n".join(criteria.goal_lines(found.summary.goal, found.summary.within)))

    def _known(self) -> frozenset[str] | None:
        path = self.case.declared.baseline
        return read_baseline(path) if path is not None else None

    def _failure(self, found: findings.Findings, new: Sequence[Bug]) -> Failure:
        said: list[str] = []
        for bug in new:
            first, *others = text.bug(bug, found.sources, Path(self.shown(self.case.out)), found.arrays)
            if bug.file:
                first = self.shown(bug.file) + first.removeprefix(bug.file)
            said += [first, *others]
        at = new[0]
        return Failure("\n".join(map(printable, said)), self.shown(at.file) if at.file else "", at.line)


class Again:
    """The kept tests of a campaign, run on a program that is built once for all of them, when the first is asked
    for."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.folder = os.path.relpath(folder, case.folder)
        known = case.declared.baseline
        self.options = (f"--regress={self.folder}", "--json", *((f"--baseline={known}",) if known is not None else ()))

    @cached_property
    def done(self) -> subprocess.CompletedProcess[bytes]:
        return self.case.call(*self.options)

    @cached_property
    def tests(self) -> dict[str, RegressionTest]:
        return {test.name: test for test in read_document(self.done.stdout).tests}


class Regress(Test):
    """A kept test of a campaign on the program as it is now. It fails if it ends in a bug that is not known, or
    otherwise than it did."""

    def __init__(self, *, again: Again, test: str, **others: Any) -> None:
        super().__init__(**others)
        self.again, self.test = again, test

    def runtest(self) -> None:
        done = self.again.done
        if done.returncode not in (0, _BUGS):
            raise self.refused(done, self.again.options)
        test = self.again.tests[self.test]
        said, file = "\n".join(test.text), test.file
        if test.state not in ("bug", "changed"):
            self.add_report_section("call", "score-embed", said)
            return
        begins = file or self.again.folder
        said = self.shown(begins) + said.removeprefix(begins)
        raise Failure(said, self.shown(file) if file else "", test.line)
