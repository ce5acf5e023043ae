"""The beginning of a campaign: its sources are checked and built, and what others need of it is written down.

A campaign that goes on is opened here, too. The pairs that wait in it are read from its record as the work list asks
for them (`results/waiting.py`).
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct, structs

from score_embed import __version__, config
from score_embed.board.desk import DeskRun
from score_embed.board.profile import Board, NativeRun, find_board, find_profile, load_board
from score_embed.campaign import folder as campaign_folder
from score_embed.campaign import trust
from score_embed.campaign.first_test import Difference
from score_embed.campaign.ledger import Ledger
from score_embed.campaign.status import Steps
from score_embed.confine.layers import bounds, layers
from score_embed.contract import judged
from score_embed.contract.entry import Told
from score_embed.contract.outcome import Target
from score_embed.contract.program import StubsWanted, Whole
from score_embed.contract.words import Note
from score_embed.device.startup import NoReady
from score_embed.errors import BuildError, UsageError, printable
from score_embed.image.compile_commands import read_flags
from score_embed.image.image import Image, Plain, build_image, load_image
from score_embed.image.toolchain import SUFFIXES
from score_embed.results.completeness import surroundings
from score_embed.results.known_bugs import baseline_of, known_to
from score_embed.results.parts import (
    BASELINE,
    CONFINED,
    JUDGED,
    PROGRAM,
    SETTINGS,
    SOURCES,
    VERSIONS,
    Baseline,
    Confined,
    Program,
)
from score_embed.results.sourcemap import source_map
from score_embed.results.storage import damaged
from score_embed.results.store import Store
from score_embed.solve.chain import solver_of
from score_embed.witness import program, witness
from score_embed.witness.program import Builder

HINTS = "score-hints.yaml"  # of the folder where the command is given


class Opened(Struct, frozen=True):
    """A campaign that can begin or go on. `target`: one that answers, if one was asked for."""

    settings: config.Settings
    board: Board
    image: Image
    record: Store
    target: Target | None


class Built(Struct, frozen=True):
    """A program that is there already. `witness`: the second witness's program, if it has one."""

    image: Image
    witness: Path | None = None


def begin(
    settings: config.Settings,
    stack: ExitStack,
    elsewhere: Board | None = None,
    device: str | None = None,
    built: Built | None = None,
    trial: ExitStack | None = None,
) -> Opened:
    """Build the program, try it on a target, make the campaign's folder.

    `elsewhere`: the board, if none is here; `device`: the one of the lab to try it on; `trial`: ends the target, and
    with it that this process keeps to the target's processor, if that is to be before the end of `stack`.
    """
    board = elsewhere or find_board(settings.board, settings.run, device or settings.port)
    board.require_tools()
    settings = structs.replace(settings, solver=solver_of(settings.solver))  # the same for all clients, and on resume
    check_sources(settings)
    said = judged_by(settings)
    name, confined = settings.entry or c_files(settings.sources)[0].stem, not settings.unconfined
    folder = campaign_folder.make_folder(settings.out, name)
    beside = _second_witness(settings, board) if built is None else None
    try:
        with Steps(f"{name} on {board.name}") as steps:
            image = built.image if built else build(settings, board, folder, steps, beside.begin if beside else None)
            steps("waiting for the target")
            ready = ready_target(board, image, confined)
            target = (trial or stack).enter_context(ready) if elsewhere is None else None
    except BaseException:
        campaign_folder.discard(folder)
        if beside is not None:
            beside.abandon()
        raise
    finally:
        if beside is not None:
            beside.close()
    record = stack.enter_context(Store.create(folder))
    campaign_folder.furnish(folder, image)
    campaign_folder.add_stubs(folder, image)
    if beside is not None:
        _keep_witness(beside, record)
    elif built is not None and built.witness is not None:
        _add_witness(built.witness, record)
    record.put(JUDGED, said)
    _note_baseline(record, settings)
    write_down(record, settings, board)
    note_confinement(record, board, image.outside, confined)
    return Opened(settings, board, image, record, target)


