"""`score-embed fleet status | add | remove | assign | stop`: what people want of a server that runs."""

from __future__ import annotations

import argparse
import time
from contextlib import closing, suppress
from pathlib import Path

from rich.table import Table

from score_embed import userfile
from score_embed.cli import words
from score_embed.cli.console import for_lines, plain
from score_embed.errors import TargetError, UsageError, printable
from score_embed.fleet import service
from score_embed.fleet.messages import DecodeError
from score_embed.fleet.process.hosting import ADDRESS_FILE
from score_embed.fleet.server import condition
from score_embed.fleet.transport import keys as keyring
from score_embed.fleet.transport.line import Caller

_WITHIN = 10.0  # seconds for an answer
_MOST_ADDRESS = 1000  # characters
_LATEST = Path("score-out") / "latest"
_NUMBER_HELP = "how many clients"


def add_parsers(what: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _add(what, "status", "the campaigns and clients of a server")
    add = _add(what, "add", "start more clients on the server's machine")
    add.add_argument("number", type=words.count, metavar="N", help=_NUMBER_HELP)
    remove = _add(what, "remove", "let clients leave; they hand over what they hold")
    remove.add_argument("number", nargs="?", type=words.count, metavar="N", help=f"{_NUMBER_HELP} at most (all)")
    fields = ", ".join(condition.FIELDS)
    remove.add_argument(
        "--where", metavar="CONDITION", default="", help=f"those: 'queue < 5 or time > 3600' ({fields})"
    )
    remove.add_argument("--client", metavar="NAME", default="", help="this one")
    assign = _add(what, "assign", "let clients work on another campaign of the server")
    assign.add_argument("number", type=words.count, metavar="N", help=_NUMBER_HELP)
    assign.add_argument("campaign", metavar="CAMPAIGN", help="its folder's name, or its program's")
    _add(what, "stop", "end the session; it goes on with --resume")


def _add(what: argparse._SubParsersAction[argparse.ArgumentParser], name: str, help_: str) -> argparse.ArgumentParser:
    sub = what.add_parser(name, help=help_, description=f"{help_[0].upper()}{help_[1:]}.", allow_abbrev=False)
    sub.add_argument(
        "--server", metavar="ADDRESS|DIR", default=str(_LATEST), help=f"its address, or its folder ({_LATEST})"
    )
    sub.add_argument("--keys", metavar="FILE", type=words.path, help="orders.key, if the address is on another machine")
    sub.set_defaults(execute=_execute, order=name)
    return sub


def _execute(values: argparse.Namespace) -> int:
    order = service.Order(
        values.order,
        getattr(values, "number", None),
        getattr(values, "where", ""),
        getattr(values, "client", ""),
        getattr(values, "campaign", ""),
    )
    if order.where:
        condition.parse(order.where)  # told here, where the user is
    if order.what == "remove" and order.number is None and not (order.where or order.client):
        raise UsageError("who is to leave?", "command line", "Give a number, --where CONDITION or --client NAME.")
    answer = _ask(_address(values.server), values.keys, order)
    if isinstance(answer, service.Overview):
        _show(answer)
    elif isinstance(answer, service.Done):
        print(printable(answer.text))
    return 0


def _address(given: str) -> str:
    """The address of the server, which its campaign's folder tells, too."""
    if "://" in given:
        return given
    try:
        file = userfile.name(given) / ADDRESS_FILE
    except ValueError as error:
        raise UsageError(f"{userfile.shown(given)} is no folder's name", "command line", str(error)) from None
    found = ""
    with suppress(OSError, UnicodeDecodeError):
        if file.is_file():
            with file.open(encoding="utf-8") as said:
                found = said.read(_MOST_ADDRESS).strip()
    if "://" not in found:
        what = "no server works on the campaign in this folder" if Path(given).is_dir() else "there is no such folder"
        raise UsageError(what, given, "Name the server with --server ADDRESS, or its campaign's folder.")
    return found


def _ask(address: str, keys: Path | None, order: service.Order) -> service.Service:
    """The server's answer. Raises UsageError if it refuses, TargetError if there is none."""
    with closing(Caller(address, keyring.read(keys, orders=True) if keys else None)) as caller:
        caller.reach(_WITHIN)
        caller.send(service.encode(order))
        deadline = time.monotonic() + _WITHIN
        while (left := deadline - time.monotonic()) > 0:
            for _, data in caller.wait(left):
                try:
                    frame = service.decode(data)
                except DecodeError:
                    continue
                if isinstance(frame, service.Problem):
                    raise UsageError(frame.what, "the server", frame.hint)
                if isinstance(frame, service.Done | service.Overview):
                    return frame
    raise TargetError(f"the server did not answer within {_WITHIN:.0f} s", address, "Does it still run?")


def _show(found: service.Overview) -> None:
    console = for_lines()
    campaigns = Table("campaign", "program", "tests", "paths", "waiting", "branches", "bugs", "state")
    for row in found.campaigns:
        numbers = [str(number) for number in (row.tests, row.paths, row.waiting)]
        state = "finished" if row.finished else "running"
        branches = f"{row.covered}/{row.directions}"
        campaigns.add_row(plain(row.name), plain(row.program), *numbers, branches, str(row.bugs), state)
    console.print(campaigns)
    clients = Table("client", "campaign", "status", "queue", "tests", "seconds", "waiting", "where")
    for one in found.clients:
        waiting = f"{one.waiting:.1f} s" if one.waiting else ""
        numbers = [str(one.queue), str(one.tests), f"{one.seconds:.0f}"]
        names = plain(one.name), plain(one.campaign), plain(one.status)
        clients.add_row(*names, *numbers, waiting, plain(one.where))
    console.print(clients if found.clients else "no clients")
