"""`run --clients N`: the server in this process, its clients beside it, each with a target of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from score_embed import config
from score_embed.board.desk import DeskRun
from score_embed.board.lab import find_lab
from score_embed.board.profile import Board, find_profile, load_board
from score_embed.campaign import ending, first_test, opening
from score_embed.campaign.ending import Result
from score_embed.campaign.opening import Opened
from score_embed.campaign.worker import Worker
from score_embed.errors import UsageError
from score_embed.explore.pair import first_pairs
from score_embed.fleet.process.campaign_record import CampaignRecord
from score_embed.fleet.process.job import OfferedJob
from score_embed.fleet.process.launcher import LocalLauncher
from score_embed.fleet.process.server import Hosted
from score_embed.fleet.process.session import FleetSession, Plan
from score_embed.fleet.process.socket_folder import socket_folder
from score_embed.fleet.protocol import Timing
from score_embed.fleet.transport.keys import KeyRing
from score_embed.fleet.transport.line import Listener
from score_embed.results.parts import PROGRESS
from score_embed.results.storage import storage_error
from score_embed.results.store import Store
from score_embed.results.work import WorkNotes
from score_embed.witness import witness

ADDRESS_FILE = "server"  # in the campaign's folder: where its server listens


def run(settings: config.Settings, record: Store | None) -> Result:
    """Start a campaign, or go on with that of `record`, until it ends or is told to."""
    with ExitStack() as stack:
        devices = devices_for(settings)
        opened = open_(settings, record, stack, devices)
        opened.record.pairs.free()  # clients of earlier sessions died with their servers
        title = f"{opened.image.program} on {opened.board.name}"
        plan = Plan(title, settings.clients or 1, settings.time, until_bug=settings.until_bug)
        return serve([opened], devices, plan, stack)[0]


def serve(
    campaigns: list[Opened],
    devices: Sequence[str],
    plan: Plan,
    stack: ExitStack,
    listen: str = "",
    keys: KeyRing | None = None,
) -> list[Result]:
    """Let clients explore the campaigns. `listen`: where others may join."""
    folder = stack.enter_context(socket_folder())
    line = Listener(f"ipc://{folder}/server", keys, listen)
    stack.callback(line.close)
    hosted = [host(opened, stack) for opened in campaigns]
    work = {each.record.number: each.record.store.folder for each in hosted}
    unconfined = any(opened.settings.unconfined for opened in campaigns)
    launcher = LocalLauncher(line.address, folder, devices, unconfined=unconfined, work=work)
    session = FleetSession(line, hosted, launcher, plan, Timing())
    if line.also:
        for opened in campaigns:
            opening.note_strangers(opened)
        print(f"listening at {line.also}", file=sys.stderr, flush=True)
    records = [opened.record for opened in campaigns]
    return conclude(session, records, line.address)


def conclude(session: FleetSession, records: Sequence[Store], address: str) -> list[Result]:
    """Run a session to its end and sum up. `address`: where its server listens."""
    with _told(records, address):
        return ending.conclude(session.run, records)


@contextmanager
def _told(records: Sequence[Store], address: str) -> Iterator[None]:
    """Say in the campaigns' folders where their server listens, while it does."""
    files = [record.folder / ADDRESS_FILE for record in records]
    try:
        for file in files:
            file.write_text(address + "\n", encoding="utf-8")
    except OSError as error:
        raise storage_error(error, records[0].folder) from error
    try:
        yield
    finally:
        for file in files:
            with suppress(OSError):
                file.unlink()


def open_(settings: config.Settings, record: Store | None, stack: ExitStack, devices: Sequence[str]) -> Opened:
    """Begin a campaign, or go on with that of `record`; the first of the devices is for what has to be tried."""
    device = devices[0] if devices else None
    if record is None:
        return begin(settings, stack, device=device)
    return go_on(record, settings, stack, device)


def begin(
    settings: config.Settings, stack: ExitStack, elsewhere: Board | None = None, device: str | None = None
) -> Opened:
    """A new campaign with its first test to run. What needs a target for that is done when this returns.

    `elsewhere`: the board, if none is here. Then nothing is tried; the first client completes the first test.
    """
    with ExitStack() as trial:
        opened = opening.begin(settings, stack, elsewhere, device, trial=trial)
        _find_first_test(opened)
    return opened


def go_on(record: Store, settings: config.Settings, stack: ExitStack, device: str | None = None) -> Opened:
    """A campaign once more; its beginning, too, if it was stopped before that was written down."""
    if record.get(PROGRESS) is not None:
        return opening.go_on(record, settings, stack, with_target=False)
    with ExitStack() as trial:
        opened = opening.go_on(record, settings, stack, device=device, trial=trial)
        _find_first_test(opened)
    return opened


def _find_first_test(opened: Opened) -> None:
    record, settings, target = opened.record, opened.settings, opened.target
    if target is not None:
        worker = Worker(target, settings, opened.image)
        with WorkNotes(record.folder) as work:
            work.count()
            if settings.retry_lost:
                work.pardon()
            inputs, difference = first_test.find(worker, settings, opened.image, work)
        ledger = opening.begin_books(opened, difference)
        ledger.count(worker.counted())
    else:
        chosen = settings.first
        inputs = (first_test.raw(chosen) if chosen is not None else first_test.unchosen(settings),)
        ledger = opening.begin_books(opened, None)
    pairs = first_pairs(inputs, first_test.seeds(settings))
    record.pairs.add((pair.id, b"", pair.to_bytes()) for pair in pairs)
    ledger.commit()


def host(opened: Opened, stack: ExitStack) -> Hosted:
    record, settings = opened.record, opened.settings
    kept = CampaignRecord(record, opened.image.build_id, settings)
    job = OfferedJob(kept.number, settings, opened.board, opened.image)
    second = witness.of(record, settings)
    work = stack.enter_context(WorkNotes(record.folder))
    work.count()  # of earlier sessions
    if settings.retry_lost:
        work.pardon()
    return Hosted(record.folder.resolve().name, opened.image.program, kept, job, settings.max_tests, second, work)


def devices_for(settings: config.Settings) -> tuple[str, ...]:
    """The devices that so many clients are to have, if the board is one on the desk. Raises UsageError if there are
    too few."""
    clients = settings.clients if settings.clients is not None else 1
    board = as_described(settings)
    if not isinstance(board.run, DeskRun) or board.run.program:
        return ()
    if settings.port is not None or board.run.port:
        given = settings.port or board.run.port
        if clients > 1:
            what = f"{clients} clients need {clients} boards, and one port is named"
            raise UsageError(
                what, given, "Let the lab file name the boards (`score-embed lab scan`), and leave out --port."
            )
        return (given,)
    lab = find_lab()
    present = [device.name for device in lab.devices(board.path.stem) if device.present]
    if len(present) < clients:
        what = f"{clients} clients need {clients} boards; the lab has {len(present)} of {board.path.stem!r} plugged in"
        raise UsageError(
            what, str(lab.path or ""), "Plug in more, or take fewer clients. `score-embed lab` lists them."
        )
    return tuple(present)


def as_described(settings: config.Settings) -> Board:
    """The board's profile, without choosing a device."""
    return load_board(find_profile(settings.board), settings.run, settings.port)
