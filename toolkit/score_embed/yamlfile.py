"""YAML files as settings: every key is checked, and every complaint names the file and the line.

Board profiles and the project file are written by hand, so a mistyped key must never be ignored silently. What a file
says is kept by a hash of its text (`cache.py`); only a text that is new is parsed (`yamltext.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from score_embed import __version__, userfile
from score_embed.cache import recall, remember
from score_embed.errors import StorageError, UsageError

MOST_BYTES = 128 << 10  # of a file: who writes settings by hand does not come near it
_HINT = "Check its name and permissions."
MOST_DIGITS = 40  # of a number, as it is written
_LARGEST = 1 << 64

_NUMBER = re.compile(r"(?P<digits>0x[0-9A-Fa-f][0-9A-Fa-f_]*|[0-9][0-9_]*?) ?(?P<unit>[KM]?|[kM]?Hz)")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "Hz": 1, "kHz": 10**3, "MHz": 10**6}


def suggestion(word: str, known: Iterable[str]) -> str:
    """One sentence for a hint: the nearest known words (three at most), or all of them."""
    names = sorted(known)
    return close_to(word, names) or f"Known: {', '.join(names)}."


def close_to(word: str, known: Iterable[str]) -> str:
    """One sentence for a hint: the nearest known words (three at most); "" if none is near."""
    import difflib  # here: who has made no mistake need not wait for it

    near = [repr(name) for name in difflib.get_close_matches(word, sorted(known), n=3, cutoff=0.6)]
    return f"Did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?" if near else ""


class Section(Struct, frozen=True):
    """A mapping of a YAML file that remembers the place (`file:line`) of every key."""

    place: str
    values: dict[str, object]
    places: dict[str, str]

    def where(self, key: str = "") -> str:
        return self.places.get(key, self.place)

    def where_item(self, key: str, at: int) -> str:
        """The place of an item of a list."""
        return self.places.get(f"{key}[{at}]", self.where(key))

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
                raise UsageError(f"unknown {what} {userfile.shown(key)}", self.where(key), suggestion(key, names))

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

    def file_name(self, key: str, name: str) -> Path:
        """The word `name`, which stands under `key`, as a file's name."""
        try:
            return userfile.name(name)
        except ValueError as error:
            what = f"{key}: {userfile.shown(name)} is no file's name"
            raise UsageError(what, self.where(key), str(error)) from None

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
        found = _NUMBER.fullmatch(text, 0, MOST_DIGITS)
        if found is None or len(text) > MOST_DIGITS:
            hint = "Write it as 4096, 0x1000, 4K, 1M or, for a frequency, 25MHz."
            raise UsageError(f"{key}: {userfile.shown(text)} is not a number", self.where(key), hint)
        digits = found["digits"].replace("_", "")
        number = int(digits, 16 if digits.startswith("0x") else 10) * _UNITS[found["unit"]]
        if number >= _LARGEST:
            raise UsageError(f"{key}: {text!r} is too large", self.where(key), "Numbers have at most 64 bits.")
        return number

    def word(self, key: str, known: Iterable[str], default: str | None = None) -> str:
        """One of these words."""
        text, names = self.text(key, default), list(known)
        if text not in names:
            raise UsageError(f"{key}: unknown word {userfile.shown(text)}", self.where(key), suggestion(text, names))
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
    written = text(path)
    name = _name(path, written)
    with suppress(StorageError):
        kept = recall(name)
        if kept is not None:
            return _section(json.loads(kept))
    from score_embed import yamltext  # here, since it takes longer to import than a small campaign to run

    found = yamltext.section(written, path)
    with suppress(StorageError):
        remember(name, json.dumps(_plain(found)).encode())
    return found


def _name(path: Path, written: str) -> str:
    """That of what is kept of it. Its places name the path; and what reads it may be another tomorrow."""
    readers = (find_spec(name) for name in ("score_embed.yamltext", "yaml"))
    states = [os.stat(found.origin) for found in readers if found is not None and found.origin is not None]
    parts = [str(path), written, __version__, [(state.st_size, state.st_mtime_ns) for state in states]]
    return f"{hashlib.sha256(repr(parts).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.yaml"


def _plain(value: object) -> object:
    if isinstance(value, Section):
        return {"place": value.place, "values": {k: _plain(v) for k, v in value.values.items()}, "places": value.places}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _made(value: Any) -> object:
    if isinstance(value, dict):
        return _section(value)
    return [_made(item) for item in value] if isinstance(value, list) else value


def _section(kept: dict[str, Any]) -> Section:
    return Section(kept["place"], {key: _made(value) for key, value in kept["values"].items()}, kept["places"])


def text(path: Path) -> str:
    """What a file holds. Raises UsageError."""
    try:
        return userfile.read(path, "this file", MOST_BYTES, _HINT).decode()
    except UnicodeDecodeError:
        raise UsageError("cannot read this file: it is not UTF-8 text", str(path), _HINT) from None


