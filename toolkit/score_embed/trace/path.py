"""What a path is made of: its conditions, the values it used concretely, the inputs it declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from score_embed.engine._core import Condition, Inside, parts_are
from score_embed.formula.expr import Expr

__all__ = ["Chosen", "Condition", "Disagreement", "Inside", "Pin", "SymbolicObject"]


class Chosen(NamedTuple):
    """The object that a symbolic address is in, where it may be in others; or the value that a formula has, where others
    have their turn later: then `address` is the formula, `base` the value, and the size says nothing."""

    address: Expr
    base: int
    size: int  # bytes; 0: any of the constants that a table leads to
    inside: Inside  # called: that the address is in the object of that base and size


@dataclass(frozen=True, slots=True)
class Pin:
    """A symbolic value that the program used concretely: `formula` says that it keeps the value it had."""

    site: int
    value: Expr
    formula: Expr


@dataclass(frozen=True, slots=True)
class SymbolicObject:
    """A declared input: `size` bytes of the test's input from `offset` on."""

    name: str
    offset: int
    size: int
    site: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Verify mode: the program stored another value than the formula gives."""

    site: int
    stored: int
    computed: int


parts_are(Chosen, Pin, SymbolicObject, Disagreement)
