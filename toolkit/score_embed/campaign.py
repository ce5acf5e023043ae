"""One exploration from sources to summary: wires the steps together, owns Ctrl-C and resume.

The loop is: take the next pair, run it, rebuild its path, let the explorer derive new pairs, put all of it into the
record. The record is committed between tests only, so whatever ends a campaign, it can go on from there.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from score_embed import __version__, config, firsttest, workplace
from score_embed.board.profile import Board, find_board
from score_embed.build import objects
from score_embed.build.compile_commands import read_flags
from score_embed.build.image import Image, build_image, load_image
from score_embed.errors import NothingToExplore, TargetError, UsageError
from score_embed.explore.bounds import Bounds
from score_embed.explore.concolic import Explorer, Outcome
from score_embed.explore.pair import Pair
from score_embed.explore.prf import grow
from score_embed.explore.queue import Queue
from score_embed.explore.strategy import STRATEGIES
from score_embed.interrupt import Interrupt
from score_embed.ledger import Ledger
from score_embed.results import summary
from score_embed.results.bugs import Bug
from score_embed.results.sourcemap import source_map
from score_embed.results.store import Store, storage_error
from score_embed.results.testcase import Named, read_first
from score_embed.solve import smt
from score_embed.solve.chain import default_chain
from score_embed.status import Status
from score_embed.target.base import Finished, Run, Target, Verdict
from score_embed.trace.trail import Trail

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A test that the explorer knows and the books do not yet."""

    test: Run
    finished: Finished
    outcome: Outcome
    fresh: list[int]  # coverage indices it was the first to set


@dataclass(frozen=True)
class Result:
    """What a session of a campaign came to."""

    summary: dict[str, Any]
    folder: Path
    exit_code: int


def run(settings: config.Settings) -> Result:
    """Start a campaign, or go on with the one in `settings.resume`, until it ends or is told to."""
    with ExitStack() as stack:
        if settings.resume is not None:
            folder = settings.resume
            record = stack.enter_context(Store.open(folder))
            recorded = recorded_settings(record)
            settings = dataclasses.replace(
                recorded,
                resume=folder,
                port=settings.port or recorded.port,
                time=settings.time,
                max_tests=settings.max_tests,
                json=settings.json,
            )
            board = find_board(settings.board, settings.run, settings.port)
            board.require_tools()
            image = load_image(folder / workplace.IMAGE, board)
            target = stack.enter_context(_ready_target(board, image))
        else:
            board = find_board(settings.board, settings.run, settings.port)
            board.require_tools()
            _check_sources(settings)
            folder = workplace.make_folder(settings.out, settings.entry or c_files(settings.sources)[0].stem)
            try:
                image = _build(settings, board, folder)
                target = stack.enter_context(_ready_target(board, image))
            except BaseException:
                workplace.discard(folder)
                raise
            record = stack.enter_context(Store.create(folder))
            workplace.furnish(folder, image)
            _write_down(record, settings, board, image)
        return Campaign(settings, board, image, record, target).run()


@contextmanager
def _ready_target(board: Board, image: Image) -> Iterator[Target]:
    """A target that answers: whether there is one is known before anything is written down."""
    target = workplace.start_target(board, image.elf, image.build_id)
    try:
        _ = target.info
        yield target
    finally:
        target.close()


def _check_sources(settings: config.Settings) -> None:
    for source in (*settings.sources, *settings.native):
        if source.suffix not in (".c", *objects.SUFFIXES):
            what = "this is neither a C source (.c) nor a file to link with it"
            raise UsageError(what, str(source), f"C files are explored; {', '.join(objects.SUFFIXES)} are linked.")
        if not source.is_file():
            raise UsageError("there is no such file", str(source), "Check the name and the working folder.")
    for source in settings.native:
        if source.suffix != ".c":
            hint = "Name it among the sources: it is linked as it is."
            raise UsageError("--native is for C files", str(source), hint)
    for name, times in Counter(os.path.realpath(source) for source in (*settings.sources, *settings.native)).items():
        if times > 1:
            raise UsageError("this file is given twice", os.path.relpath(name), "Name each file once.")
    if not c_files(settings.sources):
        raise UsageError("there is no C file to explore", str(settings.sources[0]), "Only C files can be explored.")


