"""Complaints about the C of a harness, where that C is what the user wrote as a hint: they belong to the hint's own line.

The harness is no file that anybody can look at. Its lines are found again in the program's text, and the hint by what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from score_embed.contract.program import HARNESS_FILE, Source
from score_embed.errors import BuildError, UsageError

OPTION = "--assume"
_AT = re.compile(rf"{re.escape(HARNESS_FILE)}:(\d+)(?::\d+)?")
_MARK = re.compile(rf'^# (\d+) "{re.escape(HARNESS_FILE)}".*$', re.MULTILINE)


def blamed(error: BuildError, sources: Sequence[Source], written: Iterable[tuple[str, str]]) -> BuildError | UsageError:
    """The error at the hint that it is about, if it is about one. `written`: the C of the hints, and where each stands."""
    at = _AT.match(error.where)
    line = _line(sources, int(at[1])) if at is not None else ""
    found = [(text, place) for text, place in written if text in line]
    if not found:
        return error
    text, place = max(found, key=lambda each: len(each[0]))
    return UsageError(f"{error.what}, in '{text}'", place, "It is a condition or a value in C: `len > 0 && p->next != 0`.")


def _line(sources: Sequence[Source], number: int) -> str:
    for source in sources:
        for mark in _MARK.finditer(source.text):
            lines = source.text[mark.end() + 1 :].split("\n")
            at = number - int(mark[1])
            if 0 <= at < len(lines) and not any(row.startswith("# ") for row in lines[:at]):
                return lines[at]
    return ""
