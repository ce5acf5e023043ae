"""`score-embed keys`: keys for a fleet that reaches beyond this machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from score_embed.cli import words
from score_embed.fleet.transport import keys


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = f"""Make {keys.SERVER_FILE} for a server, {keys.ORDERS}.key for who may give it orders, and a key for
each client. With the server's keys in DIR already, add clients."""
    sub.add_argument("folder", type=words.path, metavar="DIR", help="where to put them")
    sub.add_argument("names", nargs="*", metavar="NAME", help=f"clients, each of which gets a key ({keys.CLIENT})")
    sub.add_argument("--revoke", metavar="NAME", help="this client's key opens no door any more")
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    if values.revoke is not None:
        keys.revoke(values.folder, values.revoke)
        print(f"{values.revoke} may not join any more")
    if values.names or values.revoke is None:
        for path in keys.make(values.folder, values.names):
            print(f"{path}: {_purpose(path)}")
    return 0


def _purpose(path: Path) -> str:
    if path.name == keys.SERVER_FILE:
        return "for `score-embed server --keys`; it stays there"
    if path.stem == keys.ORDERS:
        return "for `score-embed fleet … --keys`; who has it may stop the server"
    return "for `score-embed client --keys`; copy it to that client's machine and to no other"
