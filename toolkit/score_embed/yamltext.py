"""The text of a YAML file as a section of settings.

Of YAML only what settings need is read: keys, words, numbers and lists, each written where it stands. Aliases, tags and
documents without an end of their nesting are refused before anything is made of them, for some lines of those can mean
more than a machine has room for.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from score_embed import userfile
from score_embed.errors import UsageError
from score_embed.yamlfile import MOST_DIGITS, Section

DEEPEST = 16  # groups and lists within each other
_TAG = "tag:yaml.org,2002:"
_NUMBERS = frozenset({f"{_TAG}int", f"{_TAG}float"})
_OTHERS = frozenset({f"{_TAG}bool", f"{_TAG}null"})
_WORDS = frozenset({f"{_TAG}str", f"{_TAG}timestamp", f"{_TAG}merge", f"{_TAG}value"})  # the last two: `<<` and `=`


def section(text: str, path: Path) -> Section:
    """A file's text, whose top level is a mapping. Raises UsageError."""
    node = compose(text, path)
    if node is None:
        return Section(f"{path}:1", {}, {})
    value = _value(path, node)
    if not isinstance(value, Section):
        raise UsageError("the file must consist of `key: value` lines", f"{path}:1", "See boards/README.md.")
    return value


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
        if node.tag in _NUMBERS and len(word) > MOST_DIGITS:
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
