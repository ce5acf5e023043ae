"""Preprocessed GNU C -> pycparser's AST. What the trees are made of says `gnu_parser.py`.

Prototypes of functions that nobody names are left out before: four in five declarations of a file are such ones, from
its headers; parsing, typing and printing them was most of the front-end's time. What is not clearly a lone prototype
stays, and what the user wrote in the source file itself, which the compiler is to judge. Lines keep their numbers.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from pycparser import c_ast
from pycparser.c_parser import ParseError

from score_embed.contract.program import Source
from score_embed.errors import BuildError
from score_embed.frontend.c.gnu_parser import GnuParser, SyntaxFault

# Long `else if` chains and initialisers nest deeply; Python functions need no C stack since 3.11.
_RECURSION_LIMIT = 50_000
_DEEPEST = 3000  # nodes within each other
_LINEMARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)$', re.MULTILINE)

Trees = dict[Source, c_ast.FileAST]  # of files that are parsed already
_kept: dict[tuple[str, str], c_ast.FileAST] | None = None
_NESTED = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
_BOUNDARY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*\#[^\n]*$|[{};]', re.MULTILINE)
_IDENT = re.compile(r"^[ \t]*#[ \t]*(?:ident|sccs)\b[^\n]*$", re.MULTILINE)  # words for the object file
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_MARKER = re.compile(r'# \d+ "(.*)"')
_PLACED = re.compile(rf"\b(?:__attribute(?:__)?|(?:__)?asm(?:__)?)\s*{_NESTED}")
_PROTOTYPE = re.compile(rf"(?:\w+[\s*]+)+(\w+)\s*{_NESTED}\s*;")
# A typedef declares a type; an alias defines what it names.
_MORE = re.compile(r"\btypedef\b|alias|ifunc|weakref")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TAG = re.compile(r"\b(?:struct|union)\s+[A-Za-z_]\w*")


@contextmanager
def kept_trees() -> Iterator[None]:
    """Within it equal texts are parsed once, for those who only read trees: of a file with a hundred functions a
    hundred harnesses are made."""
    global _kept
    before, _kept = _kept, {} if _kept is None else _kept
    try:
        yield
    finally:
        _kept = before


def parse(text: str, filename: str) -> c_ast.FileAST:
    """Parse the compiler's `-E` output of a file, but for what nobody names. Raises BuildError at the user's
    `file:line:column`."""
    if _kept is None:
        return _parsed(text, filename)
    if (text, filename) not in _kept:
        _kept[text, filename] = _parsed(text, filename)
    return _kept[text, filename]


def _parsed(text: str, filename: str) -> c_ast.FileAST:
    if sys.getrecursionlimit() < _RECURSION_LIMIT:
        sys.setrecursionlimit(_RECURSION_LIMIT)
    try:
        plain = _IDENT.sub("", text.replace("\r\n", "\n"))
        tree = GnuParser().parse(without_unused_prototypes(plain, filename), filename)
        if _is_deep(tree):
            raise RecursionError
        return tree
    except SyntaxFault as fault:
        raise BuildError(fault.what, fault.where) from None
    except ParseError as error:  # raised by pycparser's own transformations, as "file:line:column: what"
        where, _, what = str(error).partition(": ")
        raise BuildError(what, where) from None
    except RecursionError:
        raise BuildError("expressions or statements are nested too deeply", filename) from None


def _is_deep(tree: c_ast.FileAST) -> bool:
    """Each pass goes down the tree again, and some look at all that is below each node."""
    level: list[c_ast.Node] = [tree]
    for _ in range(_DEEPEST):
        if not level:
            return False
        level = [child for node in level for _, child in node.children()]
    return True


def system_files(text: str) -> set[str]:
    """The files that the preprocessor entered as system headers (linemarker flag 3)."""
    # Without flag 1 it is only a system macro expanded in the user's file.
    return {name for name, flags in _LINEMARKER.findall(text) if {"1", "3"} <= set(flags.split())}


def names_written(text: str) -> set[str]:
    """All words outside of system headers. Cheap: a file that does not have those one looks for need not be parsed."""
    system, names, start, is_own = system_files(text), set[str](), 0, True
    for marker in _LINEMARKER.finditer(text):
        if is_own:
            names.update(_NAME.findall(text, start, marker.start()))
        start, is_own = marker.end(), marker[1] not in system
    return names.union(_NAME.findall(text, start) if is_own else ())


def without_unused_prototypes(text: str, source: str) -> str:
    """The compiler's `-E` output of a source, without its headers' prototypes whose name occurs nowhere else in it. The
    structs that they return stay declared: what first occurs among parameters is another type in each prototype."""
    named = Counter(_NAME.findall(text))
    parts = []
    done = 0
    for start, end in _declarations(text, source):
        if _is_unused(text[start:end], named):
            parts += [text[done:start], _blank(text[start:end]), *_returned(text[start:end])]
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
                marker = _MARKER.match(other)
                file = marker[1] if marker else file


def _is_unused(declaration: str, named: Counter[str]) -> bool:
    if _MORE.search(declaration):
        return False
    bare = _PLACED.sub(" ", _DIRECTIVE.sub("", declaration)).strip()
    found = _PROTOTYPE.fullmatch(bare)
    return found is not None and named[found[1]] == 1


def _returned(prototype: str) -> list[str]:
    before, _, _ = _PLACED.sub(" ", _DIRECTIVE.sub("", prototype)).partition("(")
    return [f" {' '.join(tag.split())};" for tag in _TAG.findall(before)]


def _blank(declaration: str) -> str:
    """What the preprocessor says of lines stays."""
    return "\n".join(line if _DIRECTIVE.match(line) else "" for line in declaration.split("\n"))
