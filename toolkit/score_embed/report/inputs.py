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
    """Write each different input to a file; returns how many."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot make this folder: {error.strerror}"
        raise StorageError(what, str(folder), "Choose another place.") from error
    seen: set[bytes] = set()
    for test in tests:
        if test.input not in seen:
            seen.add(test.input)
            write_bytes(folder / f"{test.stem}.bin", test.input)
    return len(seen)


def board_input(found: Findings, test: TestRow) -> str:
    """A C file that gives one test's input to a plain build on a board: score.h reads the array if it is linked."""
    ended = f"{test.verdict} {test.code}" + (f" at {test.place}" if test.place else "")
    return f"""/* Test {test.number} of {ctext.comment(found.program["name"])}, which ended on {found.program["board"]} with: {ctext.comment(ended)}
 * {ctext.comment(text.inputs(test.inputs))}
 * Link this file with the program, built by its usual compiler without score-embed: score.h takes its input from here. */
#include <stddef.h>

extern const unsigned char score_input[];
extern const size_t score_input_size;

const unsigned char score_input[] = {ctext.array(test.input, "")};
const size_t score_input_size = {len(test.input)};
"""
