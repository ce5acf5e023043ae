"""Inputs of tests for other programs: a folder of raw files for fuzzers, a C array for boards."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from score_embed.errors import StorageError
from score_embed.report import ctext, text
from score_embed.report.findings import Findings
from score_embed.report.output import write_bytes
from score_embed.results.store import TestRow


def corpus(tests: Iterable[TestRow], folder: Path) -> int:
    """Write each different input to a file; returns how many.

    Of a whole program: what its standard input gets, and its arguments in a file beside it, a zero byte after each.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot make this folder: {error.strerror}"
        raise StorageError(what, str(folder), "Choose another place.") from error
    seen: set[bytes] = set()
    for test in tests:
        if test.input not in seen:
            seen.add(test.input)
            stdin, arguments = test.inputs.get("stdin"), _arguments(test)
            whole = data_of(test, "stdin") if isinstance(stdin, str) else b"" if arguments else test.input
            write_bytes(folder / f"{test.stem}.bin", whole)
            if arguments:
                write_bytes(folder / f"{test.stem}.args", b"".join(arguments))
    return len(seen)


def _arguments(test: TestRow) -> list[bytes]:
    """What a program that gets symbolic arguments is to be called with."""
    found: list[bytes] = []
    while isinstance(test.inputs.get(name := f"argv[{len(found) + 1}]"), str):
        found.append(data_of(test, name).split(b"\0")[0] + b"\0")
    return found


def data_of(test: TestRow, name: str) -> bytes:
    """The value of an input that is recorded as hexadecimal. Raises StorageError if it is none."""
    try:
        return bytes.fromhex(str(test.inputs[name]))
    except ValueError:
        what = f"the record is damaged: the value of {name!r} in test {test.number} is neither a number nor hex bytes"
        raise StorageError(what, "", "Start a new campaign.") from None


def board_input(found: Findings, test: TestRow) -> str:
    """A C file that gives one test's input to a plain build on a board: score.h reads the array if it is linked."""
    ended = f"{test.verdict} {test.code}" + (f" at {test.place}" if test.place else "")
    return f"""/* Test {test.number} of {ctext.comment(found.program.name)}, which ended on {ctext.comment(found.program.board)} with: {ctext.comment(ended)}
 * {ctext.comment(text.inputs(test.inputs))}
 * Link this file with the program, built by its usual compiler without score-embed: score.h takes its input from here. */
#include <stddef.h>

extern const unsigned char score_input[];
extern const size_t score_input_size;

const unsigned char score_input[] = {ctext.array(test.input, "")};
const size_t score_input_size = {len(test.input)};
"""
