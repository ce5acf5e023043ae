"""Explore each function of a project in turn, several at a time, and write down what came of it.

Which functions there are, says `frontend/harness/entries.py` (`functions`).
"""

from __future__ import annotations

import fnmatch
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import structs

from score_embed import config
from score_embed.campaign import campaign, opening
from score_embed.contract.judged import ACCEPT, REFUSE
from score_embed.contract.words import Stop
from score_embed.errors import NothingToExplore, ScoreError, UsageError
from score_embed.frontend.harness.entries import Function
from score_embed.image.group import Group
from score_embed.report import findings, fingerprints, text, unity
from score_embed.report.findings import Findings
from score_embed.report.output import folder_of, write
from score_embed.results import minimising
from score_embed.results.bugs import Bug
from score_embed.results.known_bugs import short_id
from score_embed.results.parts import PROGRESS
from score_embed.results.storage import FILE as RECORD
from score_embed.results.store import Store
from score_embed.results.summary import NotFollowed
from score_embed.unit.child import Child, last_words
from score_embed.unit.project import Project
from score_embed.unit.rows import DIED, NO_INPUT, NOT_BUILT, TESTS, Book, Found, Row, confirm

_GRACE = 120.0  # seconds for linking an image, starting a target, and the last question
_POLL = 0.05
_WITHOUT_LIMIT = 10.0**8
Key = tuple[str, str]  # a function's name and file


class Run:
    """A run over a project. `at_once`: campaigns; `tell`: is told of each row when it is done."""

    def __init__(
        self, settings: config.Settings, project: Project, book: Book, at_once: int, tell: Callable[[Row], None]
    ) -> None:
        self._settings, self._project, self._book = settings, project, book
        self._at_once, self._tell = at_once, tell
        self._sources: dict[Key, Path] = {}  # of each function the C file that defines or includes it

    def explore(self, globs: Sequence[str]) -> None:
        """Go on until every function has its row whose name matches; without `globs` all that are not idle.
        KeyboardInterrupt ends it after what runs has saved its state."""
        began, before = time.monotonic(), self._book.state.seconds
        try:
            functions = [function for function in self._project.functions() if _is_wanted(function, globs)]
            self._book.add((f.name, f.file, f.line) for f in functions)
            self._sources |= {(f.name, f.file): Path(f.source) for f in functions}
            self._save_notes()
            rows = {(row.function, row.file): row for row in self._book.rows}
            for f in functions:
                rows[f.name, f.file].callers = f.callers
            left = [f for f in functions if not rows[f.name, f.file].done]
            for group, ready, refused in self._project.built(left):
                for function, why in refused.items():
                    self._refuse(rows[function.name, function.file], why)
                self._save_notes()
                if group is not None:
                    try:
                        self._campaigns(group, [(f, rows[f.name, f.file]) for f in ready])
                    finally:
                        group.close()
        finally:
            self._write_makefile()
            confirm(self._book.rows)
            self._book.state.seconds = before + time.monotonic() - began
            self._book.save()

    def _write_makefile(self) -> None:
        """How the tests of all functions are built and run."""
        folder = self._book.folder / TESTS
        rows = {test_name(row): row for row in self._book.rows}
        known = {name for name, row in rows.items() if (row.function, row.file) in self._sources}
        names = [name for name in sorted(known) if (folder / f"{name}.c").is_file()]
        if names:
            inputs = self._project.inputs
            sources = {path: inputs.flags[path] for path in (*inputs.sources, *inputs.native)}
            included = {name: self._sources[rows[name].function, rows[name].file] for name in names}
            write(folder / "Makefile", unity.makefile(names, sources, included, folder))

    def _save_notes(self) -> None:
        for note in self._project.notes:
            self._book.note(note)
        self._book.save()

    def _refuse(self, row: Row, why: str) -> None:
        row.stopped, row.why = NOT_BUILT, why
        self._tell(row)

    def _campaigns(self, group: Group, work: Sequence[tuple[Function, Row]]) -> None:
        waiting = list(reversed(work))
        running: list[tuple[Child, Row, float]] = []
        try:
            while waiting or running:
                while waiting and len(running) < self._at_once:
                    function, row = waiting.pop()
                    running.append((self._child(group, function, row), row, time.monotonic()))
                for one in list(running):
                    child, row, began = one
                    code = child.ended()
                    if code is not None:
                        running.remove(one)
                        row.seconds += time.monotonic() - began
                        self._finish(row, child, code)
                time.sleep(_POLL)
        finally:
            for child, _, _ in running:
                child.stop()

    def _child(self, group: Group, function: Function, row: Row) -> Child:
        folder = self._book.folder / row.folder
        limit = self._settings.time or _WITHOUT_LIMIT
        log = folder.with_name(f"{folder.name}.log")
        return Child(lambda: self._explore_one(group, function, folder), log, limit + _GRACE)

    def _explore_one(self, group: Group, function: Function, folder: Path) -> int:
        settings = structs.replace(self._settings, entry=function.name, clients=None, json=False)
        if (folder / RECORD).exists():
            with suppress(UsageError), Store.open(folder) as record:
                progress = record.get(PROGRESS)
                if progress is not None:
                    used = progress.seconds
                    left = max(0.1, settings.time - used) if settings.time is not None else None
                    again = opening.resumed_settings(record, structs.replace(settings, time=left, resume=folder))
                    return campaign.run(again, record).exit_code
            _clear(folder)
        built = opening.Built(group.image(function), self._project.witness(group, function))
        return campaign.run(structs.replace(settings, out=folder), None, built).exit_code

    def _finish(self, row: Row, child: Child, code: int) -> None:
        folder = self._book.folder / row.folder
        try:
            fill(row, folder, self._book.folder / TESTS)
        except ScoreError as error:
            if code == NothingToExplore.exit_code:
                row.stopped = NO_INPUT
                self._book.save()
                self._tell(row)
                return
            row.stopped, row.why = NOT_BUILT, last_words(child.log) or str(error).partition("\n")[0]
        if child.late or code < 0:
            row.stopped = row.stopped if row.stopped not in ("", NOT_BUILT, Stop.KILLED, Stop.RUNNING) else DIED
            row.why = "it did not end in time" if child.late else f"its process died of signal {-code}"
        self._book.save()
        self._tell(row)


