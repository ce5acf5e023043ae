"""`--entry FUNC`: a main for a function that has none.

Scalars become symbolic; a pointer followed by an integer is a buffer of up to `CAPACITY` elements with its length; any
other pointer is one symbolic object. What such a harness cannot bring about is said: as a bound, within which the
results are complete, or, where the function most likely expects another object, as a loss. The harness is C appended to the file that defines the function, so that
static functions and the file's own types are within reach.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pycparser import c_ast

from score_embed.contract.entry import Argument, Entry
from score_embed.contract.program import HARNESS_FILE, Note, Source
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.parse import parse
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.declarations.declare import ANONYMOUS, Declarations
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.types.ctype import (
    CType,
    Enum,
    Function,
    Int,
    Pointer,
    Struct,
    Types,
    Void,
    declare,
    is_float,
    is_integer,
    unqualified,
)
from score_embed.frontend.types.data_model import DataModel

CAPACITY = 16  # elements of a symbolic buffer
# What a number is called that says how many there are; one without a name may be that, too.
_COUNT = re.compile(r"n|.*(len|size|count|cnt|num|items|elem|entries).*|n_.*|.*_n|argument\d+", re.IGNORECASE)
_COUNTED = "{} is one object, although a count ({}) comes after it"
_TEXT = "{} is one character without an end, not a text"


@dataclass
class Harness:
    """The sources with a `main` that calls the function, and what it cannot bring about."""

    sources: list[Source]
    entry: Entry
    losses: list[Note]
    within: list[str]  # bounds of the objects it makes, in words


_PROTOTYPES = """
void __score_symbolic(volatile void *, __SIZE_TYPE__, const char *);
void __score_boolean(volatile void *, __SIZE_TYPE__, const char *);
void __score_bytes(volatile void *, __SIZE_TYPE__, const char *);
void __score_assume_fail(void) __attribute__((noreturn));
"""


def add_harness(sources: Sequence[Source], entry: str, model: DataModel) -> Harness:
    """The sources, with a `main` that calls `entry` appended to the one that defines it."""
    result = list(sources)
    for index, source in enumerate(sources):
        tree = parse(source.text, str(source.path))
        for ext in tree.ext:
            if isinstance(ext, c_ast.FuncDef) and ext.decl.name == entry:
                text, made, returns = _harness(tree, ext, entry, model)
                text = text.replace("__SIZE_TYPE__", model.size_type)
                result[index] = Source(source.path, _without_main(source.text, tree) + text)
                coord = ext.decl.coord
                losses = [Note(f"--entry {as_written(entry)}: {what}", str(coord.file), coord.line) for what in made.lost]
                called = Entry(as_written(entry), str(source.path), tuple(map(_as_written, made.arguments)), returns)
                return Harness(result, called, losses, made.within)
    raise UsageError(
        f"no function '{as_written(entry)}' in the sources", "--entry", "Name a function that is defined in one of them."
    )


def _as_written(argument: Argument) -> Argument:
    name, declaration, passed = map(as_written, (argument.name, argument.declaration, argument.passed))
    return Argument(name, declaration, passed, argument.kind)


def _without_main(text: str, tree: c_ast.FileAST) -> str:
    """The program's own main must not clash with the harness's."""
    if any(isinstance(e, c_ast.FuncDef) and e.decl.name == "main" for e in tree.ext):
        raise UsageError("the sources define main", "--entry", "Explore the whole program, or leave that file out.")
    return text


def _harness(tree: c_ast.FileAST, node: c_ast.FuncDef, entry: str, model: DataModel) -> tuple[str, _Arguments, bool]:
    where = f"{node.decl.coord.file}:{node.decl.coord.line}"
    called = as_written(entry)
    declarations = Declarations(Types(model))
    try:
        for ext in tree.ext:
            _register(declarations, ext)
        t = declarations.type_of(node.decl)
    except Unsupported as error:
        raise BuildError(f"no harness for '{called}': {error.what}", where) from None
    assert isinstance(t, Function)
    params = node.decl.type.args.params if node.decl.type.args else []
    names = [getattr(p, "name", None) or f"argument{i}" for i, p in enumerate(params)]
    written = [_written(param, name) for param, name in zip(params, names, strict=False)]
    made = _arguments(list(t.params or ()), names, written, called, where)
    call = f"{entry}({', '.join(argument.passed for argument in made.arguments)})"
    returns = is_integer(unqualified(t.result))
    ending = f"    return (int) {call};\n" if returns else f"    {call};\n    return 0;\n"
    head = f'\n# 1 "{HARNESS_FILE}"\n{_PROTOTYPES.strip()}\n'
    lines = "".join(line + "\n" for line in made.lines)
    return f"{head}int main(void)\n{{\n{lines}{ending}}}\n", made, returns


def _register(declarations: Declarations, ext: c_ast.Node) -> None:
    try:
        if isinstance(ext, c_ast.Typedef):
            declarations.scope.names[ext.name] = declarations.typedef(ext)
        elif isinstance(ext, c_ast.Decl):
            declarations.type_of(ext)
    except Unsupported:
        return  # a declaration the entry's parameters do not need; if they do, typing them says so


def _written(param: c_ast.Node, name: str) -> str:
    """An object for a parameter, or for what a pointer is to, declared as the source spells its type: a struct or an enum
    may have a typedef's name only."""
    if not isinstance(param, c_ast.Decl):
        return ""
    inner = copy.deepcopy(param.type.type if isinstance(param.type, c_ast.PtrDecl) else param.type)
    if not isinstance(inner, c_ast.TypeDecl):
        return ""
    inner.declname = name
    inner.quals = [word for word in inner.quals or [] if word != "const"]
    return to_c(c_ast.Decl(name, inner.quals, [], [], [], inner, None, None))


