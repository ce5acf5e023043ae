"""Reads what gcc's sanitizers print: what they saw, at which address, in which functions.

Only the first report counts, and of it the first stack: those that follow say where memory was allocated or freed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ADDRESS, UNDEFINED = "address sanitizer", "undefined behaviour sanitizer"

_ADDRESS_HEAD = re.compile(r"^==\d+==ERROR: AddressSanitizer: (?P<what>.+)$")
_UNDEFINED_HEAD = re.compile(r"^(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+): runtime error: (?P<what>.+)$")
_FRAME = re.compile(r"^\s+#\d+ 0x[0-9a-f]+(?: in (?P<function>\S+))?(?: (?P<where>.+))?$")
_WHERE = re.compile(r"^(?P<file>[^(].*?):(?P<line>\d+)(?::\d+)?$")
_AT = re.compile(r" (?:on(?: unknown)? address|was not malloc\(\)-ed:|double-free on) 0x(?P<address>[0-9a-f]+)")
_OWNER = re.compile(
    r"is located (?P<distance>\d+) bytes .*of global variable '(?P<name>[^']+)' defined in '(?P<file>.+?):\d+(?::\d+)?'"
)
_CLONE = re.compile(r"\.(?:part|constprop|isra|cold|lto_priv)\b.*$")  # what gcc adds to the name of a function


@dataclass(frozen=True)
class Frame:
    """A function on the stack, innermost first. `file`: "" if it has no debug information."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Reading:
    """A sanitizer's report. `what`: its own words; `frames`: where it was, innermost first; `owner`: the global variable
    nearest to the access, and its file."""

    by_address: bool  # AddressSanitizer; else UndefinedBehaviorSanitizer
    what: str
    address: int | None
    frames: tuple[Frame, ...]
    owner: tuple[str, str] | None = None

    @property
    def witness(self) -> str:
        return ADDRESS if self.by_address else UNDEFINED


def read(text: str) -> Reading | None:
    """The first report of a text; None if there is none: warnings are no reports."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if found := _ADDRESS_HEAD.match(line):
            return _by_address(found["what"], lines[number + 1 :])
        if found := _UNDEFINED_HEAD.match(line):
            frames = _first_stack(lines[number + 1 :])
            function = frames[0].function if frames else ""
            head = Frame(function, found["file"], int(found["line"]))
            return Reading(False, found["what"], None, (head, *frames[1:]))
    return None


def _by_address(what: str, rest: list[str]) -> Reading:
    at = _AT.search(" " + what)
    owners = sorted(filter(None, map(_OWNER.search, rest)), key=lambda found: int(found["distance"]))  # the nearest
    owner = (owners[0]["name"], owners[0]["file"]) if owners else None
    return Reading(True, what, int(at["address"], 16) if at else None, _first_stack(rest), owner)


def _first_stack(lines: list[str]) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    for line in lines:
        found = _FRAME.match(line)
        if found:
            where = _WHERE.match(found["where"] or "")
            file, number = (where["file"], int(where["line"])) if where else ("", 0)
            frames.append(Frame(_CLONE.sub("", found["function"] or ""), file, number))
        elif frames:
            break
    return tuple(frames)
