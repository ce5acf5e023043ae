"""`score-embed new FUNC`: write the harness that `--entry FUNC` uses, to keep and edit."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign import opening
from score_embed.cli import words
from score_embed.cli.run import with_sources
from score_embed.errors import UsageError, printable
from score_embed.image.compile_commands import read_flags
from score_embed.image.harness_file import harness_file
from score_embed.report.output import write

_OPTIONS = frozenset({"board", "assume", "globals", "hints", "nulls", "compile-commands"})


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = (
        "Write FUNC_harness.c, a main that calls FUNC with symbolic arguments: change it, and explore it with `run`."
    )
    sub.usage = "score-embed new [options] FUNC SOURCES... [-- CFLAGS...]"
    config.add_options(sub, without=[option.name for option in config.OPTIONS if option.name not in _OPTIONS])
    sub.add_argument("--to", type=words.path, metavar="FILE", help="write it there (FUNC_harness.c)")
    sub.add_argument("--force", action="store_true", help="also if the file is there already")
    sub.add_argument("function", metavar="FUNC", help="the function")
    sub.add_argument("sources", nargs="*", metavar="SOURCES", help="C files of the program")
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    given = {**vars(values), "entry": values.function}
    settings = with_sources(config.resolve(given, os.environ, Path.cwd()))
    opening.check_sources(settings)
    to: Path = values.to or Path(f"{values.function}_harness.c")
    if to.exists() and not values.force:
        raise UsageError("this file is there already", str(to), "Say --to FILE, or --force if it is to be lost.")
    sources = opening.c_files(settings.sources)
    commands = settings.compile_commands
    flags = read_flags(commands, sources) if commands else {}
    board = find_board(settings.board, None, None)
    text, losses = harness_file(board, sources, values.function, opening.told(settings), to, flags, settings.cflags)
    write(to, text)
    for what in losses:
        print(printable(f"not made: {what}"), file=sys.stderr)
    print(printable(f"wrote {to}"), file=sys.stderr)
    return 0
