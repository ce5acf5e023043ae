"""The paths seen so far: a set of 64-bit hashes in some 12 to 24 bytes each, a fifth of what Python's own set takes.

A campaign sees millions of paths, and nothing else in memory grows with their number. Open addressing, in shards so that
growing is never a long pause. The hashes come from the target well mixed, so their bits are used as they are.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

_SHARDS = 256
_SMALLEST = 8  # slots of a shard; a power of two


class PathSet:
    def __init__(self, hashes: Iterable[int] = ()) -> None:
        self._tables = [array("Q", bytes(8 * _SMALLEST)) for _ in range(_SHARDS)]
        self._counts = [0] * _SHARDS
        self._has_zero = False  # an empty slot is 0
        for number in hashes:
            self.add(number)

    def __len__(self) -> int:
        return sum(self._counts) + self._has_zero

    def add(self, number: int) -> bool:
        """Take in an unsigned number of 64 bits; true if it is new."""
        if not number:
            new, self._has_zero = not self._has_zero, True
            return new
        shard = number & (_SHARDS - 1)
        table = self._tables[shard]
        at = _find(table, number)
        if table[at]:
            return False
        table[at] = number
        self._counts[shard] += 1
        if 3 * self._counts[shard] > 2 * len(table):
            self._tables[shard] = _grown(table)
        return True


def _find(table: array[int], number: int) -> int:
    """The slot that holds the number, or the empty one where it belongs."""
    mask = len(table) - 1
    at = number >> 8 & mask
    while table[at] and table[at] != number:
        at = (at + 1) & mask
    return at


def _grown(table: array[int]) -> array[int]:
    larger = array("Q", bytes(16 * len(table)))
    for number in table:
        if number:
            larger[_find(larger, number)] = number
    return larger
