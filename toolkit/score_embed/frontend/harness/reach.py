"""Which members a function may come to look at: those that it names, and all that it calls, in every file.

What nobody looks at need not be made: a setter of a large state needs none of the lists that hang on it. Names are all
that counts, of whatever structure, so more may be made than is needed. Through a pointer every function may be called
whose address anybody takes. Where code is called that nobody sees, or where a pointer to one structure is cast to one
to another, members may be looked at under other names: then nothing is known. A `void *` says nothing, cast or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pycparser import c_ast

from score_embed.contract.program import Source
from score_embed.frontend.c.gnu_ast import Asm
from score_embed.frontend.c.names import defined_functions
from score_embed.frontend.declarations.symbols import FunctionName, Variable
from score_embed.frontend.harness.uses import parameters_of, walk
from score_embed.frontend.types.ctype import CType, Pointer, Void, is_float, is_integer, unqualified

if TYPE_CHECKING:
    from score_embed.frontend.harness.scope import FileScope

DEFINITION = re.compile(r"^[\w \t*]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
_OFFSET = "__builtin_offsetof"


@dataclass(frozen=True)
class _Body:
    """What one function names. `functions`: of the program; `through`: others are called through pointers; `is_clear`:
    members are looked at under their names only."""

    members: frozenset[str]
    functions: frozenset[str]
    through: bool
    is_clear: bool


class Reach:
    """From the functions of one file. `here`: what it declares; `others`: the other files; `scope_of`: what one of
    these declares."""

    def __init__(self, here: FileScope, others: Sequence[Source], scope_of: Callable[[Source], FileScope]) -> None:
        self._here, self._others, self._scope_of = here, others, scope_of
        self._own: dict[str, list[_Body]] = {}
        self._known: dict[str, list[_Body]] = {}

    def members(self, function: str, others: Iterable[str] = ()) -> frozenset[str] | None:
        """Those that a function comes to look at, and such of these others as are functions; None: any."""
        if not self._bodies(function):
            return None
        waiting = [function, *(name for name in others if self._bodies(name))]
        seen, found = set(waiting), set[str]()
        while waiting:
            for body in self._bodies(waiting.pop()):
                named = body.functions | (self._values if body.through else frozenset())
                if not body.is_clear or not all(map(self._bodies, named)):
                    return None
                found |= body.members
                waiting += named - seen
                seen |= named
        return frozenset(found)

    def _bodies(self, name: str) -> list[_Body]:
        """Of all functions of that name: static ones of several files may have it."""
        if name not in self._known:
            files = [self._scope_of(source) for source, defined in self._here.defining if name in defined]
            self._known[name] = [body for file in (self._here, *files) for body in file.reach.own(name)]
        return self._known[name]

    def own(self, name: str) -> list[_Body]:
        """Those of this file."""
        if name not in self._own:
            self._own[name] = [_body(self._here, node) for node in self._here.defined(name)]
        return self._own[name]

    @cached_property
    def _values(self) -> frozenset[str]:
        """The program's functions whose address is taken."""
        files = [self._here, *map(self._scope_of, self._others)]
        taken = set[str]().union(*(file.taken for file in files))
        return frozenset(name for file in files for name in defined_functions(file.tree) if name in taken)


def _body(file: FileScope, function: c_ast.FuncDef) -> _Body:
    members, functions = set[str](), set[str]()
    through, is_clear = False, True
    declared = [*parameters_of(function), *walk(function.body)]
    own = {str(decl.name): decl for decl in declared if _is_object(decl)}
    for node in walk(function.body):
        match node:
            case c_ast.StructRef():
                members.add(str(node.field.name))
            case c_ast.FuncCall(name=c_ast.ID(name=callee)) if callee == _OFFSET:
                members.update(_names_in(node.args))
            case c_ast.FuncCall(name=c_ast.ID(name=callee)) if callee not in own and not _is_variable(file, callee):
                functions.add(callee)
            case c_ast.FuncCall():
                through = True
            case c_ast.ID(name=name) if name not in own and _is_function(file, name):
                functions.add(name)
            case Asm():
                is_clear = False
            case c_ast.Cast() if not _is_untyped(file, own, node.expr):
                is_clear = is_clear and _is_of_numbers(file, node.to_type)
    known = frozenset(name for name in functions if not file.is_library(name))
    return _Body(frozenset(members), known, through, is_clear)


def _is_object(node: c_ast.Node) -> bool:
    """Whether it declares a variable: a prototype may stand in a body, too."""
    return isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl)


def _names_in(node: c_ast.Node) -> Iterator[str]:
    return (str(part.name) for part in walk(node) if isinstance(part, c_ast.ID))


def _is_function(file: FileScope, name: str) -> bool:
    return isinstance(file.declarations.scope.names.get(name), FunctionName)


def _is_variable(file: FileScope, name: str) -> bool:
    return isinstance(file.declarations.scope.names.get(name), Variable)


def _is_untyped(file: FileScope, own: Mapping[str, c_ast.Decl], node: c_ast.Node) -> bool:
    """Whether it is a `void *`, which is cast to what it is: `malloc(n)`, a callback's `data`."""
    t: CType | None = None
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            known = file.declarations.scope.names.get(name)
            t = known.type.result if isinstance(known, FunctionName) else None
        case c_ast.ID(name=name):
            known = file.declarations.scope.names.get(name)
            t = file.type_at(own[name]) if name in own else known.type if isinstance(known, Variable) else None
    t = unqualified(t) if t is not None else None
    return isinstance(t, Pointer) and isinstance(unqualified(t.to), Void)


def _is_of_numbers(file: FileScope, node: c_ast.Node) -> bool:
    """Whether a cast is to a number, or to what leads to numbers: to no structure."""
    t = file.type_at(node)
    while isinstance(t := unqualified(t) if t is not None else None, Pointer):
        t = t.to
    return t is not None and (isinstance(t, Void) or is_integer(t) or is_float(t))
