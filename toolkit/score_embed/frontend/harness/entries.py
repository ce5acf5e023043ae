"""One program with many entries: the harnesses of many functions side by side, and a main that calls one of them.

Which one says the address of a symbol that the link defines. So the front-end's and the compiler's work is done once
for all functions of a project, and what is left for each is a link. A harness is what `--entry` makes; its main, and
what it defines besides, get a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from score_embed.contract.entry import Entry
from score_embed.contract.program import ENTRY, HARNESS_FILE, STUBS_FILE, Note, Source
from score_embed.frontend.c.names import called_names, functions_used, static_names
from score_embed.frontend.c.own_names import as_written, emitted
from score_embed.frontend.c.parse import parse, system_files
from score_embed.frontend.harness.entry import harness_of
from score_embed.frontend.harness.hints import Hints
from score_embed.frontend.harness.scope import Scopes
from score_embed.frontend.harness.uses import functions_as_values
from score_embed.frontend.types.data_model import DataModel

SELECTED = "sc_selected"  # its address is the number of the entry, from 1 on
LINES = 10_000  # of a harness at most: the lines of the Nth begin with N times as many
_ENTRY = f"{ENTRY}{{}}"
_MARK = f'\n# 1 "{HARNESS_FILE}"\n'
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|[(){};=]')


@dataclass(frozen=True)
class Function:
    """One that a source defines. `file`: that, or a file that it includes; `callers`: of a static one whose address
    nobody takes, the functions of that source that call it; `idle`: inline, of a header, and not called by what the
    source itself defines."""

    name: str
    file: str
    line: int
    source: str
    callers: tuple[str, ...] = ()
    idle: bool = False


@dataclass(frozen=True)
class Made:
    """The harness of a function. `text`: what is appended to the file that defines it; `kept`: its main, as people may
    keep it; `file`: the index of the file."""

    number: int
    entry: Entry
    losses: tuple[Note, ...]
    within: tuple[str, ...]
    text: str
    kept: str
    file: int

    @property
    def root(self) -> str:
        """The function that a program with this entry begins with."""
        return _ENTRY.format(self.number)


def functions(sources: Sequence[Source]) -> list[Function]:
    """The functions that the sources define, but for main; of what they include each once, and none of the system's
    headers."""
    return once(function for source in sources for function in _functions(source))


def once(functions: Iterable[Function]) -> list[Function]:
    """Of a header's function that several files include one, if possible of a file that calls it."""
    found: dict[tuple[str, str, int], Function] = {}
    for one in functions:
        key = one.name, one.file, one.line
        if key not in found or (found[key].idle and not one.idle):
            found[key] = one
    return list(found.values())


def _functions(source: Source) -> Iterator[Function]:
    system = system_files(source.text)
    tree = parse(source.text, str(source.path))
    callers = _callers(tree)
    defined = [ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef) and str(ext.decl.coord.file) not in system]
    inline = {ext.decl.name: ext for ext in defined if _is_of_a_header(ext, source)}
    named = functions_used(tree, {*system, *(str(ext.decl.coord.file) for ext in inline.values())})
    for ext in defined:
        name, file = ext.decl.name, str(ext.decl.coord.file)
        if name != "main" and not file.startswith("<"):
            known, idle = callers.get(name, ()), name in inline and name not in named
            yield Function(as_written(name), file, ext.decl.coord.line, str(source.path), known, idle)


def _is_of_a_header(ext: c_ast.FuncDef, source: Source) -> bool:
    """For whoever includes it, and perhaps for nobody here."""
    return str(ext.decl.coord.file) != str(source.path) and "inline" in (ext.decl.funcspec or [])


def _callers(tree: c_ast.FileAST) -> dict[str, tuple[str, ...]]:
    """Of the functions that only this file can call: who does."""
    own = static_names(tree) - functions_as_values(tree)
    found: dict[str, list[str]] = {}
    for ext in tree.ext:
        if isinstance(ext, c_ast.FuncDef):
            for name in sorted((own & called_names(ext.body)) - {ext.decl.name}):
                found.setdefault(name, []).append(as_written(ext.decl.name))
    return {name: tuple(callers) for name, callers in found.items()}


def make(
    sources: Sequence[Source],
    function: Function,
    number: int,
    model: DataModel,
    hints: Hints,
    scopes: Scopes | None = None,
) -> Made:
    """The harness of one function. Raises BuildError and UsageError."""
    own = [index for index, source in enumerate(sources) if str(source.path) == function.source]
    order = [*own, *(index for index in range(len(sources)) if index not in own)]  # of several of that name this one
    harness = harness_of([sources[index] for index in order], emitted(function.name), model, hints, scopes)
    text = harness.appended.partition(_MARK)[2]
    within = tuple(harness.within)
    return Made(number, harness.entry, tuple(harness.losses), within, _numbered(text, number), harness.text, own[0])


def assembled(sources: Sequence[Source], made: Collection[Made], model: DataModel) -> list[Source]:
    """The program with these harnesses, and the main that calls one of them."""
    texts = [source.text for source in sources]
    for one in made:
        texts[one.file] += f'\n# {one.number * LINES + 1} "{HARNESS_FILE}"\n{one.text}'
    calls = "".join(f"    case {one.number}: return {one.root}();\n" for one in made)
    declared = "".join(f"int {one.root}(void);\n" for one in made)
    main = f"int main(void)\n{{\n    switch ((unsigned) ({model.size_type}) {SELECTED}) {{\n{calls}    }}\n    return 0;\n}}\n"
    texts[0] += f'\n# 1 "{STUBS_FILE}"\nextern char {SELECTED}[];\n{declared}{main}'
    return [Source(source.path, text) for source, text in zip(sources, texts, strict=True)]


def _numbered(text: str, number: int) -> str:
    """What a harness defines at file scope, with a number."""
    defined = set(_defined(text))
    names = {name: _ENTRY.format(number) if name == "main" else f"{name}_{number}" for name in defined}
    return _TOKEN.sub(lambda token: names.get(token[0], token[0]), text)


def _defined(text: str) -> Iterator[str]:
    """The functions that have a body, and the structures."""
    depth = parentheses = 0
    name = last = before = ""
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "{}":
            if word == "{" and depth == 0 and name:
                yield name
            elif word == "{" and depth == 0 and before in ("struct", "union"):
                yield last
            depth += 1 if word == "{" else -1
            name = ""
        elif depth == 0:
            if word == "(" and not parentheses:
                name = last
            elif word in ";=":
                name = ""
            parentheses += {"(": 1, ")": -1}.get(word, 0)
            before, last = last, word