@dataclass
class _Arguments:
    """The harness's statements that make the arguments, and what these are."""

    lines: list[str] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    within: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def _arguments(params: list[CType], names: list[str], written: list[str], entry: str, where: str) -> _Arguments:
    made = _Arguments()
    lines, args = made.lines, made.arguments
    index = 0
    while index < len(params):
        t, name = unqualified(params[index]), names[index]
        following = unqualified(params[index + 1]) if index + 1 < len(params) else None
        if is_integer(t) or is_float(t):
            how = "boolean" if isinstance(t, Int) and t.name == "_Bool" else "symbolic"
            declaration = _object(t, name, written[index])
            lines.append(f'    {declaration}; __score_{how}(&{name}, sizeof {name}, "{as_written(name)}");')
            args.append(Argument(name, declaration, name, "number"))
        elif isinstance(t, Pointer) and following is not None and is_integer(following) and _is_element(t.to):
            of, length = _element(t.to), names[index + 1]
            objects = _object(of, name, written[index], CAPACITY), _object(following, length, written[index + 1])
            lines += _buffer(*objects, name, length)
            kind: Literal["bytes", "raw"] = "bytes" if isinstance(of, Int) and of.bits == 8 and not of.signed else "raw"
            args.append(Argument(name, objects[0], name, kind))
            args.append(Argument(length, objects[1], length, "number"))
            made.within.append(f"{as_written(name)} ≤ {CAPACITY} {_unit(_element(t.to))}s")
            index += 1
        elif isinstance(t, Pointer) and (isinstance(t.to, Struct) or _is_element(t.to)):
            if isinstance(t.to, Struct) and written[index]:
                declaration, passed = written[index], f"&{name}"
            else:
                declaration = _object(_element(t.to), name, written[index])
                passed = f"(void *) &{name}" if declaration == written[index] else f"({declare(t)}) &{name}"
            lines.append(f'    static {declaration}; __score_bytes(&{name}, sizeof {name}, "{as_written(name)}");')
            args.append(Argument(name, declaration, passed, "raw"))
            made.within.append(f"{as_written(name)} = 1 {_unit(t.to)}")
            made.lost += _lost(t, name, names[index + 1] if following is not None and is_integer(following) else "")
        else:
            raise BuildError(
                f"no harness for '{entry}': parameter '{name}' of type {declare(t)}",
                where,
                "Write a main that prepares it.",
            )
        index += 1
    return made


def _unit(t: CType) -> str:
    if isinstance(t, Struct):
        return t.record.kind
    return "byte" if isinstance(t, Void) or (isinstance(t, Int) and t.bits == 8) else "element"


def _lost(t: Pointer, name: str, count: str) -> Iterator[str]:
    """What the function will most likely be given, and is not by one object. `count`: a number that comes after it."""
    if _COUNT.fullmatch(count):
        yield _COUNTED.format(name, count)
    elif isinstance(t.to, Int) and t.to.name == "char":
        yield _TEXT.format(name)


def _is_element(t: CType) -> bool:
    return is_integer(t) or is_float(t) or isinstance(t, Void)


def _element(t: CType) -> CType:
    return Int("unsigned char", 8, False, 1) if isinstance(t, Void) else unqualified(t)


def _object(t: CType, name: str, written: str, count: int = 0) -> str:
    """The declaration of an object, or of an array of these: by its type, or as written if that has no name."""
    if written and isinstance(t, Enum) and t.body.tag.startswith(ANONYMOUS):
        return f"{written}[{count}]" if count else written
    return declare(t, f"{name}[{count}]" if count else name)


def _buffer(elements: str, length: str, name: str, length_name: str) -> list[str]:
    """`elements`, `length`: the two declarations."""
    return [
        f"    static {elements}; {length};",
        f'    __score_symbolic(&{length_name}, sizeof {length_name}, "{as_written(length_name)}");',
        f"    if (!({length_name} >= 0 && {length_name} <= {CAPACITY})) __score_assume_fail();",
        f'    __score_bytes({name}, sizeof {name}, "{as_written(name)}");',
    ]
