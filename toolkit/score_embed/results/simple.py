"""Kept tests with the inputs that were made small, for those that leave the campaign: regression tests and exports.

A bug's test is there to end in that bug, which its simpler input does as well. What only the second witness saw is no end of
a test: such a test ends well, and what it is expected to do is what it did with its own input.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from score_embed.results.bugs import Bug
from score_embed.results.storage import damaged
from score_embed.results.store import Store, TestRow


def kept(record: Store) -> list[TestRow]:
    """The tests worth keeping, those of bugs with their simpler input. Raises StorageError."""
    return with_simple(record, record.kept_tests())


def with_simple(record: Store, tests: Iterable[TestRow]) -> list[TestRow]:
    """The same of these tests."""
    bugs = {bug.test: bug for bug in record.bugs() if bug.small}
    return [simple(record, test, bugs[test.number]) if test.number in bugs else test for test in tests]


def simple(record: Store, test: TestRow, bug: Bug) -> TestRow:
    """The test of a bug with the simpler input, if there is one. Raises StorageError."""
    if not bug.small:
        return test
    try:
        data = bytes.fromhex(bug.small)
    except ValueError:
        raise damaged(record.folder, f"the simpler input of test {test.number} is no hexadecimal number") from None
    return replace(test, input=data, objects=bug.objects, output="" if bug.witness else test.output)
