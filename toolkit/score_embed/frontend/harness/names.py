"""Which number says how many elements a pointer leads to: by names and by neighbours, as programmers write them.

`(buf, len)`, `(a, b, n)`, `(argc, argv)`, `struct { T *items; size_t count, capacity; }`. Of several numbers the one
that is named after the pointer wins, then the one beside it, then the nearest one behind it (`memset(s, c, n)`); a
number whose type alone says that it is a size comes last. What is guessed here is said as a bound of the harness, and a
hint (hints.py) that says otherwise wins.
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
        "avail",
        "available",
        "remaining",
        "amount",
    ]
)
_ENDINGS = ("len", "length", "size", "count", "cnt", "num", "capacity")
_OF_ANYTHING = frozenset(
    ["total", "data", "buf", "buffer", "in", "out", "src", "dst", "array", "input", "output", "of"]
)
_PRESENT = frozenset(["current", "cur", "total", "actual"])  # say nothing of what a number counts
_CAPACITY = frozenset(["cap", "capacity", "max", "alloc", "allocated", "room", "maxlen"])
_POSITIONS = frozenset(["offset", "off", "pos", "position", "cursor", "fill", "filled", "written"])
# fmt: off
_NO_SIZES = _POSITIONS | frozenset(  # numbers that are no size, also where their type is one
    [
        "index", "idx", "i", "at", "start", "begin", "first", "last", "end", "from", "align", "alignment",
        "flags", "mask", "value", "val", "hash", "seed", "crc", "adler", "sum", "checksum", "key", "id",
        "hint", "addr", "address", "stride", "width", "height", "row", "col", "level", "depth", "timeout",
    ]
)
_TEXTS = frozenset(["path", "name", "filename", "msg", "message", "title", "label", "string", "str", "comment"])
_UNITS = frozenset(
    [
        "elem", "element", "item", "entry", "member", "type", "unit", "word", "record", "struct", "page",
        "sector", "block",
    ]
)
# fmt: on
_SIZES = frozenset(["size", "sz", "width"])
_HOW_MANY = frozenset(["n", "nmemb", "nelem", "nelems", "nitems", "count", "cnt", "num", "nr"])
_ORDINALS = frozenset(["num", "nr", "no"])  # `block_num` is the number of a block, `num_blocks` how many there are
_NO_COUNTS = frozenset(["account", "discount", "enum"])
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True)
class Field:
    """A parameter or a member. `element`: what the pointer (or array) is to, in C, "" if it can have no count;
    `single`: a pointer to one object as the code shows; `sized`: of a number, that its type alone says it is a size; of
    a pointer, that it is to numbers or to nobody knows what; `handed`: one to a structure that the code only hands on
    to others; `parallel`: one to pointers or structures of which the code uses several."""

    name: str
    element: str = ""
    is_number: bool = False
    is_array: bool = False
    single: bool = False
    sized: bool = False
    handed: bool = False
    parallel: bool = False


@dataclass
class Counts:
    """`of`: a pointer's or an array's name → the number that says how many elements it has; `most`: numbers that are no
    more than another one (what is used of a capacity); `weak`: pointers whose number is named after something else
    (`version` beside `stream_size`)."""

    of: dict[str, str] = field(default_factory=dict)
    weak: set[str] = field(default_factory=set)
    most: list[tuple[str, str]] = field(default_factory=list)


def is_count(name: str) -> bool:
    """Whether a number of that name says how many there are."""
    lower, words = name.lower(), _words(name)
    if lower in _NO_COUNTS or _is_unit(words) or _is_limit(words):
        return False
    return (
        not _COUNTS.isdisjoint(words) or lower.endswith(_ENDINGS) or bool(re.fullmatch(r"n[A-Z]\w*|argument\d+", name))
    )


def _is_unit(words: frozenset[str]) -> bool:
    """The size of one element."""
    return not words.isdisjoint(_UNITS) and not words.isdisjoint(_SIZES)


def _is_limit(words: frozenset[str]) -> bool:
    """The largest of something, as `max_code`: it is an index rather than a number of elements."""
    return "max" in words and words & _COUNTS == {"max"} and len(words) > 1


def _is_ordinal(name: str) -> bool:
    """The number of one thing, as `block_num`."""
    found = _WORD.findall(name)
    return len(found) > 1 and found[-1].lower() in _ORDINALS and _COUNTS.isdisjoint(w.lower() for w in found[:-1])


def of_parameters(fields: Sequence[Field]) -> Counts:
    """The counts among the parameters of a function."""
    found = Counts()
    for pointer in _pointers(fields):
        named = [n for n in fields if n.is_number and _is_named_after(n.name, pointer.name)]
        if len(named) == 1:
            found.of[pointer.name] = named[0].name
    _by_beginnings(fields, found)
    for choose in (_right_behind, _right_before, _further_behind, _sized_beside):
        for at, field_ in enumerate(fields):
            if field_.element and not field_.single and field_.name not in found.of and not _is_product(fields, at):
                run = _run(fields, at, found)
                if (number := choose(fields, at, run, set(found.of.values()))) is not None:
                    found.of |= dict.fromkeys((f.name for f in fields[at : run + 1]), number.name)
                    if not _words(number.name) <= _COUNTS | _OF_ANYTHING:
                        found.weak |= {f.name for f in fields[at : run + 1]}
    return found


def _by_beginnings(fields: Sequence[Field], found: Counts) -> None:
    """`ilen` of `input`, `dsize` of `dst`: what stands before the size begins one pointer's name, and no other's."""
    pointers = [f.name for f in _pointers(fields)]
    for number in fields:
        lower = number.name.lower()
        ending = next((e for e in (*_ENDINGS, "sz") if lower.endswith(e)), "")
        begin = lower.removesuffix(ending).rstrip("_")
        if not number.is_number or not ending or not begin or begin in "np" or number.name in found.of.values():
            continue
        meant = [name for name in pointers if name.lower().startswith(begin)]
        if len(meant) == 1:
            found.of.setdefault(meant[0], number.name)


_ANY = "void"  # what a pointer to bytes of any kind is to


def _run(fields: Sequence[Field], at: int, found: Counts) -> int:
    """The last of the pointers from `at` on that are alike and stand beside each other: they have one count."""
    last = at
    while (
        last + 1 < len(fields)
        and fields[last + 1].element == fields[at].element
        and not fields[last + 1].single
        and fields[last + 1].name not in found.of
    ):
        last += 1
    return last


def _right_behind(fields: Sequence[Field], at: int, last: int, taken: set[str]) -> Field | None:
    return _countable(fields, last + 1, taken)


def _is_product(fields: Sequence[Field], at: int) -> bool:
    """`(void *base, size_t nmemb, size_t size)`: so many elements of such a size, which no number alone says."""
    if (
        fields[at].element != _ANY
        or at + 2 >= len(fields)
        or not (fields[at + 1].is_number and fields[at + 2].is_number)
    ):
        return False
    first, second = (_words(f.name) for f in fields[at + 1 : at + 3])
    return any(not a.isdisjoint(_HOW_MANY) and not b.isdisjoint(_SIZES) for a, b in ((first, second), (second, first)))


def _right_before(fields: Sequence[Field], at: int, last: int, taken: set[str]) -> Field | None:
    return _countable(fields, at - 1, taken) if at else None


def _further_behind(fields: Sequence[Field], at: int, last: int, taken: set[str]) -> Field | None:
    """What stands between is neither a count nor several objects that may have one."""
    for number in range(last + 1, len(fields)):
        if fields[number].element and not fields[number].single:
            return None
        if (counts := _countable(fields, number, taken)) is not None:
            return counts
    return None


def _sized_beside(fields: Sequence[Field], at: int, last: int, taken: set[str]) -> Field | None:
    """A size by its type alone: rather than nothing."""
    if not fields[at].sized:
        return None
    beside = (fields[i] for i in (last + 1, at - 1) if 0 <= i < len(fields))
    return next((f for f in beside if f.name not in taken and f.is_number and f.sized and _may_be_size(f.name)), None)


def _may_be_size(name: str) -> bool:
    words = _words(name)
    return _NO_SIZES.isdisjoint(words) and not _is_unit(words) and not _is_limit(words)


def _countable(fields: Sequence[Field], at: int, taken: set[str]) -> Field | None:
    """The number at a place, if its name is one of a count."""
    number = fields[at] if at < len(fields) else None
    if number is None or not number.is_number or number.name in taken or _is_ordinal(number.name):
        return None
    return number if is_count(number.name) else None


def of_members(fields: Sequence[Field]) -> Counts:
    """The counts among the members of a structure."""
    found = Counts()
    numbers = [f for f in fields if f.is_number and is_count(f.name)]
    pointers = list(_pointers(fields))
    for pointer in pointers:
        named = [n for n in fields if n.is_number and _is_named_after(n.name, pointer.name)]
        _give(pointer, named, found)
    taken = {*found.of.values(), *(less for less, _ in found.most)}
    plain = [n for n in numbers if n.name not in taken and _words(n.name) <= _COUNTS | _PRESENT]
    without = [p for p in pointers if p.name not in found.of and not _is_text(p)]
    free = [p for p in without if not p.handed] or without
    if len(free) == 1:
        _give(free[0], plain, found)
    else:
        for number in plain:
            at = fields.index(number)
            beside = [f for f in (*fields[max(at - 1, 0) : at], *fields[at + 1 : at + 2]) if f in free]
            if beside and beside[0].name not in found.of:
                found.of[beside[0].name] = number.name
    _positions(fields, found)
    _in_parallel(pointers, found)
    return found


def _in_parallel(pointers: Sequence[Field], found: Counts) -> None:
    """`{keys, values, len}`: the only number of a structure that counts elements counts those of all its arrays of
    pointers or structures."""
    rooms = {*found.of.values()}
    if len(rooms) == 1:
        found.of |= {p.name: room for p in pointers for room in rooms if p.parallel and p.name not in found.of}


def _is_text(pointer: Field) -> bool:
    """Characters that end by themselves, as `char *path`: a number beside it counts something else."""
    return pointer.element == "char" and not _TEXTS.isdisjoint(_words(pointer.name))


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
    """The largest of the numbers is what there is room for, the others are what is used of it. A size may be either:
    the room beside `len`, what is used beside `capacity`."""
    if not numbers:
        return
    room = max(numbers, key=lambda n: _room(_words(n.name)))  # of several the first
    found.of[pointer.name] = room.name
    found.most += [(n.name, room.name) for n in numbers if n is not room]


def _room(words: frozenset[str]) -> int:
    """How much a number's name says that it is what there is room for."""
    return 2 if not words.isdisjoint(_CAPACITY) else int(not words.isdisjoint(_SIZES))


def _pointers(fields: Sequence[Field]) -> Iterator[Field]:
    return (f for f in fields if f.element and not f.single)


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
