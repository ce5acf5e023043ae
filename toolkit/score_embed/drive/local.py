"""`run --clients N`: the server in this process, its clients beside it, each with a target of its own."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from score_embed import config, firsttest, opening
from score_embed.board.desk import DeskRun
from score_embed.board.lab import find_lab
from score_embed.board.profile import Board, find_profile, load_board
from score_embed.carrier.line import Listener
from score_embed.describing import Describer
from score_embed.drive.books import Books
from score_embed.drive.crew import Crew
from score_embed.drive.kit import KitGiver
from score_embed.drive.server import Hosted
from score_embed.drive.session import FleetSession, Plan
from score_embed.ending import Result, how_to_go_on, result, sum_up
from score_embed.errors import TargetError, UsageError
from score_embed.explore.pair import first_pair
from score_embed.fleet.protocol import Timing
from score_embed.opening import Opened
from score_embed.results.store import Store
from score_embed.running import Runner

ADDRESS_FILE = "server"  # in the campaign's folder: where its server listens


def run(settings: config.Settings, record: Store | None) -> Result:
    """Start a campaign, or go on with that of `record`, until it ends or is told to."""
    with ExitStack() as stack:
        devices = devices_for(settings)
        if devices:
            settings = dataclasses.replace(settings, port=devices[0])
        opened = begin(settings, stack) if record is None else opening.go_on(record, settings, stack, with_target=False)
        opened.record.free()  # clients of earlier sessions died with their servers
        hosted = host(opened, opened.settings.max_tests)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="score-embed-")))
        line = Listener(f"ipc://{folder}/server")
        stack.callback(line.close)
        clients = settings.clients or 1
        title = f"{opened.image.program} on {opened.board.name}"
        crew = Crew(line.address, folder, devices)
        session = FleetSession(line, [hosted], crew, Plan(title, clients, settings.time), Timing())
        return conclude(session, [opened.record])


def conclude(session: FleetSession, records: list[Store]) -> Result:
    """Run a session to its end; the result of its first campaign."""
    folder = records[0].folder
    try:
        stopped = session.run()
    except TargetError:
        session.save()
        for record in records:
            sum_up(record)
        print(how_to_go_on(folder), file=sys.stderr)
        raise
    except KeyboardInterrupt:
        print(how_to_go_on(folder), file=sys.stderr)
        raise
    found = [sum_up(record) for record in records]
    if stopped == "interrupted":
        print(how_to_go_on(folder), file=sys.stderr)
    return result(found[0], folder)


def begin(settings: config.Settings, stack: ExitStack) -> Opened:
    """A new campaign with its first test to run. What needs a target for that is done when this returns."""
    with ExitStack() as target:
        opened = opening.begin(settings, target)
        assert opened.target is not None
        runner = Runner(opened.target, settings)
        data, difference = firsttest.find(runner, settings, opened.image, Describer(opened.image))
        record = opened.record
        opening.describe(record, settings, opened.board, opened.image)
        pair = first_pair(data)
        record.add_pairs([(pair.id, b"", pair.to_bytes())])
        books = Books(record, settings.seed, opened.image.build_id)
        if difference is not None:
            books.ledger.note(firsttest.DIFFERS, difference.file, difference.line)
        books.commit(0, {}, {})
        opened.target.close()
        stack.push(target.pop_all())
    return opened


def host(opened: Opened, limit: int | None) -> Hosted:
    record, settings = opened.record, opened.settings
    books = Books(record, settings.seed, opened.image.build_id)
    giver = KitGiver(books.number, settings, opened.board, opened.image)
    return Hosted(record.folder.resolve().name, opened.image.program, books, giver, limit)


def devices_for(settings: config.Settings) -> tuple[str, ...]:
    """The devices that so many clients are to have, if the board is one on the desk. Raises UsageError if there are
    too few."""
    clients = settings.clients or 1
    board = _as_described(settings)
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


def _as_described(settings: config.Settings) -> Board:
    """The board's profile, without choosing a device."""
    return load_board(find_profile(settings.board), settings.run, settings.port)
