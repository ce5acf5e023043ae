"""What gcc has against a file: all its errors, each with the notes that belong to it. The first note often says more
than the error (where something was declared otherwise, from where a header was included)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from score_embed.errors import BuildError
from score_embed.frontend.c.own_names import as_written

MOST_ERRORS = 20  # of one file
MOST_NOTES = 4  # of one error
_SAID = re.compile(r"(?P<where>[^\s:][^:]*:\d+(?::\d+)?): (?:fatal )?(?P<kind>error|note): (?P<what>.+)")
_INCLUDED = re.compile(r"(?:In file included|\s+) from (?P<where>[^:]+:\d+)")
_MISSING = ": No such file or directory"


def complaint(stderr: str, where: str) -> BuildError:
    """The compiler's or linker's messages as one error. `where`: the place, if they name none."""
    found = _errors(as_written(stderr))
    if found:
        return together(found)
    said = [line for line in stderr.splitlines() if line.strip()]
    known = [line for line in said if not line.startswith("collect2:")]  # which only says that there was one
    errors = [line for line in known if " error: " in line]
    lines = errors[:1] or known or said
    return BuildError(lines[-1] if lines else "the compiler failed without a message", where)


def together(errors: Sequence[BuildError]) -> BuildError:
    """The first, with the others behind it."""
    each = [BuildError(error.what, error.where, error.hint) for one in errors for error in (one, *one.also)]
    return BuildError(each[0].what, each[0].where, each[0].hint, each[1:])


def _errors(stderr: str) -> list[BuildError]:
    found: list[BuildError] = []
    notes: list[list[str]] = []
    included: list[str] = []
    for line in stderr.splitlines():
        via, said = _INCLUDED.match(line), _SAID.match(line)
        if via:
            included.append(f"included from {via['where']}")
        elif said and said["kind"] == "error":
            found.append(BuildError(said["what"], said["where"]))
            notes.append(included)
            included = []
        elif said and notes and len(notes[-1]) < MOST_NOTES:
            notes[-1].append(f"{said['where']}: note: {said['what']}")
    for error, more in zip(found, notes, strict=True):
        advice = ["Add the header's folder with -I after `--`."] if error.what.endswith(_MISSING) else []
        error.hint = "\n".join([*more, *advice])
    if len(found) > MOST_ERRORS:
        rest = BuildError(f"and {len(found) - MOST_ERRORS} more errors", found[MOST_ERRORS].where.partition(":")[0])
        return [*found[:MOST_ERRORS], rest]
    return found
