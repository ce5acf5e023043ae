"""The C of stubs: the definition of what nobody defines, made from its prototype, and another body for a function that
is there.

The text is meant to be read and taken over: it uses the prototype's own names and types. What the body does:
`stub_body.py`.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.contract.program import STUBS_FILE
from score_embed.errors import BuildError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.c.signature import declared_attributes, named_parameter
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.stub_body import CAPACITY, Enums, StubBody, without_attributes
from score_embed.frontend.types.ctype import Array, CType, Function, Struct

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[^\n]*|[A-Za-z_]\w*|[(){};=,\[\]]', re.MULTILINE
)
_MARKER = re.compile(r'^# (\d+) ("(?:[^"\\]|\\.)*")', re.MULTILINE)


@dataclass
class StubText:
    """The definition, and what it does not bring about, in words. `why`: there is one, for a comment."""

    text: str
    within: list[str] = field(default_factory=list)
    why: str = ""


def variable_text(decl: c_ast.Decl, t: CType) -> StubText:
    """The definition of an object that is declared only: its bytes are zero. Raises Unsupported."""
    name = as_written(decl.name)
    made = copy.deepcopy(decl)
    made.storage = [word for word in made.storage or [] if word != "extern"]
    made.init, made.attributes = None, []
    within = f"{name} = 0"
    if isinstance(t, Array) and t.count is None:
        if not isinstance(made.type, c_ast.ArrayDecl):
            raise Unsupported("its size is not known", decl)
        made.type.dim = c_ast.Constant("int", str(CAPACITY))
        within = f"{name} = {CAPACITY} zeros"
    if isinstance(t, Struct) and t.record.members is None:
        raise Unsupported("its type is not known", decl)
    return StubText(to_c(made) + ";\n", [within])


def function_text(decl: c_ast.Decl, t: Function, enums: Enums) -> StubText:
    """The definition of a function that is declared. `enums`: see `Enums`. Raises Unsupported."""
    if not isinstance(decl.type, c_ast.FuncDecl):
        raise Unsupported("it is declared by the name of a type", decl)
    made = _named(decl)
    body = body_text(made, t, enums, _attributes(decl))
    return StubText(f"{to_c(made)}\n{body.text}", body.within)


def body_text(decl: c_ast.Decl, t: Function, enums: Enums, attributes: str = "") -> StubText:
    """The body for a declaration whose parameters have names. `attributes`: what else is promised of the function."""
    stub = StubBody(decl, t, enums, f"{attributes} {_attributes(decl)}")
    return StubText("{\n" + "".join(f"    {line}\n" for line in stub.lines()) + "}\n", stub.within)


def _attributes(decl: c_ast.Decl) -> str:
    return " ".join((*declared_attributes(decl), *(decl.funcspec or [])))


def _named(decl: c_ast.Decl) -> c_ast.Decl:
    """The declaration as the head of a definition: without `extern` and attributes, which a definition inherits, and
    with a name for each parameter."""
    made = copy.deepcopy(decl)
    made.storage = [word for word in made.storage or [] if word != "extern"]
    made.funcspec = []
    made.attributes, made.init = [], None
    without_attributes(made)
    args = made.type.args
    for i, param in enumerate(args.params if args else []):
        if (isinstance(param, c_ast.Typename) and not _is_void(param)) or (
            isinstance(param, c_ast.Decl) and param.name is None
        ):
            args.params[i] = named_parameter(param, f"argument{i}")
    return made


def _is_void(param: c_ast.Typename) -> bool:
    inner = param.type
    return isinstance(inner, c_ast.TypeDecl) and getattr(inner.type, "names", None) == ["void"]


# --- functions that are replaced ---------------------------------------------------------------------------------


def with_body(text: str, name: str, body: str, node: c_ast.FuncDef) -> str:
    """The text with another body for the function. What follows keeps its lines."""
    found = _body(text, name)
    if found is None:
        where = f"{node.decl.coord.file}:{node.decl.coord.line}"
        raise BuildError(
            f"the body of '{as_written(name)}' cannot be found", where, "Take it out with the preprocessor."
        )
    start, end = found
    line, file = _place(text, end)
    return f'{text[:start]}\n# 1 "{STUBS_FILE}"\n{body}# {line} {file}\n{text[end:]}'


def _body(text: str, name: str) -> tuple[int, int] | None:
    """Where the braces of a function's definition begin and end."""
    depth = parentheses = 0
    seen = ""  # the name, then its parameters
    start = 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word.startswith(("#", " ", "\t")):
            continue
        if word == "{":
            if depth == 0 and seen == "parameters":
                start = token.start()
                seen = "body"
            depth += 1
        elif word == "}":
            depth -= 1
            if depth == 0 and seen == "body":
                return start, token.end()
        elif depth == 0:
            parentheses += {"(": 1, ")": -1}.get(word, 0)
            if word == name and not parentheses:
                seen = "name"
            elif word == ")" and not parentheses and seen == "name":
                seen = "parameters"
            elif word in (";", "=", ",") and not parentheses:
                seen = ""
    return None


def _place(text: str, at: int) -> tuple[int, str]:
    """The line and the file, as a linemarker has it, that a position is in."""
    marker = None
    for found in _MARKER.finditer(text, 0, at):
        marker = found
    if marker is None:
        return text.count("\n", 0, at) + 1, '""'
    return int(marker[1]) + text.count("\n", marker.end(), at) - 1, marker[2]
