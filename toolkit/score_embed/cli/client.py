"""`score-embed client`: join a fleet with a target of this machine."""

from __future__ import annotations

import argparse
import os
import socket
import time
from contextlib import closing
from pathlib import Path

from score_embed import config
from score_embed.campaign.interrupt import Interrupt
from score_embed.cli import words
from score_embed.errors import UsageError
from score_embed.fleet.origin import APART
from score_embed.fleet.process.client import ClientOptions, ClientProcess
from score_embed.fleet.process.launcher import die_with
from score_embed.fleet.protocol import Timing
from score_embed.fleet.transport import keys as keyring
from score_embed.fleet.transport.line import Caller
from score_embed.image.image import load_image
from score_embed.solve.query import interrupt as end_question

_MOST_NAME = 64


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = "Run tests for a server until nothing is left. The program comes from the server."
    sub.add_argument("--server", metavar="ADDRESS", required=True, help="tcp://HOST:PORT, as the server says it")
    sub.add_argument(
        "--keys", metavar="FILE", type=words.path, help="the key of this client, which `score-embed keys` made"
    )
    sub.add_argument("--listen", metavar="ADDRESS", default="", help="where other clients hand over pairs directly")
    sub.add_argument("--name", default="", help="a name that no other client has (that of the key, and the process)")
    sub.add_argument("--board", metavar="NAME|FILE", help="the board here, if it is not called as at the server")
    sub.add_argument("--run", choices=config.RUNS, help="how to run the board's image")
    sub.add_argument("--port", metavar="PORT", help="the board's serial port, or its name in the lab file")
    sub.add_argument(
        "--image", metavar="FILE", type=words.path, help="the image that the board holds, if it keeps that one"
    )
    sub.add_argument("--wait", metavar="TIME", default="5m", help="how long to go on without the server (5m)")
    sub.add_argument("--unconfined", action="store_true", help=config.UNCONFINED_HELP)
    sub.add_argument("--incarnation", type=int, help=argparse.SUPPRESS)
    sub.add_argument("--parent", type=int, help=argparse.SUPPRESS)  # to die with
    sub.add_argument("--work", action="append", default=[], help=argparse.SUPPRESS)  # SLOT:NUMBER:FOLDER of a campaign
    sub.set_defaults(execute=execute)


def _name(given: str, key: str) -> str:
    """With a key, a client's name begins with that of the key: so nobody can speak in another's name."""
    if not key:
        name = given or f"{socket.gethostname()[:40]}-{os.getpid()}"
    elif not given or given == key:
        name = given or f"{key}{APART}{os.getpid()}"
    else:
        name = f"{key}{APART}{given.removeprefix(key + APART)}"
    if len(name) > _MOST_NAME or not name.isprintable():
        what = f"a client's name has at most {_MOST_NAME} characters that can be printed"
        raise UsageError(what, "command line", "Choose another --name.")
    return name


def execute(values: argparse.Namespace) -> int:
    if values.parent is not None:
        die_with(values.parent)
    try:
        patience = config.seconds(values.wait)
    except ValueError as error:
        raise UsageError(f"--wait cannot be {values.wait!r}", "command line", str(error)) from None
    keys = keyring.read(values.keys) if values.keys else None
    name = _name(values.name, keys.name if keys is not None else "")
    options = ClientOptions(
        name,
        int(time.time() * 1000) if values.incarnation is None else values.incarnation,  # later lives are higher
        f"{socket.gethostname()} {values.port or ''}".strip(),
        values.board,
        values.run,
        values.port,
        load_image(values.image).build_id if values.image else b"",
        patience,
        *_work(values.work),
        unconfined=values.unconfined,
    )
    quiet = values.parent is not None
    with closing(Caller(values.server, keys, values.listen)) as caller, Interrupt(end_question, quiet) as interrupt:
        ClientProcess(caller, options, interrupt, Timing()).run()
    return 0


def _work(words: list[str]) -> tuple[dict[int, Path], int]:
    """Where it notes what it runs, as the server that started it has said."""
    folders, slot = {}, 0
    for word in words:
        place, number, folder = word.split(":", 2)
        folders[int(number)], slot = Path(folder), int(place)
    return folders, slot
