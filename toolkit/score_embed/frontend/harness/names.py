"""Which number says how many elements a pointer leads to: by names and by neighbours, as programmers write them.

`(buf, len)`, `(a, b, n)`, `(argc, argv)`, `struct { T *items; size_t count, capacity; }`. What is guessed here is said as a
bound of the harness, and a hint (hints.py) that says otherwise wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_COUNTS = frozenset(
    [
        "n",
        "len",
        "length",
        "size",
        "sz",
        "count",
        "cnt",
        "num",
        "nb",
        "nr",
        "nmemb",
        "nelem",
        "nelems",
        "elem",
        "elems",
        "items",
        "entries",
        "cap",
        "capacity",
        "bytes",
        "nbytes",
        "used",
        "max",
        "maxlen",
        "buflen",
        "argc",
    ]
)
_ENDINGS = ("len", "length", "size", "count", "cnt", "num", "capacity")
_CAPACITY = frozenset(["cap", "capacity", "size", "sz", "max", "alloc", "allocated", "room", "maxlen"])
_POSITIONS = frozenset(["offset", "off", "pos", "position", "cursor", "fill", "filled", "written"])
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True)
class Field:
    """A parameter or a member. `element`: what the pointer (or array) is to, in C, "" if it can have no count; `single`: a pointer
    to one object as the code shows; `strong`: of a number, that its type alone says it is a size."""

    name: str
    element: str = ""
    is_number: bool = False
    is_array: bool = False
    single: bool = False
    strong: bool = False


@dataclass
class Counts:
    """`of`: a pointer's or an array's name → the number that says how many elements it has; `most`: numbers that are no more than
    another one (what is used of a capacity)."""

    of: dict[str, str] = field(default_factory=dict)
    most: list[tuple[str, str]] = field(default_factory=list)


def is_count(name: str) -> bool:
    """Whether a number of that name says how many there are."""
    lower, words = name.lower(), _words(name)
    return (
        not _COUNTS.isdisjoint(words) or lower.endswith(_ENDINGS) or bool(re.fullmatch(r"n[A-Z]\w*|argument\d+", name))
    )


def of_parameters(fields: Sequence[Field]) -> Counts:
    """The counts among the parameters of a function."""
    found = Counts()
    numbers = [f for f in fields if f.is_number and (is_count(f.name) or f.strong)]
    for pointer in _pointers(fields):
        named = [n for n in fields if n.is_number and _is_named_after(n.name, pointer.name)]
        if len(named) == 1:
            found.of[pointer.name] = named[0].name
    for at, number in enumerate(fields):
        if number in numbers and number.name not in found.of.values():
            _neighbours(fields, at, found)
    return found


def of_members(fields: Sequence[Field]) -> Counts:
    """The counts among the members of a structure."""
    found = Counts()
    numbers = [f for f in fields if f.is_number and is_count(f.name)]
    pointers = list(_pointers(fields))
    for pointer in pointers:
        named = [n for n in fields if n.is_number and _is_named_after(n.name, pointer.name)]
        _give(pointer, named, found)
    taken = {*found.of.values(), *(less for less, _ in found.most)}
    plain = [n for n in numbers if n.name not in taken and _words(n.name) <= _COUNTS]
    free = [p for p in pointers if p.name not in found.of]
    if len(free) == 1:
        _give(free[0], plain, found)
    else:
        for number in plain:
            at = fields.index(number)
            beside = [f for f in (*fields[max(at - 1, 0) : at], *fields[at + 1 : at + 2]) if f in free]
            if beside and beside[0].name not in found.of:
                found.of[beside[0].name] = number.name
    _positions(fields, found)
    return found


def _positions(fields: Sequence[Field], found: Counts) -> None:
    """`offset`, `pos` of the only array of a structure: no more than it has elements."""
    positions = [f.name for f in fields if f.is_number and not _POSITIONS.isdisjoint(_words(f.name))]
    arrays = [f.name for f in fields if f.is_array and f.element]
    if not found.of and len(arrays) == 1 and len(positions) == 1:
        found.of[arrays[0]] = positions[0]  # of a fixed size: the position is bounded by that
        return
    rooms = {*found.of.values()}
    if len(found.of) != 1:
        return
    (room,) = rooms
    taken = {*rooms, *(less for less, _ in found.most)}
    found.most += [(name, room) for name in positions if name not in taken]


def _give(pointer: Field, numbers: Sequence[Field], found: Counts) -> None:
    """The largest of the numbers is what there is room for, the others are what is used of it."""
    if not numbers:
        return
    room = next((n for n in numbers if not _CAPACITY.isdisjoint(_words(n.name))), numbers[0])
    found.of[pointer.name] = room.name
    found.most += [(n.name, room.name) for n in numbers if n is not room]


def _pointers(fields: Sequence[Field]) -> Iterator[Field]:
    return (f for f in fields if f.element and not f.single)


def _neighbours(fields: Sequence[Field], at: int, found: Counts) -> None:
    """The pointers just before a number, as long as they are alike; else the one just behind it."""
    element = ""
    for before in reversed(fields[:at]):
        if not before.element or before.single or before.name in found.of or (element and before.element != element):
            break
        found.of[before.name], element = fields[at].name, before.element
    behind = fields[at + 1] if at + 1 < len(fields) else None
    if not element and behind is not None and behind.element and not behind.single and behind.name not in found.of:
        found.of[behind.name] = fields[at].name


def _is_named_after(number: str, pointer: str) -> bool:
    """`buf_len`, `bufLen`, `buflen`, `n_buf` of `buf`; `argc` of `argv`."""
    lower = number.lower()
    if (number, pointer) == ("argc", "argv") or lower in {prefix + pointer.lower() for prefix in ("n", "num", "nr")}:
        return True
    if not is_count(number):
        return False
    own, rest = _words(pointer), _words(number) - _COUNTS
    joined = [lower.removesuffix(ending) for ending in _ENDINGS if lower.endswith(ending)]
    short = pointer.lower().removesuffix("s").lstrip("p_")
    return bool(rest and rest & own) or any(part.strip("_") in (pointer.lower(), short) and part for part in joined)


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))
