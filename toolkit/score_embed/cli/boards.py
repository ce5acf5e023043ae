"""`score-embed boards`: the boards that can be named, and whether their tools are installed."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from score_embed.board.profile import known_boards, load_board
from score_embed.errors import UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sub = commands.add_parser("boards", help="list the boards", allow_abbrev=False)
    sub.set_defaults(execute=execute)


def execute(_: argparse.Namespace) -> int:
    table = Table("board", "compiler", "runs in", "file")
    for path in known_boards().values():
        board = load_board(path)
        try:
            board.require_tools()
            missing = ""
        except UsageError as error:
            missing = f" ({error.hint})"
        table.add_row(board.name, board.cc, " ".join(board.tools()[1:]) or "this machine", f"{path}{missing}")
    Console().print(table)
    return 0
