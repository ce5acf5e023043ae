"""What `run --regress DIR --json` prints, and who reads that: pytest's plugin, and users' scripts."""

from __future__ import annotations

from msgspec import Struct

from score_embed.errors import UsageError
from score_embed.results.json_text import read


class RegressionTest(Struct, frozen=True):
    """A kept test on the program as it is now. `text`: the lines that tell of it; `file`, `line`: of its bug."""

    test: int
    name: str
    state: str
    was: str
    now: str
    file: str
    line: int
    text: tuple[str, ...]


class RegressionDocument(Struct, frozen=True):
    """`root`: the folder that `file` is relative to."""

    campaign: str
    root: str
    tests: tuple[RegressionTest, ...]


def read_document(text: bytes) -> RegressionDocument:
    """Raises UsageError if it is none."""
    try:
        return read(text, RegressionDocument)
    except ValueError as error:
        what = f"this is not what `run --regress --json` prints: {error}"
        raise UsageError(what, "its output", "Run the command by hand.") from error
