"""`score-embed server`: let clients of this machine and others explore campaigns."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from score_embed import config
from score_embed.board.desk import DeskRun
from score_embed.campaign import opening
from score_embed.campaign.opening import Opened
from score_embed.cli import run, words
from score_embed.cli.output import readers_may_leave
from score_embed.errors import UsageError
from score_embed.fleet.process import hosting
from score_embed.fleet.process.session import Plan
from score_embed.fleet.transport import address
from score_embed.fleet.transport import keys as keyring
from score_embed.results.known_bugs import baseline_of
from score_embed.results.store import Store

LISTEN = "tcp://127.0.0.1:5470"


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = "Explore a program, or go on with campaigns, by whatever clients join (`score-embed client`)."
    sub.usage = "score-embed server [options] SOURCES... [-- CFLAGS...] | DIR..."
    sub.add_argument("--listen", metavar="ADDRESS", default=LISTEN, help=f"where clients join ({LISTEN})")
    sub.add_argument("--keys", metavar="FILE", type=words.path, help="server.key, which `score-embed keys` made")
    config.add_options(sub)
    sub.add_argument("sources", nargs="*", metavar="SOURCES|DIR", help="C files of the program, or campaigns' folders")
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    given = vars(values)
    keys = keyring.KeyRing(values.keys) if values.keys else None
    address.check(values.listen, keys is not None)
    folders = [Path(source) for source in values.sources if os.path.isdir(source)]
    if given["resume"]:
        folders.append(Path(given["resume"]))
    if folders and len(folders) < len(values.sources):
        raise UsageError("there are both sources and folders of campaigns", "command line", "Give one or the other.")
    with ExitStack() as stack:
        if folders:
            said = run.resume_settings({**given, "sources": None, "resume": str(folders[0])})
            known = baseline_of(said)
            opened = _go_on(folders, said, stack)
        else:
            said = config.resolve(given, os.environ, Path.cwd())
            run.require_sources(said)
            known = baseline_of(said)
            opened = [_begin(said, stack)]
        title = ", ".join(f"{each.image.program} on {each.board.name}" for each in opened)
        plan = Plan(title, said.clients or 0, said.time, stays=True, until_bug=said.until_bug)
        devices = hosting.devices_for(replace(opened[0].settings, clients=said.clients or 0))
        results = hosting.serve(opened, devices, plan, stack, values.listen, keys)
    with readers_may_leave():
        run.tell(results, said.json, known)
    return run.exit_code(results, known)


def _begin(settings: config.Settings, stack: ExitStack) -> Opened:
    """On a board that is not here nothing is tried first."""
    board = hosting.as_described(settings)
    if isinstance(board.run, DeskRun) and not board.run.program:
        here = hosting.devices_for(replace(settings, clients=settings.clients or 0))
        if not here:
            return hosting.begin(settings, stack, board)
        return hosting.begin(settings, stack, device=here[0])
    return hosting.begin(settings, stack)


def _go_on(folders: Sequence[Path], said: config.Settings, stack: ExitStack) -> list[Opened]:
    opened = []
    for folder in folders:
        record = stack.enter_context(Store.open(folder))
        opened.append(hosting.go_on(record, opening.resumed_settings(record, said), stack))
    return opened
