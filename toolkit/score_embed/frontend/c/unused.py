"""Leaves out prototypes of functions that nobody names, before they are parsed.

Four in five declarations of a file are such ones, from its headers; parsing, typing and printing them was most of the
front-end's time. What is not clearly a lone prototype stays, and what the user wrote in the source file itself, which the
compiler is to judge. Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_NESTED = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
_BOUNDARY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*\#[^\n]*$|[{};]', re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_LINEMARKER = re.compile(r'# \d+ "(.*)"')
_PLACED = re.compile(rf"\b(?:__attribute(?:__)?|(?:__)?asm(?:__)?)\s*{_NESTED}")
_PROTOTYPE = re.compile(rf"(?:\w+[\s*]+)+(\w+)\s*{_NESTED}\s*;")
# A typedef declares a type; an alias defines what it names.
_MORE = re.compile(r"\btypedef\b|alias|ifunc|weakref")
_NAME = re.compile(r"[A-Za-z_]\w*")


def without_unused_prototypes(text: str, source: str) -> str:
    """The compiler's `-E` output of a source, without its headers' prototypes whose name occurs nowhere else in it."""
    named = Counter(_NAME.findall(text))
    parts = []
    done = 0
    for start, end in _declarations(text, source):
        if _is_unused(text[start:end], named):
            parts += [text[done:start], _blank(text[start:end])]
            done = end
    return "".join([*parts, text[done:]])


def _declarations(text: str, source: str) -> Iterator[tuple[int, int]]:
    """Where the headers' declarations without braces begin and end, outside of any."""
    depth = start = 0
    braces = False
    file = source
    for found in _BOUNDARY.finditer(text):
        match found[0]:
            case "{":
                depth += 1
                braces = True
            case "}":
                depth -= 1
            case ";" if depth == 0:
                if not braces and file != source:
                    yield start, found.end()
                start, braces = found.end(), False
            case other:
                marker = _LINEMARKER.match(other)
                file = marker[1] if marker else file


def _is_unused(declaration: str, named: Counter[str]) -> bool:
    if _MORE.search(declaration):
        return False
    bare = _PLACED.sub(" ", _DIRECTIVE.sub("", declaration)).strip()
    found = _PROTOTYPE.fullmatch(bare)
    return found is not None and named[found[1]] == 1


def _blank(declaration: str) -> str:
    """What the preprocessor says of lines stays."""
    return "\n".join(line if _DIRECTIVE.match(line) else "" for line in declaration.split("\n"))
