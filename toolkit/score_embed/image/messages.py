"""What the compiler and the linker complain of in words a user can act on: which symbols, which places, what to do. All
of them at once: whoever adds a missing file wants to know of the next one, too.

The names the linker knows are those of files in a working folder; the user's are put in their place. What the compiler
has against the user's files is said of the files as they were written, in gcc's words, which are better than a
parser's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from score_embed.command import workers
from score_embed.contract.sites import OWN, shown
from score_embed.errors import BuildError
from score_embed.frontend.c.complaints import together
from score_embed.image.toolchain import Toolchain

RUNTIME = "score-embed's runtime"
# What the C library asks of a system. The runtime answers, so a test's heap, output and end are its own: a
# definition of the program's makes way.
ANSWERED = frozenset(
    {
        *("_sbrk", "sbrk", "_write", "_read", "_close", "_open", "_fstat", "_isatty", "_lseek"),
        *("_kill", "kill", "_getpid", "getpid", "_exit", "abort", "__assert_func", "__assert", "__assert_fail"),
        *("_init", "_fini", "__aeabi_idiv0", "__aeabi_ldiv0", "stdin", "stdout", "stderr"),
    }
)
MOST_PLACES = 3  # that are named of one symbol
MOST_SYMBOLS = 40
_OURS = re.compile(r"sc_\w+|__put_\w+|__sc_\w+")
_C_LIBRARY = re.compile(r"[/\\]lib(c|m|gcc|gcc_eh)\.a\(")
_TWICE = re.compile(
    r"(?P<second>[^;\s][^;]*?): multiple definition of `(?P<symbol>[^']+)'; (?P<first>[^;\s][^;]*?): first defined here"
)
_ON_TWO_LINES = re.compile(r"( multiple definition of `[^']+')\n(\S.*: first defined here)")  # of older linkers
_UNDEFINED = re.compile(r"(?P<place>[^;\s][^;]*?): undefined reference to `(?P<symbol>[^']+)'")
_MORE = re.compile(r": more undefined references to `(?P<symbol>[^']+)' follow")
_IN_FUNCTION = re.compile(r"(?P<object>.+?): [Ii]n function `(?P<function>[^']*)':$")
_LINE = re.compile(r".+:\d+$")
_IN_OBJECT = re.compile(r"(?P<object>\S.*?\.(?:o|a\([^)]*\))):(?P<at>.+)$")
_NO_SYMBOL = re.compile(r"undefined symbol `(?P<symbol>[^']+)' referenced in expression")
_FULL = re.compile(r"region `(?P<region>[^']+)' overflowed by (?P<bytes>\d+) bytes")
_ASSERTED = re.compile(r"region (?P<region>\w+) overflowed: (?P<why>[^\n]+)")  # by a linker script of the runtime's
_NO_LIBRARY = re.compile(r"cannot find (?P<what>-l\S+|[^:\n]+)")
_FLOATS = re.compile(r"error: (?P<file>.+?) uses VFP register arguments, (?P<other>.+?) does not")
_FROM_PLUGIN = " (symbol from plugin)"  # of an object that holds no code yet: the runtime compiled as a whole
_PROBE = "sc_"
_WHOLE = re.compile(r"\.ltrans\d*\.ltrans\.o$")  # what came of it
_PREFIX = re.compile(r"^(?:\S*[/\\])?(?:\S*-)?ld(?:\.\w+)?(?:\.exe)?: ?")
_WHAT_TO_DO = (
    "Add the C file that defines it (by `--native FILE`: without probes), its object or archive, or `-lNAME` after `--`; "
    "or write a stub; `--stubs undefined` makes stubs of all that is missing."
)


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
    def parted(self) -> bool:
        """Each keeps its own: one is the C library's (linked as a process usually is, the program's would take its
        place) or the runtime's in its stead (`fork` of a process, `toupper` of an emulated AVR)."""
        in_its_stead = self.ours and self.symbol != "main" and not self.symbol.startswith(("__", "sc_"))
        return in_its_stead or any(map(_C_LIBRARY.search, self.places))


@dataclass(frozen=True)
class _Use:
    """Where an undefined symbol is used. `function`: within which, if the linker said so."""

    place: str
    function: str


