"""C's scopes (C11 6.2.1): what each use of a name is bound to, and new names for those that are not the only ones.

A binding keeps, for each place that has its name, what writes another one there. Names with linkage and those of the
file stay; so do a function's if they mean nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pycparser import c_ast

_OURS = "sc_"  # names of emitted code begin so

Setter = Callable[[str], None]


@dataclass(eq=False)
class Binding:
    """One declared name. It is given a new one by calling all setters; None: it must keep its name."""

    name: str
    setters: list[Setter] | None
    is_function_type: bool = False  # a typedef of a function type


@dataclass(eq=False)
class _Table:
    """The names and tags of one scope."""

    names: dict[str, Binding] = field(default_factory=dict)
    tags: dict[str, Binding] = field(default_factory=dict)


@dataclass(eq=False)
class FunctionNames:
    """What one function declares in its blocks, and the names it uses from outside."""

    names: list[Binding] = field(default_factory=list)
    tags: list[Binding] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    own_name: list[c_ast.ID] = field(default_factory=list)


class Bindings:
    """Those of one translation unit, while it is walked in the order of its text. `renamed`: names of the file that do
    not stay."""

    def __init__(self, renamed: Collection[str]) -> None:
        self.file = _Table()
        self.functions: list[FunctionNames] = []
        self.function: FunctionNames | None = None  # the one that is being walked
        self._renamed = renamed
        self._scopes = [self.file]

    @contextmanager
    def function_scope(self) -> Iterator[FunctionNames]:
        """A function, its parameters and its body."""
        names = self.function = FunctionNames()
        self.functions.append(names)
        with self.scope():
            yield names
        self.function = None

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A block, or a prototype."""
        self._scopes.append(_Table())
        try:
            yield
        finally:
            self._scopes.pop()

    def declare(self, name: str, setter: Setter, *, fixed: bool = False, is_function_type: bool = False) -> None:
        """A name of the innermost scope. `fixed`: it names something with linkage."""
        table = self._scopes[-1].names
        known = table.get(name)
        if known is None:
            keeps = fixed or (self.function is None and name not in self._renamed)
            known = table[name] = Binding(name, None if keeps else [], is_function_type)
            if self.function is not None:
                self.function.names.append(known)
        if known.setters is not None:
            known.setters.append(setter)

    def declare_tag(self, node: c_ast.Node) -> None:
        """A struct, union or enum of the innermost scope, which is the node itself."""
        table = self._scopes[-1].tags
        known = table.get(node.name)
        if known is None:
            known = table[node.name] = Binding(node.name, None if self.function is None else [])
            if self.function is not None:
                self.function.tags.append(known)
        if known.setters is not None:
            known.setters.append(attribute_of(node, "name"))

    def find(self, name: str) -> Binding | None:
        """What the name means here."""
        for table in reversed(self._scopes):
            if name in table.names:
                return table.names[name]
        return None

    def use(self, name: str, setter: Setter) -> None:
        """The name stands here: `setter` writes another one in its place."""
        found = self.find(name)
        if found is not None and found.setters is not None:
            found.setters.append(setter)
        elif found is None and self.function is not None:
            self.function.outside.add(name)

    def use_tag(self, node: c_ast.Node) -> None:
        """A struct, union or enum that is named; the first mention of one declares it."""
        for table in reversed(self._scopes):
            found = table.tags.get(node.name)
            if found is not None:
                if found.setters is not None:
                    found.setters.append(attribute_of(node, "name"))
                return
        self.declare_tag(node)


def rename(bindings: list[Binding], outside: Iterable[str]) -> None:
    """Numbers for the names that are taken by an earlier binding or by one of `outside`."""
    taken = {binding.name for binding in bindings if binding.setters is None}.union(outside)
    last: dict[str, int] = {}  # the number that a name got last: no lower one is free
    for binding in bindings:
        if binding.setters is None:
            continue
        number = last.get(binding.name, 1)
        name = binding.name if number == 1 else f"{binding.name}_{number}"
        while name in taken or (number == 1 and name.startswith(_OURS)):
            number += 1
            name = f"{binding.name}_{number}"
        last[binding.name] = number
        taken.add(name)
        if name != binding.name:
            for setter in binding.setters:
                setter(name)


def attribute_of(node: c_ast.Node, attribute: str) -> Setter:
    """What gives an attribute of a node another name."""
    return lambda new: setattr(node, attribute, new)
