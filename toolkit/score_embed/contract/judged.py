"""What users say of bugs, one line each in `score-hints.yaml`, and that holds from then on.

    accept:
      8a31f0c2: issue 41, mended in 2.1           a known bug, by the id that stands with it
      uart.c:120: the table ends there            or by its place, also with its kind: `uart.c:120 out-of-bounds`
    refuse:
      find(n->next == NULL): init sets it         it cannot be, for this never holds when `find` is called
      3f2a9c01: the linker script puts it there   it cannot be, and no condition of arguments says why

Both kinds of bugs are listed apart and fail nothing. A condition becomes a precondition of its function's harness, so
the exploration itself no longer goes there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from score_embed import yamlfile
from score_embed.errors import UsageError

ACCEPT, REFUSE = "accept", "refuse"
KEYS = (ACCEPT, REFUSE)
SHORT = 8  # digits of an id, at least
_ID = re.compile(rf"[0-9a-f]{{{SHORT},32}}")
_PLACE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+)(?: (?P<kind>[a-z][a-z0-9-]*))?")
_CONDITION = re.compile(r"(?P<function>[A-Za-z_]\w*) ?\((?P<condition>.+)\)")
_IS_NULL = re.compile(r"(?:(?P<left>.+?) ?== ?(?:NULL|0)|! ?(?P<negated>\w[\w.\[\]]*(?:->[\w.\[\]]+)*))")


class Judged(Struct, frozen=True):
    """One line. `what`: as it is written; `why`: the user's reason; `at`: where it stands (file:line)."""

    word: str
    what: str
    why: str
    at: str

    @property
    def is_condition(self) -> bool:
        return _CONDITION.fullmatch(self.what) is not None

    @property
    def function(self) -> str:
        """The function that a condition is of; "" if it is none."""
        match = _CONDITION.fullmatch(self.what)
        return match["function"] if match is not None else ""

    def means(self, ident: str, file: str, line: int, kind: str) -> bool:
        """Whether it is of the bug with this id, place and kind."""
        if _ID.fullmatch(self.what):
            return ident.startswith(self.what)
        place = _PLACE.fullmatch(self.what)
        if place is None or int(place["line"]) != line or place["kind"] not in (None, kind):
            return False
        return f"/{Path(file).as_posix()}".endswith(f"/{Path(place['file']).as_posix().removeprefix('./')}")


def lines(doc: yamlfile.Section) -> tuple[Judged, ...]:
    """Those of a file of hints. Raises UsageError."""
    found = []
    for word in KEYS:
        section = yamlfile.group(doc, word)
        for what in section.values:
            found.append(_line(word, what, section))
    return tuple(found)


def read(path: Path) -> tuple[Judged, ...]:
    """The same, of the file there. Raises UsageError."""
    return lines(yamlfile.read(path))


def _line(word: str, what: str, section: yamlfile.Section) -> Judged:
    where = section.where(what)
    why = section.text(what, "").strip()
    if not why:
        raise UsageError(f"{word}: {what} has no reason", where, f"Say why, in one line: `{what}: why`.")
    is_condition = _CONDITION.fullmatch(what) is not None
    if is_condition and word == ACCEPT:
        hint = "Give the bug's id or place here; a condition that never holds stands below `refuse`."
        raise UsageError(f"accept: {what} is no bug but a condition", where, hint)
    if not is_condition and not _ID.fullmatch(what) and not _PLACE.fullmatch(what):
        hint = "Write the id that stands with the bug, or its place (`uart.c:120`)"
        more = ", or what never holds when a function is called (`find(n->next == NULL)`)" if word == REFUSE else ""
        raise UsageError(f"{word}: {what} names no bug", where, f"{hint}{more}.")
    return Judged(word, what, why, where)


def conditions(said: tuple[Judged, ...], function: str) -> Mapping[str, Judged]:
    """What never holds when a function is called, in C, and the line that says so."""
    found = {}
    for line in said:
        match = _CONDITION.fullmatch(line.what)
        if match is not None and line.word == REFUSE and match["function"] == function:
            found[match["condition"].strip()] = line
    return found


def never_null(condition: str) -> str:
    """The pointer of which a condition says that it is null; "" if it says something else."""
    match = _IS_NULL.fullmatch(condition)
    name = (match["left"] or match["negated"]) if match is not None else ""
    return "".join(name.split()) if re.fullmatch(r"[\w\s.*()\[\]>-]+", name) else ""
