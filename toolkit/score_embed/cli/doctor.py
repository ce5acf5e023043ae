"""`score-embed doctor`: is everything there that a campaign needs, and if not, what to do."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.text import Text

from score_embed import doctor
from score_embed.board.profile import find_board, known_boards, load_board

PROBLEM = 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sub = commands.add_parser("doctor", help="check tools, emulators and ports", allow_abbrev=False)
    sub.add_argument("--board", metavar="NAME|FILE", help="check this board only (default: all that can be named)")
    sub.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    console = Console(highlight=False, soft_wrap=True)
    chosen = [find_board(arguments.board)] if arguments.board else [load_board(p) for p in known_boards().values()]
    problems = sum([_shown(console, finding) for finding in doctor.machine()])
    for board in chosen:
        console.print(Text(board.name, style="bold"))
        problems += sum([_shown(console, finding) for finding in doctor.board(board)])
    print("all is well" if not problems else f"{problems} problem{'s' if problems > 1 else ''}")
    return PROBLEM if problems else 0


def _shown(console: Console, finding: doctor.Finding) -> bool:
    """Print it; says whether it is a problem."""
    mark = "no" if finding.fix else "ok"
    console.print(Text(f"  {mark}  {finding.subject}: {finding.found}"))
    if finding.fix:
        console.print(Text(f"      {finding.fix}"))
    return bool(finding.fix)