class Messages:
    """Reads the linker's messages. `names`: what the user calls the files it was given."""

    def __init__(self, names: Mapping[str, str], toolchain: Toolchain) -> None:
        self._names, self._runtime = names, str(toolchain.runtime)
        self._firmware = toolchain.board.firmware

    def clashes(self, messages: str) -> list[Clash]:
        found: dict[str, Clash] = {}
        for line, within, _ in _lines(messages):
            match = _TWICE.search(line)
            if match:
                places = (self._place(match["first"], ""), self._place(match["second"], within))
                symbol = match["symbol"].removeprefix(OWN)
                found.setdefault(symbol, Clash(symbol, places, RUNTIME in places))
        return list(found.values())

    def unneeded(self, messages: str, silenced: Set[str], users: Callable[[str], Set[str]]) -> dict[str, bool]:
        """Undefined symbols to which, of all functions, only these refer, which nobody runs; and whether data does,
        too.

        `users`: the functions with probes that refer to a symbol: of inline probes the linker says the probe's name.
        """
        endless = {match["symbol"] for match in _MORE.finditer(messages)}
        found: dict[str, bool] = {}
        for symbol, uses in self._uses(messages).items():
            functions = {use.function for use in uses}
            if any(name.startswith(_PROBE) for name in functions):
                functions = {name for name in functions if not name.startswith(_PROBE)} | users(symbol)
            if symbol not in endless and silenced & functions and functions <= {*silenced, ""}:
                found[symbol] = "" in functions
        return found

    def error(self, messages: str) -> BuildError | None:
        """What to tell the user; None if nothing here is known."""
        clashes = self.clashes(messages)
        if clashes:
            return _clash_error(clashes)
        uses = self._uses(messages)
        return self._undefined(uses) if uses else self._other(messages)

    def _uses(self, messages: str) -> dict[str, list[_Use]]:
        found: dict[str, list[_Use]] = {}
        for line, within, function in _lines(messages):
            match = _UNDEFINED.search(line)
            if match:
                use = _Use(self._place(match["place"], within), function)
                found.setdefault(match["symbol"], []).append(use)
        return found

    def _undefined(self, uses: Mapping[str, Sequence[_Use]]) -> BuildError:
        """One error for all undefined symbols."""
        for key in ("vectors", "init"):
            name = getattr(self._firmware, key)
            if any(use.place == RUNTIME for use in uses.get(name, ())):
                hint = (
                    "Give its name as the start-up has it; the file that has it is one of `objects` or of the sources."
                )
                return BuildError(f"{key}: there is no `{name}' in the program", self._firmware.places[key], hint)
        names = [shown(symbol) for symbol in uses]
        places = [_places(found) for found in uses.values()]
        advice = []
        if "main" in names:
            advice.append("Name the C file that has `main', or use --entry FUNC.")
        if names != ["main"]:
            advice.append(_WHAT_TO_DO)
        if len(names) == 1:
            where = places[0][0] if places[0] else "link"
            more = [f"also used at {', '.join(places[0][1:])}"] if places[0][1:] else []
            return BuildError(f"undefined reference to `{names[0]}'", where, "\n".join([*more, *advice]))
        rows = [f"`{name}'{': ' if at else ''}{', '.join(at)}" for name, at in zip(names, places, strict=True)]
        if len(rows) > MOST_SYMBOLS:
            rows = [*rows[:MOST_SYMBOLS], f"and {len(rows) - MOST_SYMBOLS} more"]
        what = f"undefined references to {len(names)} functions or variables, which no file of the program defines"
        return BuildError(what, "link", "\n".join([*rows, *advice]))

    def _other(self, messages: str) -> BuildError | None:
        unknown = _NO_SYMBOL.search(messages)
        if unknown:
            return self._undefined({unknown["symbol"]: [_Use(RUNTIME, "")]})
        full, missing, floats = (pattern.search(messages) for pattern in (_FULL, _NO_LIBRARY, _FLOATS))
        if floats:
            places = [self._place(_PREFIX.sub("", floats[name]), "") for name in ("file", "other")]
            what = "it passes floating point numbers in registers, the rest of the program does not"
            odd = places[0] if places[0] != RUNTIME else places[1]
            return BuildError(what, odd, "Give all of it the same -mfloat-abi and -mfpu: `cpu` of the board's profile.")
        hint = "Make the profile's `stack` and `buffers` smaller, or the program."
        if full:
            return BuildError(f"{full['region']} is too small by {full['bytes']} bytes", "link", hint)
        asserted = _ASSERTED.search(messages)
        if asserted:
            return BuildError(f"{asserted['region']} is too small: {asserted['why']}", "link", hint)
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
            # the file's name as compiled, if that is all it knows
            return f"{self._names.get(file) or _short(file)}:{line}"
        return owner or text


def _short(file: str) -> str:
    """With code of several files in a function the linker says the whole path."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else file


def _places(uses: Sequence[_Use]) -> list[str]:
    """Those that are a user's, the first few."""
    found = list(dict.fromkeys(use.place for use in uses if use.place != RUNTIME))
    more = len(found) - MOST_PLACES
    return found if more <= 0 else [*found[:MOST_PLACES], f"{more} more places"]


def _lines(messages: str) -> list[tuple[str, str, str]]:
    """Each line, and the object and the function that the head of its group names (`x.o: in function `f':`)."""
    found: list[tuple[str, str, str]] = []
    within = function = ""
    text = _ON_TWO_LINES.sub(r"\1; \2", messages.replace(_FROM_PLUGIN, ""))
    for line in text.splitlines():
        head = _IN_FUNCTION.match(_PREFIX.sub("", line))
        if head:
            within, function = head["object"], head["function"]
            continue
        if _PREFIX.match(line):
            within = function = ""
        found.append((line, within, function))
    return found


def _clash_error(clashes: Sequence[Clash]) -> BuildError:
    """The first in full, the others by name."""
    first = _one_clash(clashes[0])
    if len(clashes) == 1:
        return first
    others = [f"`{shown(clash.symbol)}' at {' and '.join(clash.places)}" for clash in clashes[1 : MOST_SYMBOLS + 1]]
    return BuildError(first.what, first.where, "\n".join([first.hint, "Likewise:", *others]))


def _one_clash(clash: Clash) -> BuildError:
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


def explained(
    error: BuildError,
    toolchain: Toolchain,
    sources: Sequence[Path],
    native: Sequence[Path],
    flags: Mapping[Path, Sequence[str]],
) -> BuildError:
    """What gcc says of the files instead of `error`; and that, too, if gcc has nothing against the file that it is
    about. `flags`: of each file."""

    def of(path: Path, probes: bool) -> BuildError | None:
        try:
            toolchain.check_source(path, flags[path], probes=probes)
        except BuildError as complaint:
            return complaint
        return None

    files = [*sources, *native]
    with workers() as pool:
        found = list(pool.map(of, files, [*(True for _ in sources), *(False for _ in native)]))
    complaints = [each for each in found if each is not None]
    file = error.where.partition(":")[0]
    known = any(each.where.partition(":")[0] == file for one in complaints for each in (one, *one.also))
    return together(complaints if known else [error, *complaints])
