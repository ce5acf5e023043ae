"""Standard output, which may be gone before we are: a reader that left (`| head`), a full disk, none at all."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TERMINALS = ("FORCE_COLOR", "TTY_COMPATIBLE")  # of the environment: they may say that there is one, or none


def is_plain() -> bool:
    """Standard output takes lines of any characters as they are: it is a file or a pipe, for certain. About everything
    else rich is asked."""
    known = not any(name in os.environ for name in _TERMINALS)
    encoding = sys.stdout.encoding or ""  # a stream of this process (io.StringIO) has none
    return known and not sys.stdout.isatty() and encoding.lower().startswith("utf")


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
