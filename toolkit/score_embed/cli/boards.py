"""`score-embed boards`: the boards that can be named, and whether their tools are installed; `boards show NAME`: one
profile with everything it extends, and where each value comes from."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.table import Table
from rich.text import Text

from score_embed.board.profile import find_profile, known_boards, load_board, read_profile
from score_embed.cli.console import for_lines
from score_embed.errors import UsageError
from score_embed.yamlfile import Section

WIDTH = 80  # values longer than this do not push the origins of all others to the right


def add_arguments(sub: argparse.ArgumentParser) -> None:
    what = sub.add_subparsers(dest="what", metavar="[show NAME]")
    show = what.add_parser("show", help="print a profile with the origin of every value", allow_abbrev=False)
    show.add_argument("board", metavar="NAME|FILE")
    sub.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    if arguments.what == "show":
        _show(find_profile(arguments.board))
    else:
        _list()
    return 0


def _list() -> None:
    table = Table("board", "about", "runs in", "missing")
    for path in known_boards().values():
        board = load_board(path)
        try:
            board.require_tools()
            missing = ""
        except UsageError as error:
            missing = error.hint.removeprefix("Install it: ")
        table.add_row(board.name, board.about, board.runs_in, missing)
    for_lines().print(table)
    print("more of one: score-embed boards show NAME")


def _show(path: Path) -> None:
    load_board(path)  # complains of what is wrong
    lines = list(_lines(read_profile(path), 0))
    width = max(len(text) for text, _ in lines if len(text) < WIDTH)
    console = for_lines()
    for text, place in lines:
        console.print(Text(f"{text:{width}}  # {place}" if place else text), soft_wrap=True)


def _lines(doc: Section, depth: int) -> Iterator[tuple[str, str]]:
    """Lines of YAML, each with the place it comes from."""
    for key, value in doc.values.items():
        margin = "  " * depth
        if isinstance(value, Section):
            yield f"{margin}{key}:", ""
            yield from _lines(value, depth + 1)
        elif isinstance(value, list) and any(isinstance(item, Section) for item in value):
            yield f"{margin}{key}:", doc.where(key)
            for item in value:
                yield f"{margin}  - {_written(item)}", item.place if isinstance(item, Section) else ""
        else:
            yield f"{margin}{key}: {_written(value)}", doc.where(key)


def _written(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, Section):
        return "{" + ", ".join(f"{key}: {_written(item)}" for key, item in value.values.items()) + "}"
    if isinstance(value, int) and value >= 1 << 16:
        return f"{value:#x}"  # an address
    return str(value)
