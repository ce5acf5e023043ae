"""Terminals, and whatever else needs more than lines of text: rich lays it out. Its import takes as long as a small
campaign, so what only `run` needs is in `output.py` and `grid.py`."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from score_embed.cli.grid import WIDEST, Grid
from score_embed.errors import printable


class Printer(Console):
    """A console that leaves it to the command what a reader that left means: rich would end with 1, which says
    `bugs`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def for_lines() -> Printer:
    """What is a line stays one in files and pipes, which are no windows."""
    found = Printer(highlight=False)
    return found if found.is_terminal else Printer(highlight=False, width=WIDEST)


def plain(line: str) -> Text:
    """What stands in a record, or came from elsewhere, as it is: neither markup nor anything for the terminal."""
    return Text(printable(line))


def table(grid: Grid) -> Table:
    made = Table(caption=grid.caption or None)
    for name in grid.header:
        made.add_column(plain(name))
    for row in grid.rows:
        made.add_row(*map(plain, row))
    return made
