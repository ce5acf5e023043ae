"""`score-embed keys`: keys for a fleet that reaches beyond this machine."""

from __future__ import annotations

import argparse

from score_embed.cli import words
from score_embed.fleet.transport import keys


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = "Make server.key for a server and client.key for its clients. Who has client.key may join."
    sub.add_argument("folder", type=words.path, metavar="DIR", help="where to put them")
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    server, client = keys.make(values.folder)
    print(f"{server}: for `score-embed server --keys`; it stays there")
    print(f"{client}: for `score-embed client --keys`; copy it to the clients' machines and to nobody else")
    return 0
