"""Which pointers may be null, as far as a file's code shows: those that it compares with null somewhere.

A function that never looks whether its argument is null says that it never is: to give it null would show a crash that
nobody can cause. What is passed on to a function that looks, or copied to a variable that is looked at, may be null,
too. `--nulls all` gives null for every pointer.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from score_embed.frontend.harness.uses import is_null, walk

_ROUNDS = 4  # calls that pass a pointer on, one after the other
_Key = str  # `name` of a variable, `.name` of a member; `*` before it: what it leads to


class Nulls:
    """What a file compares with null."""

    def __init__(self, tree: c_ast.FileAST) -> None:
        functions = {ext.decl.name: ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
        self._tested = {name: set(_tested(function.body)) for name, function in functions.items()}
        copies = {name: list(_copies(function.body)) for name, function in functions.items()}
        calls = {name: list(_passed(function.body, functions)) for name, function in functions.items()}
        for _ in range(_ROUNDS):
            for name, tested in self._tested.items():
                tested |= {source for to, source in copies[name] if to in tested}
                tested |= {source for callee, param, source in calls[name] if param in self._tested[callee]}
        self._members = {key for tested in self._tested.values() for key in tested if key.lstrip("*").startswith(".")}

    def argument(self, function: str, name: str) -> bool:
        """Whether a function looks if its parameter is null."""
        return name in self._tested[function]

    def member(self, name: str) -> bool:
        """Whether any function looks if such a member is null."""
        return f".{name}" in self._members

    def behind(self, function: str, label: str) -> bool:
        """Whether somebody looks at what a pointer leads to, or at an array's elements: `label` is a parameter's name,
        or ends with that of a member."""
        name = label.rpartition("->")[2].rpartition(".")[2]
        return f"*{name}" in self._tested[function] or f"*.{name}" in self._members


def _key(node: c_ast.Node | None) -> _Key:
    """What an expression names; "" if it is something else."""
    match node:
        case c_ast.Cast():
            return _key(node.expr)
        case c_ast.ID():
            return str(node.name)
        case c_ast.StructRef():
            return f".{node.field.name}"
        case c_ast.ArrayRef():
            inner = _key(node.name)
            return f"*{inner}" if inner else ""
        case c_ast.UnaryOp(op="*"):
            inner = _key(node.expr)
            return f"*{inner}" if inner else ""
        case c_ast.Assignment(op="="):
            return _key(node.rvalue)
    return ""


def _tested(body: c_ast.Node) -> Iterator[_Key]:
    for node in walk(body):
        match node:
            case c_ast.If() | c_ast.While() | c_ast.DoWhile() | c_ast.TernaryOp() | c_ast.For():
                tested = [node.cond]
            case c_ast.UnaryOp(op="!"):
                tested = [node.expr]
            case c_ast.BinaryOp(op="&&" | "||"):
                tested = [node.left, node.right]
            case c_ast.BinaryOp(op="==" | "!=") if is_null(node.right):
                tested = [node.left]
            case c_ast.BinaryOp(op="==" | "!=") if is_null(node.left):
                tested = [node.right]
            case _:
                continue
        for one in tested:
            if isinstance(one, c_ast.Assignment) and (key := _key(one.lvalue)):
                yield key
            if key := _key(one):
                yield key


def _copies(body: c_ast.Node) -> Iterator[tuple[_Key, _Key]]:
    """Where a value goes, and what it was."""
    for node in walk(body):
        if isinstance(node, c_ast.Decl) and node.init is not None and (source := _key(node.init)):
            yield node.name, source
        elif isinstance(node, c_ast.Assignment) and node.op == "=" and (source := _key(node.rvalue)):
            yield _key(node.lvalue), source


def _passed(body: c_ast.Node, functions: dict[str, c_ast.FuncDef]) -> Iterator[tuple[str, _Key, _Key]]:
    """Of each call of a function of the file: its name, a parameter, and what is passed for it."""
    for node in walk(body):
        if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID) or node.args is None:
            continue
        callee = functions.get(node.name.name)
        if callee is None or not callee.decl.type.args:
            continue
        for param, argument in zip(callee.decl.type.args.params, node.args.exprs, strict=False):
            name, source = getattr(param, "name", None), _key(argument)
            if name and source:
                yield callee.decl.name, name, source
