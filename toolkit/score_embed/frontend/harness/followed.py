"""What a file's code shows of pointers, through copies and calls: which of them it compares with null, which it frees.

A function that never looks whether its argument is null says that it never is: to give it null would show a crash that
nobody can cause. What is passed on to a function that looks, or copied to a variable that is looked at, may be null,
too. `--nulls all` gives null for every pointer. In the same way what a function passes on to one that frees it is a
block of the heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycparser import c_ast

from score_embed.frontend.harness.preconditions import asserted, conjuncts
from score_embed.frontend.harness.uses import Parameters, arguments, is_null, parameters_of, walk

_ROUNDS = 4  # calls that pass a pointer on, one after the other
_Key = str  # `name` of a variable, `.name` of a member; `*` before it: what it leads to


class Followed:
    """The pointers of which the code says something. `says`: those of which a body does."""

    def __init__(self, tree: c_ast.FileAST, says: Callable[[c_ast.Node], Iterator[_Key]]) -> None:
        functions = {ext.decl.name: ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
        self._said = {name: set(says(function.body)) for name, function in functions.items()}
        copies = {name: list(_copies(function.body)) for name, function in functions.items()}
        parameters = {name: parameters_of(function) for name, function in functions.items()}
        calls = {name: list(_passed(function.body, parameters)) for name, function in functions.items()}
        for _ in range(_ROUNDS):
            for name, said in self._said.items():
                said |= {source for to, source in copies[name] if to in said}
                said |= {source for callee, param, source in calls[name] if param in self._said[callee]}
        self._members = {key for said in self._said.values() for key in said if key.lstrip("*").startswith(".")}

    def argument(self, function: str, name: str) -> bool:
        """Whether a function says it of its parameter."""
        return name in self._said[function]

    def member(self, name: str) -> bool:
        """Whether any function says it of such a member."""
        return f".{name}" in self._members

    def behind(self, function: str, label: str) -> bool:
        """Whether somebody says it of what a pointer leads to, or of an array's elements: `label` is a parameter's
        name, or ends with that of a member."""
        name = label.rpartition("->")[2].rpartition(".")[2]
        return f"*{name}" in self._said[function] or f"*.{name}" in self._members


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


def freed(body: c_ast.Node) -> Iterator[_Key]:
    """What goes back to the library's heap."""
    for node in walk(body):
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name="free" | "realloc"), args=c_ast.ExprList(exprs=[first, *_])):
                if key := _key(first):
                    yield key


def compared_with_null(body: c_ast.Node) -> Iterator[_Key]:
    """What is looked at whether it is null, but for what is asserted not to be."""
    promised = {id(one) for node in walk(body) for one in _promised(node)}
    for node in walk(body):
        if id(node) in promised:
            continue
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
            if id(one) in promised:
                continue
            if isinstance(one, c_ast.Assignment) and (key := _key(one.lvalue)):
                yield key
            if key := _key(one):
                yield key


def _promised(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The conditions of an assertion that only say that a pointer is not null."""
    condition = asserted(node) if isinstance(node, (c_ast.If, c_ast.TernaryOp, c_ast.BinaryOp)) else None
    for part in conjuncts(condition) if condition is not None else ():
        match part:
            case c_ast.ID() | c_ast.StructRef():
                yield part
            case c_ast.BinaryOp(op="!=") if is_null(part.left) or is_null(part.right):
                yield part
            case c_ast.UnaryOp(op="!", expr=c_ast.BinaryOp(op="==") as inner):
                yield inner
            case c_ast.UnaryOp(op="!", expr=c_ast.UnaryOp(op="!") as inner):
                yield from (inner, inner.expr)


def _copies(body: c_ast.Node) -> Iterator[tuple[_Key, _Key]]:
    """Where a value goes, and what it was."""
    for node in walk(body):
        if isinstance(node, c_ast.Decl) and node.init is not None and (source := _key(node.init)):
            yield node.name, source
        elif isinstance(node, c_ast.Assignment) and node.op == "=" and (source := _key(node.rvalue)):
            yield _key(node.lvalue), source


def _passed(body: c_ast.Node, parameters: Parameters) -> Iterator[tuple[str, _Key, _Key]]:
    """Of each call of a function of the file: its name, a parameter, and what is passed for it."""
    for callee, param, argument in arguments(body, parameters):
        name, source = getattr(param, "name", None), _key(argument)
        if name and source:
            yield callee, name, source