def go_on(
    record: Store,
    settings: config.Settings,
    stack: ExitStack,
    with_target: bool = True,
    device: str | None = None,
    trial: ExitStack | None = None,
) -> Opened:
    """Open the campaign of a record once more, with its `resumed_settings`. Without a target, the board may be
    elsewhere. `trial`: as of `begin`."""
    if settings.retry_lost:
        record.lost.retry()
    if with_target:
        board = find_board(settings.board, settings.run, device or settings.port)
        board.require_tools()
        solver_of(settings.solver)
    else:
        board = load_board(find_profile(settings.board), settings.run, settings.port)
    _note_baseline(record, settings)
    image, confined = load_image(record.folder / campaign_folder.IMAGE), not settings.unconfined
    note_confinement(record, board, image.outside, confined)
    target = (trial or stack).enter_context(ready_target(board, image, confined)) if with_target else None
    return Opened(settings, board, image, record, target)


def resumed_settings(record: Store, settings: config.Settings) -> config.Settings:
    """What was explored stays as recorded; only when to stop and what to print may be said anew.

    Raises UsageError if the campaign is not the user's own, unless it is trusted."""
    recorded = recorded_settings(record)
    trust.require(record, settings.trust)
    if settings.trust:
        trust.sign(record)
    if record.warning:
        print(printable(record.warning), file=sys.stderr)
    clients = settings.clients or recorded.clients
    port = settings.port or (recorded.port if (clients or 1) == 1 else None)  # it is one board's
    return structs.replace(
        recorded,
        resume=record.folder,
        run=recorded.run or ("serial" if recorded.port and not port else None),
        port=port,
        clients=clients,
        cluster=settings.cluster,
        time=settings.time,
        max_tests=settings.max_tests,
        until_bug=settings.until_bug,
        baseline=settings.baseline,
        unconfined=settings.unconfined,
        retry_lost=settings.retry_lost,
        json=settings.json,
    )


@contextmanager
def ready_target(board: Board, image: Image, confined: bool = True) -> Iterator[Target]:
    """A target that answers: whether there is one is known before anything is written down."""
    with campaign_folder.beside_target(board):
        target = campaign_folder.start_target(board, image.elf, image.build_id, confined)
        try:
            try:
                _ = target.info
            except NoReady as error:
                from score_embed.campaign import startup  # it looks into the image, where others have started

                raise startup.explained(error, board, image.elf) from None
            yield target
        finally:
            target.close()


def check_sources(settings: config.Settings) -> None:
    for source in (*settings.sources, *settings.native):
        if source.suffix not in (".c", *SUFFIXES):
            what = "this is neither a C source (.c) nor a file to link with it"
            raise UsageError(what, str(source), f"C files are explored; {', '.join(SUFFIXES)} are linked.")
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


def _second_witness(settings: config.Settings, board: Board) -> Builder | None:
    """What builds it, if this board's programs can have one."""
    if settings.no_witness or not program.is_for(board):
        return None
    return Builder(board, config.checks(settings.check))


def _keep_witness(builder: Builder, record: Store) -> None:
    """Its program goes into the campaign's folder, as the image does. Without it the campaign goes on."""
    try:
        _add_witness(builder.result(), record)
    except BuildError as error:
        missing = f"{error.where}: {error.what}" if error.where else error.what
        what = f"warning: no second witness: the program cannot be built with gcc's sanitizers: {missing}"
        print(printable(what), file=sys.stderr)
        witness.wanted(record, missing)


def _add_witness(path: Path, record: Store) -> None:
    campaign_folder.add_program(record.folder, path, witness.PROGRAM, shared=True)
    witness.wanted(record)


def build(
    settings: config.Settings,
    board: Board,
    folder: Path,
    progress: Callable[[str], None],
    beside: Callable[[Plain], None] | None = None,
) -> Image:
    """`progress`: is told each step; `beside`: of the program as it is without probes."""
    commands = settings.compile_commands
    sources = c_files(settings.sources)
    return build_image(
        board,
        sources,
        native=settings.native,
        objects=[path for path in settings.sources if path.suffix != ".c"],
        instrument=settings.instrument,
        entry=settings.entry,
        told=told(settings),
        whole=given(settings),
        stubs=stubs(settings),
        cflags=settings.cflags,
        file_flags=read_flags(commands, (*sources, *settings.native)) if commands else None,
        verify=settings.verify,
        tells_statements=settings.goal == "statement",
        checks=config.checks(settings.check),
        keep=folder / "instrumented" if settings.keep else None,
        beside=beside,
        progress=progress,
    )


