"""The link, and what the linker complains of in words a user can act on: which symbol, which places, what to do.

The names the linker knows are those of files in a working folder; the user's are put in their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from score_embed.build.toolchain import CALLED, SHARED, LinkFailed, Toolchain, failure
from score_embed.errors import BuildError
from score_embed.frontend.sites import shown

RUNTIME = "score-embed's runtime"
# What the C library asks of a system. The runtime answers, so a test's heap, output and end are its own: a
# definition of the program's makes way.
ANSWERED = frozenset(
    {
        *("_sbrk", "sbrk", "_write", "_read", "_close", "_open", "_fstat", "_isatty", "_lseek"),
        *("_kill", "kill", "_getpid", "getpid", "_exit", "abort", "__assert_func", "_init", "_fini"),
        *("__aeabi_idiv0", "__aeabi_ldiv0"),
    }
)
_OURS = re.compile(r"sc_\w+|sc|__put_\w+|__sc_\w+")
_C_LIBRARY = re.compile(r"[/\\]lib(c|m|gcc|gcc_eh)\.a\(")
_OWN = "sc_own_"  # begins the name of what is apart from the C library's

_TWICE = re.compile(
    r"(?P<second>[^;\s][^;]*?): multiple definition of `(?P<symbol>[^']+)'; (?P<first>[^;\s][^;]*?): first defined here"
)
_UNDEFINED = re.compile(r"(?P<place>[^;\s][^;]*?): undefined reference to `(?P<symbol>[^']+)'")
_LINE = re.compile(r".+:\d+$")
_IN_OBJECT = re.compile(r"(?P<object>\S.*?\.(?:o|a\([^)]*\))):(?P<at>.+)$")
_NO_SYMBOL = re.compile(r"undefined symbol `(?P<symbol>[^']+)' referenced in expression")
_FULL = re.compile(r"region `(?P<region>[^']+)' overflowed by (?P<bytes>\d+) bytes")
_NO_LIBRARY = re.compile(r"cannot find (?P<what>-l\S+|[^:\n]+)")
_FLOATS = re.compile(r"error: (?P<file>.+?) uses VFP register arguments, (?P<other>.+?) does not")
_FROM_PLUGIN = " (symbol from plugin)"  # of an object that holds no code yet: the runtime compiled as a whole
_WHOLE = re.compile(r"\.ltrans\d*\.ltrans\.o$")  # what came of it
_PREFIX = re.compile(r"^(?:\S*[/\\])?(?:\S*-)?ld(?:\.\w+)?(?:\.exe)?: ?")


@dataclass(frozen=True)
class Parts:
    """What an image is linked of. `kept`: objects and archives that were given; `names`: what the user calls the
    objects that were made, RUNTIME for the runtime's."""

    made: tuple[Path, ...]
    kept: tuple[Path, ...]
    names: Mapping[str, str]


@dataclass(frozen=True)
class Clash:
    """A symbol with two definitions, each a place as the user knows it."""

    symbol: str
    places: tuple[str, str]
    ours: bool  # one of them is the runtime's

    @property
    def answered(self) -> bool:
        """The program's makes way."""
        return self.ours and self.symbol in ANSWERED

    @property
    def librarys(self) -> bool:
        """One is the C library's: linked as a process usually is, the program's would take its place."""
        return any(map(_C_LIBRARY.search, self.places))


def link_parts(
    toolchain: Toolchain, parts: Parts, output: Path, cflags: Sequence[str], extra: Sequence[str] = ()
) -> Parts:
    """Link the image; returns what it was linked of. `extra`: further flags. Raises BuildError."""
    # Else the runtime would run the program's function, between tests and within its own probes.
    own = [path for path in (*parts.made, *parts.kept) if parts.names.get(str(path)) != RUNTIME]
    called = CALLED[SHARED[toolchain.board.runtime]]
    parts = _apart(toolchain, parts, called & toolchain.defined(own) if called else called, output.parent / "called")
    messages = Messages(parts.names, toolchain)
    try:
        try:
            toolchain.link(parts.made, parts.kept, output, cflags, extra)
        except LinkFailed as failed:
            clashes = messages.clashes(failed.messages)
            if not clashes or not all(clash.answered or clash.librarys for clash in clashes):
                raise
            parts = _weakened(toolchain, parts, [c.symbol for c in clashes if c.answered], output.parent / "weak")
            parts = _apart(toolchain, parts, {c.symbol for c in clashes if c.librarys}, output.parent / "own")
            messages = Messages(parts.names, toolchain)
            toolchain.link(parts.made, parts.kept, output, cflags, extra)
    except LinkFailed as failed:
        raise messages.error(failed.messages) or failure(failed.messages, "link") from None
    return parts


def _apart(toolchain: Toolchain, parts: Parts, symbols: Set[str], work: Path) -> Parts:
    """What the program has of its own of these names and the C library has, too, becomes two."""
    renamed = {name: _OWN + name for name in sorted(symbols)}
    return _changed(parts, work, partial(toolchain.rename, renamed)) if renamed else parts


def _weakened(toolchain: Toolchain, parts: Parts, symbols: Sequence[str], work: Path) -> Parts:
    """The program's definitions of these symbols make way."""
    return _changed(parts, work, partial(toolchain.weaken, symbols)) if symbols else parts


