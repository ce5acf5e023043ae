"""Standard output, which may be gone before we are: a reader that left (`| head`), a full disk, none at all."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from score_embed.errors import printable


class Printer(Console):
    """A console that leaves it to the command what a reader that left means: rich would end with 1, which says
    `bugs`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def plain(line: str) -> Text:
    """What stands in a record, or came from elsewhere, as it is: neither markup nor anything for the terminal."""
    return Text(printable(line))


def prepare() -> None:
    """What the output cannot show is replaced; where there is none, nothing is printed."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the process ends)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def silence() -> None:
    """Nothing more is printed, not even what Python still holds when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def readers_may_leave() -> Iterator[None]:
    """Printing that does not decide how the command ends: the reader may have left."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
