"""Regression tests: the kept tests of a campaign run again on the program as it is now, and nothing is explored.

`replay` runs the campaign's own image and asks whether a test reproduces. Here the sources are built anew, so paths,
lines and the input's layout may differ, and only what a user sees is compared: how the test ends, with which value, and
the first line that it prints. Nothing of the campaign's folder is executed; its inputs are data. A test that ended in a
bug passes when the program comes to an end by itself, and when the bug is one that is known: the user has said
something of it, or the baseline has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign import opening
from score_embed.campaign.describing import Describer
from score_embed.campaign.first_test import ROUNDS
from score_embed.campaign.running import Runner
from score_embed.campaign.status import Steps
from score_embed.contract.outcome import Finished, Verdict
from score_embed.engine._core import shown_output
from score_embed.errors import UsageError
from score_embed.image.image import Image
from score_embed.results import minimising
from score_embed.results.bugs import Bug, kind_of
from score_embed.results.known_bugs import OpenBugs, known_to
from score_embed.results.sourcemap import SourceMap, source_map
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import First, Named, ended, named_inputs
from score_embed.trace.trail import TraceError, Trail

_NO_END = frozenset({Verdict.LOST, Verdict.WATCHDOG, Verdict.DEVICE_WAIT})  # of these nobody knows what is right


class State(StrEnum):
    """What became of a test."""

    SAME = "same"
    MENDED = "mended"  # it was a bug
    KNOWN = "known"  # a bug that the user has judged, or that the baseline has
    BUG = "bug"
    CHANGED = "changed"
    LOST = "lost"  # no end is known of it, now or then


@dataclass(frozen=True)
class Regressed:
    """A kept test and what it does now. `bug`: the one that it ends in; `by_witness`: the campaign's bug was one that
    only the second witness saw, which does not look here."""

    test: TestRow
    state: State
    now: str  # how it ends
    bug: Bug | None
    by_witness: bool

    @property
    def is_failure(self) -> bool:
        return self.state in (State.BUG, State.CHANGED)

    @property
    def is_as_before(self) -> bool:
        """A bug, and the test had one of this kind before."""
        return self.bug is not None and self.bug.kind == kind_of(Verdict(self.test.verdict), self.test.code)

    @property
    def was(self) -> str:
        return _end(self.test.verdict, self.test.code, self.test.output)


@dataclass(frozen=True)
class Regression:
    """All that were run, and the sources that they were run on."""

    folder: Path
    tests: tuple[Regressed, ...]
    sources: SourceMap


def run(settings: config.Settings, folder: Path) -> Regression:
    """The kept tests of the campaign in `folder` on the program of `settings`.

    Raises UsageError if there are none, BuildError, TargetError, StorageError.
    """
    with Store.read(folder) as record:
        rows = minimising.kept(record)
        witnessed = {found.test for found in record.found_by_witness()}
    if not rows:
        raise UsageError(
            "the campaign has no kept tests", str(folder), "Let it run longer: score-embed run --resume DIR."
        )
    board = find_board(settings.board, settings.run, settings.port)
    board.require_tools()
    opening.check_sources(settings)
    said, known = opening.judged_by(settings), known_to(settings)
    with Steps(f"{folder} on {board.name}") as steps:
        image = opening.build(settings, board, folder, steps)
    sources = source_map(image.sites, image.notes, image.losses, Path.cwd())
    with opening.ready_target(board, image, not settings.unconfined) as target:
        judge = _Judge(Runner(target, settings, image), image, OpenBugs(sources, said, known))
        tests = tuple(judge.regressed(row, not row.place and row.number in witnessed) for row in rows)
    return Regression(folder, tests, sources)


class _Judge:
    """Runs tests and compares their ends."""

    def __init__(self, runner: Runner, image: Image, open_bugs: OpenBugs) -> None:
        self._runner, self._image, self._open = runner, image, open_bugs
        self._describer = Describer(image)

    def regressed(self, row: TestRow, by_witness: bool) -> Regressed:
        data = row.input
        finished = self._runner.replay(row.number, data)
        objects = self._objects(finished, data)
        for _ in range(ROUNDS):  # the inputs may lie elsewhere now, and then others may be asked for
            if _fits(row.objects, objects):
                break
            placed = First(Path(), values=row.inputs).fill(
                data, [named for named in objects if named.name in row.inputs]
            )
            if placed == data:
                break
            data = placed
            finished = self._runner.replay(row.number, data)
            objects = self._objects(finished, data)
        state, bug = _state(row, finished), None
        now = _end(finished.verdict, finished.code, shown_output(finished.output))
        if (
            state is not State.BUG
            and row.objects
            and not {each.name for each in row.objects} & {each.name for each in objects}
        ):
            state, now = State.CHANGED, f"another program: it asks for other inputs: {_names(objects)}"
        if state is State.BUG:
            kind = kind_of(finished.verdict, finished.code)
            inputs = named_inputs(objects, data)
            bug = Bug.at(self._describer.place(finished), kind, inputs, row.number, confirmed=True)
            state = State.BUG if self._open.has(bug) else State.KNOWN
        return Regressed(row, state, now, bug, by_witness)

    def _objects(self, finished: Finished, data: bytes) -> tuple[Named, ...]:
        trail = Trail(self._image.sites, self._image.verify, self._image.constants)
        try:
            trail.follow(finished.events, data)
        except TraceError:  # the program overwrote what it was to send, and that is its end
            return ()
        return self._describer.named(trail.objects)


def _names(objects: Sequence[Named]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in objects)) or "none"


def _fits(then: Sequence[Named], now: Sequence[Named]) -> bool:
    """Whether each input has its place still. Nobody asked what the input of a mispredicted test consists of."""
    places = {named.name: named for named in then}
    return not then or all(places.get(named.name, named) == named for named in now)


def _state(row: TestRow, finished: Finished) -> State:
    then, now = Verdict(row.verdict), finished.verdict
    if now in _NO_END:
        return State.LOST if now is Verdict.LOST or then in _NO_END else State.CHANGED
    if now.is_bug:
        return State.BUG
    if then.is_bug:
        return State.MENDED
    if then in _NO_END:
        return State.LOST
    same = (then, row.code, row.output) == (now, finished.code, shown_output(finished.output))
    return State.SAME if same else State.CHANGED


def _end(verdict: str, code: int, output: str) -> str:
    """In words."""
    return ended(verdict, code) + (f", prints {output!r}" if output else "")
