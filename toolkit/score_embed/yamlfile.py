"""YAML files as settings: every key is checked, and every complaint names the file and the line.

Board profiles and the project file are written by hand, so a mistyped key must never be ignored silently.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from score_embed.errors import UsageError

_NUMBER = re.compile(r"(?P<digits>0x[0-9A-Fa-f_]+|[0-9][0-9_]*?) ?(?P<unit>[KM]?|[kM]?Hz)")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "Hz": 1, "kHz": 10**3, "MHz": 10**6}


def suggestion(word: str, known: Iterable[str]) -> str:
    """One sentence for a hint: the nearest known words (three at most), or all of them."""
    names = sorted(known)
    near = [repr(name) for name in difflib.get_close_matches(word, names, n=3, cutoff=0.6)]
    if not near:
        return f"Known: {', '.join(names)}."
    return f"Did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?"


@dataclass(frozen=True)
class Section:
    """A mapping of a YAML file that remembers the place (`file:line`) of every key."""

    place: str
    values: dict[str, object]
    places: dict[str, str]

    def where(self, key: str = "") -> str:
        return self.places.get(key, self.place)

    def over(self, base: Section) -> Section:
        """These keys over those of `base`, groups key by key; every key keeps its place."""
        values, places = {**base.values, **self.values}, {**base.places, **self.places}
        for key, value in self.values.items():
            below = base.values.get(key)
            if isinstance(value, Section) and isinstance(below, Section):
                values[key] = value.over(below)
        return Section(self.place, values, places)

    def leaves(self, prefix: str = "") -> Iterator[tuple[str, object, str]]:
        """Every key that is no group, as a path such as `memory.ram.at`, with its value and its place."""
        for key, value in self.values.items():
            if isinstance(value, Section):
                yield from value.leaves(f"{prefix}{key}.")
            else:
                yield prefix + key, value, self.where(key)

    def check_keys(self, known: Iterable[str], what: str) -> None:
        names = list(known)
        for key in self.values:
            if key not in names:
                raise UsageError(f"unknown {what} {key!r}", self.where(key), suggestion(key, names))

    def text(self, key: str, default: str | None = None) -> str:
        """A single word or number as text; the key must be there if it has no default."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise UsageError(f"the key {key!r} is missing", self.where(), f"Add a line `{key}: …`.")
            return default
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return str(value)
        raise UsageError(f"{key!r} must be one word or number", self.where(key), f"Write `{key}: value`.")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of words; a single word counts as a list of one."""
        value = self.values.get(key)
        if value is None:
            return ()
        items = value if isinstance(value, list) else [value]
        if all(isinstance(i, (str, int, float)) and not isinstance(i, bool) for i in items):
            return tuple(str(i) for i in items)
        raise UsageError(f"{key!r} must be a list of words", self.where(key), f"Write `{key}: [a, b]`.")

    def number(self, key: str, default: int | None = None) -> int:
        """A count or an address: `4096`, `0x20000000`, `64K`, `2M`, `25MHz`. K and M are 1,024 and its square, kHz and
        MHz powers of ten."""
        text = self.text(key, None if default is None else str(default))
        found = _NUMBER.fullmatch(text)
        if found is None:
            hint = "Write it as 4096, 0x1000, 4K, 1M or, for a frequency, 25MHz."
            raise UsageError(f"{key}: {text!r} is not a number", self.where(key), hint)
        return int(found["digits"].replace("_", ""), 0) * _UNITS[found["unit"]]

    def word(self, key: str, known: Iterable[str], default: str | None = None) -> str:
        """One of these words."""
        text, names = self.text(key, default), list(known)
        if text not in names:
            raise UsageError(f"{key}: unknown word {text!r}", self.where(key), suggestion(text, names))
        return text

    def section(self, key: str) -> Section:
        value = self.values.get(key)
        if isinstance(value, Section):
            return value
        hint = f"Write `{key}:` and indent its keys below it."
        raise UsageError(f"{key!r} must be a group of keys", self.where(key), hint)


def group(doc: Section, key: str) -> Section:
    """The group of that name, empty if there is none."""
    return doc.section(key) if key in doc.values else Section(doc.where(), {}, {})


def read(path: Path) -> Section:
    """Read a YAML file whose top level is a mapping."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        what = f"cannot read this file: {reason}"
        raise UsageError(what, str(path), "Check its name and permissions.") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            return Section(f"{path}:1", {}, {})
        value = _value(path, node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or "damaged"
        what = f"this is not valid YAML: {problem}"
        raise UsageError(what, f"{path}:{line}", "Correct that line.") from error
    if not isinstance(value, Section):
        raise UsageError("the file must consist of `key: value` lines", f"{path}:1", "See boards/README.md.")
    return value


def _value(path: Path, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        values: dict[str, object] = {}
        places: dict[str, str] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in values:
                where = f"{path}:{key_node.start_mark.line + 1}"
                raise UsageError(f"the key {key!r} appears twice", where, "Remove one of the two.")
            values[key], places[key] = _value(path, value_node), f"{path}:{key_node.start_mark.line + 1}"
        return Section(f"{path}:{node.start_mark.line + 1}", values, places)
    if isinstance(node, yaml.SequenceNode):
        return [_value(path, item) for item in node.value]
    scalar: object = yaml.SafeLoader("").construct_object(node)
    return scalar
