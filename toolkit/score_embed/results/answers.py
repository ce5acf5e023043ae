"""What stubs gave in a test, told call by call.

A stub's inputs are called after its function (`frontend/stub_text.py`): `read()` is what it returned, `read(*data)` what it
wrote, `log() called` that it gave nothing, and a number stands behind each but the first (`read()#2`). No variable of C has such a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from score_embed.results.testcase import Value

_ANSWER = re.compile(r"\*?(\w+)\((.*)\)(.*?)(?:#\d+)?")
_CHOICE = " != NULL"
_CALLED = " called"  # the only trace of a stub that gives nothing (`frontend/stub_text.py`)
_MOST_CALLS = 4  # that it leaves


def is_answer(name: str) -> bool:
    """Whether an input of this name is what a stub gave."""
    return _ANSWER.fullmatch(name) is not None


def own(values: Mapping[str, Value]) -> dict[str, Value]:
    """The inputs that no stub gave."""
    return {name: value for name, value in values.items() if not is_answer(name)}


def told(values: Mapping[str, Value]) -> list[str]:
    """A sentence for each kind of answer: `read() returned -1, then 3`."""
    found: dict[str, list[str]] = {}
    for name, value in values.items():
        if is_answer(name):
            plain, _, _ = name.partition("#")
            subject, shown = _sentence(plain, value)
            found.setdefault(subject, []).append(shown)
    return [_counted(subject, shown) if subject.endswith(_CALLED) else f"{subject} {_listed(shown)}" for subject, shown in found.items()]


def _sentence(name: str, value: Value) -> tuple[str, str]:
    """What did what, and to which value."""
    if name.endswith(_CALLED):
        return name, ""
    if name.endswith(_CHOICE):
        pointer = name.removesuffix(_CHOICE)
        shown = "an object" if value else "NULL"
        return (f"{pointer} returned", shown) if pointer.endswith("()") else (f"{_written(pointer)}", shown)
    if name.endswith("()") and not name.startswith("*"):
        return f"{name} returned", str(value)
    return _written(name), _text(value) if name.startswith("*") else str(value)


def _counted(subject: str, calls: list[str]) -> str:
    """A stub that gives nothing: how often it was called, as far as that was remembered."""
    more = " or more" if len(calls) >= _MOST_CALLS else ""
    return f"{subject} {_TIMES.get(len(calls), f'{len(calls)} times')}{more}" if len(calls) > 1 else subject


def _written(name: str) -> str:
    match = _ANSWER.fullmatch(name)
    if match and match[2]:
        return f"{match[1]}() set {match[2]}{match[3]} to"
    return f"{name} was"


def _text(value: Value) -> str:
    """Characters up to the zero that ends them, if all can be shown."""
    if not isinstance(value, str):
        return str(value)
    data = bytes.fromhex(value).partition(b"\0")[0]
    return f'"{data.decode("ascii")}"' if all(32 <= byte < 127 for byte in data) else value


def _listed(shown: list[str]) -> str:
    """Values in order; one that comes again and again is said once."""
    found: list[str] = []
    at = 0
    while at < len(shown):
        end = at
        while end < len(shown) and shown[end] == shown[at]:
            end += 1
        found.append(shown[at] if end - at == 1 else f"{shown[at]} {_TIMES.get(end - at, f'{end - at} times')}")
        at = end
    return ", then ".join(found)


_TIMES = {2: "twice"}
