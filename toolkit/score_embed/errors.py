"""The tree of errors: each knows its exit code and says what is wrong, where, and what to do.

Anything that reaches the user is one of these; anything else is a bug of ours (exit code 70). The exit codes of a
campaign that came to an end (0, 1 with bugs, 7 with lost tests, 8 with an open goal, 130 interrupted) are in
`campaign/ending.py`.
"""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    """One line for a terminal, without what would make it do things or show another text than there is: names of files
    and functions, what a program printed, whatever stands in a record may hold control characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class ScoreError(Exception):
    """Base of all errors shown to the user: `what` (one line), `where` (`file:line`, a path, a port), `hint` (what to
    do, or more about it; lines), `also`: further ones that were found with it."""

    exit_code = 70

    def __init__(self, what: str, where: str = "", hint: str = "", also: Sequence[ScoreError] = ()) -> None:
        super().__init__(what)
        self.what, self.where, self.hint, self.also = what, where, hint, tuple(also)

    def __str__(self) -> str:
        head = f"{self.where}: error: {self.what}" if self.where else f"error: {self.what}"
        lines = [*head.split("\n"), *(f"  {line}" for line in self.hint.splitlines())]
        return "\n".join([*(printable(line.expandtabs()) for line in lines), *map(str, self.also)])


class UsageError(ScoreError):
    """Wrong options, configuration or board; a compiler or emulator that is not installed."""

    exit_code = 2


class BuildError(ScoreError):
    """The C does not parse, compile or link."""

    exit_code = 3


class Unbounded(BuildError):
    """A few lines of C mean more than anybody can read: nobody else is to be asked about them."""


class TargetError(ScoreError):
    """The target or its link is lost, or is not the one expected."""

    exit_code = 4


class NothingToExplore(ScoreError):
    """The program never asked for symbolic input."""

    exit_code = 5


class ReplayMismatch(ScoreError):
    """A replayed test did not reproduce its verdict or path."""

    exit_code = 6


class StorageError(ScoreError):
    """Disk full, folder not writable, campaign file damaged."""

    exit_code = 74
