"""How many elements a harness's array may have, and how many characters a text.

At most 16, which is quickly exhausted, and besides around each size that the code asks for (`sizes.py`): from a
constant that the count is compared with up to 16 more, and one more than an array has that it is copied into. All
lengths up to the largest of these would be as many paths for each loop, so what lies between is left out: `buf ≤ 16
bytes, or 32 to 48`.
"""

from __future__ import annotations

from dataclasses import dataclass

from score_embed.frontend.harness.asked import Asked

ELEMENTS = 16  # of an array of numbers, or bytes
CHARACTERS = 15  # of a text
STRUCTS = 3  # of an array of structures or pointers
_MOST, _MOST_OF_SMALL = 320, 80  # bytes of one array; where pointers have 16 bits
_MOST_STATED = 4096  # of what is assumed
_MOST_STRUCTS, _MOST_STATED_STRUCTS = 8, 32
_RANGES = 5  # besides the first; more are one
_NEAR = 4  # what lies closer together is one


@dataclass(frozen=True)
class Lengths:
    """`ranges`: first and last of each, in order and apart."""

    ranges: tuple[tuple[int, int], ...]

    @property
    def most(self) -> int:
        return self.ranges[-1][1]

    def condition(self, count: str) -> str:
        """In C, without a branch; a count that is negative is a very large one here."""
        number = f"(__SIZE_TYPE__) {count}"
        most = self.ranges[0][1]
        parts = [f"{number} <= {most}", *(f"{number} - {a} <= {b - a}" for a, b in self.ranges[1:])]
        return parts[0] if len(parts) == 1 else " | ".join(f"({part})" for part in parts)

    def words(self, label: str, unit: str) -> str:
        """As a bound of what `label` leads to."""
        more = "".join(f", or {first} to {last}" for first, last in self.ranges[1:])
        return f"{label} ≤ {self.ranges[0][1]} {unit}s{more}"


def fixed(most: int) -> Lengths:
    """Any up to that."""
    return Lengths(((0, most),))


def of_objects(asked: Asked, stated: Asked) -> Lengths:
    """Of an array of structures or pointers, each of which is made by itself."""
    wanted = [n + 1 for n in (*asked.compared, *asked.rooms) if n < _MOST_STRUCTS]
    return fixed(max([STRUCTS, *wanted, *(n + 1 for n in stated.compared if n < _MOST_STATED_STRUCTS)]))


def lengths(asked: Asked, stated: Asked, size: int, *, small: bool) -> Lengths:
    """Of an array whose elements have `size` bytes. `stated`: what is asked by conditions without which the function is
    not called, so that they may be larger; `small`: the board's pointers have 16 bits."""
    most = (_MOST_OF_SMALL if small else _MOST) // size
    wanted = [(0, ELEMENTS)]
    wanted += [(n, n + 1 if n <= ELEMENTS else n + ELEMENTS) for n in asked.compared if 0 <= n <= most]
    wanted += [(n, n + 1) for n in asked.rooms if 0 <= n <= most]
    wanted = [(first, min(last, max(most, ELEMENTS))) for first, last in wanted]
    far = most if small else _MOST_STATED // size
    wanted += [(n, min(n + ELEMENTS, far)) for n in stated.compared if ELEMENTS < n <= far]
    found: list[tuple[int, int]] = []
    for first, last in sorted(wanted):
        if found and first - found[-1][1] <= _NEAR:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    if len(found) > _RANGES + 1:
        found[1:] = [(found[1][0], found[-1][1])]
    return Lengths(tuple(found))


def inputs(asked: Asked, size: int, *, small: bool) -> int:
    """How many elements are inputs, of an array whose size nobody knows."""
    return max([ELEMENTS, *(n for n in asked.rooms if n * size <= (_MOST_OF_SMALL if small else _MOST))])


def characters(asked: Asked, *, small: bool) -> int:
    """The most that a text has: one more than is asked for."""
    limit = _MOST_OF_SMALL if small else _MOST
    sizes = [*(n + 1 for n in asked.compared), *asked.rooms]
    return max([CHARACTERS, *(n for n in sizes if n <= limit)])