def _changed(parts: Parts, work: Path, change: Callable[[Path, Path], None]) -> Parts:
    """With changed copies of the program's files, in the folder `work`."""
    work.mkdir()
    names = dict(parts.names)

    def copy(path: Path, prefix: str, index: int) -> Path:
        if names.get(str(path)) == RUNTIME:
            return path
        output = work / f"{prefix}{index}{path.suffix}"
        change(path, output)
        names[str(output)] = names.get(str(path), str(path))
        return output

    made = tuple(copy(path, "made", i) for i, path in enumerate(parts.made))
    kept = tuple(copy(path, "kept", i) for i, path in enumerate(parts.kept))
    return replace(parts, made=made, kept=kept, names=names)


class Messages:
    """Reads the linker's messages. `names`: what the user calls the files it was given."""

    def __init__(self, names: Mapping[str, str], toolchain: Toolchain) -> None:
        self._names, self._runtime = names, str(toolchain.runtime)
        self._firmware = toolchain.board.firmware

    def clashes(self, messages: str) -> list[Clash]:
        found: dict[str, Clash] = {}
        for line, within in _lines(messages):
            match = _TWICE.search(line)
            if match:
                places = (self._place(match["first"], ""), self._place(match["second"], within))
                symbol = match["symbol"].removeprefix(_OWN)
                found.setdefault(symbol, Clash(symbol, places, RUNTIME in places))
        return list(found.values())

    def error(self, messages: str) -> BuildError | None:
        """What to tell the user; None if nothing here is known."""
        for clash in self.clashes(messages):
            return _clash_error(clash)
        for line, within in _lines(messages):
            match = _UNDEFINED.search(line)
            if match:
                return self._undefined(match["symbol"], self._place(match["place"], within))
        return self._other(messages)

    def _undefined(self, symbol: str, place: str) -> BuildError:
        name = shown(symbol)
        hint = "Name the file that defines it, or pass its library after `--`."
        if name == "main":
            hint = "Name the C file that has it, or use --entry FUNC."
        for key in ("vectors", "init"):
            if place == RUNTIME and name == getattr(self._firmware, key):
                hint = (
                    "Give its name as the start-up has it; the file that has it is one of `objects` or of the sources."
                )
                return BuildError(f"{key}: there is no `{name}' in the program", self._firmware.places[key], hint)
        return BuildError(f"undefined reference to `{name}'", "link" if place == RUNTIME else place, hint)

    def _other(self, messages: str) -> BuildError | None:
        unknown = _NO_SYMBOL.search(messages)
        if unknown:
            return self._undefined(unknown["symbol"], RUNTIME)
        full, missing, floats = (pattern.search(messages) for pattern in (_FULL, _NO_LIBRARY, _FLOATS))
        if floats:
            places = [self._place(_PREFIX.sub("", floats[name]), "") for name in ("file", "other")]
            what = "it passes floating point numbers in registers, the rest of the program does not"
            odd = places[0] if places[0] != RUNTIME else places[1]
            return BuildError(what, odd, "Give all of it the same -mfloat-abi and -mfpu: `cpu` of the board's profile.")
        if full:
            hint = "Make the profile's `stack` and `buffers` smaller, or the program."
            return BuildError(f"{full['region']} is too small by {full['bytes']} bytes", "link", hint)
        if missing:
            hint = "Check its name; `-L FOLDER` after `--`, or in the profile's `ldflags`, says where libraries are."
            return BuildError(f"cannot find {missing['what'].strip()}", "link", hint)
        return None

    def _place(self, text: str, within: str) -> str:
        """A place in the user's words. `within`: the object of the function it is in, if the linker said so."""
        text = _PREFIX.sub("", text.strip())
        found = _IN_OBJECT.match(text)
        if found:
            within, text = found["object"], found["at"]
        within = within or (text if text in self._names else "")
        owner = RUNTIME if _WHOLE.search(within) else self._names.get(within, within)
        if owner == RUNTIME or text.startswith(self._runtime):
            return RUNTIME
        if _LINE.match(text):
            file, _, line = text.rpartition(":")
            return f"{self._names.get(file, file)}:{line}"  # the file's name as compiled, if that is all it knows
        return owner or text


def _lines(messages: str) -> list[tuple[str, str]]:
    """Each line, and the object that the head of its group names (`x.o: in function `f':`)."""
    found: list[tuple[str, str]] = []
    within = ""
    for line in messages.replace(_FROM_PLUGIN, "").splitlines():
        head = re.match(r"(?P<object>.+?): in function `[^']*':$", _PREFIX.sub("", line))
        if head:
            within = head["object"]
            continue
        if _PREFIX.match(line):
            within = ""
        found.append((line, within))
    return found


def _clash_error(clash: Clash) -> BuildError:
    symbol, (first, second) = clash.symbol, clash.places
    if clash.ours:
        where = second if first == RUNTIME else first
        hint = f"Rename it, or leave {'that file' if where else 'it'} out."
        if _OURS.fullmatch(symbol):
            hint = "Rename it: names that begin with sc_ are the runtime's."
        return BuildError(f"`{symbol}' is defined here and by {RUNTIME}", where, hint)
    symbol = shown(symbol)
    hint = "Rename one of the two, make it static, or leave one of the files out."
    return BuildError(f"`{symbol}' is defined twice: here and at {first}", second, hint)
