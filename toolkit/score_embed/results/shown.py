"""Inputs as people read them: pointers as what they lead to, what lies behind a null pointer left out, stubs call by
call.

A harness has an input `n != NULL` for a pointer that may be null, and `f: 0 stub, 1 twice` for a choice among
functions. What a bug rests on are the pointers that were null, as far as its path asked for them: whether they can be
is for the user to say.

A stub's inputs are called after its function (`frontend/stub_body.py`): `read()` is what it returned, `read(*data)`
what it wrote, `log() called` that it gave nothing, and a number stands behind each but the first (`read()#2`). No
variable of C has such a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from score_embed.contract.entry import Array, Guess
from score_embed.results.testcase import Named, Value, quoted

Arrays = Sequence[Array]
_GIVEN = re.compile(r"(.*) != NULL(#\d+)?", re.DOTALL)
_ELEMENT = re.compile(r"\[(\d+)\]")
_CHOICE = re.compile(r"(?P<name>[^:]+): (?P<choices>0 .*)")
_ANSWER = re.compile(r"\*?(\w+)\((.*)\)(.*?)(?:#\d+)?")
NULL = "may be NULL"
_ALIAS = "as "  # what a pointer is that leads to another one's object (`frontend/harness/pointers.py`)
_CALLED = " called"  # the only trace of a stub that gives nothing (`frontend/stub_body.py`)
_MOST_HELD = 3  # numbers that a bug is said to rest on
_MOST_CALLS = 4  # that it leaves
_TIMES = {2: "twice"}


def readable(inputs: Mapping[str, Value], arrays: Arrays = ()) -> dict[str, Value]:
    """The inputs that a test can have looked at, with pointers as what they lead to and arrays up to their count."""
    nulls = _nulls(inputs)
    shown = {array.name: array for array in arrays}
    found: dict[str, Value] = {}
    for name, value in inputs.items():
        pointer = pointer_of(name)
        if shown and _is_beyond(name, shown, inputs):
            continue
        if shown and (array := shown.get(name)) is not None:
            value = _elements(array, value, inputs)
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


def _is_nothing(value: Value) -> bool:
    return value == "NULL" or not str(value).strip('0"{}., ')


def foremost(values: Mapping[str, Value], most: int, asked: AbstractSet[str] = frozenset()) -> dict[str, Value]:
    """At most so many of them: first `asked`, then those that are something: neither zero nor null nor an empty
    text."""
    ranked = sorted(values, key=lambda name: (name not in asked, _is_nothing(values[name])))
    kept = set(ranked[:most])
    return {name: value for name, value in values.items() if name in kept}


def _elements(array: Array, value: Value, inputs: Mapping[str, Value]) -> Value:
    """As C would write them: numbers in braces, characters as a text where they are one."""
    if not isinstance(value, str) or value.startswith('"') or not array.unit:
        return value
    data = bytes.fromhex(value)
    count = inputs.get(array.count)
    if isinstance(count, int) and 0 <= count * array.unit < len(data):
        data = data[: count * array.unit]
    if array.kind == "char":
        text = data.rstrip(b"\0")
        return quoted(data) if text.isascii() and text.decode().isprintable() else data.hex()
    if array.kind == "raw":
        return data.hex() or "{}"
    size = array.unit
    parts = [data[at : at + size] for at in range(0, len(data) - size + 1, size)]
    numbers = (Named("", 0, size, array.kind).value(part) for part in parts)
    return f"{{{', '.join(map(str, numbers))}}}"


def _is_beyond(name: str, arrays: Mapping[str, Array], inputs: Mapping[str, Value]) -> bool:
    """Whether an input is an element, or in one, or behind one, that its array does not have."""
    for found in _ELEMENT.finditer(name):
        array = arrays.get(name[: found.start()])
        count = inputs.get(array.count) if array is not None else None
        if isinstance(count, int) and int(found[1]) >= count:
            return True
    return False


def rests_on(inputs: Mapping[str, Value], depends: Sequence[str] | None = None) -> list[str]:
    """What the user has to judge of an input: pointers that are null in it or lead to what others do, and what
    functions without a body gave.
    `depends`: the inputs that the path depends on, what is asked last first; None: nobody knows."""
    nulls = _nulls(inputs)
    said = {}
    for name, value in inputs.items():
        if value == 0 and (pointer := pointer_of(name)) != name and not _is_behind(pointer, nulls):
            said[name] = f"{pointer} {NULL}"
        choice = _CHOICE.fullmatch(name)
        chosen = str(_chosen(choice["choices"], value)) if choice is not None else ""
        if choice is not None and (chosen == "null" or chosen.startswith(_ALIAS)):
            said[name] = f"{choice['name']} may be {'NULL' if chosen == 'null' else chosen.removeprefix(_ALIAS)}"
    said |= {name: f"{name} may be {value}" for name, value in inputs.items() if name.endswith("()")}
    return [said[name] for name in (said if depends is None else depends) if name in said]


def held(
    inputs: Mapping[str, Value], depends: Sequence[str] | None, states: Sequence[str], arrays: Arrays
) -> tuple[str, ...]:
    """The numbers that an input has in objects which the program keeps (`states`: the pointers to these), as far as the
    path depends on them, what is asked last first. Nobody says that they can be so, as nobody does of a null. But a
    zero is how objects begin, and counts of arrays are bounds of the harness."""
    counts = {array.count for array in arrays}
    said = [
        f"{name} = {inputs[name]}"
        for name in depends or ()
        if isinstance(inputs.get(name), int) and inputs[name] and name not in counts and _is_held(name, states)
    ]
    return tuple(said[:_MOST_HELD])


def _is_held(name: str, states: Sequence[str]) -> bool:
    is_choice = pointer_of(name) != name or _CHOICE.fullmatch(name) is not None
    return not is_choice and any(name.startswith(f"{pointer}->") for pointer in states)


def guess_of(name: str, guesses: Sequence[Guess]) -> str:
    """The guess, in words, of the size of the object that an input is in; "" if its size was said, or is the program's
    own."""
    of = [guess for guess in guesses if _is_of(name, guess.pointer)]
    return max(of, key=lambda guess: len(guess.pointer)).bound if of else ""


def not_made(pointers: Sequence[str]) -> str:
    """What a bug rests on where nothing but these pointers can be what was null; "" if there are none."""
    more = f" and {len(pointers) - _MOST_HELD} more" if len(pointers) > _MOST_HELD else ""
    return f"{', '.join(pointers[:_MOST_HELD])}{more} could not be made" if pointers else ""


def _nulls(inputs: Mapping[str, Value]) -> frozenset[str]:
    return frozenset(pointer for name, value in inputs.items() if value == 0 and (pointer := pointer_of(name)) != name)


def pointer_of(name: str) -> str:
    """The pointer that an input says is null or not; of any other input, that. What is said again in a test has a
    number."""
    given = _GIVEN.fullmatch(name)
    return f"{given[1]}{given[2] or ''}" if given else name


def _is_behind(name: str, nulls: frozenset[str]) -> bool:
    return any(name != null and _is_of(name, null) for null in nulls)


def _is_of(name: str, pointer: str) -> bool:
    """Whether an input is the object, or in the object, that a pointer leads to."""
    plain = pointer_of(name)
    if plain == pointer:
        return True
    return plain.startswith((f"{pointer}->", f"{pointer}[", f"(*{pointer})", f"*{pointer}"))


def _chosen(choices: str, value: Value) -> Value:
    named = dict(choice.split(" ", 1) for choice in choices.split(", ") if " " in choice)
    return named.get(str(value), value)


def is_answer(name: str) -> bool:
    """Whether an input of this name is what a stub gave."""
    return _ANSWER.fullmatch(name) is not None


def without_answers(values: Mapping[str, Value]) -> dict[str, Value]:
    """The inputs that no stub gave."""
    return {name: value for name, value in values.items() if not is_answer(name)}


def answers(values: Mapping[str, Value]) -> list[str]:
    """A sentence for each kind of answer: `read() returned -1, then 3`."""
    found: dict[str, list[str]] = {}
    for name, value in values.items():
        if is_answer(name):
            plain, _, _ = name.partition("#")
            subject, shown = _sentence(plain, value)
            found.setdefault(subject, []).append(shown)
    return [
        _counted(subject, shown) if subject.endswith(_CALLED) else f"{subject} {_listed(shown)}"
        for subject, shown in found.items()
    ]


def _sentence(name: str, value: Value) -> tuple[str, str]:
    """What did what, and to which value."""
    if name.endswith(_CALLED):
        return name, ""
    if (pointer := pointer_of(name)) != name:
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
