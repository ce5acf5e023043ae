"""A bug's input made small before people read it: short texts, zeros where it does not matter, NULL where it may be.

Each step is run on the target and kept only if the same bug comes out at the same place. First all of the input is made
zero, then halves of its objects, then what is left one by one: so what does not matter costs few runs. The number of
runs is bounded, and nothing depends on time, so that the same campaign shows the same inputs.

Only bugs are made small. A test that brought coverage is worth its path: it would have to keep that, so most of its
bytes, and there are many of them.

Tests that leave the campaign, as regression tests and exports, leave with the small input. A bug's test is there to end
in that bug, which its simpler input does as well. What only the second witness saw is no end of a test: such a test
ends well, and what it is expected to do is what it did with its own input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from score_embed.results.bugs import Bug
from score_embed.results.shown import pointer_of
from score_embed.results.storage import damaged
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import Named

MOST_RUNS = 200
Again = Callable[[bytes], bool]  # whether the same bug comes of an input


class Enough(Exception):
    """No more runs."""


class _Smaller:
    def __init__(self, data: bytes, again: Again, most: int) -> None:
        self.data, self._again, self._left = data, again, most

    def try_(self, part: Named, value: bytes) -> bool:
        """Put `value` there, if the bug stays."""
        return self.try_all([(part, value)])

    def try_all(self, changes: Sequence[tuple[Named, bytes]]) -> bool:
        """All of them at once. What changes nothing needs no run."""
        made = bytearray(self.data)
        for part, value in changes:
            made[part.offset : part.offset + part.size] = value
        if bytes(made) == self.data:
            return True
        if not self._left:
            raise Enough
        self._left -= 1
        if self._again(bytes(made)):
            self.data = bytes(made)
            return True
        return False

    def of(self, part: Named) -> bytes:
        return self.data[part.offset : part.offset + part.size]


def smaller(data: bytes, objects: Sequence[Named], again: Again, most: int = MOST_RUNS) -> bytes:
    """An input of the same length that brings the same bug, as simple as `most` runs can make it."""
    parts = [part for part in objects if part.size and part.offset + part.size <= len(data)]
    work = _Smaller(data, again, most)
    try:
        left = _without(work, parts)
        for part in sorted(left, key=lambda part: part.kind not in ("text", "bytes")):  # counts follow what they count
            _one(work, part)
    except Enough:
        pass
    return work.data


def _without(work: _Smaller, parts: Sequence[Named]) -> list[Named]:
    """Make as many of them zero as may be; returns the others."""
    if not parts or work.try_all([(part, bytes(part.size)) for part in parts]):
        return []
    if len(parts) == 1:
        return list(parts)
    middle = len(parts) // 2
    # What comes later in a program is mostly decided by what comes before.
    behind = _without(work, parts[middle:])
    return _without(work, parts[:middle]) + behind


def _one(work: _Smaller, part: Named) -> None:
    """An object that cannot be all zero."""
    if pointer_of(part.name) != part.name or part.kind == "boolean":
        work.try_(part, (1).to_bytes(part.size, "little"))
    elif part.kind == "text":
        _text(work, part)
    elif part.kind == "bytes":
        _bytes(work, part, 0, part.size)
        begun = work.of(part).lstrip(b"\0")
        work.try_(part, begun.ljust(part.size, b"\0"))
    elif part.kind != "float":
        _number(work, part)


def _number(work: _Smaller, part: Named) -> None:
    """Nearer to zero, by halves and then by ones."""
    signed = part.kind == "signed"
    value = int.from_bytes(work.of(part), "little", signed=signed)
    low, high = 0, abs(value)  # zero does not do, this does
    sign = -1 if value < 0 else 1

    def does(size: int) -> bool:
        return work.try_(part, (sign * size).to_bytes(part.size, "little", signed=signed))

    if high > 1 and does(1):
        return
    while high - low > 1:
        middle = (low + high) // 2
        if does(middle):
            high = middle
        else:
            low = middle


def _text(work: _Smaller, part: Named) -> None:
    """The shortest beginning that does, and of its characters as many as may be an `a`."""
    text = work.of(part).partition(b"\0")[0]
    work.try_(part, text.ljust(part.size, b"\0"))
    length = next((n for n in _lengths(len(text)) if work.try_(part, text[:n].ljust(part.size, b"\0"))), len(text))
    for at in range(length):
        whole = work.of(part)
        if whole[at : at + 1].isascii() and whole[at : at + 1].isalnum():
            continue
        work.try_(part, whole[:at] + b"a" + whole[at + 1 :])


def _lengths(length: int) -> Iterator[int]:
    yield from range(1, min(length, 8))
    yield from range(8, length, 4)


def _bytes(work: _Smaller, part: Named, begin: int, end: int) -> None:
    """Zeros from `begin` to `end`, as far as that does."""
    whole = work.of(part)
    if (
        not any(whole[begin:end])
        or work.try_(part, whole[:begin] + bytes(end - begin) + whole[end:])
        or end - begin == 1
    ):
        return
    middle = (begin + end) // 2
    _bytes(work, part, middle, end)
    _bytes(work, part, begin, middle)


def needed(
    depends: Sequence[str] | None, data: bytes, made: bytes, objects: Sequence[Named], again: Again
) -> tuple[str, ...]:
    """Of the inputs that the bug may depend on (None: on any) those of which it is not shown that it does not: a null
    that was none before, or that may as well be none, has no part in it. Asks for one run for each null."""
    names = [part.name for part in objects] if depends is None else depends
    return tuple(name for name in names if _is_needed(name, data, made, objects, again))


def _is_needed(name: str, data: bytes, made: bytes, objects: Sequence[Named], again: Again) -> bool:
    part = next((part for part in objects if part.name == name), None)
    if part is None or pointer_of(name) == name or part.value(made):
        return True
    if part.value(data):
        return False
    given = (1).to_bytes(part.size, "little")
    try:
        return not again(made[: part.offset] + given + made[part.offset + part.size :])
    except Enough:
        return True


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
