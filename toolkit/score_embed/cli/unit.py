"""`score-embed unit`: explore each function of a project in turn."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Set
from pathlib import Path

from msgspec.structs import replace

from score_embed import config
from score_embed.board.profile import find_board
from score_embed.campaign import opening
from score_embed.campaign.folder import DEFAULT
from score_embed.campaign.status import Steps
from score_embed.cli import pages, words
from score_embed.cli.console import for_lines, plain
from score_embed.cli.run import require_sources
from score_embed.errors import printable
from score_embed.image.compile_commands import dropped_flags, known_sources, read_flags
from score_embed.image.group import Inputs
from score_embed.report import unit_table
from score_embed.results.known_bugs import known_to
from score_embed.unit.project import Project
from score_embed.unit.rows import NOT_BUILT, Book, Row, State, ranked
from score_embed.unit.rows import as_json as json_of
from score_embed.unit.run import Run

_HELP = """Explore each function of a project, as `run --entry FUNC` does, and write a table, campaigns and regression tests.
The same command with the same --out goes on where it was stopped or killed."""
_NOT_OURS = frozenset(
    {"out", "resume", "retry-lost", "trust", "first", "time", "clients", "cluster", "entry", "assume", "argv"}
    | {"stdin-bytes", "verify", "keep", "port"}
)
_TIME = 10.0
_MOST_FLAGS = 12


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = _HELP
    sub.usage = "score-embed unit [options] [--compile-commands FILE] [SOURCES...] [-- CFLAGS...]"
    config.add_options(sub, without=list(_NOT_OURS))
    sub.add_argument("--function", action="append", metavar="GLOB", help="only functions whose names match")
    sub.add_argument("--time", type=words.duration, default=_TIME, metavar="TIME", help="for each function (10s)")
    sub.add_argument("--clients", type=words.count, metavar="N", help="so many functions at a time (one a processor)")
    sub.add_argument("--out", type=words.path, metavar="DIR", help="folder for all that is found (score-out/unit-TIME)")
    sub.add_argument(
        "sources", nargs="*", metavar="SOURCES", help="C files; all of compile_commands.json if none is named"
    )
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    given = {name: value for name, value in vars(values).items() if name not in ("time", "clients", "out", "function")}
    settings = config.resolve(given, os.environ, Path.cwd())
    commands = settings.compile_commands
    if commands is not None and not settings.sources:
        settings = replace(settings, sources=tuple(known_sources(commands)))
    require_sources(settings)
    opening.check_sources(settings)
    baseline = known_to(settings)
    settings = replace(settings, time=values.time)
    folder: Path = values.out or DEFAULT / f"unit-{time.strftime('%Y%m%d-%H%M%S')}"
    book = Book(folder, [str(path) for path in settings.sources], _words(values))
    board = find_board(settings.board, settings.run, None)
    board.require_tools()
    at_once = values.clients or os.cpu_count() or 1

    def tell(row: Row) -> None:
        done = sum(row.done for row in book.rows)
        print(f"{done}/{len(book.rows)} {unit_table.line(row)}", file=sys.stderr, flush=True)

    with Steps(f"unit on {board.name}") as steps:
        project = Project(board, _inputs(settings), steps, not settings.no_witness)
        if commands is not None:
            project.notes += _dropped(commands, opening.c_files(settings.sources))
        try:
            Run(settings, project, book, at_once, tell).explore(values.function or ())
        except KeyboardInterrupt:
            print(printable(f"continue with the same command and --out {folder}"), file=sys.stderr)
            raise
    code = told(folder, book.state, settings.json, baseline)
    pages.of_project(folder, [folder / row.folder for row in book.rows if row.tests])
    return code


def _words(values: argparse.Namespace) -> list[str]:
    """The options that decide what is found: who gives others begins anew."""
    apart = ("sources", "execute", "out", "clients", "json", "command", "cflags", "baseline", "parser")
    found = [f"{name}={value}" for name, value in sorted(vars(values).items()) if value and name not in apart]
    return [*found, *values.cflags]


def _inputs(settings: config.Settings) -> Inputs:
    """What the project is built of."""
    sources = opening.c_files(settings.sources)
    commands = settings.compile_commands
    own = read_flags(commands, (*sources, *settings.native)) if commands else {}
    flags = {path: [*own.get(path, ()), *settings.cflags] for path in (*sources, *settings.native)}
    objects = [path for path in settings.sources if path.suffix != ".c"]
    settings = replace(settings, entry="*")
    told, stubs, checks = opening.told(settings), opening.stubs(settings), config.checks(settings.check)
    return Inputs(
        *(sources, settings.native, objects, flags, settings.cflags, told, stubs, settings.instrument, checks),
        tells_statements=settings.goal == "statement",
    )


def _dropped(commands: Path, sources: list[Path]) -> list[str]:
    """The flags of the build that are left out."""
    found = dropped_flags(commands, sources)
    if not found:
        return []
    more = f" and {len(found) - _MOST_FLAGS} more" if len(found) > _MOST_FLAGS else ""
    return [
        f"flags of the build that are left out, for the board's profile has its own: {' '.join(found[:_MOST_FLAGS])}{more}"
    ]


def told(folder: Path, state: State, as_json: bool, baseline: Set[str]) -> int:
    """Print what was found; returns the exit code. `baseline`: fingerprints of bugs that do not count."""
    rows = state.rows
    if as_json:
        print(json_of(state))
    else:
        console = for_lines()
        if rows:
            if shared := unit_table.shared_folder(rows):
                console.print(plain(f"files are in {shared}"), soft_wrap=True)
            console.print(unit_table.table(rows))
        for line in unit_table.bugs(ranked(rows), baseline):
            console.print(plain(line), soft_wrap=True)
        known = sum(bug.fingerprint in baseline for row in rows for bug in row.found)
        for line in unit_table.totals(rows, state.notes, known):
            console.print(plain(line), soft_wrap=True)
        console.print(plain(f"results: {folder}"), soft_wrap=True)
    if any(bug.fingerprint not in baseline for row in rows for bug in row.found):
        return 1
    return 3 if not rows or all(row.stopped == NOT_BUILT for row in rows) else 0
