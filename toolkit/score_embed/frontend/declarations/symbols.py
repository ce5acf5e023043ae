"""What names mean: the symbols of a file or function, and the chain of scopes in which they are looked up."""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from score_embed.frontend.ir.exp import Slot
from score_embed.frontend.types.ctype import Array, CType, Enumeration, Function, Int, Record


class Unsupported(Exception):
    """A construct that this function cannot be lowered for: the function is left alone and listed."""

    def __init__(self, what: str, node: c_ast.Node | None = None) -> None:
        super().__init__(what)
        self.what, self.node = what, node


class VariableLength(Unsupported):
    """A type whose size is computed at run time."""


@dataclass(frozen=True)
class TypedefName:
    type: CType


@dataclass(frozen=True)
class Constant:
    """An enumerator: `value` if it could be computed here."""

    name: str
    type: Int
    value: int | None


@dataclass(frozen=True)
class Variable:
    """An object in memory, under the name it has in the emitted code."""

    name: str
    type: CType
    static: bool  # its address is a link-time constant


@dataclass(frozen=True)
class SlotVariable:
    slot: Slot


@dataclass(frozen=True)
class VariableArray:
    """An array whose size is computed at run time, and the slot that holds its address."""

    slot: Slot
    type: Array


@dataclass(frozen=True)
class PlainVariable:
    """A local that carries no taint (floating point, va_list)."""

    name: str
    type: CType


@dataclass(frozen=True)
class FunctionName:
    name: str
    type: Function
    file: str


@dataclass(frozen=True)
class Unusable:
    """A name of the file whose declaration stays as it is, and why functions that use it cannot be lowered."""

    why: str


Symbol = TypedefName | Constant | Variable | SlotVariable | VariableArray | PlainVariable | FunctionName


class Scope:
    """A chain of name tables: ordinary identifiers and tags."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Symbol | Unusable] = {}
        self.tags: dict[str, Record | Enumeration] = {}

    def find(self, name: str) -> Symbol | None:
        """What a name means here. Raises Unsupported if its declaration could not be understood."""
        scope: Scope | None = self
        while scope:
            found = scope.names.get(name)
            if isinstance(found, Unusable):
                raise Unsupported(found.why)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def find_tag(self, tag: str) -> Record | Enumeration | None:
        scope: Scope | None = self
        while scope:
            if tag in scope.tags:
                return scope.tags[tag]
            scope = scope.parent
        return None
