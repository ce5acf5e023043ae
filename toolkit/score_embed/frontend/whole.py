"""Whole programs as they are: symbolic arguments (`--argv`) and standard input (`--stdin-bytes`).

The program's `main` gets another name, and one of ours is appended to its file, which makes the input and calls it.
What reads standard input has models (runtime/libc/stdin). `scanf` with a format that they do not know finds it empty,
and is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from score_embed.contract.program import HARNESS_FILE, Note, Source, Whole
from score_embed.contract.sites import PROGRAM_MAIN
from score_embed.errors import UsageError
from score_embed.frontend.c.parse import names_written, parse, system_files

_PUSHED_BACK = 8  # bytes of room before the input
_SCANS = {"scanf": 0, "vscanf": 0, "fscanf": 1, "vfscanf": 1}  # which argument is the format
# What runtime/libc/scan.h knows. Any other percent sign makes a format the library's, which finds nothing there.
_CONVERSION = re.compile(r"%(?:%|\*?\d*(?:[cs]|\[\^?\]?[^\]]*\]|[hlzjt]*[diuoxXn]))")
_TEXT_OR_MAIN = re.compile(r'^#.*$|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\bmain\b', re.MULTILINE)


def wrap_main(sources: Sequence[Source], whole: Whole, size_type: str) -> tuple[list[Source], list[Note]]:
    """The sources with a main that gives the program its input; and what will not read it."""
    looked_for = {"main", *(_SCANS if whole.stdin else ())}
    trees = [
        parse(source.text, str(source.path)) if looked_for & names_written(source.text) else c_ast.FileAST([])
        for source in sources
    ]
    notes = list(_not_followed(sources, trees)) if whole.stdin else []
    option = "--stdin-bytes" if whole.stdin else "--argv"
    for index, (source, tree) in enumerate(zip(sources, trees, strict=True)):
        for ext in tree.ext:
            if isinstance(ext, c_ast.FuncDef) and ext.decl.name == "main":
                count = _parameters(ext)
                if whole.argv and count < 2:
                    raise UsageError("main takes no arguments", "--argv", f"It begins at {ext.decl.coord}.")
                renamed = without_main(source.text)
                result = list(sources)
                result[index] = Source(source.path, renamed + _main(whole, count, size_type))
                return result, notes
    raise UsageError("no source defines main", option, "Symbolic arguments and standard input are for whole programs.")


def without_main(text: str, number: int = 1) -> str:
    """A preprocessed file whose main has another name. `number`: of the file among those that have one."""
    name = PROGRAM_MAIN if number == 1 else f"{PROGRAM_MAIN}{number}"
    return _TEXT_OR_MAIN.sub(lambda m: name if m[0] == "main" else m[0], text)


def without_mains(sources: Sequence[Source]) -> list[Source]:
    """The files of one or several programs, in which no main is in the way of another one."""
    found: list[Source] = []
    number = 1
    for source in sources:
        found.append(Source(source.path, without_main(source.text, number)))
        number += found[-1].text != source.text
    return found


def _parameters(main: c_ast.FuncDef) -> int:
    params = main.decl.type.args.params if main.decl.type.args else []
    if len(params) == 1 and isinstance(params[0], c_ast.Typename):  # (void)
        return 0
    return len(params)


def _main(whole: Whole, count: int, size_type: str) -> str:
    lines = [f"void __score_bytes(volatile void *, {size_type}, const char *);"]
    inputs: list[str] = []
    if whole.stdin:
        end = _PUSHED_BACK + whole.stdin
        lines += [
            f"unsigned char __score_stdin[{end + 1}];",
            f"{size_type} __score_stdin_at = {_PUSHED_BACK}, __score_stdin_end = {end};",
            "int __score_stdin_over;",
        ]
        inputs.append(f'__score_bytes(__score_stdin + {_PUSHED_BACK}, {whole.stdin}, "stdin");')
    lines += ["int main(int argc, char **argv)", "{"]
    for i, length in enumerate(whole.argv, 1):
        lines.append(f"    static char argument{i}[{length + 1}];")
        inputs += [f'__score_bytes(argument{i}, {length}, "argv[{i}]");', f"list[{i}] = argument{i};"]
    if whole.argv:
        lines.append(f"    static char *list[{len(whole.argv) + 2}];")
        inputs += ["list[0] = argv[0];", f"argc = {len(whole.argv) + 1};", "argv = list;"]
    passed = ", ".join(["argc", "argv", "argv + argc"][:count])
    lines += [*(f"    {line}" for line in inputs), f"    return {PROGRAM_MAIN}({passed});", "}"]
    return f'\n# 1 "{HARNESS_FILE}"\n' + "\n".join(lines) + "\n"


def _not_followed(sources: Sequence[Source], trees: Sequence[c_ast.FileAST]) -> Iterator[Note]:
    for source, tree in zip(sources, trees, strict=True):
        system = system_files(source.text)
        for ext in tree.ext:
            if isinstance(ext, c_ast.FuncDef) and str(ext.decl.coord.file) not in system:
                for call in _calls(ext.body):
                    where = call.coord
                    what = f"{call.name.name} with such a format does not read the symbolic input"
                    yield Note(what, str(where.file), where.line)


def _is_modelled(format_: Sequence[c_ast.Node]) -> bool:
    """Of the format: a text, in which all conversions are known."""
    return all(isinstance(one, c_ast.Constant) and "%" not in _CONVERSION.sub("", one.value) for one in format_)


def _calls(node: c_ast.Node) -> Iterator[c_ast.FuncCall]:
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name in _SCANS:
        arguments = node.args.exprs if node.args else []
        if not _is_modelled(arguments[_SCANS[node.name.name] :][:1]):
            yield node
    for _, child in node.children():
        yield from _calls(child)
