"""YAML files as settings: every key is checked, and every complaint names the file and the line.

Board profiles and the project file are written by hand, so a mistyped key must never be ignored silently. Of YAML only
what settings need is read: keys, words, numbers and lists, each written where it stands. Aliases, tags and documents
without an end of their nesting are refused before anything is made of them, for some lines of those can mean more than
a machine has room for.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from msgspec import Struct

from score_embed import userfile
from score_embed.errors import UsageError

MOST_BYTES = 128 << 10  # of a file: who writes settings by hand does not come near it
DEEPEST = 16  # groups and lists within each other
_HINT = "Check its name and permissions."
_MOST_DIGITS = 40  # of a number, as it is written
_LARGEST = 1 << 64
_TAG = "tag:yaml.org,2002:"
_NUMBERS = frozenset({f"{_TAG}int", f"{_TAG}float"})
_OTHERS = frozenset({f"{_TAG}bool", f"{_TAG}null"})
_WORDS = frozenset({f"{_TAG}str", f"{_TAG}timestamp", f"{_TAG}merge", f"{_TAG}value"})  # the last two: `<<` and `=`

_NUMBER = re.compile(r"(?P<digits>0x[0-9A-Fa-f][0-9A-Fa-f_]*|[0-9][0-9_]*?) ?(?P<unit>[KM]?|[kM]?Hz)")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "Hz": 1, "kHz": 10**3, "MHz": 10**6}


def suggestion(word: str, known: Iterable[str]) -> str:
    """One sentence for a hint: the nearest known words (three at most), or all of them."""
    names = sorted(known)
    return close_to(word, names) or f"Known: {', '.join(names)}."


def close_to(word: str, known: Iterable[str]) -> str:
    """One sentence for a hint: the nearest known words (three at most); "" if none is near."""
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
        found = _NUMBER.fullmatch(text, 0, _MOST_DIGITS)
        if found is None or len(text) > _MOST_DIGITS:
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
    node = compose(text(path), path)
    if node is None:
        return Section(f"{path}:1", {}, {})
    value = _value(path, node)
    if not isinstance(value, Section):
        raise UsageError("the file must consist of `key: value` lines", f"{path}:1", "See boards/README.md.")
    return value


def text(path: Path) -> str:
    """What a file holds. Raises UsageError."""
    try:
        return userfile.read(path, "this file", MOST_BYTES, _HINT).decode()
    except UnicodeDecodeError:
        raise UsageError("cannot read this file: it is not UTF-8 text", str(path), _HINT) from None


class _Composer(yaml.SafeLoader):
    """Refuses what could mean more than is written: a name for a part of the file, and nesting without an end."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="an alias (`*name`); write out what it means", problem_mark=mark)
        if self.depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"more than {DEEPEST} groups within each other", problem_mark=mark)
        self.depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


def compose(text: str, path: Path) -> yaml.Node | None:
    """The nodes of a file's text; None if there are none. Raises UsageError."""
    try:
        composer = _Composer(text)
        return composer.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = "this is not valid YAML: there is a character that no text has"
        raise UsageError(what, f"{path}:{line}", "Correct that line.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"this is not valid YAML: {error.problem or error.context}"
        raise UsageError(what, f"{path}:{mark.line + 1 if mark else 1}", "Correct that line.") from None
    except ValueError:  # a number of a character (`"\\U00110000"`) that Unicode does not have
        what = "this is not valid YAML: a number that is no character's"
        raise UsageError(what, f"{path}:{composer.line + 1}", "Correct that line.") from None


def _value(path: Path, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        _check_tag(path, node, f"{_TAG}map")
        values: dict[str, object] = {}
        places: dict[str, str] = {}
        for key_node, value_node in node.value:
            where = _where(path, key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                raise UsageError("a key must be one word", where, "Write `key: value`.")
            key = _word(path, key_node)
            if key in values:
                raise UsageError(f"the key {userfile.shown(key)} appears twice", where, "Remove one of the two.")
            values[key], places[key] = _value(path, value_node), where
            if isinstance(value_node, yaml.SequenceNode):
                places.update({f"{key}[{at}]": _where(path, item) for at, item in enumerate(value_node.value)})
        return Section(_where(path, node), values, places)
    if isinstance(node, yaml.SequenceNode):
        _check_tag(path, node, f"{_TAG}seq")
        return [_value(path, item) for item in node.value]
    return _scalar(path, node)


def _scalar(path: Path, node: yaml.Node) -> object:
    word = _word(path, node)
    if node.tag in _WORDS:
        return word
    kind = node.tag.removeprefix(_TAG)
    _check_tag(path, node, *_NUMBERS, *_OTHERS)
    try:
        if node.tag in _NUMBERS and len(word) > _MOST_DIGITS:
            raise ValueError
        found: object = yaml.SafeLoader("").construct_object(node)
    except (ValueError, KeyError):
        what = f"{userfile.shown(word)} cannot be read as {kind}"
        raise UsageError(what, _where(path, node), "Correct it, or put it in quotes if it is a word.") from None
    return found


def _word(path: Path, node: yaml.Node) -> str:
    try:
        return userfile.text(str(node.value))
    except ValueError as error:
        raise UsageError("this word cannot be used", _where(path, node), str(error)) from None


def _check_tag(path: Path, node: yaml.Node, *known: str) -> None:
    if node.tag not in known:
        tag = userfile.shown(node.tag.replace(_TAG, "!!"))
        raise UsageError(f"the tag {tag} is not read", _where(path, node), "Leave it away.")


def _where(path: Path, node: yaml.Node) -> str:
    return f"{path}:{node.start_mark.line + 1}"
