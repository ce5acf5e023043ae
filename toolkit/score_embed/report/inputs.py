"""Inputs of tests for other programs: raw files for fuzzers, in a folder or an archive, and a C array for boards.

A campaign has millions of tests, so they come and go one by one: what stays in memory is a number for each input. On
disk a file takes some 4 KiB whatever is in it, and folders of millions are slow; an archive (`.tar`) is neither.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from score_embed.engine._core import HashSet
from score_embed.errors import StorageError
from score_embed.report import ctext, text
from score_embed.report.findings import Findings
from score_embed.report.output import folder_of
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import ended

ARCHIVE = ".tar"
_Put = Callable[[str, bytes], None]  # a file of the corpus: its name and what is in it


def corpus(tests: Iterable[TestRow], place: Path, *, whole: bool = True) -> int:
    """Write each different input to a file of the folder `place`, or of the archive if it is called `.tar`; returns how
    many. `whole`: inputs may be the arguments and the standard input of a whole program.

    Of a whole program: what its standard input gets, and its arguments in a file beside it, a zero byte after each.
    """
    seen, count = HashSet(), 0
    try:
        with _archive(place) if place.suffix == ARCHIVE else _folder(place) as put:
            for test in tests:
                if seen.add(_number(test.input)):
                    count += 1
                    _put_test(test, put, whole)
    except OSError as error:
        raise StorageError(f"cannot write the corpus: {error.strerror}", str(place), "Choose another place.") from error
    return count


def _number(data: bytes) -> int:
    """Of an input: that two of ten million have the same one happens once in 300,000 campaigns."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())


def _put_test(test: TestRow, put: _Put, of_whole: bool) -> None:
    stdin, arguments = (test.inputs.get("stdin"), _arguments(test)) if of_whole else (None, [])
    whole = data_of(test, "stdin") if isinstance(stdin, str) else b"" if arguments else test.input
    put(f"{test.stem}.bin", whole)
    if arguments:
        put(f"{test.stem}.args", b"".join(arguments))


@contextmanager
def _folder(place: Path) -> Iterator[_Put]:
    descriptor = os.open(folder_of(place), os.O_RDONLY | os.O_DIRECTORY)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK

    def put(name: str, data: bytes) -> None:
        file = os.open(name, flags, 0o666, dir_fd=descriptor)
        try:
            while data:
                data = data[os.write(file, data) :]
        finally:
            os.close(file)

    try:
        yield put
    finally:
        os.close(descriptor)


@contextmanager
def _archive(place: Path) -> Iterator[_Put]:
    """What is written so far has another name until it is whole. A pipe is written to as it is."""
    is_file = place.is_file() or not place.exists()
    fresh = place.with_name(f".{place.name}.{os.getpid()}") if is_file else place
    try:
        with fresh.open("wb") as archive:

            def put(name: str, data: bytes) -> None:
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.write(member.tobuf(tarfile.USTAR_FORMAT))
                archive.write(data + bytes(-len(data) % tarfile.BLOCKSIZE))

            yield put
            archive.write(bytes(2 * tarfile.BLOCKSIZE))  # the end
        if is_file:
            fresh.replace(place)
    finally:
        if is_file:
            fresh.unlink(missing_ok=True)


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
    how = ended(test.verdict, test.code) + (f" at {test.place}" if test.place else "")
    return f"""/* Test {test.number} of {ctext.comment(found.program.name)}, which ended on {ctext.comment(found.program.board)} with: {ctext.comment(how)}
 * {ctext.comment(text.inputs(test.inputs, found.arrays))}
 * Link this file with the program, built by its usual compiler without score-embed: score.h takes its input from here. */
#include <stddef.h>

extern const unsigned char score_input[];
extern const size_t score_input_size;

const unsigned char score_input[] = {ctext.array(test.input, "")};
const size_t score_input_size = {len(test.input)};
"""
