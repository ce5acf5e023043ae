"""Inputs as people read them: pointers as what they lead to, and what lies behind a null pointer left out.

A harness has an input `n != NULL` for a pointer that may be null, and `f: 0 stub, 1 twice` for a choice among functions. What a bug
rests on are the pointers that were null, as far as its path asked for them: whether they can be is for the user to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from score_embed.results.testcase import Value

_GIVEN = " != NULL"
_CHOICE = re.compile(r"(?P<name>[^:]+): (?P<choices>0 .*)")


def readable(inputs: Mapping[str, Value]) -> dict[str, Value]:
    """The inputs that a test can have looked at, with pointers as what they lead to."""
    nulls = _nulls(inputs)
    found: dict[str, Value] = {}
    for name, value in inputs.items():
        pointer = name.removesuffix(_GIVEN)
        if _is_behind(pointer, nulls) or (pointer in nulls and pointer == name):
            continue
        choice = _CHOICE.fullmatch(name)
        if pointer != name:
            if pointer in nulls:
                found[pointer] = "NULL"
            elif not any(other != name and _is_of(other, pointer) for other in inputs):
                found[pointer] = "not NULL"
        elif choice is not None:
            found[choice["name"]] = _chosen(choice["choices"], value)
        else:
            found[name] = value
    return found


def rests_on(inputs: Mapping[str, Value], depends: Sequence[str] | None = None) -> list[str]:
    """What the user has to judge of an input: pointers that are null in it, and what functions without a body gave.
    `depends`: the inputs that the path depends on, what is asked last first; None: nobody knows."""
    nulls = _nulls(inputs)
    said = {f"{name}{_GIVEN}": f"{name} may be NULL" for name in sorted(nulls) if not _is_behind(name, nulls)}
    said |= {name: f"{name} may be {value}" for name, value in inputs.items() if name.endswith("()")}
    return [said[name] for name in (said if depends is None else depends) if name in said]


def _nulls(inputs: Mapping[str, Value]) -> frozenset[str]:
    given = (name for name, value in inputs.items() if name.endswith(_GIVEN) and value == 0)
    return frozenset(name.removesuffix(_GIVEN) for name in given)


def _is_behind(name: str, nulls: frozenset[str]) -> bool:
    return any(name != null and _is_of(name, null) for null in nulls)


def _is_of(name: str, pointer: str) -> bool:
    """Whether an input is the object, or in the object, that a pointer leads to."""
    plain = name.removesuffix(_GIVEN)
    if plain == pointer:
        return True
    return plain.startswith((f"{pointer}->", f"{pointer}[", f"(*{pointer})", f"*{pointer}"))


def _chosen(choices: str, value: Value) -> Value:
    named = dict(choice.split(" ", 1) for choice in choices.split(", ") if " " in choice)
    return named.get(str(value), value)
