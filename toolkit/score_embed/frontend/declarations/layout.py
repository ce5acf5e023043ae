"""Where the board's compiler puts bit-fields: it is asked, by objects with only that field set.

Of `struct s x[2] = { { .f = -1 }, { .f = 1 } };` the first shows which bits are the field's, the second which of them
is the lowest. What it does not answer (a record that cannot be named, a file that does not compile) stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from score_embed.errors import BuildError
from score_embed.frontend.declarations.declare import MEMBER
from score_embed.frontend.declarations.symbols import Scope
from score_embed.frontend.ir.exp import Storage
from score_embed.frontend.types.ctype import Record, Struct

# From a C text to the contents of its objects called sc_layout_N, by N. Raises BuildError if it does not compile.
Measure = Callable[[str], Mapping[int, bytes]]
OBJECT = re.compile(r"(?:^|\.)sc_layout_(\d+)(?:\.|$)")  # compilers add to the name of one in a function
_SIZES = (1, 2, 4, 8)

_Question = tuple[Record, str]


class Layout:
    """The bit-fields of one unit. Answers hold for every lowering of it: records are known by where they are
    defined."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._known: dict[tuple[str, str, str], Storage | None] = {}
        self._together = True  # until records asked for together did not compile

    def storage(
        self, record: Record, name: str, scope: Scope, file: Callable[[], str], function: str, inner: Sequence[str]
    ) -> Storage | None:
        """Where a field lies, if that is known.

        `file`: gives the C text of the file scope up to here; `inner`: definitions in `function`, which is being
        lowered.
        """
        outermost = scope
        while outermost.parent is not None:
            outermost = outermost.parent
        is_local = outermost.tags.get(record.tag) is not record
        key = (function if is_local else "", record.tag, name)
        if key not in self._known and not is_local and self._together:  # all that may be asked for, in one go
            records = [found for found in outermost.tags.values() if isinstance(found, Record)]
            everything = [
                (found, field) for found in records if not found.tag.startswith(MEMBER) for field in _fields(found)
            ]
            new = [question for question in everything if ("", question[0].tag, question[1]) not in self._known]
            self._together = self._ask("", new, file(), ())
        if key not in self._known:
            fields = list(_fields(record))
            if not self._ask(key[0], [(record, field) for field in fields], file(), inner if is_local else ()):
                self._known.update({(key[0], record.tag, field): None for field in fields})
        return self._known.setdefault(key, None)

    def _ask(self, function: str, questions: Sequence[_Question], file: str, inner: Sequence[str]) -> bool:
        """Whether the text compiled."""
        lines = [
            f"static {record.kind} {record.tag} sc_layout_{number}[2] __attribute__((used)) = "
            f"{{ {{ .{name} = -1 }}, {{ .{name} = 1 }} }};"
            for number, (record, name) in enumerate(questions)
        ]
        if function:
            lines = ["void sc_layout_function(void) {", *inner, *lines, "}"]
        try:
            found = self._measure("\n".join([file, *lines, ""]))
        except BuildError:
            return False
        for number, (record, name) in enumerate(questions):
            contents = found.get(number, b"")
            half = len(contents) // 2
            self._known[function, record.tag, name] = located(contents[:half], contents[half:])
        return True


def _fields(record: Record) -> Iterator[str]:
    """The names of all bit-fields that `.name` reaches in it."""
    for member in record.members or []:
        if member.bits is not None and member.name:
            yield member.name
        elif member.name is None and isinstance(member.type, Struct):
            yield from _fields(member.type.record)


def located(ones: bytes, one: bytes) -> Storage | None:
    """From a record with all bits of a field set, and one in which it is 1. None if no bytes hold it as one number."""
    bits, lowest = (int.from_bytes(contents, "little") for contents in (ones, one))
    shift, width = (bits & -bits).bit_length() - 1, bits.bit_count()
    if not bits or bits >> shift != (1 << width) - 1 or lowest != 1 << shift:
        return None
    first, last = shift // 8, (shift + width - 1) // 8
    for size in _SIZES:
        if last - first < size <= len(ones):
            offset = min(first, len(ones) - size)
            return Storage(offset, size, shift - 8 * offset, width)
    return None
