"""Structures whose last array stands for as many elements as there is room for, however many it is declared with.

Before C99 had `[]`, programs wrote `struct text { size_t length; char data[2]; }` and `malloc(n + sizeof(struct
text))`. So a structure is taken for one of these where its size (or where its array begins) and what is no constant are
added in an argument of a function that allocates, by its name or as its result is cast. Its accesses are checked
against the block or variable that it lies in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycparser import c_ast

Where = tuple[str, int, int]  # file, line and column of a definition: the same in all units that include it


def where(node: c_ast.Node) -> Where | None:
    coord = node.coord
    return (str(coord.file), coord.line, coord.column or 0) if coord is not None else None


def longer_structures(trees: Iterable[c_ast.FileAST]) -> frozenset[Where]:
    """Where such structures are defined, at file scope, in any of a program's units."""
    found: set[Where] = set()
    for tree in trees:
        added = set(_added(tree))
        if added:
            defined = _Definitions(tree)
            found.update(place for node in added if (place := defined.of(node)) is not None)
    return frozenset(found)


class _Definitions:
    """The structures that a unit's types lead to."""

    def __init__(self, tree: c_ast.FileAST) -> None:
        self._typedefs: dict[str, c_ast.Node] = {}
        self._tags: dict[str, c_ast.Node] = {}
        for ext in tree.ext:
            if isinstance(ext, c_ast.Typedef):
                self._typedefs[ext.name] = ext.type
            inner = getattr(ext, "type", None)
            while isinstance(inner, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)):
                inner = inner.type
            if isinstance(inner, c_ast.Struct) and inner.decls is not None and inner.name is not None:
                self._tags[inner.name] = inner

    def of(self, node: c_ast.Node | None) -> Where | None:
        """Where the structure is defined that this type is."""
        for _ in range(100):  # a typedef may lead to others
            match node:
                case c_ast.Typename() | c_ast.TypeDecl():
                    node = node.type
                case c_ast.IdentifierType(names=[name]):
                    node = self._typedefs.get(name)
                case c_ast.Struct(decls=None):
                    node = self._tags.get(node.name)
                case c_ast.Struct():
                    return where(node)
                case _:
                    return None
        return None


def _added(tree: c_ast.FileAST) -> Iterator[c_ast.Node]:
    """Types that are allocated with more room than they have."""
    for ext in tree.ext:
        if isinstance(ext, c_ast.FuncDef):
            yield from _allocated(ext.body)


def _allocated(node: c_ast.Node) -> Iterator[c_ast.Node]:
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name)) if "alloc" in name.lower():
            yield from _in_arguments(node)
        case c_ast.Cast(to_type=c_ast.Typename(type=c_ast.PtrDecl()), expr=c_ast.FuncCall() as call):
            yield from _in_arguments(call)
    for _, child in node.children():
        yield from _allocated(child)


def _in_arguments(call: c_ast.FuncCall) -> Iterator[c_ast.Node]:
    for argument in call.args.exprs if call.args is not None else ():
        terms = list(_terms(argument))
        measured = [(term, _measured(term)) for term in terms]
        if any(t is None and _varies(term) for term, t in measured):
            yield from (t for _, t in measured if t is not None)


def _terms(node: c_ast.Node) -> Iterator[c_ast.Node]:
    if isinstance(node, c_ast.BinaryOp) and node.op in "+-":
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _measured(node: c_ast.Node) -> c_ast.Node | None:
    """The type of `sizeof(T)` or `offsetof(T, member)`."""
    match node:
        case c_ast.UnaryOp(op="sizeof", expr=c_ast.Typename() as named):
            return named
        case c_ast.FuncCall(name=c_ast.ID(name="__builtin_offsetof"), args=c_ast.ExprList(exprs=[named, *_])):
            return named
        case c_ast.Cast(expr=inner):
            return _measured(inner)
    return None


def _varies(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof"):
        return False
    return isinstance(node, (c_ast.ID, c_ast.FuncCall)) or any(_varies(child) for _, child in node.children())
