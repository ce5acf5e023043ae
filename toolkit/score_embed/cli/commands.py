"""The commands of the command line: which there are, how one is found, and how each of its ends is told.

Nothing but a ScoreError is meant to reach the user; whatever else does is a bug of ours and says so (exit code 70).
Only the module of the command that was named is imported: all of them together take half a second.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol, cast

from score_embed import __version__, config, userfile
from score_embed.cli.output import prepare, silence
from score_embed.errors import ScoreError, StorageError, UsageError, printable

COMMANDS = {  # module of this package that carries the command out, and its line in --help
    "run": "explore a program",
    "new": "write a harness for one function, to keep and edit",
    "unit": "explore each function of a project in turn",
    "server": "let clients of this machine and others explore a program",
    "client": "join a fleet with a target of this machine",
    "fleet": "many clients on one exploration",
    "keys": "make keys for a fleet on several machines",
    "experiment": "compare numbers of clients, as SCORE's paper did",
    "report": "show what a campaign found, also as a page, lcov, gcovr, JUnit or SARIF",
    "export": "write tests of a campaign for fuzzers, spreadsheets, Unity and boards",
    "replay": "run tests of a campaign again",
    "boards": "list the boards, or show one",
    "lab": "list the boards on the desk, or look for new ones",
    "doctor": "check tools, emulators and ports",
    "simulate": "simulate hardware",
}
INTERRUPTED = 130
INTERNAL = 70
PLEA = "Please report it with the command you ran, the program and the output under SCORE_EMBED_DEBUG=1."

_OUTPUT = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF})  # what standard output fails with


_OF_COMPILERS = r"-[DIULlWfmgO]|-std=|-isystem|-include|-pthread"  # what flags of gcc and clang begin with


class _Parser(argparse.ArgumentParser):
    """argparse with our error type, so that every message has the same shape."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, "command line", f"See `{self.prog} --help`.")


class Command(Protocol):
    """What a module of a command has. `add_arguments` also sets `execute`, which takes the values and returns the
    exit code."""

    def add_arguments(self, sub: argparse.ArgumentParser) -> None: ...


def load(name: str) -> Command:
    return cast(Command, importlib.import_module(f"score_embed.cli.{name}"))


def parser(command: str | None) -> argparse.ArgumentParser:
    """A parser of the options of one command; the others have their line in --help only."""
    top = _Parser(prog="score-embed", description="Concolic testing for embedded C.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"score-embed {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, help_ in COMMANDS.items():
        sub = commands.add_parser(name, help=help_, allow_abbrev=False)
        if name == command:
            sub.set_defaults(parser=sub)
            load(name).add_arguments(sub)
    return top


def run(arguments: Sequence[str], begin: Callable[[], None]) -> int:
    """Carry out the command that these words name and return its exit code; `begin`: is told when that begins."""
    prepare()
    try:
        execute = _prepared(arguments)
        begin()
        code = execute()
        sys.stdout.flush()
        return code
    except ScoreError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        silence()  # the reader of our output went away (`| head`): nothing is wrong, and nobody to tell
        return 0
    except OSError as error:
        if error.errno not in _OUTPUT or error.filename is not None:
            return _internal(error)
        silence()
        print(
            StorageError(f"cannot write: {error.strerror}", "standard output", "Check where it goes."), file=sys.stderr
        )
        return StorageError.exit_code
    except Exception as error:  # the last line of defence
        return _internal(error)


def _prepared(arguments: Sequence[str]) -> Callable[[], int]:
    """What carries the command out. Raises ScoreError."""
    words = list(arguments)
    compiler: list[str] = []
    if "--" in words:  # everything behind it is for the compiler
        at = words.index("--")
        words, compiler = words[:at], words[at + 1 :]
    for word in (*words, *compiler):
        _check(word)
    command = next((word for word in words if not word.startswith("-")), None)
    values, unknown = parser(command).parse_known_args(words)
    if unknown:
        raise _unknown(unknown, values.parser)
    values.cflags = compiler
    _check_folder()
    execute: Callable[[argparse.Namespace], int] = values.execute
    return lambda: execute(values)


def _unknown(words: Sequence[str], sub: argparse.ArgumentParser) -> UsageError:
    """What to say of words that the command does not know."""
    option = next((word for word in words if word.startswith("-")), "")
    hint = f"See `{sub.prog} --help`."
    if re.match(_OF_COMPILERS, option) and "CFLAGS" in sub.format_usage():
        hint = "Flags for the compiler come last, behind `--`."
    elif near := difflib.get_close_matches(option.partition("=")[0], _options(sub), n=1, cutoff=0.7):
        hint = f"Did you mean {near[0]}? {hint}"
    return UsageError(f"unrecognized arguments: {' '.join(words)}", "command line", hint)


def _options(sub: argparse.ArgumentParser) -> list[str]:
    return sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", sub.format_help())))


def _check(word: str) -> None:
    try:
        userfile.text(word)
    except ValueError as error:
        raise UsageError(f"the word {userfile.shown(word)} cannot be used", "command line", str(error)) from None


def _check_folder() -> None:
    """Where relative names begin has a name that can be written down, too."""
    try:
        userfile.name(os.getcwd())
    except FileNotFoundError:
        raise UsageError("the working folder is not there any more", ".", "Go to another one.") from None
    except ValueError as error:
        raise UsageError("no campaign can be kept in this folder", os.getcwd(), str(error)) from None


def _internal(error: Exception) -> int:
    if os.environ.get(config.DEBUG):
        traceback.print_exception(error)
    what = printable(f"internal error: {type(error).__name__}: {error}")
    print(f"{what}\n  {PLEA}", file=sys.stderr)
    return INTERNAL
