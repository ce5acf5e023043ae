"""`score-embed replay DIR [TEST]`: run tests of a campaign again, on the image it was made with, and compare."""

from __future__ import annotations

import argparse

from rich.table import Table

from score_embed import config
from score_embed.campaign import replaying
from score_embed.cli import words
from score_embed.cli.console import Printer, plain
from score_embed.errors import ReplayMismatch, UsageError
from score_embed.report import text


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = "Run one test or all tests again on the board, and say whether verdict and path are the same."
    sub.add_argument("folder", type=words.path, metavar="DIR", help="folder of a campaign, such as score-out/latest")
    sub.add_argument("test", nargs="?", metavar="TEST", help="number of one test; all tests if absent")
    sub.add_argument("--port", metavar="PORT", help="the board's serial port, if it is another one now")
    sub.add_argument("--unconfined", action="store_true", help=config.UNCONFINED_HELP)
    sub.add_argument("--trust", action="store_true", help=words.TRUST)
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    wanted: int | None = None
    if values.test is not None:
        if not values.test.isdecimal():
            raise UsageError(f"{values.test!r} is not the number of a test", "command line", "Give a number.")
        wanted = int(values.test)
    confined = not values.unconfined
    results = replaying.replay_tests(values.folder, wanted, values.port, trusted=values.trust, confined=confined)
    failed = [result for result in results if not result.same]
    table = Table("test", "inputs", "verdict", "again", "path")
    for result in (
        results if wanted is not None else [result for result in results if not result.same or result.was_lost]
    ):
        inputs = text.inputs(result.row.inputs, result.arrays)
        again = result.verdict
        path = "same" if result.path_hash == result.row.path_hash else "another"
        path = "not known before" if result.was_lost else path
        table.add_row(str(result.row.number), plain(inputs), plain(result.row.verdict), again, path)
    console = Printer(highlight=False)
    if table.row_count:
        console.print(table)
    if wanted is not None and results[0].output:
        console.print("output:")
        _print(console, results[0].output.decode("utf-8", "backslashreplace"))
    said = replaying.witness_again(values.folder, wanted, confined) if wanted is not None else None
    if said is not None:
        console.print("the second witness:")
        _print(console, said.strip() or "(nothing this time)")
    lost = sum(result.was_lost for result in results)
    console.print(f"{len(results) - len(failed) - lost} of {len(results) - lost} tests reproduced")
    if lost:
        console.print(f"run again: {lost} that were lost before")
    if failed:
        hint = "The program depends on something besides its input: time, addresses, uninitialised memory."
        raise ReplayMismatch(f"{len(failed)} of {len(results)} tests came out differently", str(values.folder), hint)
    if said == "":
        hint = "The program depends on something besides its input: time, addresses, uninitialised memory."
        raise ReplayMismatch("the second witness sees nothing this time", str(values.folder), hint)
    return 0


def _print(console: Printer, text: str) -> None:
    for line in text.split("\n"):
        console.print(plain(line.expandtabs()), soft_wrap=True)
