"""Models of the C library: plain C in `runtime/libc`, instrumented with the program and called in the library's place.

What a program calls and does not define itself is taken from there, under a name of our own (`c/scopes.py` renames
the program's uses). So code without probes, the library's own included, keeps the library's functions. The branches of
models are decisions of a path as the program's are, but not the program's branches: reports leave them out.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from score_embed.contract.program import HEAP, ON_HEAP
from score_embed.contract.sites import MODEL
from score_embed.frontend.c.gnu_ast import AsmLabel

_BUILTIN = "__builtin_"
_CALLED = re.compile(r"\b([a-z_]\w*)\s*\(")


@dataclass(frozen=True)
class Models:
    """`texts`: model's name → its source; `load`: the preprocessed text of one unit with all these models; `heap`: the
    runtime's arena is there for the program."""

    texts: dict[str, str] = field(default_factory=dict)
    load: Callable[[Sequence[str]], str] = lambda names: ""
    heap: bool = False

    def without_heap(self) -> Models:
        """For a program that has an allocator of its own."""
        return Models({name: text for name, text in self.texts.items() if name not in ON_HEAP}, self.load)

    def closure(self, names: Collection[str]) -> list[str]:
        """These models and those that they call."""
        found: set[str] = set()
        waiting = set(names)
        while waiting:
            name = waiting.pop()
            found.add(name)
            waiting |= {callee for callee in _CALLED.findall(self.texts[name]) if callee in self.texts} - found
        return sorted(found)


@dataclass(frozen=True)
class Parsed:
    """A unit whose names are still as they were written."""

    tree: c_ast.FileAST
    system: frozenset[str]

    def is_user(self, node: c_ast.Node) -> bool:
        return node.coord is None or str(node.coord.file) not in self.system


def has_allocator(units: Sequence[Parsed]) -> bool:
    """Whether the program defines one of malloc's family: then all of it is the program's, for models as well."""
    return bool(HEAP & set().union(*(_defined(unit, external=False) for unit in units)))


def wanted(units: Sequence[Parsed], available: Collection[str], *, closed: bool) -> list[set[str]]:
    """For each unit the models that it is to call.

    `closed`: no other code of the program's is linked; else only what a header of the system declares is the library's.
    """
    elsewhere = {name for unit in units for name in _defined(unit, external=True)}
    found: list[set[str]] = []
    for unit in units:
        names = {name.removeprefix(_BUILTIN) for name in _named(unit)} & set(available)
        names -= elsewhere | set(_defined(unit, external=False))
        if not closed:
            names -= {ext.name for ext in unit.tree.ext if isinstance(ext, c_ast.Decl) and unit.is_user(ext)}
        found.append(names)
    return found


def prepare(unit: Parsed, names: Collection[str], library: c_ast.FileAST) -> dict[str, str]:
    """Make a unit call these models: the library's inline definitions go, and builtins get a declaration.

    Returns how names are to be renamed.
    """
    extern = unit.tree.ext
    for index, ext in enumerate(extern):
        if isinstance(ext, c_ast.FuncDef) and ext.decl.name in names and not unit.is_user(ext):
            extern[index] = _declaration(ext)
    _take_labels_away(unit.tree, names)
    builtins = {name for name in names if f"{_BUILTIN}{name}" in set(_named(unit))}
    declared = {ext.name for ext in extern if isinstance(ext, c_ast.Decl)}
    for ext in library.ext:
        if isinstance(ext, c_ast.FuncDef) and ext.decl.name in builtins - declared:
            extern.insert(0, copy.deepcopy(_declaration(ext)))
    return {name: MODEL + name for name in names}


def prepare_library(tree: c_ast.FileAST) -> dict[str, str]:
    """The same for the unit of the models themselves."""
    names = [ext.decl.name for ext in tree.ext if isinstance(ext, c_ast.FuncDef)]
    _take_labels_away(tree, names)
    return {name: MODEL + name for name in names}


def _take_labels_away(tree: c_ast.FileAST, names: Collection[str]) -> None:
    """`int sscanf(…) __asm__("__isoc99_sscanf");` would lead to the library's whatever its name is here."""
    for ext in tree.ext:
        if isinstance(ext, c_ast.Decl) and ext.name in names and getattr(ext, "attributes", None):
            ext.attributes = [node for node in ext.attributes if not isinstance(node, AsmLabel)]


def _declaration(definition: c_ast.FuncDef) -> c_ast.Decl:
    decl: c_ast.Decl = definition.decl
    decl.storage, decl.funcspec = ["extern"], []
    return decl


def _defined(unit: Parsed, *, external: bool) -> Iterator[str]:
    for ext in unit.tree.ext:
        if not isinstance(ext, c_ast.FuncDef) or not unit.is_user(ext):
            continue
        if not external or "static" not in (ext.decl.storage or []):
            yield ext.decl.name


def _named(unit: Parsed) -> Iterator[str]:
    """Every name in the user's functions and initial values."""
    for ext in unit.tree.ext:
        if not unit.is_user(ext):
            continue
        if isinstance(ext, c_ast.FuncDef):
            yield from _names_below(ext.body)
        elif isinstance(ext, c_ast.Decl) and ext.init is not None:
            yield from _names_below(ext.init)


def _names_below(node: c_ast.Node) -> Iterator[str]:
    if isinstance(node, c_ast.ID):
        yield node.name
    for _, child in node.children():
        yield from _names_below(child)