def stubs(settings: config.Settings) -> StubsWanted:
    """With `--entry` a part of a program is explored: then others are missing on purpose."""
    how = settings.stubs or ("none" if settings.entry is None else "undefined")
    return StubsWanted(how == "undefined", settings.stub)


def told(settings: config.Settings) -> Told:
    """What is said of the function of `--entry`."""
    wanted = tuple(filter(None, settings.globals.split(",")))
    if settings.entry is None and (settings.assume or wanted):
        raise UsageError("there is no function that this is said of", "--assume, --globals", "Say --entry FUNC.")
    return Told(settings.assume, wanted, _hints(settings) if settings.entry else None, settings.nulls == "all")


def _hints(settings: config.Settings) -> Path | None:
    return settings.hints or (Path(HINTS) if Path(HINTS).is_file() else None)


def judged_by(settings: config.Settings) -> tuple[judged.Judged, ...]:
    """What the user has said of bugs. Raises UsageError."""
    hints = _hints(settings)
    return judged.read(hints) if hints is not None else ()


def write_down(record: Store, settings: config.Settings, board: Board) -> None:
    """All that resume and replay need, besides the image itself."""
    record.put(SETTINGS, structs.replace(settings, board=str(board.path)))
    record.put(VERSIONS, {"score-embed": __version__, "compiler": campaign_folder.compiler_version(board)})
    trust.sign(record)
    record.commit()


def _note_baseline(record: Store, settings: config.Settings) -> None:
    """What this session knows of bugs: reports that are made later tell them as it does."""
    known = baseline_of(settings)
    record.put(BASELINE, Baseline(None if known is None else tuple(sorted(known))))


def note_confinement(record: Store, board: Board, outside: Sequence[str], confined: bool) -> None:
    """What this session's targets may not do; of several sessions, what holds for all, and what lay beyond any.
    `outside`: what the program has from elsewhere."""
    if isinstance(board.run, DeskRun) and not board.run.program:
        return  # nothing is started here
    now, before = layers(confined), record.get(CONFINED)
    if now.active and now.missing:
        print(f"warning: targets are confined without {'; '.join(now.missing)}", file=sys.stderr)
    active = [layer for layer in now.active if before is None or layer in before.active]
    missing = dict.fromkeys((*(before.missing if before else ()), *now.missing))
    beyond = before.beyond if before else ()
    if confined and isinstance(board.run, NativeRun):
        beyond = bounds(outside)
    record.put(CONFINED, Confined(tuple(active), tuple(missing), beyond))
    record.commit()


def note_strangers(opened: Opened) -> None:
    """Clients of others' join, whose targets are confined, whatever ours are."""
    noted = opened.record.get(CONFINED)
    if noted is not None and isinstance(opened.board.run, NativeRun):
        opened.record.put(CONFINED, Confined(noted.active, noted.missing, bounds(opened.image.outside)))
        opened.record.commit()


def given(settings: config.Settings) -> Whole:
    """What a whole program is given as symbolic input."""
    return Whole(settings.stdin_bytes, config.lengths(settings.argv))


def recorded_settings(record: Store) -> config.Settings:
    """The settings a campaign was started with."""
    found = record.get(SETTINGS)
    if found is None:
        hint = "It was stopped before its first test: start a new campaign."
        raise UsageError("the campaign in this folder never began", str(record.folder), hint)
    if wrong := config.refused(found):
        raise damaged(record.folder, f"its settings: {wrong} cannot be {getattr(found, wrong.replace('-', '_'))!r}")
    return found


def begin_books(opened: Opened, difference: Difference | None) -> Ledger:
    """Write down what reports need to know of the program, so that they need nothing but the record; and what the
    first test has shown."""
    record, settings, image = opened.record, opened.settings, opened.image
    described = Program(
        image.program,
        opened.board.name,
        settings.strategy,
        settings.seed,
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        image.entry,
        tuple(str(source) for source in c_files(settings.sources)),
        bool(settings.stdin_bytes or settings.argv),
        (*image.within, *surroundings(image.outside, given(settings), not settings.entry)),
        image.stubs,
        settings.goal,
    )
    sources = source_map(image.sites, image.notes, image.losses, Path.cwd())
    record.put(PROGRAM, described)
    record.put(SOURCES, sources)
    ledger = Ledger(record, sources, known_to(settings))
    if difference is not None:
        ledger.note(Note.FIRST_DIFFERS, difference.file, difference.line)
    return ledger
