"""Tests as CSV (RFC 4180, with a heading), a row each, for spreadsheets and scripts.

A campaign may have millions of tests, so they are read twice and never held: once for the names of the inputs, which
are the columns, and once for the rows. A spreadsheet takes a cell that begins like a formula for one, and a record may
come from somebody else: before such texts stands an apostrophe.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator

from score_embed.errors import printable
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import Value

COLUMNS = ("test", "outcome", "verdict", "code", "path", "place", "output", "input")
MOST_NAMES = 256  # inputs with a column of their own
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows(tests: Callable[[], Iterable[TestRow]]) -> Iterator[list[str]]:
    """The heading and a row for each test. `tests` is asked twice."""
    names: dict[str, None] = {}
    for test in tests():
        if len(names) < MOST_NAMES:
            names.update(dict.fromkeys(named.name for named in test.objects))
    columns = list(names)[:MOST_NAMES]
    yield [*COLUMNS, *map(_text, columns)]
    for test in tests():
        yield [
            str(test.number),
            *map(_text, (test.outcome, test.verdict)),
            str(test.code),
            f"{test.path_hash:016x}",
            *map(_text, (test.place, test.output)),
            test.input.hex(" "),
            *(_value(test.inputs.get(name, "")) for name in columns),
        ]


def document(tests: Callable[[], Iterable[TestRow]]) -> Iterator[str]:
    """The same as lines of text, with their ends."""
    made = _Lines()
    writer = csv.writer(made)
    for row in rows(tests):
        writer.writerow(row)
        yield made.last


class _Lines:
    """What a writer of the library writes to."""

    last = ""

    def write(self, text: str) -> None:
        self.last = text


def _value(value: Value) -> str:
    """Bytes have spaces between them: `6e00` is a number to a spreadsheet."""
    if not isinstance(value, str):
        return str(value)
    try:
        return bytes.fromhex(value).hex(" ")
    except ValueError:
        return _text(value)


def _text(text: str) -> str:
    plain = printable(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain
