"""One table of options feeds the command line, the environment, the project file and the help text.

Command line > `SCORE_EMBED_*` > `score-embed.yaml` in the working folder > defaults. A key nobody knows is an
error with a suggestion, wherever it stands: a mistyped option that is silently ignored costs a day.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from score_embed import userfile, yamlfile
from score_embed.errors import UsageError

PROJECT_FILE = "score-embed.yaml"
ENVIRONMENT = "SCORE_EMBED_"
DEBUG = ENVIRONMENT + "DEBUG"  # show the traceback of an internal error
RUNS = ("native", "qemu", "serial", "command")  # ways to run a board's image
CHECKS = ("null", "bounds", "division", "overflow", "shift", "unreachable")
DEFAULT_CHECKS = frozenset({"null", "bounds", "division"})  # firmware lets numbers overflow on purpose
MOST_INPUT = 65535  # bytes of a test's input
STUBS = ("undefined", "none")
NULLS = ("tested", "all")
STRATEGIES = ("mixed", "dfs", "exe", "bfs", "random", "coverage", "mcdc")
GOALS = ("statement", "branch", "mcdc")
SOLVERS = ("auto", "z3", "bitwuzla")


class Settings(Struct, frozen=True):
    """Everything a `run` was asked to do, wherever it was said."""

    board: str = "native"
    run: str | None = None
    port: str | None = None
    out: Path | None = None
    resume: Path | None = None
    retry_lost: bool = False
    trust: bool = False
    first: Path | None = None
    have: Path | None = None
    time: float | None = None
    max_tests: int | None = None
    until_bug: bool = False
    baseline: Path | None = None
    clients: int | None = None
    cluster: str | None = None
    max_branches: int = 1_000_000
    strategy: str = "mixed"
    goal: str | None = None
    max_depth: int | None = None
    loop_bound: int | None = None
    fork_values: int = 256
    fork_arguments: bool = False
    solver: str = "auto"
    seed: int = 0
    entry: str | None = None
    stubs: str | None = None
    stub: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    globals: str = ""
    hints: Path | None = None
    nulls: str = "tested"
    argv: str = ""
    stdin_bytes: int = 0
    native: tuple[Path, ...] = ()
    instrument: tuple[str, ...] = ()
    compile_commands: Path | None = None
    check: str = "default"
    no_witness: bool = False
    no_minimise: bool = False
    unconfined: bool = False
    verify: bool = False
    keep: bool = False
    json: bool = False
    sources: tuple[Path, ...] = ()
    cflags: tuple[str, ...] = ()


class Option(Struct, frozen=True):
    """One row of the table. `convert` turns a word into a value and raises ValueError if it cannot."""

    name: str
    convert: Callable[[str], Any]
    metavar: str
    help: str
    many: bool = False

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")

    @property
    def is_flag(self) -> bool:
        return self.convert is _yes_no


def seconds(word: str) -> float:
    """`90`, `90s`, `1.5m`, `2h`."""
    unit = {"s": 1, "m": 60, "h": 3600}.get(word[-1:].lower())
    try:
        value = float(word[:-1]) * unit if unit else float(word)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise ValueError("A time is a number more than zero: 90, 60s, 5m or 2h.")
    return value


def _whole(word: str, low: int, high: int) -> int:
    try:
        value = int(word, 0)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise ValueError(f"It is a whole number from {low} to {high}.")
    return value


def _fork_values(word: str) -> int:
    return _whole(word, 0, 4096)


def _one_of(words: Sequence[str]) -> Callable[[str], str]:
    def convert(word: str) -> str:
        if word not in words:
            raise ValueError(yamlfile.suggestion(word, words))
        return word

    return convert


def _file_or_name(word: str) -> str:
    userfile.name(word)
    return word


def _expression(word: str) -> str:
    if not word.strip() or any(c in word for c in ";{}#\n"):
        raise ValueError("It is a condition in C: `len > 0 && p->next != NULL`.")
    return userfile.text(word)


def _names(word: str) -> str:
    if not all(name.isidentifier() and name.isascii() for name in word.split(",")):
        raise ValueError("It is a list of variables, `a,b`, or `used`.")
    return word


def _positive(word: str) -> int:
    return _whole(word, 1, 2**32 - 1)


def _input(word: str) -> int:
    return _whole(word, 1, MOST_INPUT)


def lengths(word: str) -> tuple[int, ...]:
    """The length of each argument: numbers with commas between them. Raises ValueError."""
    return tuple(_input(part.strip()) for part in word.split(",")) if word else ()


def _argv(word: str) -> str:
    lengths(word)
    return word


def _cluster(word: str) -> str:
    if not re.fullmatch(r"ray(://[^/]+:\d+)?", word):
        raise ValueError("Write ray or ray://HOST:PORT.")
    return word


def _clients(word: str) -> int:
    return _whole(word, 1, 1024)


def _seed(word: str) -> int:
    return _whole(word, 0, 2**64 - 1)


def checks(word: str) -> frozenset[str]:
    """`default`, `all`, `none`, or names with commas between them. Raises ValueError."""
    groups = {"default": DEFAULT_CHECKS, "all": frozenset(CHECKS), "none": frozenset[str]()}
    found: frozenset[str] = frozenset()
    for name in (part.strip() for part in word.split(",")):
        if name not in groups and name not in CHECKS:
            raise ValueError(yamlfile.suggestion(name, (*groups, *CHECKS)))
        found |= groups.get(name, frozenset({name}))
    return found


def _check(word: str) -> str:
    checks(word)
    return word


def _yes_no(word: str) -> bool:
    if word.lower() in ("1", "true", "yes", "on"):
        return True
    if word.lower() in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("Write `true` or `false`.")


UNCONFINED_HELP = "let programs under test, QEMU and `command` links do to this machine what you may do"
OPTIONS: tuple[Option, ...] = (
    Option(
        "board", _file_or_name, "NAME|FILE", "board to run on: a shipped one, ./boards/NAME.yaml or a file (native)"
    ),
    Option("run", _one_of(RUNS), "HOW", f"how to run the board's image: {', '.join(RUNS)} (as its profile says)"),
    Option(
        "port", _file_or_name, "PORT", "the board's serial port: /dev/tty…, socket://host:port, rfc2217://host:port"
    ),
    Option("out", userfile.name, "DIR", "folder for the results (score-out/PROGRAM-TIME)"),
    Option("resume", userfile.name, "DIR", "continue the campaign in this folder"),
    Option(
        "trust", _yes_no, "", "with --resume: it is not yours, but its image and its board's commands may be executed"
    ),
    Option("retry-lost", _yes_no, "", "with --resume: run the tests once more that were set aside as lost"),
    Option(
        "first", userfile.name, "FILE", "the first test: a test's .json or .bin, written by hand, or a folder of .bin"
    ),
    Option("time", seconds, "TIME", "stop after this time: 90, 60s, 5m, 2h"),
    Option("max-tests", _positive, "N", "stop after N tests"),
    Option("until-bug", _yes_no, "", "stop at the first confirmed bug; on --resume, at the next one"),
    Option(
        "baseline", userfile.name, "FILE", "bugs that are known (report --write-baseline): they do not make it fail"
    ),
    Option("clients", _clients, "N", "so many processes explore at once, each with a target of its own (1)"),
    Option(
        "cluster", _cluster, "ray[://…]", "clients are actors of a Ray cluster: this machine's own, or ray://HOST:PORT"
    ),
    Option("max-branches", _positive, "N", "a test that takes more branches is a hang (1000000)"),
    Option("strategy", _one_of(STRATEGIES), "NAME", f"which test comes first: {', '.join(STRATEGIES)} (mixed)"),
    Option(
        "goal", _one_of(GOALS), "NAME", f"stop when this is reached, or proved to be impossible: {', '.join(GOALS)}"
    ),
    Option("have", userfile.name, "DIR", "your own tests: a folder of inputs, which are run first"),
    Option("max-depth", _positive, "N", "flip only the first N symbolic branches of a path"),
    Option("loop-bound", _positive, "N", "lead a path at most N times through the same direction of a branch"),
    Option("fork-values", _fork_values, "N", "try each value of what has no formula, if it has no more than N (256)"),
    Option(
        "fork-arguments", _yes_no, "", "the same of arguments of code without probes, and of numbers without formulas"
    ),
    Option("solver", _one_of(SOLVERS), "NAME", f"what decides hard questions: {', '.join(SOLVERS)} (auto)"),
    Option("seed", _seed, "N", "seed of the first input; the same seed gives the same set of paths (0)"),
    Option("entry", userfile.text, "FUNC", "explore this function; no main is needed"),
    Option("stubs", _one_of(STUBS), "HOW", "undefined: what nobody defines gets a stub (default with --entry); none"),
    Option("stub", userfile.text, "FUNC", "replace this function by a stub, also if it is defined", many=True),
    Option("assume", _expression, "EXPR", "with --entry: C that its arguments (and globals) make true", many=True),
    Option("globals", _names, "NAME,…|used", "with --entry: these variables are inputs, too; all that it uses"),
    Option("hints", userfile.name, "FILE", "with --entry: what arguments are like (score-hints.yaml, if it is there)"),
    Option(
        "nulls",
        _one_of(NULLS),
        "WHICH",
        "with --entry: pointers that may be null: those the code looks at, or all (tested)",
    ),
    Option("argv", _argv, "N,N…", "the program gets so many arguments, of so many symbolic bytes each"),
    Option("stdin-bytes", _input, "N", "standard input is N symbolic bytes"),
    Option("native", userfile.name, "FILE", "C file compiled but not instrumented", many=True),
    Option("instrument", userfile.text, "GLOB", "instrument headers outside the project that match", many=True),
    Option("compile-commands", userfile.name, "FILE", "compile_commands.json of the project: each file's own flags"),
    Option("check", _check, "LIST", f"look for violations: default, all, none or of {', '.join(CHECKS)} (default)"),
    Option("no-witness", _yes_no, "", "do not run what is kept again under gcc's sanitizers (boards native, native32)"),
    Option("no-minimise", _yes_no, "", "show the inputs of bugs as they were found, not made small"),
    Option("unconfined", _yes_no, "", UNCONFINED_HELP),
    Option("verify", _yes_no, "", "have the target send stored values and compare them (slow)"),
    Option("keep", _yes_no, "", "keep the instrumented C in the result folder"),
    Option("json", _yes_no, "", "print summary.json instead of tables"),
)
_LISTS = (
    Option("sources", userfile.name, "", "", many=True),
    Option("cflags", userfile.text, "", "", many=True),
)
_BY_NAME = {option.name: option for option in (*OPTIONS, *_LISTS)}
_NOT_IN_PROJECT = ("resume", "retry-lost", "unconfined")  # a folder may be a stranger's: it does not say what he may do
RESUMABLE = (  # what may be said again when a campaign goes on
    "resume", "trust", "port", "time", "max-tests", "until-bug", "baseline", "retry-lost", "clients", "cluster",
    "unconfined", "json",
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser, without: Sequence[str] = ()) -> None:
    """The table as argparse options. Absent options stay absent, so that the other sources can speak."""
    for option in OPTIONS:
        if option.name in without:
            continue
        flag = f"--{option.name}"
        if option.is_flag:
            parser.add_argument(flag, action="store_const", const="true", default=None, help=option.help)
        elif option.many:
            parser.add_argument(flag, action="append", metavar=option.metavar, help=option.help)
        else:
            parser.add_argument(flag, metavar=option.metavar, help=option.help)


def resolve(given: Mapping[str, Any], environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Merge the command line (field → words), the environment and the project file of `folder`."""
    values = _from_project(folder / PROJECT_FILE) if folder else {}
    values |= _from_environment(environ or {})
    values |= _from_command_line(given)
    return Settings(**values)


