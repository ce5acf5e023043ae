"""Whether each hint was heeded: one that is of nothing, or that says what its object cannot be, is an error at its own
line.

A hint that does nothing is worse than none: its author believes that the bound holds. Members that exist and were not
made (a list's fifth node, what no code names) are no mistake: there is nothing that the hint could be of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from score_embed.errors import UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness.hints import Hint, Hints
from score_embed.frontend.harness.scope import FileScope
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Int,
    Pointer,
    Record,
    Struct,
    Void,
    is_float,
    is_integer,
    unqualified,
)
from score_embed.userfile import shown
from score_embed.yamlfile import suggestion

_STEP = re.compile(r"(->|\.)(\w+)|\[\w*\]")
_PLAIN = re.compile(r"(\w+)((?:(?:->|\.)\w+|\[\w*\])*)")
_SUBSCRIPT = re.compile(r"\[\d+\]")


class Heeded:
    """Follows which hints the objects of one harness have met."""

    def __init__(self, hints: Hints, function: str) -> None:
        self._hints, self._function = hints, as_written(function)
        self._met: set[str] = set()

    def meet(self, label: str, members: Sequence[str], t: CType, *, is_field: bool = False) -> Hint:
        """What is said of an object of type t. Raises UsageError if that makes no sense for one."""
        hint = self._hints.of(label, tuple(members))
        if hint.at:
            self._met |= {label, _SUBSCRIPT.sub("", label)}
            for word, why in _senseless(hint, t, is_field=is_field):
                raise UsageError(f"'{word}' of {shown(as_written(label))}: {why}", hint.at, _WORDS)
        return hint

    def check_alias(self, label: str, hint: Hint, known: Sequence[str]) -> None:
        """Whether the pointers that it may be the same as are there."""
        if label not in self._hints.arguments:
            return  # said of a type: not each function has that pointer
        for name in hint.alias:
            if name not in known and label not in self._hints.of(name).alias:
                what = f"'alias' of {shown(as_written(label))}: no pointer {shown(name)} is made before it"
                others = ", ".join(as_written(one) for one in known if one != label) or "none"
                raise UsageError(what, hint.at, f"Pointers before it: {others}.")

    def check(self, scope: FileScope, parameters: dict[str, CType]) -> None:
        """Whether all that has hints is there."""
        for name, hint in self._hints.arguments.items():
            if not hint.at or name in self._met:
                continue
            plain = _PLAIN.fullmatch(name.lstrip("*(").replace(")", ""))
            root = plain[1] if plain else name
            t = parameters.get(root) or scope.variable(root)
            if t is None:
                known = ", ".join(map(as_written, parameters)) or "none"
                raise UsageError(f"{self._function} has no argument {shown(name)}", hint.at, f"Its arguments: {known}.")
            if plain and not name.startswith(("*", "(")):
                self._walk(scope, root, t, plain[2], hint)
        for name, hint in self._hints.types.items():
            record = scope.record(name.partition(".")[0])
            member = name.partition(".")[2]
            if hint.at and record is not None and record.members is not None and record.find(member) is None:
                raise UsageError(f"there is no member {shown(name)}", hint.at, _members(record, member))

    def _walk(self, scope: FileScope, said: str, t: CType, steps: str, hint: Hint) -> None:
        """Follow `->a.b` through the types, as far as they are known."""
        for step in _STEP.finditer(steps):
            u = unqualified(t)
            if step[1] is None:
                if not isinstance(u, (Pointer, Array)):
                    raise UsageError(f"{said} is no array", hint.at, _WORDS)
                t, said = (u.to if isinstance(u, Pointer) else u.of), f"{said}{step[0]}"
                continue
            while isinstance(u, Array):
                u = unqualified(u.of)
            is_pointer = isinstance(u, Pointer)
            to = unqualified(u.to) if isinstance(u, Pointer) else u
            if isinstance(to, Void) or (isinstance(to, Struct) and to.record.members is None):
                return  # what it really leads to only the code shows
            if not isinstance(to, Struct):
                raise UsageError(f"{said} is no structure, and has no {step[2]}", hint.at, _WORDS)
            if is_pointer != (step[1] == "->") and isinstance(unqualified(t), (Pointer, Struct)):
                right = f"{said}{'->' if is_pointer else '.'}{step[2]}"
                raise UsageError(f"there is no {said}{step[0]}", hint.at, f"Write `{right}`.")
            found = to.record.find(step[2])
            if found is None:
                raise UsageError(f"{said} has no member {shown(step[2])}", hint.at, _members(to.record, step[2]))
            t, said = found.type, f"{said}{step[0]}"


_WORDS = (
    "Numbers have 'range' and 'value'; pointers 'count', 'size', 'nullable', 'alias', 'into' and 'value', those to characters "
    "'string', those to structures 'depth'."
)


def _members(record: Record, name: str) -> str:
    names = [member.name for member in record.members or [] if member.name]
    return suggestion(name, names)


def _senseless(hint: Hint, t: CType, *, is_field: bool) -> Iterator[tuple[str, str]]:
    """The words of a hint that an object of the type has no use for, and why."""
    u = unqualified(t)
    to = unqualified(u.to) if isinstance(u, Pointer) else unqualified(u.of) if isinstance(u, Array) else None
    is_pointer, is_number = isinstance(u, Pointer), is_integer(u) or is_float(u)
    is_text = isinstance(to, (Int, Void)) and getattr(to, "bits", 8) == 8
    is_function = isinstance(to, Function)
    said = {
        "range": (hint.low, is_number, "it is no number"),
        "nullable": (hint.nullable is not None, is_pointer, "it is no pointer"),
        "alias": (hint.alias, is_pointer and not is_function, "it is no pointer to an object"),
        "into": (hint.into, is_pointer and not is_function, "it is no pointer to an object"),
        "size": (hint.size, is_pointer and not is_function, "it is no pointer to objects"),
        "count": (hint.count, to is not None and not is_function, "it is neither a pointer to objects nor an array"),
        "string": (hint.string, is_text, "it is no text"),
        "depth": (hint.depth, is_pointer and isinstance(to, (Struct, Void)), "it is no pointer to a structure"),
    }
    yield from ((word, why) for word, (given, fits, why) in said.items() if given and not fits)
