"""`--entry FUNC`: a main for a function that has none.

Scalars become symbolic; a pointer followed by an integer is a buffer of up to `CAPACITY` elements with its length; any
other pointer is one symbolic object. The harness is C appended to the file that defines the function, so that
static functions and the file's own types are within reach.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from score_embed.errors import BuildError, UsageError
from score_embed.frontend.declare import Declarations
from score_embed.frontend.lower import HARNESS_FILE
from score_embed.frontend.parse import parse
from score_embed.frontend.program import Source
from score_embed.frontend.symbols import Unsupported
from score_embed.frontend.types import (
    CType,
    DataModel,
    Function,
    Int,
    Pointer,
    Struct,
    Types,
    Void,
    declare,
    is_integer,
    unqualified,
)

CAPACITY = 16  # elements of a symbolic buffer

_PROTOTYPES = """
void __score_symbolic(void *, __SIZE_TYPE__, const char *);
void __score_bytes(void *, __SIZE_TYPE__, const char *);
void __score_assume_fail(void) __attribute__((noreturn));
"""


def add_harness(sources: Sequence[Source], entry: str, model: DataModel) -> list[Source]:
    """The sources, with a `main` that calls `entry` appended to the one that defines it."""
    result = list(sources)
    for index, source in enumerate(sources):
        tree = parse(source.text, str(source.path))
        for ext in tree.ext:
            if isinstance(ext, c_ast.FuncDef) and ext.decl.name == entry:
                text = _harness(tree, ext, entry, model).replace("__SIZE_TYPE__", model.size_type)
                result[index] = Source(source.path, _without_main(source.text, tree) + text)
                return result
    raise UsageError(
        f"no function '{entry}' in the sources", "--entry", "Name a function that is defined in one of them."
    )


def _without_main(text: str, tree: c_ast.FileAST) -> str:
    """The program's own main must not clash with the harness's."""
    if any(isinstance(e, c_ast.FuncDef) and e.decl.name == "main" for e in tree.ext):
        raise UsageError("the sources define main", "--entry", "Explore the whole program, or leave that file out.")
    return text


def _harness(tree: c_ast.FileAST, node: c_ast.FuncDef, entry: str, model: DataModel) -> str:
    where = f"{node.decl.coord.file}:{node.decl.coord.line}"
    declarations = Declarations(Types(model))
    try:
        for ext in tree.ext:
            _register(declarations, ext)
        t = declarations.type_of(node.decl)
    except Unsupported as error:
        raise BuildError(f"no harness for '{entry}': {error.what}", where) from None
    assert isinstance(t, Function)
    params = node.decl.type.args.params if node.decl.type.args else []
    names = [getattr(p, "name", None) or f"argument{i}" for i, p in enumerate(params)]
    lines, args = _arguments(list(t.params or ()), names, entry, where)
    return f'\n# 1 "{HARNESS_FILE}"\n{_PROTOTYPES.strip()}\nint main(void)\n{{\n{lines}    {entry}({", ".join(args)});\n    return 0;\n}}\n'


def _register(declarations: Declarations, ext: c_ast.Node) -> None:
    try:
        if isinstance(ext, c_ast.Typedef):
            declarations.scope.names[ext.name] = declarations.typedef(ext)
        elif isinstance(ext, c_ast.Decl):
            declarations.type_of(ext)
    except Unsupported:
        return  # a declaration the entry's parameters do not need; if they do, typing them says so


def _arguments(params: list[CType], names: list[str], entry: str, where: str) -> tuple[str, list[str]]:
    lines: list[str] = []
    args: list[str] = []
    index = 0
    while index < len(params):
        t, name = unqualified(params[index]), names[index]
        following = unqualified(params[index + 1]) if index + 1 < len(params) else None
        if is_integer(t):
            lines.append(f'    {declare(t, name)}; __score_symbolic(&{name}, sizeof {name}, "{name}");')
            args.append(name)
        elif isinstance(t, Pointer) and following is not None and is_integer(following) and _is_element(t.to):
            lines += _buffer(t, following, name, names[index + 1])
            args += [name, names[index + 1]]
            index += 1
        elif isinstance(t, Pointer) and (isinstance(t.to, Struct) or _is_element(t.to)):
            of = _element(t.to)
            lines.append(f'    static {declare(of, name)}; __score_bytes(&{name}, sizeof {name}, "{name}");')
            args.append(f"({declare(t)}) &{name}")
        else:
            raise BuildError(
                f"no harness for '{entry}': parameter '{name}' of type {declare(t)}",
                where,
                "Write a main that prepares it.",
            )
        index += 1
    return "".join(line + "\n" for line in lines), args


def _is_element(t: CType) -> bool:
    return is_integer(t) or isinstance(t, Void)


def _element(t: CType) -> CType:
    return Int("unsigned char", 8, False, 1) if isinstance(t, Void) else unqualified(t)


def _buffer(t: Pointer, length: CType, name: str, length_name: str) -> list[str]:
    of = _element(t.to)
    return [
        f"    static {declare(of, f'{name}[{CAPACITY}]')}; {declare(length, length_name)};",
        f'    __score_symbolic(&{length_name}, sizeof {length_name}, "{length_name}");',
        f"    if (!({length_name} >= 0 && {length_name} <= {CAPACITY})) __score_assume_fail();",
        f'    __score_bytes({name}, sizeof {name}, "{name}");',
    ]
