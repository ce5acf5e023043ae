"""Which larger object a pointer leads into: `container_of(node, struct task, link)`, as it is written.

Who is given `&task->link` goes from there to the task. So the harness makes a task, and passes a pointer into it. The
shape is that of the macro, which every project has under a name of its own: a cast of the difference between the
pointer, as bytes, and the place of a member.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from score_embed.frontend.c.gnu_ast import StatementExpression
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.harness.uses import parameters_of, plain_of, walk

_OFFSET = "__builtin_offsetof"
_CALLS = 2  # functions in between: `to_task(node)`


def container(tree: c_ast.FileAST, function: c_ast.FuncDef, name: str) -> tuple[c_ast.Node, str] | None:
    """The type that a parameter is a part of, and what of it the parameter leads to, in C; None if there is none, or
    the function takes it for parts of several."""
    found = {to_c(offset): (t, to_c(offset)) for t, offset in _containers(tree, function, name, _CALLS)}
    return next(iter(found.values())) if len(found) == 1 else None


def _containers(
    tree: c_ast.FileAST, function: c_ast.FuncDef, name: str, calls: int
) -> Iterator[tuple[c_ast.Node, c_ast.FuncCall]]:
    same = {name, *_copies(function.body, name)}
    for node in walk(function.body):
        match node:
            case c_ast.Cast(expr=c_ast.BinaryOp(op="-", right=c_ast.FuncCall(name=c_ast.ID(name=called)) as offset)):
                start = plain_of(node.expr.left)
                if called == _OFFSET and isinstance(start, c_ast.ID) and start.name in same:
                    yield offset.args.exprs[0], offset
            case c_ast.FuncCall(name=c_ast.ID(name=called)) if calls and node.args is not None:
                for at, argument in enumerate(node.args.exprs):
                    if isinstance(argument, c_ast.ID) and argument.name == name:
                        yield from _inner(tree, called, at, calls - 1)


def _inner(tree: c_ast.FileAST, called: str, at: int, calls: int) -> Iterator[tuple[c_ast.Node, c_ast.FuncCall]]:
    for ext in tree.ext:
        if isinstance(ext, c_ast.FuncDef) and ext.decl.name == called and at < len(parameters_of(ext)):
            yield from _containers(tree, ext, str(getattr(parameters_of(ext)[at], "name", "")), calls)


def _copies(body: c_ast.Node, name: str) -> Iterator[str]:
    """The variables that the macro of Linux has for its argument: `const typeof(…) *mptr = (node);`."""
    for node in walk(body):
        if isinstance(node, StatementExpression):
            for part in walk(node):
                if isinstance(part, c_ast.Decl) and part.init is not None:
                    start = plain_of(part.init)
                    if isinstance(start, c_ast.ID) and start.name == name:
                        yield str(part.name)
