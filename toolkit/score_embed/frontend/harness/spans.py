"""Which parameters point into one array (`parse(const char *p, const char *end)`, `take(unsigned char **p, …end)`), and
which members of one structure do: `start`, `top` and `end` of a stack.

The function subtracts them, or asks which is the greater; it, or one of its file that it passes them to. Of an `end` it
may also only ask whether it is reached. Members are subtracted somewhere, or one is made of the other: `end = start +
8`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pycparser import c_ast

from score_embed.frontend.c.printer import to_c
from score_embed.frontend.harness.uses import parameters_of, plain_of, walk

ENDS = re.compile(r"(?:.*(?:_|->|\.))?(?:end|limit)")
BEGINS = re.compile(r"(?:.*_)?(?:start|begin|base|first|buf|buffer|data|mem)")
_ORDER = frozenset(["-", "<", "<=", ">", ">="])
_CALLS = 2  # that are followed
Place = tuple[str, int]  # a parameter, and how often it is gone through: `*p` is 1
Pair = frozenset[str]  # of members, by their names


def groups(tree: c_ast.FileAST, function: c_ast.FuncDef) -> list[list[Place]]:
    """What leads into one array, each group in the order of the parameters."""
    names = [str(getattr(param, "name", "")) for param in parameters_of(function)]
    found: list[set[Place]] = []
    for pair in _pairs(tree, function, _CALLS):
        near = [group for group in found if not group.isdisjoint(pair)]
        found = [group for group in found if group not in near] + [set(pair).union(*near)]
    return [sorted(group, key=lambda place: (names.index(place[0]), place[1])) for group in found]


def _pairs(tree: c_ast.FileAST, function: c_ast.FuncDef, calls: int) -> Iterator[frozenset[Place]]:
    kinds = (c_ast.PtrDecl, c_ast.ArrayDecl)
    pointers = [param for param in parameters_of(function) if isinstance(getattr(param, "type", None), kinds)]
    held: dict[str, Place] = {str(param.name): (str(param.name), 0) for param in pointers}
    for node in walk(function.body):
        match node:
            case c_ast.Decl(init=c_ast.Node() as init) if place := _place(init, held):
                held.setdefault(node.name, place)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)) if place := _place(node.rvalue, held):
                held.setdefault(name, place)
    for node in walk(function.body):
        match node:
            case c_ast.BinaryOp(op=op) if op in _ORDER or op in ("==", "!="):
                both = {place for side in (node.left, node.right) if (place := _place(side, held))}
                is_meant = op in _ORDER or any(ENDS.fullmatch(name) for name, _ in both)
                if is_meant and len({name for name, _ in both}) == 2:
                    yield frozenset(both)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if calls and node.args is not None:
                given = [_place(argument, held) for argument in node.args.exprs]
                yield from _passed_on(tree, name, given, calls - 1)


def _passed_on(
    tree: c_ast.FileAST, name: str, given: Collection[Place | None], calls: int
) -> Iterator[frozenset[Place]]:
    if sum(place is not None for place in given) < 2:
        return
    for ext in tree.ext:
        if isinstance(ext, c_ast.FuncDef) and ext.decl.name == name:
            theirs = [str(getattr(param, "name", "")) for param in parameters_of(ext)]
            known = {their: place for their, place in zip(theirs, given, strict=False) if place is not None}
            for pair in _pairs(tree, ext, calls):
                own = frozenset((known[n][0], known[n][1] + level) for n, level in pair if n in known)
                if len({n for n, _ in own}) == 2:
                    yield own


def _place(node: c_ast.Node, held: Mapping[str, Place]) -> Place | None:
    """What of a parameter an expression is, or lies beside."""
    node = plain_of(node)
    match node:
        case c_ast.ID(name=name):
            return held.get(name)
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)) if name in held:
            return held[name][0], held[name][1] + 1
        case c_ast.BinaryOp(op="+" | "-") if _place(node.right, held) is None:  # else it is a number
            return _place(node.left, held)
    return None


# --- members -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Together:
    """What a file does with two members of one object. `ordered`: it subtracts them, asks which is the greater, or sets
    one to the other and a number: they point into one array. `equal`: it compares or copies them: then both do if one
    does. `before`: the first is not behind the second, which it is subtracted from, or goes on to in a loop."""

    ordered: frozenset[Pair]
    equal: frozenset[Pair]
    before: frozenset[tuple[str, str]]


def together(tree: c_ast.FileAST) -> Together:
    """What the file shows of members."""
    ordered, equal, before = set[Pair](), set[Pair](), set[tuple[str, str]]()
    for node in walk(tree):
        match node:
            case c_ast.BinaryOp(op=op) if op in _ORDER:
                pair = _of_one(node.left, node.right)
                ordered.update(map(frozenset, pair))
                before.update((less, more) for more, less in pair if op == "-")
            case c_ast.BinaryOp(op="==" | "!="):
                equal.update(map(frozenset, _of_one(node.left, node.right)))
            case c_ast.Assignment(op="="):
                value = plain_of(node.rvalue)
                while isinstance(value, c_ast.Assignment):
                    equal.update(map(frozenset, _of_one(node.lvalue, value.lvalue)))
                    value = plain_of(value.rvalue)
                if isinstance(value, c_ast.BinaryOp) and value.op in ("+", "-"):
                    ordered.update(map(frozenset, _of_one(node.lvalue, value.left)))
                else:
                    equal.update(map(frozenset, _of_one(node.lvalue, value)))
            case c_ast.While() | c_ast.For() | c_ast.DoWhile() if node.cond is not None:
                before.update(_goes_on_to(node))
    return Together(frozenset(ordered), frozenset(equal), frozenset(before))


def _of_one(left: c_ast.Node, right: c_ast.Node) -> list[tuple[str, str]]:
    """The names of two members, if they are of one object."""
    match plain_of(left), plain_of(right):
        case c_ast.StructRef() as one, c_ast.StructRef() as other if to_c(one.name) == to_c(other.name):
            return [(str(one.field.name), str(other.field.name))]
    return []


def _goes_on_to(loop: c_ast.While | c_ast.For | c_ast.DoWhile) -> Iterator[tuple[str, str]]:
    """`while (q->head != q->tail) … q->head++`"""
    moved = set[str]()
    for part in (loop.stmt, getattr(loop, "next", None)):
        for node in walk(part) if part is not None else ():
            match node:
                case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.StructRef() as member):
                    moved.add(to_c(member))
                case c_ast.Assignment(op="+=", lvalue=c_ast.StructRef() as member):
                    moved.add(to_c(member))
    for node in walk(loop.cond):
        if isinstance(node, c_ast.BinaryOp) and node.op == "!=":
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if to_c(plain_of(one)) in moved:
                    yield from _of_one(one, other)


def members_before(members: Collection[str], shown: Iterable[Together]) -> list[tuple[str, str]]:
    """Pairs of members that point into one array, the first not behind the second, as files show. In a ring each may be
    before the other: then both are subtracted from each other somewhere."""
    found = set[tuple[str, str]]().union(*(each.before for each in shown))
    pairs = [(less, more) for less in members for more in members if less != more]
    return [(less, more) for less, more in pairs if (less, more) in found and (more, less) not in found]


def members_together(members: Collection[str], shown: Iterable[Together]) -> list[list[str]]:
    """Those members of one structure that point into one array, group by group, as files show."""
    ordered, equal = set[Pair](), set[Pair]()
    for each in shown:
        ordered |= each.ordered
        equal |= each.equal
    pairs = ordered | equal
    found: list[list[str]] = []
    for name in members:
        near = [group for group in found if any(frozenset((name, other)) in pairs for other in group)]
        found = [group for group in found if group not in near]
        found.append([*(other for group in near for other in group), name])
    groups = [[name for name in members if name in group] for group in found]
    return [group for group in groups if any(len(pair) > 1 and pair.issubset(group) for pair in ordered)]
