"""Reports of gcc's sanitizers: which are wanted, what they saw, what that is called here; and is it a bug of the user's
code?

Only the first report counts, and of it the first stack: those that follow say where memory was allocated or freed.

`--check` decides for both witnesses: what is no bug for the one (a firmware's numbers overflow on purpose) is none for
the other. Not used: UBSan's `null`, which also complains of `&p->member` of a null pointer, where nothing is accessed
(an access faults, and that is reported); `shift-base`, which complains of `1 << 31`; `bool` and `enum`, because a
symbolic struct may hold any bytes; `object-size`, for which tables between empty arrays of a section, and `p += new -
old` where a block was moved, are out of bounds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from score_embed.contract.program import HARNESS_FILE, UNKNOWN_SIZE
from score_embed.contract.sites import shown
from score_embed.results.bugs import Place, called
from score_embed.results.sourcemap import SourceMap
from score_embed.results.witnessed import Finding

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
ALWAYS = ("address", "alignment", "vla-bound", "unreachable")
BY_CHECK = {
    "bounds": ("bounds",),
    "division": ("integer-divide-by-zero",),
    "overflow": ("signed-integer-overflow",),
    "shift": ("shift-exponent",),
}
NEAR_NULL = 0x10000  # below lies what a null pointer and an offset lead to
FOUR_GIB = 1 << 32
# By words that a report begins with.
_ADDRESS = {
    "heap-buffer-overflow": "out-of-bounds",
    "stack-buffer-overflow": "out-of-bounds",
    "stack-buffer-underflow": "out-of-bounds",
    "dynamic-stack-buffer-overflow": "out-of-bounds",
    "global-buffer-overflow": "out-of-bounds",
    "container-overflow": "out-of-bounds",
    "negative-size-param": "out-of-bounds",
    "heap-use-after-free": "use-after-free",
    "stack-use-after-scope": "use-after-scope",
    "stack-use-after-return": "use-after-return",
    "attempting double-free": "double-free",
    "attempting free on address": "invalid-free",
    "attempting to call malloc_usable_size": "invalid-free",
    "stack-overflow": "stack-overflow",
    "FPE": "division-by-zero",
    "BUS": "invalid-memory-access",
    "unknown-crash": "invalid-memory-access",
    "use-after-poison": "out-of-bounds",  # behind what a harness says that there is
}
_OVERLAP = "-param-overlap"  # memcpy-param-overlap, strcat-param-overlap …
_UNDEFINED = (
    ("misaligned address", "misaligned"),
    ("out of bounds for type", "out-of-bounds"),
    ("division by zero", "division-by-zero"),
    ("signed integer overflow", "overflow"),
    ("cannot be represented in type", "overflow"),
    ("shift exponent", "shift-range"),
    ("variable length array bound", "array-length"),
    ("unreachable program point", "unreachable"),
)
_DEEPEST = 16  # functions of a call stack that are kept
_OURS = "__score_"  # functions of `server.c`
_SYSTEM = ("/usr/", "/lib", "../", "<built-in>")  # where the files of libraries lie when they were compiled


class Frame(Struct, frozen=True):
    """A function on the stack, innermost first. `file`: "" if it has no debug information."""

    function: str
    file: str
    line: int


class Reading(Struct, frozen=True):
    """A sanitizer's report. `what`: its own words; `frames`: where it was, innermost first; `owner`: the global
    variable nearest to the access, and its file."""

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


def flags(checks: frozenset[str]) -> tuple[str, ...]:
    """gcc's flags. Arithmetic wraps as it does for the other witness, unless overflow is looked for."""
    wanted = [*ALWAYS, *(name for check in sorted(checks & BY_CHECK.keys()) for name in BY_CHECK[check])]
    return (f"-fsanitize={','.join(wanted)}", "-fno-sanitize-recover=all")


def kind_of(reading: Reading, program: tuple[int, int]) -> str | None:
    """The kind of bug, or None if it is none. `program`: where the program lies, from and to."""
    if not reading.by_address:
        return next((kind for words, kind in _UNDEFINED if words in reading.what), None)
    if reading.what.startswith("SEGV"):
        return _fault(reading.address, program)
    if _OVERLAP in reading.what.split(" ")[0]:
        return "overlapping-copy"
    return next((kind for words, kind in _ADDRESS.items() if reading.what.startswith(words)), None)


def _fault(address: int | None, program: tuple[int, int]) -> str | None:
    """Of an access of what is not there. A small address outside of the program is that of a device: firmware may well
    have a reason to be there. (Where it has none, the other witness sees the same fault.)"""
    if address is None:
        return "invalid-memory-access"
    if address < NEAR_NULL:
        return "null-dereference"
    begin, end = program
    is_device = address < FOUR_GIB and not begin <= address < end
    return None if is_device else "invalid-memory-access"


class Judge:
    """Knows the program: which files are the user's, which objects a harness made."""

    def __init__(self, sources: SourceMap, files: Iterable[str]) -> None:
        """`files`: of the user's, besides those that have probes."""
        self._root = sources.root
        names = {position.file for position in sources.sites.values() if position.file} | set(files)
        self._names = {self._real(name): name for name in names}

    def finding(self, text: str, program: tuple[int, int]) -> Finding | None:
        """What a report says; None if it says nothing, or of no bug. `program`: where the program lies."""
        reading = read(text)
        kind = kind_of(reading, program) if reading is not None else None
        if reading is None or kind is None or self._is_the_harness_s(reading):
            return None
        return Finding.at(self._place(reading.frames), kind, reading.witness)

    def _is_the_harness_s(self, reading: Reading) -> bool:
        """A harness cannot know how many elements a pointer without a length leads to."""
        return reading.owner is not None and UNKNOWN_SIZE in reading.owner[0]

    def _place(self, frames: Iterable[Frame]) -> Place:
        own = [(self._name(frame.file), frame) for frame in frames if self._is_users(frame)]
        if not own:
            return Place("", 0, "", ())
        stack = called([shown(frame.function) for _, frame in own])[:_DEEPEST]
        file, frame = own[0]
        return Place(file, frame.line, stack[0], stack)

    def _is_users(self, frame: Frame) -> bool:
        """What writes inputs is ours: whoever called it gave it the address."""
        if not frame.file or (frame.function.startswith(_OURS) and shown(frame.function) == frame.function):
            return False
        return self._real(frame.file) in self._names or not frame.file.startswith(_SYSTEM)

    def _name(self, file: str) -> str:
        """As the compiler was given it, if that is known."""
        if file.endswith(HARNESS_FILE):
            return HARNESS_FILE
        return self._names.get(self._real(file), file)

    def _real(self, file: str) -> str:
        return os.path.realpath(Path(self._root) / file)