def _is_wanted(function: Function, globs: Sequence[str]) -> bool:
    if not globs:
        return not function.idle
    return any(fnmatch.fnmatchcase(function.name, glob) for glob in globs)


def fill(row: Row, folder: Path, tests: Path) -> None:
    """What the campaign in `folder` came to; its regression tests go to the folder `tests`. Raises ScoreError."""
    with Store.read(folder) as record:
        found = findings.read(record)
        own = found.own_directions
        summary = found.summary
        row.stopped = summary.stopped.value
        row.within = summary.within
        row.paths, row.tests = summary.paths, summary.runs
        row.branches, row.covered = len(own), sum(index in found.covered for index in own)
        row.bugs = len(found.bugs)
        row.found = [_found(bug, found, key) for bug, key in zip(found.bugs, fingerprints.of(found), strict=True)]
        said = Counter(line.word for _, line in found.judged)
        row.accepted, row.refused = said[ACCEPT], said[REFUSE]
        row.unmatched = tuple(f"{line.at}: {line.word} {line.what}" for line in found.unmatched)
        lost = [item for item in summary.incomplete if item.count]
        row.why = "; ".join(dict.fromkeys(_place(item, row.function) for item in lost))
        if summary.is_vacuous:
            row.stopped, row.why = NO_INPUT, "; ".join(filter(None, (text.why_vacuous(summary), row.why)))
        path = folder_of(tests) / f"{test_name(row)}.c"
        with suppress(UsageError):  # of a function that --stub replaces no test can be written
            write(path, unity.document(found, minimising.kept(record), path))


def _found(bug: Bug, found: Findings, fingerprint: str) -> Found:
    return Found(
        kind=bug.kind,
        file=bug.file,
        line=bug.line,
        function=bug.function,
        stack=bug.stack,
        rests_on=tuple(bug.rests_on),
        confirmed=bug.confirmed,
        test=bug.test,
        id=short_id(bug, found.sources),
        fingerprint=fingerprint,
    )


def test_name(row: Row) -> str:
    """What the file of a function's regression tests is called, without its ending."""
    return f"test_{Path(row.folder).name}"


def _place(item: NotFollowed, function: str) -> str:
    what = item.what.removeprefix(f"--entry {function}: ").replace("; ", ", ")
    return f"{item.file}:{item.line}: {what}" if item.file else what


def _clear(folder: Path) -> None:
    """A campaign that was killed before its first test."""
    for path in _files(folder):
        path.unlink()


def _files(folder: Path) -> Iterator[Path]:
    yield from (path for path in sorted(folder.rglob("*")) if path.is_file() or path.is_symlink())
