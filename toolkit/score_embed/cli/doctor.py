"""`score-embed doctor`: is everything there that a campaign needs, and if not, what to do."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from score_embed import config
from score_embed.board.profile import find_board, known_boards
from score_embed.campaign import doctor
from score_embed.cli.console import Printer, plain
from score_embed.errors import UsageError

PROBLEM = 2


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--board", metavar="NAME|FILE", help="check this board only (default: all that can be named)")
    sub.add_argument("--run", choices=config.RUNS, help="check the board run in this way")
    sub.add_argument("--port", metavar="PORT", help="the board's serial port, or its name in the lab file")
    sub.add_argument("--flash", action="store_true", help="flash a board on the desk and run a test on it")
    sub.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    console = Printer(highlight=False, soft_wrap=True)
    if not arguments.board and (arguments.run or arguments.port or arguments.flash):
        raise UsageError("of which board?", "command line", "Name it with --board.")
    problems = sum([_shown(console, finding) for finding in doctor.machine()])
    for name in [arguments.board] if arguments.board else known_boards():
        console.print(Text(name, style="bold"))
        problems += sum([_shown(console, finding) for finding in _findings(name, arguments)])
    print("all is well" if not problems else f"{problems} problem{'s' if problems > 1 else ''}")
    return PROBLEM if problems else 0


def _findings(name: str, arguments: argparse.Namespace) -> Iterator[doctor.Finding]:
    try:
        board = find_board(name, arguments.run, arguments.port)
    except UsageError as error:
        yield doctor.Finding("profile", f"{error.where}: {error.what}".removeprefix(": "), error.hint)
        return
    yield from doctor.board(board, arguments.flash)


def _shown(console: Console, finding: doctor.Finding) -> bool:
    """Print it; says whether it is a problem."""
    mark = "no" if finding.fix else "ok"
    console.print(plain(f"  {mark}  {finding.subject}: {finding.found}"))
    if finding.fix:
        console.print(plain(f"      {finding.fix}"))
    return bool(finding.fix)