def c_files(sources: Sequence[Path]) -> list[Path]:
    """The sources that are explored; the others are linked as they are."""
    return [path for path in sources if path.suffix == ".c"]


def _build(settings: config.Settings, board: Board, folder: Path) -> Image:
    commands = settings.compile_commands
    sources = c_files(settings.sources)
    return build_image(
        board,
        sources,
        native=settings.native,
        objects=[path for path in settings.sources if path.suffix != ".c"],
        instrument=settings.instrument,
        entry=settings.entry,
        cflags=settings.cflags,
        file_flags=read_flags(commands, (*sources, *settings.native)) if commands else None,
        verify=settings.verify,
        keep=folder / "instrumented" if settings.keep else None,
    )


def _write_down(record: Store, settings: config.Settings, board: Board, image: Image) -> None:
    """All that resume and replay need, besides the image itself."""
    plain = config.to_json(dataclasses.replace(settings, board=str(board.path)))
    record.put("settings", plain)
    record.put("versions", {"score-embed": __version__, "compiler": workplace.compiler_version(board)})
    record.commit()


def recorded_settings(record: Store) -> config.Settings:
    """The settings a campaign was started with."""
    plain = record.get("settings")
    if plain is None:
        hint = "It was stopped before its first test: start a new campaign."
        raise UsageError("the campaign in this folder never began", str(record.folder), hint)
    return config.from_json(plain)