def command_line(doc: yamlfile.Section, without: Collection[str]) -> list[str]:
    """A group of keys as the words of `run`, each checked; all options may stand in it but these.

    `false` is as if the key were not there. Raises UsageError with the line of the file."""
    doc.check_keys([name for name in _BY_NAME if name not in (*_NOT_IN_PROJECT, *without)], "key")
    words: list[str] = []
    for key, value in _converted(doc).items():
        option = _BY_NAME[key]
        if option.is_flag:
            words += [f"--{key}"] if value else []
        elif option not in _LISTS:
            words += [f"--{key}={word}" for word in doc.texts(key)]
    words += doc.texts("sources")
    return [*words, "--", *doc.texts("cflags")] if "cflags" in doc.values else words


def refused(settings: Settings) -> str:
    """The first option whose value no command line takes, of settings that were read from a record; mostly none."""
    usual = Settings()
    for option in OPTIONS:
        value = getattr(settings, option.field)
        if isinstance(value, bool) or not isinstance(value, int | str) or value == getattr(usual, option.field):
            continue
        try:
            option.convert(str(value))
        except ValueError:
            return option.name
    return ""


def _convert(option: Option, words: str | Sequence[str], where: str) -> Any:
    try:
        if isinstance(words, str):
            return (option.convert(words),) if option.many else option.convert(words)
        return tuple(option.convert(word) for word in words)
    except ValueError as error:
        said = userfile.shown(words if isinstance(words, str) else shlex.join(words))
        raise UsageError(f"{option.name} cannot be {said}", where, str(error)) from error


