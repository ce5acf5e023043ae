"""Hints in a comment above a function, in the words of `score-hints.yaml` and with its checks.

    /* score: buf count len size 32, name string 20, cfg->mode range 0..3
     *        cfg->next nullable no, out alias in, assume len > 0, call first init(cfg), globals state */
    int parse(const uint8_t *buf, size_t len, …)

Commas, semicolons and ends of lines part one argument's hints from another's. `n in 0..16` is `n range 0..16`. Only
comments between functions count: a `score:` within a body is somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from score_embed import userfile, yamlfile
from score_embed.errors import UsageError
from score_embed.frontend.harness.hints import KEYS, Hint, Hints, hint

_TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|[(){};=]',
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(r"(?:/\*+|//+)\s*score:", re.IGNORECASE)
_LEADING = re.compile(r"^[ \t]*(?:\*(?!/)|//+(?:[ \t]*score:)?)?[ \t]*")
_RANGE = re.compile(r"(\S+?)\s*\.\.\s*(\S+)")
_ANSWERS = {"yes": True, "no": False}
_NOT_A_NAME = frozenset({"__attribute__", "__declspec", "_Alignas", "__asm__", "__extension__"})
_HINT = "Write for example `/* score: buf count len size 32, n range 0..16, name string 20, assume n > 0 */`."


class Comment(Struct, frozen=True):
    """`line`: where it begins."""

    text: str
    line: int


def comments(text: str) -> dict[str, list[Comment]]:
    """Those that stand above a function's definition, by its name."""
    found: dict[str, list[Comment]] = {}
    waiting: list[Comment] = []
    name = last = ""
    depth = parentheses = 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word.startswith(("/*", "//")):
            if depth == 0 and (_MARK.match(word) or (waiting and _goes_on(waiting[-1], word, text, token.start()))):
                waiting.append(Comment(word, text.count("\n", 0, token.start()) + 1))
        elif word in "{}":
            if word == "{" and depth == 0 and parentheses == 0:
                if name and waiting:
                    found.setdefault(name, []).extend(waiting)
                waiting, name = [], ""
            depth = max(0, depth + (1 if word == "{" else -1))
        elif depth == 0:
            if word in "()":
                if word == "(" and parentheses == 0 and not name and last not in _NOT_A_NAME:
                    name = last
                parentheses = max(0, parentheses + (1 if word == "(" else -1))
            elif word in ";=" and parentheses == 0:
                waiting, name = [], ""
            last = word if word[0].isalpha() or word[0] == "_" else ""
    return found


def _goes_on(before: Comment, word: str, text: str, at: int) -> bool:
    """Whether a `//` comment is the next line of one."""
    line = text.count("\n", 0, at) + 1
    return word.startswith("//") and before.text.startswith("//") and line == before.line + 1


def read(text: str, file: str, function: str) -> Hints:
    """What the comments above a function in a file say of it. Raises UsageError."""
    if "score:" not in text.lower():
        return Hints()
    arguments: dict[str, Hint] = {}
    assume: list[str] = []
    call: list[str] = []
    places: list[tuple[str, str]] = []
    variables: list[tuple[str, str]] = []
    for comment in comments(text).get(function, ()):
        for clause, line in _clauses(comment):
            where = f"{file}:{line}"
            words = clause.split()
            if words[0] == "assume" and len(words) > 1:
                assume.append(clause.partition("assume")[2].strip())
                places.append((assume[-1], where))
            elif words[:2] == ["call", "first"] and len(words) > 2:
                call.append(clause.partition("first")[2].strip())
                places.append((call[-1], where))
            elif words[0] == "globals" and len(words) > 1:
                variables += [(name, where) for name in words[1:]]
            elif words[0] in arguments:
                raise UsageError(
                    f"{userfile.shown(words[0])} has hints twice", where, "Write all of them in one place."
                )
            else:
                arguments[words[0]] = hint(_section(words, where))
    names = tuple(name for name, _ in variables)
    return Hints(
        arguments,
        assume=tuple(assume),
        call_first=tuple(call),
        globals=names,
        places=tuple(places),
        globals_at=tuple(variables),
    )


def _clauses(comment: Comment) -> Iterator[tuple[str, int]]:
    """What is said, and in which line."""
    text = comment.text.removesuffix("*/") if comment.text.startswith("/*") else comment.text
    text = _MARK.sub("", text, count=1)
    for number, row in enumerate(text.split("\n")):
        plain = _LEADING.sub("", row)
        depth, begin = 0, 0
        for at, sign in enumerate(f"{plain},"):
            depth += {"(": 1, ")": -1}.get(sign, 0)
            if sign in ",;" and (depth <= 0 or at == len(plain)):
                if clause := plain[begin:at].strip():
                    yield clause, comment.line + number
                begin = at + 1


def _section(words: list[str], where: str) -> yamlfile.Section:
    """`buf count len size 32` as the group of YAML that says the same."""
    name, rest = words[0], words[1:]
    values: dict[str, object] = {}
    while rest:
        key, said = ("range" if rest[0] == "in" else rest[0]), rest[1:]
        if key not in KEYS:
            known = f"{yamlfile.suggestion(key, KEYS)} {_HINT}"
            raise UsageError(f"unknown hint {userfile.shown(key)} for {userfile.shown(name)}", where, known)
        if not said:
            raise UsageError(f"{key} of {userfile.shown(name)} has no value", where, _HINT)
        if key == "value":
            values[key], rest = " ".join(said), []
        elif key == "range":
            values[key], rest = _range(said)
        else:
            values[key], rest = (_ANSWERS.get(said[0], said[0]) if key == "nullable" else said[0]), said[1:]
    if not values:
        raise UsageError(f"nothing is said of {userfile.shown(name)}", where, _HINT)
    return yamlfile.Section(where, values, {})


def _range(words: list[str]) -> tuple[list[str], list[str]]:
    """Its ends, and what stands behind it; `0..3` may have spaces in it."""
    for count in range(1, 4):
        found = _RANGE.fullmatch(" ".join(words[:count]))
        if found is not None:
            return [found[1], found[2]], words[count:]
    return [words[0]], words[1:]