class Campaign:
    """A campaign that is ready to run tests."""

    def __init__(self, settings: config.Settings, board: Board, image: Image, record: Store, target: Target) -> None:
        self._settings, self._board, self._image = settings, board, image
        self._record, self._target = record, target
        self._ledger = Ledger(image, record, record.get("versions"))
        self._explorer: Explorer | None = None
        self._unbooked: set[int] = set()  # coverage of runs that are no tests of the campaign
        self._free_ram = target.info.free_ram
        self._longest = 0  # bytes of input that some test asked for: what every test is given
        self._before = 0.0  # seconds of earlier sessions
        self._link_before: Counter[str] = Counter()  # traffic of earlier sessions
        self._rss_before = 0
        self._began = time.monotonic()

    def run(self) -> Result:
        """Run tests until nothing is left or somebody wants an end; then save and sum up."""
        stopped = "error"
        title = f"{self._image.program} on {self._board.name}"
        try:
            with Interrupt(smt.interrupt) as interrupt, Status(title) as status:
                self._explorer = self._restored() if self._record.get("progress") else self._fresh()
                stopped = self._loop(self._explorer, interrupt, status)
        except TargetError:
            if self._explorer is not None:
                self._save(stopped)
                print(self._how_to_go_on(), file=sys.stderr)
            raise
        except KeyboardInterrupt:
            print(self._how_to_go_on(), file=sys.stderr)
            raise
        found = self._save(stopped)
        if stopped == "interrupted":
            print(self._how_to_go_on(), file=sys.stderr)
            return Result(found, self._record.folder, INTERRUPTED)
        return Result(found, self._record.folder, 1 if found["bugs"] else 0)

    def _how_to_go_on(self) -> str:
        return f"continue with: score-embed run --resume {shlex.quote(str(self._record.folder))}"

    def _fresh(self) -> Explorer:
        """Find the first test, see that the program is deterministic, and begin with it."""
        settings = self._settings
        data = b""
        if settings.first is not None:
            first = read_first(settings.first)
            data = first.data
            if first.values:
                data = firsttest.place(first, self._attempt, self._grow, self._layout)
        data = firsttest.complete(self._attempt, data, self._grow)
        finished = self._attempt(data)
        if not finished.input_used and not finished.verdict.is_bug:
            if finished.verdict in (Verdict.LOST, Verdict.WATCHDOG):
                what = f"the program ended with {finished.verdict.value!r} before it asked for input"
                if finished.why_lost:
                    what += f": {finished.why_lost}"
                raise TargetError(what, self._image.program, "Run it without score-embed to see why.")
            hint = "Declare inputs with SYM_INT(x), SYM_BYTES(buffer, n) … of score.h, or use --entry FUNC."
            raise NothingToExplore("the program has no symbolic input", self._image.program, hint)
        difference = firsttest.check_deterministic(self._attempt, self._image, data)
        if difference is not None:
            self._ledger.note("the first test took different paths when run again", difference.file, difference.line)
            where = f"{difference.file}:{difference.line}: " if difference.file else ""
            print(
                f"{where}warning: the same input does not always take the same path here; results may be wrong\n"
                "  Something besides the input decides: time, random numbers, addresses, uninitialised memory.",
                file=sys.stderr,
            )
        explorer = self._explorer_from(data)
        self._describe()
        self._record.add_pairs((pair.id, rank, pair.to_bytes()) for rank, pair in explorer.frontier())
        self._commit(explorer)
        return explorer

    def _describe(self) -> None:
        """What reports need to know of the program, so that they need nothing but the record."""
        settings, image = self._settings, self._image
        program = {
            "name": image.program,
            "board": self._board.name,
            "strategy": settings.strategy,
            "seed": settings.seed,
            "entry": image.entry,
            "sources": [str(source) for source in c_files(settings.sources)],
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        self._record.put("program", program)
        self._record.put("sources", source_map(image.sites, image.notes, Path.cwd()).to_json())

    def _explorer_from(self, first: bytes) -> Explorer:
        settings = self._settings
        order = STRATEGIES[settings.strategy](settings.seed, self._ledger.coverage.covered)
        bounds = Bounds(settings.max_depth, settings.loop_bound)
        queue = Queue(order, self._record)
        return Explorer(self._trail(), default_chain(), settings.seed, first, queue, bounds)

    def _attempt(self, data: bytes) -> Finished:
        """A run that is no test of the campaign. The target reports each coverage bit once: keep what is new."""
        finished = self._target.run(Run(0, data, max_branches=self._settings.max_branches))
        self._unbooked.update(finished.coverage)
        return finished

    def _grow(self, data: bytes, size: int) -> bytes:
        """`data` at least `size` bytes long; what a test does not say comes from the seed."""
        return grow(self._settings.seed, data, size)

    def _trail(self) -> Trail:
        return Trail(self._image.sites, self._image.verify)

    def _layout(self, finished: Finished, data: bytes) -> tuple[Named, ...]:
        trail = self._trail()
        trail.follow(finished.events, data)
        return self._ledger.named(trail.objects)

    def _loop(self, explorer: Explorer, interrupt: Interrupt, status: Status) -> str:
        """Run pair after pair; returns why it ended."""
        self._began = time.monotonic()
        if self._settings.time is not None:
            interrupt.deadline = self._began + self._settings.time
        explorer.stop_if(interrupt.pressing)
        last: _Recorded | None = None  # is entered into the books while the target runs the next test
        for session in itertools.count():
            stopped = self._wants_end(interrupt, session)
            pair = explorer.next() if not stopped else None
            if pair is None or (last is not None and last.finished.verdict.is_bug):
                self._enter(last)
                last = None
            if pair is None:
                return stopped or explorer.stopped
            try:
                test = self._begin(pair, explorer.expected(pair), after=last)
            finally:
                self._enter(last)
            if self._record.due():
                self._commit(explorer)
            self._show(explorer, status)
            last = self._finish(explorer, pair, test)
        raise AssertionError("endless")

    def _wants_end(self, interrupt: Interrupt, session: int) -> str:
        """Why no further test is to be run, or an empty text."""
        settings = self._settings
        if interrupt.wanted:
            return "interrupted"
        if interrupt.deadline is not None and time.monotonic() >= interrupt.deadline:
            return "time"
        if settings.max_tests is not None and session >= settings.max_tests:
            return "max-tests"
        return ""

    def _show(self, explorer: Explorer, status: Status) -> None:
        ledger = self._ledger
        status.show(
            runs=ledger.totals["runs"],
            paths=ledger.totals["paths"],
            waiting=explorer.waiting,
            covered=len(ledger.coverage.covered),
            total=ledger.coverage.total,
            bugs=len(ledger.bugs),
        )

    def _begin(self, pair: Pair, prefix: bytes, after: _Recorded | None) -> Run:
        """Let the target run a pair. `prefix`: the events it will begin with; `after`: the test not entered yet."""
        number = after.test.number + 1 if after else self._ledger.totals["runs"] + 1
        data = self._grow(pair.input, self._longest)
        limit = self._settings.max_branches
        test = Run(number, data, pair.predicted, pair.condition_hash, limit, prefix)
        self._target.begin(test)
        return test

    def _finish(self, explorer: Explorer, pair: Pair, test: Run) -> _Recorded:
        """The end of the test that was begun, and what the explorer makes of it."""
        finished = self._target.finish()
        while finished.input_used > len(test.input):  # once more with as much input as the program asks for
            test = dataclasses.replace(test, input=self._grow(test.input, finished.input_used))
            finished = self._target.run(test)
        self._longest = max(self._longest, finished.input_used)
        outcome = explorer.record(pair, finished, test.input)
        self._record.pair_done(pair.id)
        ranked = zip(outcome.children, outcome.ranks, strict=True)
        self._record.add_pairs((child.id, rank, child.to_bytes()) for child, rank in ranked)
        fresh = self._ledger.coverage.add(self._unbooked.union(finished.coverage))
        self._unbooked.clear()
        return _Recorded(test, finished, outcome, fresh)

    def _enter(self, done: _Recorded | None) -> None:
        """Put a test that was recorded into the books."""
        if done is None:
            return
        bug = self._ledger.enter(done.test, done.finished, done.outcome, done.fresh)
        if bug is not None:
            self._confirm(bug, done.test.input, done.finished)

    def _confirm(self, bug: Bug, data: bytes, finished: Finished) -> None:
        """A bug that only shows after other tests may be ours: try it on a fresh target."""
        self._target.restart()
        again = self._attempt(data)
        bug.confirmed = (again.verdict, again.path_hash) == (finished.verdict, finished.path_hash)
        self._record.put_bug(bug)

    def _commit(self, explorer: Explorer, stopped: str | None = None) -> None:
        """Put what was reached into the record; `stopped`: why no more tests follow."""
        progress = self._ledger.progress()
        progress["stopped"] = stopped
        progress["seconds"] = self._before + time.monotonic() - self._began
        progress["explorer"] = explorer.state()
        progress["link"] = self._link_before + Counter(dataclasses.asdict(self._target.counters))
        rss = max(self._rss_before, summary.host_rss())
        progress["memory"] = {"host_rss": rss, "target": self._free_ram}
        self._record.commit(progress)

    def _restored(self) -> Explorer:
        """Go on where the record ends."""
        progress = self._record.get("progress")
        self._before = progress["seconds"]
        self._link_before.update(progress["link"])
        self._rss_before = progress["memory"]["host_rss"]
        self._ledger.restore(progress)
        explorer = self._explorer_from(b"")
        explorer.restore(progress["explorer"], self._record.path_hashes())
        return explorer

    def _save(self, stopped: str) -> dict[str, Any]:
        """Commit, and write the summary."""
        explorer = self._explorer
        assert explorer is not None
        self._commit(explorer, stopped)
        found = summary.of(self._record)
        try:
            summary.write(found, self._record.folder)
        except OSError as error:
            raise storage_error(error, self._record.folder) from error
        return found