def _from_command_line(given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option in _BY_NAME.values():
        words = given.get(option.field)
        if words:
            found[option.field] = _convert(option, words, "command line")
    return found


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    names = {ENVIRONMENT + option.field.upper(): option for option in _BY_NAME.values()}
    for variable, text in environ.items():
        if not variable.startswith(ENVIRONMENT) or variable == DEBUG:
            continue
        if variable not in names:
            hint = yamlfile.suggestion(variable, names)
            raise UsageError(f"unknown environment variable {variable}", "environment", hint)
        option = names[variable]
        words = _split(text, variable) if option.many else text
        found[option.field] = _convert(option, words, variable)
    return found


def _split(text: str, variable: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"these words cannot be told apart: {error}", variable, "Write them as for a shell.") from None


def _from_project(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    doc = yamlfile.read(path)
    doc.check_keys([name for name in _BY_NAME if name not in _NOT_IN_PROJECT], "key")
    return {_BY_NAME[key].field: value for key, value in _converted(doc).items()}


def _converted(doc: yamlfile.Section) -> dict[str, Any]:
    """The values of a group's keys, all of which are known."""
    found: dict[str, Any] = {}
    for key, value in doc.values.items():
        option = _BY_NAME[key]
        one = str(value).lower() if isinstance(value, bool) else ""  # YAML's yes and no
        words: str | Sequence[str] = doc.texts(key) if option.many else one or doc.text(key)
        found[key] = _convert(option, words, doc.where(key))
    return found
