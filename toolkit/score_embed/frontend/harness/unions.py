"""Which member of a union is meant: what the function and those of its file that it calls look at, and when.

Bytes of a number are no pointer. So where a function goes through `v->u.text`, that member is made. Where it does so
only if another member says so (`case TEXT:`, `if (v->kind == TEXT)`, `if (v->kind != TEXT) return;`), this one decides
in the harness, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.frontend.c.printer import to_c
from score_embed.frontend.harness.uses import plain_of

Known = Mapping[str, frozenset[str]]  # member → the constants that it is one of, as the code has asked; `!member`: none
_ENDS = (c_ast.Return, c_ast.Break, c_ast.Continue, c_ast.Goto)


@dataclass
class Looks:
    """`seen`: member → what is known each time that it is looked at; `beyond`: functions of other files are called, and
    through pointers."""

    seen: dict[str, list[Known]] = field(default_factory=dict)
    beyond: bool = False

    def may_see(self, member: str) -> bool:
        """Whether such a member is looked at, as far as anybody knows."""
        return self.beyond or member in self.seen

    def deciding(self, member: str) -> dict[str, frozenset[str]]:
        """The members each of which always tells that this one is meant, and their constants then."""
        seen = self.seen.get(member, [])
        tags = set.intersection(*({tag for tag in known if not tag.startswith("!")} for known in seen)) if seen else ()
        return {tag: frozenset().union(*(known[tag] for known in seen)) for tag in sorted(tags)}

    def sees_where(self, member: str, tag: str, constants: Collection[str]) -> bool:
        """Whether it may be looked at where that tag is one of these constants."""
        for known in self.seen.get(member, ()):
            if tag in known:
                if not known[tag].isdisjoint(constants):
                    return True
            elif not known.get(f"!{tag}", frozenset()).issuperset(constants):
                return True
        return False


class _Reader:
    """Goes through the functions with what is known at each place."""

    def __init__(self, tree: c_ast.FileAST, is_library: Callable[[str], bool]) -> None:
        self._is_library = is_library
        self._bodies = {ext.decl.name: ext.body for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
        self._seen: set[tuple[str, tuple[tuple[str, frozenset[str]], ...]]] = set()
        self.found = Looks()

    def function(self, name: str, known: Known) -> None:
        key = name, tuple(sorted(known.items()))
        if name in self._bodies and key not in self._seen:
            self._seen.add(key)
            self.read(self._bodies[name], known)

    def read(self, node: c_ast.Node, known: Known) -> None:
        match node:
            case c_ast.Compound():
                self._block(node.block_items or [], known)
            case c_ast.Switch() if tag := _member(node.cond):
                self.read(node.cond, known)
                self._switch(node.stmt, tag, known)
            case c_ast.If() | c_ast.TernaryOp():
                self.read(node.cond, known)
                for side, holds in ((node.iftrue, True), (node.iffalse, False)):
                    if side is not None:
                        self.read(side, {**known, **dict(_told(node.cond, holds))})
            case c_ast.BinaryOp(op="&&" | "||"):
                self.read(node.left, known)
                self.read(node.right, {**known, **dict(_told(node.left, node.op == "&&"))})
            case _:
                if isinstance(node, c_ast.StructRef):
                    self._looked_at(str(node.field.name), known)
                if isinstance(node, c_ast.FuncCall):
                    self._called(node.name, known)
                for _, child in node.children():
                    self.read(child, known)

    def _called(self, callee: c_ast.Node, known: Known) -> None:
        name = str(callee.name) if isinstance(callee, c_ast.ID) else ""
        self.function(name, known)
        self.found.beyond = self.found.beyond or not (name in self._bodies or self._is_library(name))

    def _block(self, items: list[c_ast.Node], known: Known) -> None:
        for item in items:
            self.read(item, known)
            if isinstance(item, c_ast.If) and item.iffalse is None and _leaves(item.iftrue):
                known = {**known, **dict(_told(item.cond, False))}

    def _switch(self, body: c_ast.Node, tag: str, known: Known) -> None:
        items = (body.block_items or []) if isinstance(body, c_ast.Compound) else [body]
        others = frozenset(to_c(item.expr) for item in items if isinstance(item, c_ast.Case))
        labels: set[str] | None = set()  # None: any
        falls = False
        for item in items:
            if isinstance(item, (c_ast.Case, c_ast.Default)):
                before = labels if falls else set()
                one = {to_c(item.expr)} if isinstance(item, c_ast.Case) else None
                labels = None if one is None or before is None else before | one
                inner = item.stmts or []
            else:
                inner = [item]
            told = {tag: frozenset(labels)} if labels else {} if falls else {f"!{tag}": others}
            self._block(inner, {**{name: some for name, some in known.items() if name != tag}, **told})
            falls = not (inner and _leaves(inner[-1]))

    def _looked_at(self, member: str, known: Known) -> None:
        seen = self.found.seen.setdefault(member, [])
        if known not in seen:
            seen.append(known)


def looked_at(tree: c_ast.FileAST, function: str, is_library: Callable[[str], bool]) -> Looks:
    """By a function, and those of its file that it calls. `is_library`: whether one knows nothing of the program."""
    reader = _Reader(tree, is_library)
    reader.function(function, {})
    return reader.found


def _member(node: c_ast.Node) -> str:
    node = plain_of(node)
    return str(node.field.name) if isinstance(node, c_ast.StructRef) else ""


def _told(condition: c_ast.Node, holds: bool) -> Iterator[tuple[str, frozenset[str]]]:
    """What a condition says of members when it holds, or does not."""
    match condition:
        case c_ast.UnaryOp(op="!"):
            yield from _told(condition.expr, not holds)
        case c_ast.BinaryOp(op="&&" | "||") if (condition.op == "&&") == holds:
            yield from _told(condition.left, holds)
            yield from _told(condition.right, holds)
        case c_ast.BinaryOp(op="&&" | "||"):
            left, right = dict(_told(condition.left, holds)), dict(_told(condition.right, holds))
            for tag in left.keys() & right.keys():
                both = left[tag] & right[tag] if tag.startswith("!") else left[tag] | right[tag]
                yield from [(tag, both)] if both else []
        case c_ast.BinaryOp(op="==" | "!="):
            none_of = "" if (condition.op == "==") == holds else "!"
            for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
                if (tag := _member(one)) and isinstance(plain_of(other), (c_ast.Constant, c_ast.ID)):
                    yield none_of + tag, frozenset([to_c(other)])


def _leaves(node: c_ast.Node) -> bool:
    """Whether what follows a statement is not come to through it."""
    if isinstance(node, c_ast.Compound):
        return bool(node.block_items) and _leaves(node.block_items[-1])
    return isinstance(node, _ENDS)
